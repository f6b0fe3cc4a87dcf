"""Rows of versions that the gate let in: the version, its live state, what lists show, the audit entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from sqlmodel import Session

from governance.control.audit.service import Attempt, append, decision_summary
from governance.control.auth.roles import Caller
from governance.control.database import time_of
from governance.control.exceptions.service import use
from governance.control.skills.cards import cards, storable, store_card
from governance.control.skills.ordering import sort_key
from governance.control.skills.reading import Found
from governance.control.skills.tables import FallbackRow, VersionRow, VersionState
from governance.core.contract import SkillManifest
from governance.core.gate import GateDecision
from governance.core.skill import Status
from governance.core.versioning import Version
from governance.wire import write_json


@dataclass(frozen=True, kw_only=True)
class Publish:
    """What comes with a manifest: why, how strictly, and from where."""

    reason: str | None = None
    fail_on: str | None = None
    transitive: bool = True
    repository: str | None = None
    commit: str | None = None
    run: str | None = None

    @property
    def provenance(self) -> dict[str, str | None]:
        return {"repository": self.repository, "commit": self.commit, "run": self.run}


@dataclass(frozen=True, kw_only=True)
class Admitted:
    """A version the gate let in, and the rows of all versions of its skill that it was judged beside."""

    manifest: SkillManifest
    decision: GateDecision
    there: Sequence[Found]


def attempt_to_publish(name: str, version: Version, reason: str | None) -> Attempt:
    return Attempt(
        action="skill.publish",
        subject=f"{name}@{version}",
        namespace=name.rpartition(".")[0],
        reason=reason,
    )


def store(session: Session, admitted: Sequence[Admitted], order: Publish, *, by: Caller) -> None:
    """Write one version of each of some skills, in as few statements for many as for one.

    Whoever calls holds the lock of every skill. Raises Conflict where an exception one rests on ended meanwhile.
    """
    now = time_of(session)
    versions = [_version(one, order, now, by) for one in admitted]
    states = [_state(one.manifest, now) for one in admitted]
    known = cards(session, [one.manifest.name for one in admitted])
    for one, version, state in zip(admitted, versions, states, strict=True):
        now_live = {"state": state.state, "sunset": state.sunset, "yanked": None, "disabled": None}
        standing = version.model_dump() | now_live
        there = [*one.there, standing]
        store_card(session, known.get(one.manifest.name), there, at=now, newest=one.manifest)
    # no relationship tells the order in which the rows refer to each other
    session.flush()
    session.add_all(versions)
    session.flush()
    session.add_all(states)
    session.add_all(step for one in admitted for step in _steps(one.manifest))
    for one, version, state in zip(admitted, versions, states, strict=True):
        append(
            session,
            attempt_to_publish(one.manifest.name, Version.parse(one.manifest.version), order.reason),
            by=by,
            after={
                "manifest_digest": version.manifest_digest,
                "contract_digest": version.contract_digest,
                "opens_line": version.opens_line,
                "state": state.state,
                "provenance": order.provenance,
                "exceptions": list(one.decision.exceptions_used),
            }
            | decision_summary(one.decision.to_document()),
            at=now,
        )
        subject = f"{one.manifest.name}@{one.manifest.version}"
        use(session, one.decision.exceptions_used, subject=subject, by=by, at=now)
    session.flush()


def _version(one: Admitted, order: Publish, now: datetime, by: Caller) -> VersionRow:
    manifest, decision = one.manifest, one.decision
    return VersionRow(
        skill=manifest.name,
        sort_key=sort_key(Version.parse(manifest.version)),
        version=manifest.version,
        namespace=manifest.namespace,
        manifest=manifest.canonical,
        manifest_digest=manifest.manifest_digest,
        contract_digest=manifest.contract_digest,
        declared=decision.declared.value if decision.declared else None,
        computed=decision.computed.value if decision.computed else None,
        level=decision.level.value if decision.level else None,
        verdict=decision.verdict,
        baseline=decision.baseline,
        opens_line=decision.opens_line,
        decision=write_json(decision.to_document()),
        opened_by=write_json(decision.opened_by) if decision.opened_by else None,
        reason=order.reason,
        **order.provenance,
        published_at=now,
        published_by=by.label,
    )


def _steps(manifest: SkillManifest) -> Iterator[FallbackRow]:
    for step, one in enumerate(manifest.fallback):
        if one.skill is not None:
            target, _, wanted = one.skill.partition("@")
            key = sort_key(Version.parse(manifest.version))
            yield FallbackRow(skill=manifest.name, sort_key=key, step=step, target=target, range=wanted)


def _state(manifest: SkillManifest, now: datetime) -> VersionState:
    return VersionState(
        skill=manifest.name,
        sort_key=sort_key(Version.parse(manifest.version)),
        state=Status(manifest.status).value,
        deprecated_since=manifest.deprecated_since,
        deprecated_on=now.date() if Status(manifest.status) in (Status.DEPRECATED, Status.SUNSET) else None,
        sunset=None if manifest.sunset is None else date.fromisoformat(manifest.sunset),
        replacement=manifest.replacement,
        migration_guide=storable(manifest.migration_guide),
        revision=1,
        updated_at=now,
    )
