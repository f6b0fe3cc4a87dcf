"""What lists and searches show of a skill: a copy from the version that stands for it, kept with every change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, select

from governance.control.skills.judging import stored_manifest
from governance.control.skills.reading import Found, history
from governance.control.skills.searching import MAX_INDEXED, field_names, folded_field, searchable
from governance.control.skills.tables import SkillRow
from governance.core.contract import SkillManifest
from governance.core.lines import SERVABLE
from governance.core.skill import Status
from governance.core.versioning import Version


def cards(session: Session, names: Sequence[str]) -> dict[str, SkillRow]:
    """The cards of some skills by name; none for a skill that is not published yet."""
    rows = session.exec(select(SkillRow).where(col(SkillRow.name).in_(names))).all()
    return {row.name: row for row in rows}


def refresh_card(session: Session, skill: str, *, at: datetime) -> None:
    """Bring the card of a published skill in line with what its versions have become in this transaction."""
    session.flush()
    store_card(session, cards(session, [skill])[skill], history(session, skill), at=at)


def store_card(
    session: Session,
    row: SkillRow | None,
    versions: Sequence[Found],
    *,
    at: datetime,
    newest: SkillManifest | None = None,
) -> None:
    """Write the card of a skill with these versions; ``newest`` is the manifest of one of them, read already."""
    shown = _representative(versions)
    is_newest = newest is not None and shown["manifest_digest"] == newest.manifest_digest
    manifest = newest if newest is not None and is_newest else stored_manifest(shown["manifest"])
    names = field_names(manifest)
    fresh: dict[str, Any] = {
        "title": storable(manifest.title),
        "description": storable(manifest.description) or "",
        "owner": manifest.owner,
        "category": manifest.category.value,
        "tags": [tag[:MAX_INDEXED] for tag in manifest.tags],
        "fields": sorted({folded_field(name) for name in names}),
        "search": searchable(manifest, names),
        "latest": shown["version"] if _is_reachable(shown) else None,
        "state": shown["state"],
        "sunset": shown["sunset"],
        "versions": len(versions),
        "updated_at": at,
    }
    if row is None:
        row = SkillRow(
            name=manifest.name,
            namespace=manifest.namespace,
            short_name=manifest.name.rpartition(".")[2],
            created_at=at,
            **fresh,
        )
    else:
        for name, value in fresh.items():
            setattr(row, name, value)
    session.add(row)


def _representative(versions: Iterable[Found]) -> Found:
    """The version that stands for the skill: the highest that ranges reach, else the highest there is."""
    ordered = sorted(versions, key=lambda row: bytes(row["sort_key"]))
    return next((row for row in reversed(ordered) if _is_reachable(row)), ordered[-1])


def _is_reachable(row: Found) -> bool:
    return (
        Status(row["state"]) in SERVABLE
        and row["yanked"] is None
        and row["disabled"] is None
        and not Version.parse(row["version"]).is_prerelease
    )


def storable(text_: str | None) -> str | None:
    """Text as a text column takes it; the manifest itself keeps its NULs."""
    return None if text_ is None else text_.replace("\x00", " ")
