"""Publishing: one lock a skill, one decision, the version, its state and the audit entry in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from sqlalchemy import text
from sqlmodel import Session, col, select

from governance.control.auth.roles import Caller, Right
from governance.control.database import it_is
from governance.control.settings import Settings
from governance.control.skills.judging import Judge, Terms
from governance.control.skills.ordering import sort_key
from governance.control.skills.reading import Found, history, published, stored_version
from governance.control.skills.storing import Admitted, Publish, attempt_to_publish, store
from governance.control.skills.surroundings import surroundings_of
from governance.control.skills.tables import VersionState
from governance.core.contract import SkillManifest, manifest_from_document
from governance.core.gate import GateDecision, Outcome, ReplacementFacts
from governance.core.lines import Published
from governance.core.skill import NO_REPLACEMENT, Status
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
NOBODY: Final[Mapping[str, SkillManifest]] = {}

__all__ = [
    "Publish",
    "attempt_to_publish",
    "check_sizes",
    "load_replacement",
    "lock",
    "publish",
    "read_manifest",
    "refused",
    "replacement_facts",
    "version_in_cursor",
]

_LOCK: Final = text(
    "SELECT pg_advisory_xact_lock(hashtextextended('skill:' || name, 0)), clock_timestamp()"
    " FROM unnest(CAST(:names AS text[])) AS name"
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
    return manifest if manifest.version else manifest.numbered(str(version))


def check_sizes(manifest: SkillManifest, settings: Settings) -> None:
    """Raises DocumentTooLarge for a schema past the limit."""
    for field, schema in (("input_schema", manifest.input_schema), ("output_schema", manifest.output_schema)):
        if schema is not None and len(write_json(schema)) > settings.max_schema_bytes:
            raise DocumentTooLarge(
                f"The {field} is larger than {settings.max_schema_bytes} bytes.",
                fix="Split the skill, or raise GOVCTL_MAX_SCHEMA_BYTES.",
                faults=[Fault(pointer=f"/{field}", message="too large", code="size")],
            )


def lock(session: Session, names: Iterable[str]) -> None:
    """Hold some skills until the transaction ends: whoever else would publish one of them waits.

    All lock in the order of the names, so that nobody waits in a circle. From then on it is that time, so that
    what one publisher wrote is never older than what it waited for.
    """
    for _, when in session.execute(_LOCK, {"names": sorted(set(names))}):
        it_is(session, when)


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
        lock(session, [manifest.name])
        there = history(session, manifest.name)
        key = sort_key(Version.parse(manifest.version))
        twin = next((row for row in there if row["sort_key"] == key), None)
        if twin is not None and twin["manifest_digest"] != manifest.manifest_digest:
            raise _taken(manifest, twin)
        if twin is not None:
            return False, stored_version(session, manifest.name, key)
        around = surroundings_of(session, [manifest.name])[manifest.name]
        terms = Terms(fail_on=order.fail_on, transitive=order.transitive)
        decision = judge.decide(manifest, there, terms, load_replacement(session, manifest, by=by), around)
        if decision.outcome is Outcome.BLOCK:
            raise refused(decision)
        store(session, [Admitted(manifest=manifest, decision=decision, there=there)], order, by=by)
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


def load_replacement(
    session: Session, manifest: SkillManifest, beside: Mapping[str, SkillManifest] = NOBODY, *, by: Caller
) -> ReplacementFacts | None:
    """What the caller may know of the skill a manifest names as its replacement; None where it names none."""
    return replacement_facts(session, manifest.replacement, beside, by=by)


def replacement_facts(
    session: Session, replacement: str | None, beside: Mapping[str, SkillManifest] = NOBODY, *, by: Caller
) -> ReplacementFacts | None:
    """What the caller may know of the skill in ``replacement`` (``name@range``); None where it names none.

    A skill that the caller may not read is as good as missing: neither its versions nor what it leads to is told.
    ``beside``: manifests by name that are published in the same transaction, and so are there when this one is.
    """
    if replacement is None or replacement == NO_REPLACEMENT:
        return None
    name = replacement.partition("@")[0]
    leads_to: list[str] = []
    following: str | None = name
    while (
        following is not None
        and (following in beside or by.may(Right.READ, _namespace(following)))
        and following not in leads_to
        and len(leads_to) < _MAX_SUCCESSORS
    ):
        leads_to.append(following)
        declared = beside[following].replacement if following in beside else None
        following = _named(declared) if declared is not None else _successor(session, following)
    there = [published(row) for row in history(session, name)] if by.may(Right.READ, _namespace(name)) else []
    if name in beside:
        there.append(_about_to_be(beside[name]))
    return ReplacementFacts(published=tuple(there), leads_to=tuple(leads_to[1:]))


def _namespace(skill: str) -> str:
    return skill.rpartition(".")[0]


def _about_to_be(manifest: SkillManifest) -> Published:
    return Published(
        version=Version.parse(manifest.version),
        contract_digest=manifest.contract_digest,
        manifest_digest=manifest.manifest_digest,
        opens_line=False,
        baseline=None,
        state=Status(manifest.status),
    )


def _named(replacement: str) -> str | None:
    """The skill a ``name@range`` names, None for "there is none"."""
    return None if replacement == NO_REPLACEMENT else replacement.partition("@")[0]


def _successor(session: Session, skill: str) -> str | None:
    """The skill that the highest version of ``skill`` with a replacement leads to."""
    replacement = session.exec(
        select(VersionState.replacement)
        .where(col(VersionState.skill) == skill, col(VersionState.replacement).is_not(None))
        .order_by(col(VersionState.sort_key).desc())
        .limit(1)
    ).first()
    return None if replacement is None else _named(replacement)
