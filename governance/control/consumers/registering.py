"""Consumers as they declare themselves: registered whole, read by those who may read the skills they need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import exists, or_, text
from sqlmodel import Session, col, select

from governance.control.audit.service import Attempt, append
from governance.control.auth.roles import Caller, Right
from governance.control.auth.visible import readable
from governance.control.consumers.tables import ConsumerRow, NeedRow
from governance.control.database import time_of
from governance.control.edge import check_match
from governance.core.consumers import Source
from governance.core.names import check_name
from governance.core.versioning import Range
from governance.errors import Fault, Forbidden, GovernanceError, InvalidRequest, NotFound
from governance.wire import Consumer, ConsumerCard, ConsumerRequest, NeedView

MAX_ROWS: Final = 2_000
"""Needs of one consumer, each environment counted."""
MAX_POINTERS: Final = 5_000

_LOCK: Final = text("SELECT pg_advisory_xact_lock(hashtextextended('consumer:' || :name, 0))")


def attempt_to_register(name: str, request: ConsumerRequest) -> Attempt:
    return _attempt(name, {need.skill for need in request.needs})


def _attempt(name: str, skills: set[str]) -> Attempt:
    """An entry tells of what was needed too, so it belongs to a namespace only where all of that lies in it."""
    namespaces = {_namespace(skill) for skill in skills}
    home = namespaces.pop() if len(namespaces) == 1 else "*"
    return Attempt(action="consumer.register", subject=name, namespace=home)


def register(
    session: Session, name: str, request: ConsumerRequest, *, expected: str | None, by: Caller
) -> tuple[bool, Consumer]:
    """Declare a consumer, in the place of what it declared before: whether it is new, and as it stands now.

    ``expected`` is the caller's ``If-Match``; without one whatever is there is replaced. What was observed stays.

    Raises InvalidRequest with pointers, Forbidden, PreconditionFailed.
    """
    wanted = {(need["skill"], need["environment"]): need for need in _read(request)}
    _need_rights(by, {skill for skill, _ in wanted})
    session.execute(_LOCK, {"name": name})
    row = session.get(ConsumerRow, name)
    declared = _rows(session, name, Source.DECLARED)
    _need_to_replace(by, name, {need.skill for need in declared})
    if expected is not None:
        check_match(expected, str(row.revision if row else 0))
    before = _recorded(row, [need.model_dump() for need in declared]) if row else None
    after = _recorded(request, list(wanted.values()))
    if before == after:
        return False, load(session, name, by=by)
    now = time_of(session)
    created = row is None
    row = row or ConsumerRow(name=name, revision=0, created_at=now, updated_at=now, updated_by=by.label)
    row.owner, row.description = request.owner, request.description
    row.revision, row.updated_at, row.updated_by = row.revision + 1, now, by.label
    session.add(row)
    session.flush()
    needed = {need.skill for need in declared}
    _replace(session, name, dict(wanted), declared, now)
    attempt = _attempt(name, {skill for skill, _ in wanted} | needed)
    append(session, attempt, by=by, before=before, after=after, at=now)
    session.flush()
    return created, load(session, name, by=by)


def _need_rights(by: Caller, skills: set[str]) -> None:
    """Whoever speaks for a consumer may resolve, as a named one, every skill it needs. Raises Forbidden."""
    for namespace in sorted({_namespace(skill) for skill in skills}):
        by.need(Right.RESOLVE, namespace)
    if not skills and not by.reach(Right.RESOLVE):
        by.need(Right.RESOLVE, "*")


def _need_to_replace(by: Caller, name: str, skills: set[str]) -> None:
    """The same for what it needed until now, which is not named to those who may not see it. Raises Forbidden."""
    if not all(by.may(Right.READ, _namespace(skill)) for skill in skills):
        raise Forbidden(
            f"Consumer {name!r} needs skills that this token may not see.",
            fix="Register under another name, or have an admin change this one.",
        )
    if skills:
        _need_rights(by, skills)


def _read(request: ConsumerRequest) -> Iterator[dict[str, Any]]:
    """The needs as rows, one an environment. Raises InvalidRequest with a pointer to each that cannot stand."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    faults: list[Fault] = []
    for index, need in enumerate(request.needs):
        for field, check, value in (("skill", check_name, need.skill), ("range", Range.parse, need.range)):
            try:
                check(value) if value is not None else None
            except GovernanceError as error:
                faults.append(Fault(pointer=f"/needs/{index}/{field}", message=error.message, code=error.code))
        for environment in need.environments or [""]:
            key = (need.skill, environment)
            if key in rows:
                where = f"in {environment}" if environment else "everywhere"
                message = f"{need.skill[:128]} is needed {where} twice"
                faults.append(Fault(pointer=f"/needs/{index}", message=message, code="twice"))
            rows[key] = {
                "skill": need.skill,
                "environment": environment,
                "range": need.range,
                "reads": _fields(need.reads),
                "sends": _fields(need.sends),
            }
    if len(rows) > MAX_ROWS:
        message = f"{len(rows)} needs, each environment counted, are more than {MAX_ROWS}"
        faults.append(Fault(pointer="/needs", message=message, code="size"))
    pointers = sum(len(need.reads or ()) + len(need.sends or ()) for need in request.needs)
    if pointers > MAX_POINTERS:
        faults.append(Fault(pointer="/needs", message=f"more than {MAX_POINTERS} fields in all", code="size"))
    if faults:
        raise InvalidRequest("The consumer's needs cannot stand.", fix="Correct what is named.", faults=faults)
    yield from rows.values()


def _fields(pointers: Sequence[str] | None) -> list[str] | None:
    return None if pointers is None else sorted(set(pointers))


def _replace(
    session: Session,
    name: str,
    wanted: dict[tuple[str, str], dict[str, Any]],
    declared: Sequence[NeedRow],
    now: datetime,
) -> None:
    for row in declared:
        need = wanted.pop((row.skill, row.environment), None)
        if need is None:
            session.delete(row)
        else:
            row.range, row.reads, row.sends, row.last_seen_at = need["range"], need["reads"], need["sends"], now
            session.add(row)
    source = Source.DECLARED.value
    session.add_all(
        NeedRow(consumer=name, source=source, first_seen_at=now, last_seen_at=now, **need) for need in wanted.values()
    )


def load(session: Session, name: str, *, by: Caller) -> Consumer:
    """One consumer, with what it needs of the skills the caller may read.

    Raises NotFound, also where the caller may read none of them.
    """
    row = session.get(ConsumerRow, name)
    needs = _rows(session, name) if row else []
    shown = [need for need in needs if by.may(Right.READ, _namespace(need.skill))]
    if row is None or (needs and not shown):
        raise NotFound(
            f"There is no consumer {name!r} that this token may see.",
            fix="List those there are: `govctl consumer list`.",
        )
    views = [NeedView(**{**need.model_dump(), "environment": need.environment or None}) for need in shown]
    skills = sorted({need.skill for need in shown})
    return Consumer(needs=views, hidden=len(needs) - len(shown), skills=skills, **row.model_dump())


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What a consumer must need, all of it by one need; None: anything."""

    skill: str | None = None
    environment: str | None = None


def page(
    session: Session, filters: Filters, *, by: Caller, after: str | None, limit: int
) -> tuple[list[ConsumerCard], str | None]:
    """Consumers by name, and the name to go on after, if there are more. Two queries."""
    matching = [readable(col(NeedRow.skill), by)]
    if filters.skill is not None:
        matching.append(col(NeedRow.skill) == filters.skill)
    if filters.environment is not None:
        matching.append(col(NeedRow.environment).in_(["", filters.environment]))
    needs_that = exists().where(col(NeedRow.consumer) == col(ConsumerRow.name), *matching)
    needs_nothing = ~exists().where(col(NeedRow.consumer) == col(ConsumerRow.name))
    shown = needs_that if len(matching) > 1 else or_(needs_that, needs_nothing)
    query = select(ConsumerRow).where(shown, col(ConsumerRow.name) > (after or ""))
    rows = session.exec(query.order_by(col(ConsumerRow.name)).limit(limit + 1)).all()
    names = [row.name for row in rows[:limit]]
    pairs = session.exec(
        select(NeedRow.consumer, NeedRow.skill)
        .where(col(NeedRow.consumer).in_(names), readable(col(NeedRow.skill), by))
        .distinct()
    ).all()
    skills: dict[str, list[str]] = {name: [] for name in names}
    for consumer, skill in sorted(pairs):
        skills[consumer].append(skill)
    cards = [ConsumerCard(skills=skills[row.name], **row.model_dump()) for row in rows[:limit]]
    return cards, names[-1] if len(rows) > limit else None


def _rows(session: Session, name: str, source: Source | None = None) -> Sequence[NeedRow]:
    query = select(NeedRow).where(col(NeedRow.consumer) == name)
    if source is not None:
        query = query.where(col(NeedRow.source) == source.value)
    return session.exec(query.order_by(col(NeedRow.skill), col(NeedRow.environment), col(NeedRow.source))).all()


def _recorded(about: ConsumerRow | ConsumerRequest, needs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What an entry keeps of a declaration: all of it, none of it is secret."""
    kept = ("skill", "environment", "range", "reads", "sends")
    told = [{key: need[key] for key in kept} for need in needs]
    return {
        "owner": about.owner,
        "description": about.description,
        "needs": sorted(told, key=lambda need: (need["skill"], need["environment"])),
    }


def _namespace(skill: str) -> str:
    return skill.rpartition(".")[0]
