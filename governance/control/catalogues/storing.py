"""Rows of a release that the gate let in: the new versions, the release, its members, the audit entry."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlmodel import Session

from governance.control.audit.service import Attempt, append
from governance.control.auth.roles import Caller
from governance.control.catalogues import reading
from governance.control.catalogues.proposing import Proposal
from governance.control.catalogues.tables import CatalogueRow, MemberRow, ReleaseRow
from governance.control.database import time_of
from governance.control.skills import storing as skills
from governance.control.skills.ordering import sort_key
from governance.core.releases import ReleaseDecision
from governance.core.versioning import Version
from governance.wire import write_json


def content_of(decision: ReleaseDecision) -> dict[str, Any]:
    """``decision``, ``members`` and ``withdrawn`` of a release."""
    return {
        "decision": decision.to_document(),
        "members": decision.members_document(),
        "withdrawn": decision.withdrawn_document(),
    }


def store(
    session: Session,
    proposal: Proposal,
    decision: ReleaseDecision,
    beside: reading.Beside,
    order: skills.Publish,
    *,
    by: Caller,
) -> bytes:
    """Write a release with the versions that are new; the release as JSON.

    Whoever calls holds the locks of the catalogue and of every member's skill.
    """
    now = time_of(session)
    fresh = [
        skills.Admitted(manifest=one.manifest, decision=one.decision, there=beside.histories[name])
        for name, one in sorted(decision.members.items())
        if one.decision is not None and not _is_there(beside, one.manifest.name, one.manifest.version)
    ]
    skills.store(session, fresh, order, by=by)
    _show(session, decision, beside, now)
    session.flush()
    row = ReleaseRow(
        catalogue=decision.catalogue,
        sort_key=sort_key(decision.version),
        version=str(decision.version),
        version_by=decision.version_by.value,
        digest=proposal.digest,
        baseline=str(decision.baseline) if decision.baseline else None,
        bump=decision.bump.value,
        members=len(decision.members),
        content=write_json(content_of(decision)),
        reason=order.reason,
        **order.provenance,
        published_at=now,
        published_by=by.label,
    )
    session.add(row)
    session.flush()
    session.add_all(
        MemberRow(
            catalogue=row.catalogue,
            release_key=row.sort_key,
            skill=name,
            version_key=sort_key(Version.parse(one.manifest.version)),
        )
        for name, one in decision.members.items()
    )
    attempt = Attempt(
        action="catalogue.release",
        subject=f"{row.catalogue}@{row.version}",
        namespace=row.catalogue,
        reason=order.reason,
    )
    append(session, attempt, by=by, after=_recorded(row, decision, len(fresh), order), at=now)
    session.flush()
    return reading.whole(row.model_dump())


def _is_there(beside: reading.Beside, name: str, version: str) -> bool:
    key = sort_key(Version.parse(version))
    return any(bytes(row["sort_key"]) == key for row in beside.histories[name])


def _show(session: Session, decision: ReleaseDecision, beside: reading.Beside, now: datetime) -> None:
    """Bring what a list of catalogues shows in line."""
    numbers = {*beside.releases, decision.version}
    latest = max((one for one in numbers if not one.is_prerelease), default=None)
    row = session.get(CatalogueRow, decision.catalogue)
    if row is None:
        row = CatalogueRow(name=decision.catalogue, members=0, releases=0, created_at=now, updated_at=now)
    if latest in {None, decision.version}:
        row.members = len(decision.members)
    row.latest = None if latest is None else str(latest)
    row.releases = len(numbers)
    row.updated_at = now
    session.add(row)


def _recorded(row: ReleaseRow, decision: ReleaseDecision, fresh: int, order: skills.Publish) -> dict[str, Any]:
    """What the entry keeps: what the release holds, and what it no longer does."""
    document = decision.to_document()
    kept = ("decision", "version_by", "baseline", "bump", "counts")
    return {name: document[name] for name in kept} | {
        "digest": row.digest,
        "published": fresh,
        "members": {name: one.manifest.version for name, one in sorted(decision.members.items())},
        "withdrawn": {one.name: one.successor for one in decision.withdrawn},
        "reasons": [{"code": one.code, "outcome": one.outcome.value} for one in decision.reasons],
        "provenance": order.provenance,
    }
