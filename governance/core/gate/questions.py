"""``can-i-deploy`` and ``can-i-retire``: the verdict is taken from the very rows that are shown with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from governance.core.consumers import Change, ConsumerImpact, Need, impacts, summary
from governance.core.gate.decision import Reason
from governance.core.gate.excuses import Excuses
from governance.core.gate.facts import GateException
from governance.core.gate.hit import consumer_reasons, softened
from governance.core.gate.reasons import REASONS, Outcome
from governance.core.lines import Compare
from governance.core.policy import Policy
from governance.core.versioning import Version


class Question(StrEnum):
    DEPLOY = "can-i-deploy"
    RETIRE = "can-i-retire"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """May it be done, why not, and who is hit."""

    question: Question
    skill: str
    version: Version
    environment: str | None
    outcome: Outcome
    reasons: tuple[Reason, ...]
    """Worst first."""
    consumers: tuple[ConsumerImpact, ...]
    policy: str
    policy_origin: str

    @property
    def exceptions_used(self) -> tuple[str, ...]:
        """The ids of those by which a consumer passes, each once."""
        used = (one.exception.id for one in self.reasons if one.code == "exception-used" and one.exception is not None)
        return tuple(dict.fromkeys(used))

    def to_document(self) -> dict[str, Any]:
        return {
            "question": self.question.value,
            "skill": self.skill,
            "version": str(self.version),
            "environment": self.environment,
            "decision": self.outcome.value,
            "reasons": [reason.to_document() for reason in self.reasons],
            "consumers": summary(self.consumers),
            "policy": {"mode": self.policy, "origin": self.policy_origin},
        }


def answer(
    question: Question,
    change: Change,
    version: Version,
    needs: Iterable[Need],
    *,
    compare: Compare,
    policy: Policy,
    environment: str | None = None,
    exceptions: Collection[GateException] = (),
    further: Iterable[Reason] = (),
) -> Answer:
    """Judge ``change`` for the consumers that ``needs`` speak of.

    ``exceptions``: those in force for the skill. ``further``: reasons of other kinds, as the table has them; the
    policy softens all alike.
    """
    found = impacts(change, needs, compare=compare)

    def told(them: Iterable[GateException]) -> list[Reason]:
        hit = consumer_reasons(found, change, Excuses(exceptions=tuple(them)), environment=environment)
        return [softened(one, policy.mode) for one in hit]

    hit = told(exceptions)
    if any(one.code == "exception-used" for one in hit):
        without = told(())
        if all(one.outcome is not Outcome.BLOCK for one in without):
            hit = without  # an exception that nothing needed is none that was used
    reasons = [*hit, *(softened(one, policy.mode) for one in further)]
    reasons.sort(key=lambda one: -one.outcome.rank)
    if not reasons:
        reasons = [nobody_hit(found)]
    return Answer(
        question=question,
        skill=change.skill,
        version=version,
        environment=environment,
        outcome=max((one.outcome for one in reasons), key=lambda one: one.rank, default=Outcome.ALLOW),
        reasons=tuple(reasons),
        consumers=found,
        policy=policy.mode.value,
        policy_origin=policy.origin("mode"),
    )


def nobody_hit(found: Collection[ConsumerImpact]) -> Reason:
    """What to say where there is nothing to say."""
    row = REASONS["nobody-hit" if found else "nobody-known"]
    return Reason(code=row.id, outcome=row.outcome, message=row.title + ".", fix=row.fix)
