"""Writing entries: of changes inside their transaction, of refusals in one of their own."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from sqlmodel import Session

from governance.control.audit.tables import AuditEntry
from governance.control.auth.roles import Caller
from governance.control.database import time_of
from governance.core.canonical import canonical_bytes
from governance.errors import GovernanceError

AUDIT_ACTIONS: Final[dict[str, str]] = {
    "auth.unauthenticated": "Requests of one interval that nobody could be held to, counted by cause.",
    "token.create": "A token was made; the secret is in no entry.",
    "token.revoke": "A token was revoked.",
    "skill.publish": "A version was published.",
    "catalogue.release": "A catalogue was released as one; each new version of a member has an entry of its own.",
    "policy.set": "A scope's policy was set; before and after tell the settings.",
    "version.activate": "A draft began to serve.",
    "version.draft": "A version became a draft again.",
    "version.deprecate": "The end of a version was announced, or the announcement amended.",
    "version.undeprecate": "A deprecation was taken back, or a sunset moved back into the future.",
    "version.sunset": "The day of a sunset came: only consumers on record are served from then on.",
    "version.retire": "A version was retired: it serves nobody any more.",
    "version.yank": "A version was yanked: ranges pass it over.",
    "version.unyank": "A version is no longer yanked.",
    "version.disable": "An operator switched a version off.",
    "version.enable": "An operator switched a version on again.",
    "attestation.record": "How the tests of a contract ended was put on record.",
    "rollout.start": "A rollout began: out, or back to an older version.",
    "rollout.hold": "A rollout was held: its share stays as it is.",
    "rollout.resume": "A held rollout goes on.",
    "rollout.advance": "A rollout took its next step; with `why` by itself.",
    "rollout.complete": "A rollout is complete: the candidate serves all; with `why` by itself.",
    "rollout.fall_back": "A rollout fell back: the incumbent serves all; with `why` by itself.",
    "rollout.report": "Outcomes came from somebody who may not tell them; those that are taken are no entries.",
    "rollout.cancel": "A rollout steers nobody any more: the highest match serves.",
    "consumer.register": "A consumer declared what it needs, in the place of what it declared before.",
    "environment.set": "An environment was made or changed.",
    "deployment.record": "A version was put on record as running in an environment.",
    "deployment.end": "A skill, or a version of it, runs in an environment no more.",
    "exception.ask": "An exception was asked for; it opens nothing yet.",
    "exception.approve": "An exception came into force, by somebody who had not asked for it.",
    "exception.use": "A publish or a release needed an exception.",
    "exception.revoke": "An exception was ended by hand, or withdrawn.",
    "exception.expiring": "An exception in force ends within a week.",
    "exception.expired": "An exception in force ended by its date.",
    "publisher.create": "Jobs of a CI host were trusted; they need no stored secret.",
    "publisher.revoke": "Jobs of a CI host are trusted no more.",
    "publisher.exchange": "A CI job proved who it is and got a token for a quarter of an hour, or was refused it.",
    "webhook.create": "A webhook was made; the secret is in no entry.",
    "webhook.delete": "A webhook was removed.",
    "webhook.rotate": "A webhook got a new secret.",
    "webhook.disable": "A webhook was switched off: it is gone, or took nothing for a day.",
    "webhook.enable": "A webhook was switched on again.",
    "webhook.ping": "A delivery of no event was asked for.",
    "webhook.redeliver": "A delivery was asked for again.",
    "check.run": "The gate judged candidates; nothing was published.",
    "consumer.contact": "A named consumer was served a skill for the first time.",
    "line.bind": "A named consumer was bound to the one line there was, by first contact.",
    "line.accept": "A consumer accepted a line, or the newest one for one call.",
    "line.revoke": "An acceptance was revoked; who was served by it is asked again.",
}
"""Every action an entry may name, with its meaning. Names are permanent."""

ENTRY_FORMAT: Final = 1
_MAX_FAULTS: Final = 20


class AuditOutcome(StrEnum):
    DONE = "done"
    REFUSED = "refused"


SYSTEM: Final = Caller(id="system", name="system")
"""The service itself."""


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """What a request sets out to do, noted before it is tried so that a refusal can be told."""

    action: str
    subject: str
    namespace: str
    reason: str | None = None


def append(
    session: Session,
    attempt: Attempt,
    *,
    by: Caller,
    before: Any = None,
    after: Any = None,
    outcome: AuditOutcome = AuditOutcome.DONE,
    at: datetime | None = None,
) -> None:
    """Append one entry to the session's transaction: it commits with the change or not at all.

    ``before`` and ``after`` are plain JSON that canonical JSON can hold, without secrets and payloads.
    """
    assert attempt.action in AUDIT_ACTIONS, attempt.action
    when = at or time_of(session)
    subject = _printable(attempt.subject)
    entry = {
        "format": ENTRY_FORMAT,
        "action": attempt.action,
        "outcome": outcome.value,
        "actor": {"id": by.id, "name": by.name},
        "namespace": attempt.namespace,
        "subject": subject,
        "at": when.isoformat(timespec="microseconds"),
        "reason": attempt.reason,
        "before": before,
        "after": after,
        "request_id": by.request_id,
        "trace_id": by.trace_id,
    }
    session.add(
        AuditEntry(
            namespace=attempt.namespace,
            at=when,
            action=attempt.action,
            outcome=outcome.value,
            actor=by.id,
            subject=subject,
            request_id=by.request_id,
            entry=canonical_bytes(entry),
        )
    )


def append_refusal(session: Session, attempt: Attempt, error: GovernanceError, *, by: Caller) -> None:
    """Append the entry of an attempt that was refused; the caller commits it though the attempt was undone.

    It holds codes, pointers and fingerprints; sentences may quote what was sent, so none is kept.
    """
    after: dict[str, Any] = {"code": error.code}
    if error.faults:
        after["faults"] = [{"pointer": one.pointer, "code": one.code} for one in error.faults[:_MAX_FAULTS]]
    decision = error.details.get("decision")
    if isinstance(decision, dict):
        after |= decision_summary(decision)
    append(session, attempt, by=by, after=after, outcome=AuditOutcome.REFUSED)


def decision_summary(decision: dict[str, Any]) -> dict[str, Any]:
    """What an entry keeps of a gate decision: codes and fingerprints, no payload and no prose."""
    kept = ("decision", "verdict", "declared", "computed", "level", "bump", "smallest_version")
    return {name: decision.get(name) for name in kept} | {
        "reasons": [
            {key: reason[key] for key in ("code", "outcome", "fingerprint", "pointer") if key in reason}
            for reason in decision.get("reasons", [])
        ],
        "compared": [
            {key: compared[key] for key in ("version", "digest", "role", "verdict") if key in compared}
            for compared in decision.get("compared", [])
        ],
        **({"refused": _refused(decision["decisions"])} if "decisions" in decision else {}),
    }


def _refused(decisions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The members that refuse a release, each in summary."""
    return [
        {"skill": one["skill"], "version": one["version"]} | decision_summary(one)
        for one in decisions
        if one["decision"] == "block"
    ]


def _printable(text: str, *, limit: int = 400) -> str:
    shown = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text[:limit])
    return shown if len(text) <= limit else shown + "…"


@dataclass
class Unauthenticated:
    """Requests nobody could be held to, counted until the next flush writes one entry for all of them.

    An entry each would let anyone without a token fill the log.
    """

    _counts: Counter[str] = field(default_factory=Counter)
    _since: datetime | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, cause: str) -> None:
        with self._lock:
            self._since = self._since or datetime.now(UTC)
            self._counts[cause] += 1

    def take(self) -> dict[str, Any] | None:
        """The counts since the last call, as an entry's ``after``; None where there are none."""
        with self._lock:
            if self._since is None:
                return None
            taken = {"since": self._since.isoformat(timespec="microseconds"), "causes": dict(self._counts)}
            self._since = None
            self._counts.clear()
            return taken

    def give_back(self, taken: dict[str, Any]) -> None:
        """Undo a ``take`` whose entry could not be written."""
        with self._lock:
            since = datetime.fromisoformat(taken["since"])
            self._since = since if self._since is None else min(since, self._since)
            self._counts.update(taken["causes"])


def append_unauthenticated(session: Session, taken: dict[str, Any]) -> None:
    """Append the one entry for many unauthenticated requests."""
    attempt = Attempt(action="auth.unauthenticated", subject="requests without a known token", namespace="")
    append(session, attempt, by=SYSTEM, after=taken, outcome=AuditOutcome.REFUSED)
