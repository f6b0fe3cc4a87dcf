"""What a release is judged beside, in as many queries for a thousand tools as for one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from sqlalchemy import ColumnElement, or_
from sqlmodel import Session, col, select

from governance.control.auth.roles import Caller, Right
from governance.control.catalogues.tables import CatalogueRow
from governance.control.skills.ordering import sort_key
from governance.control.skills.reading import Found
from governance.control.skills.surroundings import surroundings_of
from governance.core.gate import Surroundings
from governance.core.skill import SkillManifest
from governance.core.versioning import Version
from governance.errors import NotFound
from governance.wire import ReleaseSummary, write_json

Marks: TypeAlias = Mapping[str, tuple[tuple[bytes, int], ...]]
"""By skill, every version with the count of its changes: equal while nobody published or changed any."""

_HISTORIES: Final = """
SELECT v.skill, v.sort_key, v.version, v.manifest, v.manifest_digest, v.contract_digest, v.opens_line, v.baseline,
CASE WHEN s.state = 'deprecated' AND s.sunset <= current_date THEN 'sunset' ELSE s.state END AS state,
s.yanked, s.disabled, s.deprecated_on, s.retired_since, s.sunset, s.replacement, s.migration_guide, s.revision,
NULL AS opened_by
FROM skill_version v JOIN skill_version_state s USING (skill, sort_key)
WHERE v.skill = ANY(%s) ORDER BY v.skill, v.sort_key
"""
_MARKS: Final = """
SELECT skill, sort_key, revision FROM skill_version_state WHERE skill = ANY(%s) ORDER BY skill, sort_key
"""
_RELEASES: Final = "SELECT version, digest FROM catalogue_release WHERE catalogue = %s ORDER BY sort_key"
_MEMBERS: Final = """
SELECT v.skill AS name, v.version, v.manifest, v.manifest_digest, v.contract_digest, s.replacement
FROM catalogue_member m
JOIN skill_version v ON v.skill = m.skill AND v.sort_key = m.version_key
JOIN skill_version_state s ON s.skill = m.skill AND s.sort_key = m.version_key
WHERE m.catalogue = %s AND m.release_key = %s ORDER BY v.skill
"""


@dataclass(frozen=True, kw_only=True)
class Beside:
    """What is there already: the histories of the members' skills, the catalogue's releases."""

    histories: Mapping[str, Sequence[Found]]
    releases: Mapping[Version, str]
    """Number and digest of every release."""
    baseline: Version | None
    """The highest stable release below the one that is asked for."""
    before: Sequence[Found]
    """The members of the baseline, as :func:`members` reads them."""
    around: Mapping[str, Surroundings]
    """What surrounds each member's skill."""

    @property
    def marks(self) -> Marks:
        return {
            name: tuple((bytes(row["sort_key"]), int(row["revision"])) for row in rows)
            for name, rows in self.histories.items()
        }


def look(session: Session, catalogue: str, version: Version | None, names: Sequence[str]) -> Beside:
    """What release ``version`` of ``catalogue`` is judged beside; None stands above all others."""
    every = releases(session, catalogue)
    below = [one for one in every if not one.is_prerelease and (version is None or one < version)]
    baseline = max(below, key=lambda one: one.key, default=None)
    return Beside(
        histories=histories(session, names),
        releases=every,
        baseline=baseline,
        before=() if baseline is None else members(session, catalogue, baseline),
        around=surroundings_of(session, names),
    )


def releases(session: Session, catalogue: str) -> dict[Version, str]:
    """Number and digest of every release."""
    rows = session.connection().exec_driver_sql(_RELEASES, (catalogue,))
    return {Version.parse(version): str(digest) for version, digest in rows}


def histories(session: Session, names: Sequence[str]) -> dict[str, list[Found]]:
    """All versions of each skill with manifests and live states, lowest first."""
    found: dict[str, list[Found]] = {name: [] for name in names}
    for row in session.connection().exec_driver_sql(_HISTORIES, (list(names),)).mappings():
        found[row["skill"]].append(dict(row))
    return found


def marks(session: Session, names: Sequence[str]) -> Marks:
    """What tells whether :func:`histories` would still say the same."""
    found: dict[str, tuple[tuple[bytes, int], ...]] = dict.fromkeys(names, ())
    for skill, key, revision in session.connection().exec_driver_sql(_MARKS, (list(names),)):
        found[skill] += ((bytes(key), int(revision)),)
    return found


def members(session: Session, catalogue: str, version: Version) -> list[Found]:
    """The versions a release holds, by name: manifests, and the successors that are known today."""
    rows = session.connection().exec_driver_sql(_MEMBERS, (catalogue, sort_key(version))).mappings()
    return [dict(row) for row in rows]


def held(rows: Iterable[Found], manifest_of: Callable[[Found], SkillManifest]) -> list[SkillManifest]:
    """The manifests of a release's members, each with the successor that is known today."""
    found = []
    for row in rows:
        manifest, known = manifest_of(row), row["replacement"]
        found.append(manifest if known == manifest.replacement else replace(manifest, replacement=known))
    return found


_COLUMNS: Final = "catalogue, version, version_by, digest, baseline, bump, members, published_at, published_by"
_ONE: Final = f"""
SELECT {_COLUMNS}, content, reason, repository, commit, run
FROM catalogue_release WHERE catalogue = %s AND sort_key = %s
"""
_PAGE: Final = f"""
SELECT {_COLUMNS} FROM catalogue_release
WHERE catalogue = %(name)s AND (%(before)s::bytea IS NULL OR sort_key < %(before)s)
ORDER BY sort_key DESC LIMIT %(limit)s
"""


def release(session: Session, catalogue: str, version: Version) -> Found:
    """The row of one release. Raises NotFound, naming releases that exist."""
    row = session.connection().exec_driver_sql(_ONE, (catalogue, sort_key(version))).mappings().one_or_none()
    if row is not None:
        return dict(row)
    there = [str(one) for one in sorted(releases(session, catalogue), key=lambda one: one.key, reverse=True)[:5]]
    if not there:
        raise no_such_catalogue(catalogue)
    raise NotFound(
        f"{catalogue} has no release {version}.",
        fix=f"There are {', '.join(there)}; `govctl catalogue list {catalogue}` lists all.",
        details={"versions": there},
    )


def no_such_catalogue(name: str) -> NotFound:
    return NotFound(f"There is no catalogue {name!r}.", fix="`govctl catalogue list` lists those there are.")


def catalogue(session: Session, name: str) -> CatalogueRow:
    """The row of one catalogue. Raises NotFound."""
    row = session.get(CatalogueRow, name)
    if row is None:
        raise no_such_catalogue(name)
    return row


def page(session: Session, name: str, *, before: Version | None, limit: int) -> list[ReleaseSummary]:
    """Releases below ``before``, highest first. Raises NotFound where there is no such catalogue."""
    catalogue(session, name)
    values = {"name": name, "before": None if before is None else sort_key(before), "limit": limit}
    rows = session.connection().exec_driver_sql(_PAGE, values).mappings()
    return [ReleaseSummary.model_validate(dict(row)) for row in rows]


def whole(row: Found) -> bytes:
    """A ``CatalogueRelease`` as JSON, its content exactly as stored."""
    names = ("catalogue", "version", "version_by", "digest", "reason", "published_at", "published_by")
    head = {name: row[name] for name in names} | {
        "provenance": {"repository": row["repository"], "commit": row["commit"], "run": row["run"]},
    }
    return write_json(head)[:-1] + b"," + bytes(row["content"])[1:]


def catalogues(session: Session, by: Caller, *, after: str | None, limit: int) -> list[CatalogueRow]:
    """Catalogues that the caller may read, by name."""
    query = select(CatalogueRow).where(_visible(by))
    if after is not None:
        query = query.where(col(CatalogueRow.name) > after)
    return list(session.exec(query.order_by(col(CatalogueRow.name)).limit(limit)).all())


def _visible(by: Caller) -> ColumnElement[bool]:
    reach = by.reach(Right.READ)
    name = col(CatalogueRow.name)
    if "*" in reach:
        return name.is_not(None)
    inside = [or_(name == one, name.startswith(f"{one}.", autoescape=True)) for one in sorted(reach)]
    return or_(*inside) if inside else name.is_(None)
