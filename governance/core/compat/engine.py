"""The one entry: ``check`` two contracts, or ``check_schemas`` for two bare schemas."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from governance.core.canonical import canonical_or_text
from governance.core.compat.annotations import annotation_changes
from governance.core.compat.changes import contract_changes
from governance.core.compat.codes import CODES
from governance.core.compat.explain import Explainer
from governance.core.compat.model import (
    ABSENT,
    JSON,
    Comparison,
    Evidence,
    Finding,
    FindingLevel,
    Level,
    Reading,
    Side,
    Verdict,
    Witness,
    verdict_of,
    worst_first,
)
from governance.core.compat.question import Question
from governance.core.compat.risks import Risks, breaks_explained
from governance.core.compat.search import searched
from governance.core.compat.sensitive import Secrets
from governance.core.compat.telling import left_open, undecided
from governance.core.schema.answers import NOTHING, Answer
from governance.core.schema.budget import READING_STEPS, Budget, BudgetExceeded, Interrupt
from governance.core.schema.load import schema_faults
from governance.errors import Fault

if TYPE_CHECKING:
    from governance.core.contract import SkillManifest

SecondOpinion = Callable[[JSON, JSON], bool | None]
"""Does every value of the first schema lie within the second? True, a plain no, or None for "cannot say"."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a verdict depends on beside the two contracts; part of every cache key."""

    reading: Reading = Reading.DEFAULT
    assert_formats: bool = False
    """Treat ``format`` as a constraint instead of an annotation."""
    step_budget: int = 90_000
    """Elementary steps before the engine gives up with ``undecided``; the core has no clock, but see ``interrupt``."""


DEFAULT_SETTINGS = Settings()
_RISKS_TO_VERDICT: Final = 10
"""The walk for risks is linear for all but hostile documents, so it may take more steps than a verdict."""


def check(
    old: SkillManifest | None,
    new: SkillManifest | None,
    *,
    settings: Settings = DEFAULT_SETTINGS,
    opinion: SecondOpinion | None = None,
    interrupt: Interrupt | None = None,
) -> Comparison:
    """Compare two versions of a skill on both sides and beside the schemas.

    ``None`` stands for "there is no such skill": added (a note) or removed (breaking); two names are a break.
    ``opinion`` is asked where the engine cannot decide, and under the strict reading also whether it agrees. Once
    ``interrupt`` says so, what is still open stays undecided with the reason ``time``.
    """
    if old is None or new is None:
        return _added_or_removed(old, new)
    pairs = {
        Side.INPUT: _pair(old.input_schema, new.input_schema),
        Side.OUTPUT: _pair(old.output_schema, new.output_schema),
    }
    reading = Budget(len(pairs) * READING_STEPS, interrupt)
    try:
        for side, pair in pairs.items():
            if (faults := _faults(*pair, reading, checked=(old.checked, new.checked))) is not None:
                return _invalid(*faults, prefix=f"/{side.value}_schema")
        secrets = Secrets.of((schema for pair in pairs.values() for schema in pair), reading)
    except BudgetExceeded:
        return _unread(Side.INPUT, settings, reading)
    asked = _Asked(settings=settings, opinion=opinion, interrupt=interrupt, secrets=secrets)
    sides = [_side(*pair, side, asked) for side, pair in pairs.items()]
    beside = contract_changes(old, new, budget=reading.beside(READING_STEPS))
    findings = [*_renamed(old, new), *sides[0].findings, *sides[1].findings, *beside]
    if secrets is not None:
        findings = [secrets.conceal(finding) for finding in findings]
    comparison = _comparison(
        findings, equal=all(side.equal for side in sides), identical=_same_contract(old, new, findings)
    )
    if comparison.reason is not None and (proved := [side.name for side in sides if side.proved]):
        comparison = replace(comparison, reason=f"{comparison.reason}; proved so far: the {proved[0]} side")
    return replace(
        comparison,
        second_opinion=tuple(side.name for side in sides if side.second_opinion),
        disagreement=tuple(side.name for side in sides if side.disputed),
    )


def check_schemas(
    old: JSON,
    new: JSON,
    *,
    side: Side,
    settings: Settings = DEFAULT_SETTINGS,
    opinion: SecondOpinion | None = None,
    interrupt: Interrupt | None = None,
) -> Comparison:
    """Compare two bare schemas of any kind on one side; no rule about object roots applies."""
    reading = Budget(READING_STEPS, interrupt)
    try:
        if (faults := _faults(old, new, reading)) is not None:
            return _invalid(*faults, prefix="")
        secrets = Secrets.of((old, new), reading)
    except BudgetExceeded:
        return _unread(side, settings, reading)
    sided = _side(old, new, side, _Asked(settings=settings, opinion=opinion, interrupt=interrupt, secrets=secrets))
    findings = [*sided.findings, *annotation_changes(old, new, side, reading.beside(READING_STEPS))]
    if secrets is not None:
        findings = [secrets.conceal(finding) for finding in findings]
    comparison = _comparison(findings, equal=sided.equal, identical=not findings and _same(old, new))
    return replace(
        comparison,
        second_opinion=(side,) if sided.second_opinion else (),
        disagreement=(side,) if sided.disputed else (),
    )


def _pair(old: JSON, new: JSON) -> tuple[JSON, JSON]:
    """Both schemas of a side; one that is missing promises nothing."""
    return True if old is None else old, True if new is None else new


def _unread(side: Side, settings: Settings, reading: Budget) -> Comparison:
    """There was not even time to read the schemas."""
    unread = left_open(side, settings.reading, reading.reason, "the root", old_pointer="", new_pointer="")
    return _comparison([unread], equal=False, identical=False)


class _Sided(NamedTuple):
    """One side: its findings, and whether both schemas are equal (read as written and read closed)."""

    name: Side
    findings: list[Finding]
    equal: bool
    second_opinion: bool = False
    """The second opinion proved it."""
    disputed: bool = False
    """The second opinion denies what the engine proved."""

    @property
    def proved(self) -> bool:
        open_or_broken = (FindingLevel.BREAKING, FindingLevel.UNDECIDED)
        return not any(finding.level in open_or_broken for finding in self.findings)


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What both sides are asked under."""

    settings: Settings
    opinion: SecondOpinion | None
    interrupt: Interrupt | None
    secrets: Secrets | None


def _side(old: JSON, new: JSON, side: Side, asked: _Asked) -> _Sided:
    if _same(old, new):
        return _Sided(side, [], True)
    settings, opinion, interrupt = asked.settings, asked.opinion, asked.interrupt
    try:
        question = Question(
            old,
            new,
            side=side,
            reading=settings.reading,
            assert_formats=settings.assert_formats,
            budget=Budget(settings.step_budget, interrupt),
            secrets=asked.secrets.scalars if asked.secrets else (),
        )
        question.forest.budget.look_up()
    except BudgetExceeded:
        reason = "time" if interrupt is not None and interrupt() else "budget"
        unread = left_open(side, settings.reading, reason, "the root", old_pointer="", new_pointer="")
        return _Sided(side, [unread], False)
    lowerings = question.sender_lowering, question.receiver_lowering
    alike = question.sent is question.received and not question.receiver_lowering.lifted
    answer = NOTHING if alike else question.ask()
    # Confirmed at once: what follows may use up the time.
    witness = question.witness(answer.value) if answer.found else None
    walk = Risks(
        *(lowerings if side is Side.INPUT else lowerings[::-1]),
        side,
        Budget(_RISKS_TO_VERDICT * settings.step_budget, interrupt),
    )
    try:
        risks = walk.findings()
    except BudgetExceeded:
        unseen = undecided(question, walk.budget.reason, "the root", old_pointer="", new_pointer="")
        broken = [] if witness is None else [_at_root(question, _loss(question), witness)]
        return _Sided(side, [*broken, unseen, *walk.found], False)
    if alike:
        return _Sided(side, risks, not risks)
    if answer.found is False and settings.reading is Reading.STRICT and _denied_elsewhere(question, opinion):
        disputed = undecided(question, "disagreement", "the root", old_pointer="", new_pointer="")
        return _Sided(side, [disputed, *risks], False, disputed=True)
    breaks: list[Finding] = []
    lifted = answer.found is None and _proved_elsewhere(question, opinion)
    if answer.found is not False and not lifted:
        breaks = _explained(question, answer, witness)
    findings = breaks_explained(breaks, risks)
    if breaks or settings.reading is Reading.STRICT:
        return _Sided(side, findings, not findings and question.equivalent(), lifted)
    # A format moves no value; any other structural change means that the closed readings may differ.
    if any(risk.code != "input.format-tightened" for risk in risks):
        return _Sided(side, findings, False, lifted)
    equal = question.equivalent()
    if not equal and (note := _strict_note(question)) is not None:
        findings.append(note)
    return _Sided(side, findings, equal, lifted)


def _proved_elsewhere(question: Question, opinion: SecondOpinion | None) -> bool:
    """Does a second opinion prove what the engine could not? Literal containment implies the default reading."""
    return opinion is not None and opinion(question.sender, question.receiver) is True


def _denied_elsewhere(question: Question, opinion: SecondOpinion | None) -> bool:
    """Does a second opinion say no, where the engine has a proof of literal containment?"""
    return opinion is not None and opinion(question.sender, question.receiver) is False


def _explained(question: Question, answer: Answer, witness: Witness | None) -> list[Finding]:
    """The findings that tell why ``answer`` is no proof; ``witness`` is its value, confirmed."""
    emptied = question.sent is question.forest.true and question.side is Side.OUTPUT
    # An emptied schema is one cause, however many promises went with it.
    if emptied and witness is not None:
        return [_at_root(question, "output.schema-removed", witness)]
    question.solver.budget.grant(question.explanation_budget)
    explainer = Explainer(question)
    try:
        findings = explainer.findings()
    except BudgetExceeded:
        findings = explainer.found
    if not any(finding.level is FindingLevel.BREAKING for finding in findings):
        shown = witness if answer.found else searched(question)
        if shown is not None:
            whole = _at_root(question, _loss(question), shown)
            findings = [*findings, whole] if answer.found else [whole]
    if not findings:
        reason = answer.reason or ("time" if question.interrupted else "unverified-witness")
        findings.append(undecided(question, reason, "the root", old_pointer="", new_pointer=""))
    return findings


def _loss(question: Question) -> str:
    return "input.narrowed" if question.side is Side.INPUT else "output.widened"


def _at_root(question: Question, code: str, witness: Witness) -> Finding:
    """A break of the schema as a whole."""
    row = CODES[code]
    return Finding(
        code=code, side=question.side, level=row.level, message=f"the root: {row.title}", fix=row.fix,
        reading=question.reading, old_pointer="", new_pointer="", witness=witness,
    )  # fmt: skip


def _strict_note(question: Question) -> Finding | None:
    """A break that exists only under the strict reading: shown, and moving nothing."""
    answer = question.strictly()
    witness = question.witness(answer.value) if answer.found else None
    if witness is None:
        return None
    code = CODES[f"{question.side.value}.strict-only"]
    return Finding(
        code=code.id, side=question.side, level=FindingLevel.NOTE, message=f"the root: {code.title}", fix=code.fix,
        reading=Reading.STRICT, old_pointer="", new_pointer="", witness=witness,
    )  # fmt: skip


def _comparison(findings: list[Finding], *, equal: bool, identical: bool) -> Comparison:
    verdict = verdict_of(findings)
    if verdict is Verdict.BREAKING:
        level = Level.BREAKING_CHANGE
    elif verdict is Verdict.UNDECIDED:
        level = Level.UNDECIDED
    elif verdict is Verdict.COMPATIBLE and equal:
        level = Level.BACKWARD_COMPATIBLE
    else:
        level = Level.INPUT_COMPATIBLE
    ordered = worst_first(findings)
    reason = next((f.message for f in ordered if f.level is FindingLevel.UNDECIDED), None)
    return Comparison(
        verdict=verdict,
        level=level,
        findings=ordered,
        identical=identical,
        reason=reason if verdict is Verdict.UNDECIDED else None,
    )


def _added_or_removed(old: SkillManifest | None, new: SkillManifest | None) -> Comparison:
    if old is None and new is None:
        return Comparison(verdict=Verdict.COMPATIBLE, level=Level.BACKWARD_COMPATIBLE, identical=True)
    there = old or new
    assert there is not None
    code = CODES["contract.tool-removed" if new is None else "contract.tool-added"]
    finding = Finding(
        code=code.id,
        side=Side.CONTRACT,
        level=code.level,
        message=code.title,
        fix=code.fix,
        old=there.name if new is None else ABSENT,
        new=there.name if old is None else ABSENT,
        evidence=Evidence(field="name", old=old.name if old else None, new=new.name if new else None),
    )
    return _comparison([finding], equal=False, identical=False)


def _renamed(old: SkillManifest, new: SkillManifest) -> Iterator[Finding]:
    """Callers of the old name find nothing under it. A name without a namespace stands for itself in any."""
    one, other = (name.rpartition(".") for name in (old.name, new.name))
    if not (old.name and new.name) or (one[2] == other[2] and (not one[0] or not other[0] or one[0] == other[0])):
        return
    code = CODES["contract.tool-renamed"]
    yield Finding(
        code=code.id,
        side=Side.CONTRACT,
        level=code.level,
        message=f"{code.title}: {old.name} → {new.name}",
        fix=code.fix,
        old=old.name,
        new=new.name,
        evidence=Evidence(field="name", old=old.name, new=new.name),
    )


def _faults(
    old: JSON, new: JSON, budget: Budget, *, checked: tuple[bool, bool] = (False, False)
) -> tuple[str, list[Fault]] | None:
    """The version whose schema is none, and why. ``checked``: that is known already of the old, of the new one."""
    for name, schema, known in (("old", old, checked[0]), ("new", new, checked[1])):
        if not known and (found := schema_faults(schema, budget)):
            return name, found
    return None


def _invalid(side: str, faults: list[Fault], *, prefix: str) -> Comparison:
    located = tuple(replace(fault, pointer=prefix + fault.pointer) for fault in faults)
    return Comparison(
        verdict=Verdict.INVALID,
        level=Level.UNDECIDED,
        reason=f"the {side} schema is invalid: {located[0]}",
        faults=located,
        invalid_side=side,
    )


def _same(old: JSON, new: JSON) -> bool:
    # Python calls True and 1 equal, so equality alone does not settle it; inequality does.
    return old is new or (bool(old == new) and canonical_or_text(old) == canonical_or_text(new))


def _same_contract(old: SkillManifest, new: SkillManifest, findings: list[Finding]) -> bool:
    return not findings and old.contract_digest == new.contract_digest
