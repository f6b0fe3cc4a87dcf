"""Publishing: one lock a skill, one decision, the version, its state and the audit entry in one transaction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, Final

from sqlalchemy import text
from sqlmodel import Session, col, select

from governance.control.audit.service import Attempt, append, decision_summary
from governance.control.auth.roles import Caller
from governance.control.settings import Settings
from governance.control.skills.judging import Judge, Terms, stored_manifest
from governance.control.skills.ordering import sort_key
from governance.control.skills.reading import Found, history, published, stored_version
from governance.control.skills.searching import MAX_INDEXED, field_names, folded_field, searchable
from governance.control.skills.tables import SkillRow, VersionRow, VersionState
from governance.core.canonical import canonical_bytes
from governance.core.contract import SkillManifest, manifest_from_document
from governance.core.gate import GateDecision, Outcome, ReplacementFacts
from governance.core.lines import SERVABLE
from governance.core.skill import Status
from governance.core.versioning import Version
from governance.errors import (
    DocumentTooLarge,
    Fault,
    GateRefused,
    GovernanceError,
    InvalidContract,
    UsageError,
    VersionExists,
)
from governance.telemetry import span
from governance.wire import write_json

_MAX_SUCCESSORS: Final = 100

LOCK_SKILL: Final = text("SELECT pg_advisory_xact_lock(hashtextextended('skill:' || :skill, 0))")


@dataclass(frozen=True, kw_only=True)
class Publish:
    """What comes with a manifest: why, how strictly, and from where."""

    reason: str | None = None
    fail_on: str | None = None
    transitive: bool = True
    repository: str | None = None
    commit: str | None = None
    run: str | None = None


def attempt_to_publish(name: str, version: Version, reason: str | None) -> Attempt:
    return Attempt(
        action="skill.publish",
        subject=f"{name}@{version}",
        namespace=name.rpartition(".")[0],
        reason=reason,
    )


def version_in_cursor(position: str) -> Version:
    """The version a cursor stands at. Raises UsageError."""
    try:
        return Version.parse(position)
    except GovernanceError:
        raise UsageError("The cursor belongs to another list.", fix="Start at the first page again.") from None


def read_manifest(document: Any, *, name: str, version: Version, settings: Settings) -> SkillManifest:
    """The manifest of a request, which must be the one its path names.

    Raises InvalidContract and DocumentTooLarge, with pointers.
    """
    manifest = manifest_from_document(document)
    faults = []
    if manifest.name != name:
        faults.append(Fault(pointer="/name", message=f"the path says {name!r}", code="path"))
    if manifest.version and manifest.version != str(version):
        faults.append(Fault(pointer="/version", message=f"the path says {str(version)!r}", code="path"))
    if faults:
        raise InvalidContract(
            "The manifest is not the one its path names.", fix="Make name and version agree.", faults=faults
        )
    check_sizes(manifest, settings)
    return manifest if manifest.version else replace(manifest, version=str(version))


def check_sizes(manifest: SkillManifest, settings: Settings) -> None:
    """Raises DocumentTooLarge for a schema past the limit."""
    for field, schema in (("input_schema", manifest.input_schema), ("output_schema", manifest.output_schema)):
        if schema is not None and len(write_json(schema)) > settings.max_schema_bytes:
            raise DocumentTooLarge(
                f"The {field} is larger than {settings.max_schema_bytes} bytes.",
                fix="Split the skill, or raise GOVCTL_MAX_SCHEMA_BYTES.",
                faults=[Fault(pointer=f"/{field}", message="too large", code="size")],
            )


def publish(
    session: Session, manifest: SkillManifest, order: Publish, *, by: Caller, judge: Judge
) -> tuple[bool, Found]:
    """Publish ``manifest``: whether it is new, and its row as :func:`reading.whole` takes it.

    Publishers of one skill come one after the other; those of different skills never wait for each other.

    Raises:
        VersionExists: the version is taken by other bytes.
        GateRefused: ``details["decision"]`` is the decision document.
    """
    with span("governance.publish", **{"governance.skill": manifest.name}):
        session.execute(LOCK_SKILL, {"skill": manifest.name})
        there = history(session, manifest.name)
        key = sort_key(Version.parse(manifest.version))
        twin = next((row for row in there if row["sort_key"] == key), None)
        if twin is not None and twin["manifest_digest"] != manifest.manifest_digest:
            raise _taken(manifest, twin)
        if twin is not None:
            return False, stored_version(session, manifest.name, key)
        terms = Terms(fail_on=order.fail_on, transitive=order.transitive)
        decision = judge.decide(manifest, there, terms, load_replacement(session, manifest))
        if decision.outcome is Outcome.BLOCK:
            raise refused(decision)
        _store(session, manifest, decision, there, order, by=by)
        return True, stored_version(session, manifest.name, key)


def refused(decision: GateDecision) -> GateRefused:
    """The refusal: its first reason in words, all of them in the decision."""
    blocks = [reason for reason in decision.reasons if reason.outcome is Outcome.BLOCK]
    more = f" (and {len(blocks) - 1} more)" if len(blocks) > 1 else ""
    return GateRefused(
        f"The gate refused {decision.skill} {decision.version}: {blocks[0].message.rstrip('.')}{more}.",
        fix=blocks[0].fix,
        details={"decision": decision.to_document(), "undecided_alone": decision.undecided_alone},
    )


def _taken(manifest: SkillManifest, there: Found) -> VersionExists:
    same = there["contract_digest"] == manifest.contract_digest
    what = "the contract is the same, what stands beside it differs" if same else "its contract differs"
    when = there["published_at"]
    return VersionExists(
        f"{manifest.name} {there['version']} was published by {there['published_by']} at "
        f"{when:%Y-%m-%d %H:%M:%S} UTC with other bytes: {what}.",
        fix="A version never changes: publish under the next number (`--bump auto` picks it).",
        details={
            "version": there["version"],
            "published_by": there["published_by"],
            "published_at": when.isoformat(),
            "manifest_digest": there["manifest_digest"],
            "your_manifest_digest": manifest.manifest_digest,
        },
    )


def load_replacement(session: Session, manifest: SkillManifest) -> ReplacementFacts | None:
    """What is known of the skill a manifest names as its replacement; None where it names none."""
    if manifest.replacement is None or manifest.replacement == "none":
        return None
    name = manifest.replacement.partition("@")[0]
    leads_to: list[str] = []
    following: str | None = name
    while following is not None and following not in leads_to and len(leads_to) < _MAX_SUCCESSORS:
        leads_to.append(following)
        following = _successor(session, following)
    rows = history(session, name)
    return ReplacementFacts(published=tuple(published(row) for row in rows), leads_to=tuple(leads_to[1:]))


def _successor(session: Session, skill: str) -> str | None:
    """The skill that the highest version of ``skill`` with a replacement leads to."""
    replacement = session.exec(
        select(VersionState.replacement)
        .where(col(VersionState.skill) == skill, col(VersionState.replacement).is_not(None))
        .order_by(col(VersionState.sort_key).desc())
        .limit(1)
    ).first()
    return None if replacement in {None, "none"} else str(replacement).partition("@")[0]


def _store(
    session: Session,
    manifest: SkillManifest,
    decision: GateDecision,
    there: list[Found],
    order: Publish,
    *,
    by: Caller,
) -> None:
    now = datetime.now(UTC)
    parsed = Version.parse(manifest.version)
    key = sort_key(parsed)
    version = VersionRow(
        skill=manifest.name,
        sort_key=key,
        version=manifest.version,
        namespace=manifest.namespace,
        manifest=canonical_bytes(manifest.to_document()),
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
        repository=order.repository,
        commit=order.commit,
        run=order.run,
        published_at=now,
        published_by=by.label,
    )
    state = VersionState(
        skill=manifest.name,
        sort_key=key,
        state=Status(manifest.status).value,
        deprecated_since=manifest.deprecated_since,
        sunset=None if manifest.sunset is None else date.fromisoformat(manifest.sunset),
        replacement=manifest.replacement,
        migration_guide=_storable(manifest.migration_guide),
        revision=1,
        updated_at=now,
    )
    standing = version.model_dump() | {"state": state.state, "yanked": None, "disabled": None}
    _store_card(session, [*there, standing], manifest, now)
    session.flush()
    session.add(version)
    session.flush()
    session.add(state)
    append(
        session,
        attempt_to_publish(manifest.name, parsed, order.reason),
        by=by,
        after={
            "manifest_digest": version.manifest_digest,
            "contract_digest": version.contract_digest,
            "opens_line": version.opens_line,
            "state": state.state,
            "provenance": {"repository": order.repository, "commit": order.commit, "run": order.run},
        }
        | decision_summary(decision.to_document()),
        at=now,
    )
    session.flush()


def _store_card(session: Session, rows: list[Found], newest: SkillManifest, now: datetime) -> None:
    """Bring what lists and searches show in line with the versions there are now."""
    shown = _representative(rows)
    manifest = newest
    if shown["manifest_digest"] != newest.manifest_digest:
        manifest = stored_manifest(shown["manifest"])
    stable = _is_reachable(shown)
    names = field_names(manifest)
    row = session.get(SkillRow, newest.name)
    fresh = {
        "title": _storable(manifest.title),
        "description": _storable(manifest.description) or "",
        "owner": manifest.owner,
        "category": manifest.category.value,
        "tags": [tag[:MAX_INDEXED] for tag in manifest.tags],
        "fields": sorted({folded_field(name) for name in names}),
        "search": searchable(manifest, names),
        "latest": shown["version"] if stable else None,
        "state": shown["state"],
        "versions": len(rows),
        "updated_at": now,
    }
    if row is None:
        row = SkillRow(
            name=newest.name,
            namespace=newest.namespace,
            short_name=newest.name.rpartition(".")[2],
            created_at=now,
            **fresh,
        )
    else:
        for name, value in fresh.items():
            setattr(row, name, value)
    session.add(row)


def _representative(rows: list[Found]) -> Found:
    """The version that stands for the skill: the highest that ranges reach, else the highest there is."""
    ordered = sorted(rows, key=lambda row: bytes(row["sort_key"]))
    return next((row for row in reversed(ordered) if _is_reachable(row)), ordered[-1])


def _is_reachable(row: Found) -> bool:
    return (
        Status(row["state"]) in SERVABLE
        and row["yanked"] is None
        and row["disabled"] is None
        and not Version.parse(row["version"]).is_prerelease
    )


def _storable(text_: str | None) -> str | None:
    """Text as a text column takes it; the manifest itself keeps its NULs."""
    return None if text_ is None else text_.replace("\x00", " ")
