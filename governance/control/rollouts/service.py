"""Starting rollouts, under the skill's lock, and steering them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlmodel import Session, col, select

from governance.control.audit.service import Attempt, append
from governance.control.auth.roles import Caller, Right
from governance.control.consumers import environments
from governance.control.database import time_of
from governance.control.edge import check_match
from governance.control.rollouts.outcomes import seen_of
from governance.control.rollouts.records import etag, found, namespace_of, recorded, rollout_of, view, write
from governance.control.rollouts.tables import RolloutRow
from governance.control.skills.reading import no_such_skill, published_among
from governance.control.skills.service import lock
from governance.core.consent.serving import obstacle
from governance.core.lines import Line, Published, line_containing, lines_of, preferred
from governance.core.rollout import (
    DEFAULT_PLAN,
    Cancel,
    Event,
    Look,
    Margin,
    Plan,
    Rollout,
    Seen,
    Standing,
    outlook,
    step,
)
from governance.core.skill import Status
from governance.core.versioning import Version
from governance.errors import Conflict, NotFound
from governance.wire import OutlookView, PlanRequest, RolloutRequest, RolloutView, StepView, TallyView


def attempt_to_start(request: RolloutRequest) -> Attempt:
    subject = f"{request.skill}@{request.candidate}"
    return Attempt(
        action="rollout.start", subject=subject, namespace=namespace_of(request.skill), reason=request.reason
    )


def attempt_to_steer(action: str, id_: str, reason: str) -> Attempt:
    return Attempt(action=action, subject=id_, namespace="", reason=reason)


@dataclass(frozen=True, kw_only=True)
class Sides:
    """Both versions of a rollout to be, in one line."""

    candidate: Version
    incumbent: Version
    line: Line

    @property
    def backward(self) -> bool:
        return self.candidate < self.incumbent

    @property
    def above(self) -> list[str]:
        """The versions of the line above the older side, up to the newer one."""
        low, high = sorted((self.candidate, self.incumbent))
        return [str(one.version) for one in self.line.versions if low < one.version <= high]


def start(session: Session, request: RolloutRequest, *, by: Caller) -> RolloutView:
    """Begin a rollout, and lift what an ended one of the same environment keeps from its candidate.

    Raises:
        Forbidden, NotFound (no such skill, version or environment), InvalidRequest (of the plan).
        Conflict: one is open there; the sides stand in two lines; one of them cannot serve.
    """
    by.need(Right.OPERATE, namespace_of(request.skill))
    plan = _plan(request.plan)
    if request.environment is not None:
        environments.load(session, request.environment)
    lock(session, [request.skill])
    published = published_among(session, [request.skill])[request.skill]
    if not published:
        raise no_such_skill(request.skill)
    in_force = select(RolloutRow).where(col(RolloutRow.skill) == request.skill, col(RolloutRow.in_force))
    others = session.exec(in_force.order_by(col(RolloutRow.id)).with_for_update()).all()
    lifted = _make_way(others, request, str(_version(published, request.candidate).version))
    stays = {version for one in others if one not in lifted and not one.environment for version in one.above}
    sides = _sides(request, published, withheld=stays)
    now = time_of(session)
    row = _row(request, sides, Rollout.started(plan, backward=sides.backward, now=now), by=by)
    for one in lifted:
        _, transition = step(rollout_of(one), Cancel(), now=now)
        if transition is not None:
            write(session, one, transition, Seen(), reason=f"{row.id} takes its place", by=by)
    session.add(row)
    session.flush()
    append(session, attempt_to_start(request), by=by, after=recorded(row) | {"plan": row.plan}, at=now)
    return shown(session, row, published)


def _make_way(others: Sequence[RolloutRow], request: RolloutRequest, candidate: str) -> list[RolloutRow]:
    """Ended rollouts that the new one lifts. Raises Conflict where one stands in its way."""
    environment = request.environment or ""
    lifted = []
    for one in others:
        if one.ended_at is None and one.environment == environment:
            raise Conflict(
                f"The rollout {one.id} of {one.skill} {one.candidate} is open there.",
                fix=f"End it first: `govctl rollout fall-back {one.id}` or `govctl rollout cancel {one.id}`.",
                details={"rollout": one.id},
            )
        if one.ended_at is not None and candidate in one.above:
            if one.environment != environment and not one.environment:
                raise Conflict(
                    f"The rollout {one.id} keeps {one.skill} {candidate} from callers of all environments.",
                    fix=f"Lift it first: `govctl rollout cancel {one.id}`.",
                    details={"rollout": one.id},
                )
            if one.environment == environment:
                lifted.append(one)
    return lifted


def _sides(request: RolloutRequest, published: Sequence[Published], *, withheld: set[str]) -> Sides:
    candidate = _version(published, request.candidate)
    if obstacle(candidate, on_record=False) not in (None, "draft"):
        raise Conflict(
            f"{request.skill} {candidate.version} cannot serve: it is {obstacle(candidate, on_record=False)}.",
            fix="Roll out a version that ranges reach.",
        )
    # a draft is judged as what it becomes
    told = [replace(one, state=Status.ACTIVE) if one is candidate else one for one in published]
    line = line_containing(lines_of(told), candidate.version)
    assert line is not None  # whatever is no draft stands in one
    kept = candidate.version.is_prerelease
    able = [
        one
        for one in line.versions
        if one.version != candidate.version
        and one.version.is_prerelease == kept
        and obstacle(one, on_record=False) is None
    ]
    if request.incumbent is None:
        able = [one for one in able if str(one.version) not in withheld]
    else:
        wanted = _version(published, request.incumbent).version
        able = [one for one in able if one.version == wanted]
    if not able:
        which = f"{request.incumbent} is none" if request.incumbent else "there is none"
        raise Conflict(
            f"{request.skill} {candidate.version} takes over from another version of the line that opened at"
            f" {line.opens}, one that ranges reach; {which}.",
            fix="A rollout never crosses a break: callers accept a new line themselves, or ask for it.",
        )
    sides = Sides(candidate=candidate.version, incumbent=preferred(able).version, line=line)
    if sides.backward and candidate.state is Status.DRAFT:
        raise Conflict(
            f"{request.skill} {candidate.version} is a draft: there is no way back to what never served.",
            fix="Activate it first, or go back to another version.",
        )
    return sides


def _version(published: Sequence[Published], text: str) -> Published:
    wanted = Version.parse(text)
    for one in published:
        if one.version == wanted:
            return one
    there = ", ".join(str(one.version) for one in published[-10:])
    raise NotFound(f"There is no version {wanted}.", fix=f"There are {there}.")


def _plan(request: PlanRequest | None) -> Plan | None:
    if request is None:
        return None
    given: dict[str, Any] = {
        name: value for name in type(request).model_fields if (value := getattr(request, name)) is not None
    }
    for name in ("failures", "violations"):
        if name in given:
            given[name] = Margin(absolute=given[name].absolute, relative=given[name].relative)
    return replace(DEFAULT_PLAN, **given | ({"weights": tuple(given["weights"])} if "weights" in given else {}))


def _row(request: RolloutRequest, sides: Sides, rollout: Rollout, *, by: Caller) -> RolloutRow:
    now = rollout.step_since
    return RolloutRow(
        skill=request.skill,
        id="rol_" + secrets.token_hex(8),
        environment=request.environment or "",
        candidate=str(sides.candidate),
        incumbent=str(sides.incumbent),
        above=sides.above,
        plan=rollout.plan.to_document(),
        state=rollout.state.value,
        in_force=rollout.in_force,
        step=rollout.step,
        step_since=now,
        steps=[],
        reason=request.reason,
        revision=1,
        started_at=now,
        started_by=by.label,
        ended_at=None if rollout.open else now,
    )


def steer(
    session: Session, id_: str, event: Event, *, reason: str, match: str | None, by: Caller
) -> tuple[RolloutView, str | None]:
    """Do what an operator says; the rollout, and the kind of step it took, None where it stood so already.

    Raises NotFound, Forbidden, PreconditionRequired, PreconditionFailed, and Conflict where its state does not allow
    it.
    """
    row = found(session, id_, by=by, held=True)
    by.need(Right.OPERATE, namespace_of(row.skill))
    check_match(match, etag(row))
    _, transition = step(rollout_of(row), event, now=time_of(session))
    if transition is not None:
        write(session, row, transition, seen_of(session, row), reason=reason, by=by)
    return shown(session, row), None if transition is None else transition.kind.value


def load(session: Session, id_: str, *, by: Caller) -> RolloutView:
    """One rollout with the numbers of its present step and what it does next. Raises NotFound."""
    return shown(session, found(session, id_, by=by))


def shown(session: Session, row: RolloutRow, published: Sequence[Published] | None = None) -> RolloutView:
    rollout = rollout_of(row)
    if not rollout.open:
        return view(row)
    look = look_at(session, row, published)
    present = StepView(
        weight=rollout.weight,
        since=row.step_since,
        candidate=TallyView(**look.seen.candidate.to_document()),
        incumbent=TallyView(**look.seen.incumbent.to_document()),
    )
    coming = outlook(rollout, look, now=time_of(session))
    return view(row, present=[present], coming=OutlookView.model_validate(coming.to_document()))


def look_at(session: Session, row: RolloutRow, published: Sequence[Published] | None = None) -> Look:
    """What is seen of a rollout now: its calls, and whether its sides can serve."""
    there = published_among(session, [row.skill])[row.skill] if published is None else published
    states = {str(one.version): _standing(one) for one in there}
    return Look(seen=seen_of(session, row), candidate=states[row.candidate], incumbent=states[row.incumbent])


def _standing(one: Published) -> Standing:
    match obstacle(one, on_record=False):
        case None:
            return Standing.SERVES
        case "draft":
            return Standing.DRAFT
        case _:
            return Standing.GONE
