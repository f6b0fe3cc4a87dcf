"""The change that matters to a refused caller: between the version it knows and the newest, in the fields it uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from starlette.concurrency import run_in_threadpool

from governance.control.skills.judging import Judge
from governance.control.skills.ordering import sort_key
from governance.control.skills.reading import Connection, Found
from governance.core.compat.model import Comparison, FindingLevel
from governance.core.consumers import Moves, Need
from governance.core.versioning import Version
from governance.errors import BreakingChangeNotAccepted

_MOST_TOLD: Final = 5
"""Refusals of one batch that are told in full; the rest show what opened the line."""
_FINDINGS: Final = 10

_MANIFESTS: Final = """
SELECT v.skill, v.version, v.manifest, v.manifest_digest
FROM unnest(%(skills)s::text[], %(keys)s::bytea[]) AS asked (skill, sort_key)
JOIN skill_version v USING (skill, sort_key)
"""
_FIELDS: Final = """
SELECT DISTINCT ON (skill) skill, reads, sends FROM consumer_need
WHERE consumer = %(consumer)s AND skill = ANY(%(skills)s) ORDER BY skill, source, environment
"""


async def tell(
    connection: Connection,
    refusals: Sequence[BreakingChangeNotAccepted],
    *,
    consumer: str | None,
    judge: Judge,
) -> None:
    """Put ``matters`` into the details of refusals whose caller knows a version, in two queries for all of them."""
    told = [one for one in refusals if one.details.get("from") is not None][:_MOST_TOLD]
    if not told:
        return
    fields = await _fields(connection, {one.details["skill"] for one in told}, consumer)
    rows = await _manifests(connection, [key for one in told for key in _sides(one)])
    for one in told:
        old, new = (rows.get(side) for side in _sides(one))
        if old is not None and new is not None:
            need = fields.get(one.details["skill"], Need(consumer=consumer or ""))
            comparison, own = await run_in_threadpool(_compare, judge, need, old, new)
            one.details |= {"matters": _document(comparison, own=own)}


def _sides(one: BreakingChangeNotAccepted) -> tuple[tuple[str, str], tuple[str, str]]:
    skill = one.details["skill"]
    return (skill, one.details["from"]), (skill, one.details["newest"])


def _compare(judge: Judge, need: Need, old: Found, new: Found) -> tuple[Comparison, bool]:
    return Moves(compare=judge.compare)(need, judge.manifest(old), judge.manifest(new))


def _document(comparison: Comparison, *, own: bool) -> dict[str, Any]:
    unproved = (FindingLevel.BREAKING, FindingLevel.UNDECIDED)
    found = [finding.to_document() for finding in comparison.findings if finding.level in unproved]
    payload = next((one["witness"]["payload"] for one in found if "witness" in one), None)
    return {
        "verdict": comparison.verdict.value,
        "own_fields": own,
        "findings": found[:_FINDINGS],
        **({"payload": payload} if payload is not None else {}),
    }


async def _fields(connection: Connection, skills: Iterable[str], consumer: str | None) -> Mapping[str, Need]:
    """What the consumer says it sends and reads of each skill."""
    if consumer is None:
        return {}
    cursor = await connection.execute(_FIELDS, {"consumer": consumer, "skills": sorted(skills)})
    return {
        skill: Need(
            consumer=consumer,
            reads=None if reads is None else tuple(reads),
            sends=None if sends is None else tuple(sends),
        )
        for skill, reads, sends in await cursor.fetchall()
    }


async def _manifests(connection: Connection, wanted: Sequence[tuple[str, str]]) -> Mapping[tuple[str, str], Found]:
    keys = [sort_key(Version.parse(version)) for _, version in wanted]
    cursor = await connection.execute(_MANIFESTS, {"skills": [skill for skill, _ in wanted], "keys": keys})
    return {
        (skill, version): {"manifest": manifest, "manifest_digest": digest}
        for skill, version, manifest, digest in await cursor.fetchall()
    }
