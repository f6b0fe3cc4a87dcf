"""Lists of skills: search in any language, filters, pages in a stable order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, literal_column, or_
from sqlmodel import Session, col, select

from governance.control.auth.roles import Caller, Right
from governance.control.skills.searching import folded_field, like, stems, words
from governance.control.skills.tables import SkillRow, live_state
from governance.core.skill import Status
from governance.wire import SkillCard

_STATE: Final[ColumnElement[str]] = literal_column(f"({live_state('skill')})")


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What a skill must match, all of it; None matches everything."""

    text: str | None = None
    tag: str | None = None
    owner: str | None = None
    state: Status | None = None
    field: str | None = None


def page(
    session: Session, filters: Filters, *, by: Caller, after: str | None, limit: int
) -> tuple[list[SkillCard], str | None]:
    """Skills the caller may read, by name; and the name to go on after, if there are more."""
    query = select(SkillRow, _STATE).where(*_conditions(filters), _visible(by))
    if after is not None:
        query = query.where(col(SkillRow.name) > after)
    rows = session.exec(query.order_by(col(SkillRow.name)).limit(limit + 1)).all()
    cards = [SkillCard.model_validate(card(row) | {"state": state}) for row, state in rows[:limit]]
    return cards, cards[-1].name if len(rows) > limit else None


def _conditions(filters: Filters) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [_has(word) for word in words(filters.text or "")]
    if filters.tag is not None:
        conditions.append(col(SkillRow.tags).contains([filters.tag]))
    if filters.owner is not None:
        conditions.append(col(SkillRow.owner) == filters.owner)
    if filters.state is not None:
        conditions.append(_STATE.in_([filters.state.value]))
    if filters.field is not None:
        conditions.append(col(SkillRow.fields).contains([folded_field(filters.field)]))
    return conditions


def _has(word: str) -> ColumnElement[bool]:
    found = col(SkillRow.search).like(like(word), escape="\\")
    shorter = stems(word)
    return found if shorter is None else or_(found, col(SkillRow.search).regexp_match(shorter))


def _visible(by: Caller) -> ColumnElement[bool]:
    reach = by.reach(Right.READ)
    if "*" in reach:
        return col(SkillRow.name).is_not(None)
    namespace = col(SkillRow.namespace)
    inside = [or_(namespace == one, namespace.startswith(f"{one}.", autoescape=True)) for one in sorted(reach)]
    return or_(*inside) if inside else col(SkillRow.name).is_(None)


def card(row: SkillRow) -> dict[str, Any]:
    """A ``SkillCard`` as plain values, but for its state."""
    names = (
        "name", "namespace", "title", "description", "owner", "category", "tags", "latest", "versions", "updated_at",
    )  # fmt: skip
    return {name: getattr(row, name) for name in names}
