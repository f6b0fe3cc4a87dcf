"""Hot reads: one query each over the read pool, stored bytes handed on as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final, TypeAlias

import psycopg
from psycopg.rows import dict_row
from sqlmodel import Session

from governance.control.auth.roles import Caller, Right
from governance.control.skills.ordering import sort_key
from governance.control.skills.tables import live_state
from governance.core.canonical import canonical_bytes
from governance.core.contract import DEFAULT_TIMEOUT_SEC, OUTSIDE_CONTRACT
from governance.core.document import Limits, read_json
from governance.core.lines import Published, lines_of
from governance.core.names import check_name, is_name
from governance.core.skill import Status
from governance.core.versioning import Version
from governance.errors import AmbiguousName, NotFound
from governance.wire import write_json

Connection: TypeAlias = psycopg.AsyncConnection[tuple[Any, ...]]
Found: TypeAlias = Mapping[str, Any]

STORED: Final = Limits(size=1 << 30, depth=1_000, nodes=100_000_000)
"""What was let in under one limit is read back under any later one."""

_STATE: Final = f"{live_state('s')} AS state"
_SUMMARY: Final = f"""
v.skill AS name, v.version, v.manifest_digest, v.contract_digest, v.declared, v.computed, v.level, v.verdict,
v.baseline, v.opens_line, {_STATE},
s.yanked, s.disabled, s.deprecated_since, s.deprecated_on, s.retired_since, s.sunset, s.revision,
s.replacement, s.migration_guide, v.published_at, v.published_by
"""
_FROM: Final = "FROM skill_version v JOIN skill_version_state s USING (skill, sort_key)"

_ONE: Final = f"""
SELECT {_SUMMARY}, v.reason, v.repository, v.commit, v.run, v.manifest, v.decision
{_FROM} WHERE v.skill = %s AND v.sort_key = %s
"""
_ALL: Final = f"SELECT {_SUMMARY}, v.opened_by {_FROM} WHERE v.skill = %s ORDER BY v.sort_key"
_HISTORY: Final = f"""
SELECT {_SUMMARY}, v.sort_key, v.manifest, NULL AS opened_by {_FROM} WHERE v.skill = %s ORDER BY v.sort_key
"""
PUBLISHED: Final = f"""
SELECT v.skill, v.version, v.contract_digest, v.manifest_digest, v.opens_line, v.baseline, {_STATE},
s.yanked, s.disabled, v.opened_by, s.deprecated_on, s.sunset, s.retired_since, s.replacement, s.migration_guide
{_FROM} WHERE v.skill = ANY(%s) ORDER BY v.skill, v.sort_key
"""
_NAMES: Final = (
    "SELECT name, namespace, short_name FROM skill WHERE name = ANY(%(names)s) OR short_name = ANY(%(names)s)"
)
_NEAR: Final = r"""
SELECT name, namespace FROM skill
WHERE short_name = %(short)s OR namespace = %(namespace)s OR short_name LIKE %(start)s ORDER BY name LIMIT 300
"""
_BLOB: Final = """
SELECT namespace, manifest, manifest_digest FROM skill_version WHERE manifest_digest = %(digest)s
UNION ALL
SELECT namespace, manifest, manifest_digest FROM skill_version WHERE contract_digest = %(digest)s
"""


async def locate(connection: Connection, names: Iterable[str], caller: Caller) -> dict[str, str | Exception]:
    """The skill each name stands for, or the error that says why it stands for none.

    A whole name stands for itself, whether or not there is such a skill: only bare names cost a query. A bare
    name that is no skill itself stands for the one skill of that name in a namespace the caller may read.
    Errors: InvalidName, Forbidden, NotFound, AmbiguousName.
    """
    asked = list(dict.fromkeys(names))
    bare = [name for name in asked if "." not in name and is_name(name)]
    rows: list[tuple[str, str, str]] = []
    if bare:
        cursor = await connection.execute(_NAMES, {"names": bare})
        rows = [(str(name), str(namespace), str(short)) for name, namespace, short in await cursor.fetchall()]
    return {name: _choose(name, rows, caller) for name in asked}


async def located(connection: Connection, name: str, caller: Caller) -> str:
    """The skill one name stands for, as :func:`locate` finds it. Raises its errors."""
    check_name(name)
    found = (await locate(connection, [name], caller))[name]
    if isinstance(found, NotFound):
        raise await missing(connection, name, caller)
    if isinstance(found, Exception):
        raise found
    return found


def _choose(name: str, rows: Sequence[tuple[str, str, str]], caller: Caller) -> str | Exception:
    try:
        check_name(name)
        if "." in name:
            caller.need(Right.READ, name.rpartition(".")[0])
            return name
    except Exception as error:
        return error
    visible = [full for full, namespace, short in rows if name in {full, short} and caller.may(Right.READ, namespace)]
    if name in visible:
        return name
    short_matches = sorted(visible)
    if len(short_matches) == 1:
        return short_matches[0]
    if short_matches:
        return AmbiguousName(
            f"{name!r} lives in several namespaces: {', '.join(short_matches[:10])}.",
            fix=f"Write the whole name, for example {short_matches[0]!r}.",
            details={"names": short_matches[:100]},
        )
    return no_such_skill(name)


def no_such_skill(name: str, near: Sequence[str] = ()) -> NotFound:
    meant = f"Did you mean {', '.join(near)}? " if near else ""
    return NotFound(
        f"There is no skill {name!r} that this token may see.",
        fix=f"{meant}Look for it with `govctl search {name.rpartition('.')[2]}`.",
        details={"near": list(near)} if near else {},
    )


async def missing(connection: Connection, name: str, caller: Caller) -> NotFound:
    """That there is no such skill, with the names that look like it. Costs one query."""
    namespace, _, short = name.rpartition(".")
    start = short[:3].replace("_", r"\_") + "%"
    cursor = await connection.execute(_NEAR, {"short": short, "namespace": namespace, "start": start})
    rows = [(str(one), str(its)) for one, its in await cursor.fetchall() if caller.may(Right.READ, str(its))]
    by_ending = {one.rpartition(".")[2]: one for one, _ in reversed(rows)} if not namespace else {}
    known = {**by_ending, **{one: one for one, _ in rows}}
    near = dict.fromkeys(known[one] for one in get_close_matches(name, known, n=3, cutoff=0.6))
    return no_such_skill(name, tuple(near))


async def version(connection: Connection, skill: str, asked: Version, caller: Caller) -> Found:
    """The row of one version. Raises NotFound, naming versions that exist, or that there is no such skill."""
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(_ONE, (skill, sort_key(asked)))
        row = await cursor.fetchone()
        if row is not None:
            return row
        await cursor.execute(
            "SELECT version FROM skill_version WHERE skill = %s ORDER BY sort_key DESC LIMIT 5", (skill,)
        )
        there = [str(other["version"]) for other in await cursor.fetchall()]
    if not there:
        raise await missing(connection, skill, caller)
    raise NotFound(
        f"{skill} has no version {asked}.",
        fix=f"There are {', '.join(there)}; `govctl versions {skill}` lists all.",
        details={"versions": there},
    )


def stored_version(session: Session, skill: str, key: bytes) -> Found:
    """The row of one version that is there, read in a session's transaction."""
    return dict(session.connection().exec_driver_sql(_ONE, (skill, key)).mappings().one())


def history(session: Session, skill: str) -> list[Found]:
    """All versions of a skill with manifests and live states, lowest first, read in a session's transaction."""
    rows = session.connection().exec_driver_sql(_HISTORY, (skill,)).mappings()
    return [dict(row) for row in rows]


async def versions(connection: Connection, skill: str, caller: Caller) -> list[Found]:
    """All versions of a skill, lowest first, without manifests. Raises NotFound where there is no such skill."""
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(_ALL, (skill,))
        rows = await cursor.fetchall()
    if not rows:
        raise await missing(connection, skill, caller)
    return list(rows)


def published_rows(rows: Iterable[Sequence[Any]], skills: Sequence[str]) -> dict[str, list[Published]]:
    """All versions of each skill as the core speaks of them, lowest first, from rows of :data:`PUBLISHED`.

    None where there is no such skill.
    """
    found: dict[str, list[Published]] = {skill: [] for skill in skills}
    for skill, *row in rows:
        found[skill].append(_published(*row))
    return found


def published_among(session: Session, skills: Sequence[str]) -> dict[str, list[Published]]:
    """The same, read in a session's transaction."""
    return published_rows(session.connection().exec_driver_sql(PUBLISHED, (list(skills),)), skills)


_CARD: Final = f"""
SELECT name, namespace, title, description, owner, category, tags, latest, {live_state("skill")} AS state,
versions, updated_at
FROM skill WHERE name = %s
"""


async def card(connection: Connection, skill: str, caller: Caller) -> dict[str, Any]:
    """A ``SkillCard`` as plain values. Raises NotFound."""
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(_CARD, (skill,))
        row = await cursor.fetchone()
    if row is None:
        raise await missing(connection, skill, caller)
    return row


def lines(rows: Iterable[Found]) -> list[dict[str, Any]]:
    """``LineView`` values of the versions of one skill, newest line first."""
    return [
        {
            "opened_at": str(line.opens),
            "latest": str(line.versions[-1].version),
            "versions": len(line.versions),
        }
        for line in reversed(lines_of(published(row) for row in rows))
    ]


def whole(row: Found) -> bytes:
    """A ``SkillVersion`` as JSON, the manifest and the decision exactly as stored."""
    head = summary(row) | {
        "reason": row["reason"],
        "provenance": {"repository": row["repository"], "commit": row["commit"], "run": row["run"]},
    }
    return b"".join([write_json(head)[:-1], b',"manifest":', row["manifest"], b',"decision":', row["decision"], b"}"])


_SUMMARY_FIELDS: Final = (
    "name", "version", "manifest_digest", "contract_digest", "declared", "computed", "level", "verdict",
    "baseline", "opens_line", "state", "yanked", "disabled", "deprecated_since", "deprecated_on",
    "retired_since", "sunset", "revision", "replacement", "migration_guide", "published_at", "published_by",
)  # fmt: skip


def summary(row: Found) -> dict[str, Any]:
    """A ``VersionSummary`` as plain values."""
    return {name: row[name] for name in _SUMMARY_FIELDS}


_PUBLISHED_FIELDS: Final = (
    "version", "contract_digest", "manifest_digest", "opens_line", "baseline", "state", "yanked", "disabled",
    "opened_by", "deprecated_on", "sunset", "retired_since", "replacement", "migration_guide",
)  # fmt: skip


def published(row: Found) -> Published:
    """The row as the core speaks of it."""
    return _published(*(row[name] for name in _PUBLISHED_FIELDS))


@lru_cache(maxsize=4096)
def _published(
    version: str,
    contract_digest: str,
    manifest_digest: str,
    opens_line: bool,
    baseline: str | None,
    state: str,
    yanked: str | None,
    disabled: str | None,
    opened_by: bytes | None,
    deprecated_on: date | None,
    sunset: date | None,
    retired_since: date | None,
    replacement: str | None,
    migration_guide: str | None,
) -> Published:
    """Columns as the core speaks of them. Remembered: the same columns are read at every resolve."""
    return Published(
        version=Version.parse(version),
        contract_digest=contract_digest,
        manifest_digest=manifest_digest,
        opens_line=opens_line,
        baseline=None if baseline is None else Version.parse(baseline),
        state=Status(state),
        yanked=yanked,
        disabled=disabled,
        opened_by=() if opened_by is None else tuple(read_json(opened_by, limits=STORED)),
        deprecated_on=_day(deprecated_on),
        sunset=_day(sunset),
        retired_since=_day(retired_since),
        replacement=replacement,
        migration_guide=migration_guide,
    )


def _day(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


async def blob(connection: Connection, digest: str, caller: Caller) -> bytes:
    """The canonical bytes with this digest: a manifest's, or a contract's.

    Raises NotFound, also where the caller may not read the skill.
    """
    cursor = await connection.execute(_BLOB, {"digest": digest})
    async for namespace, manifest, manifest_digest in cursor:
        if not caller.may(Right.READ, namespace):
            continue
        return bytes(manifest) if digest == manifest_digest else contract_bytes(manifest)
    raise NotFound(
        "Nothing that this token may see has this digest.",
        fix="Digests stand in `govctl show NAME@VERSION`.",
    )


def contract_bytes(manifest: bytes) -> bytes:
    """What the contract digest is taken over, from a stored manifest."""
    document = read_json(manifest, limits=STORED)
    contract = {name: value for name, value in document.items() if name not in OUTSIDE_CONTRACT}
    return canonical_bytes({"timeout_sec": DEFAULT_TIMEOUT_SEC} | contract)
