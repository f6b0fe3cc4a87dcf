"""``/v1/rollouts``: started, steered, looked at; and the outcomes they go by."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response
from sqlmodel import Session

from governance.control.auth.service import Known
from governance.control.database import Database, session
from governance.control.edge import (
    NO_STORE,
    Cursor,
    GivenMatch,
    JSONAnswer,
    Limit,
    message,
    read_cursor,
    takes,
    write_cursor,
)
from governance.control.idempotency.service import REPLAYED, GivenKey, claimed
from governance.control.problems import EVERYWHERE, WITH_BODY, responses
from governance.control.rollouts import listing, outcomes, service
from governance.core.names import check_name
from governance.core.rollout import Advance, Cancel, Event, FallBack, Hold, Resume, RolloutState
from governance.errors import (
    Conflict,
    Forbidden,
    IdempotencyKeyReused,
    InvalidName,
    InvalidVersion,
    NotFound,
    PreconditionFailed,
    PreconditionRequired,
    RequestRunning,
    TooManyRequests,
    UsageError,
)
from governance.telemetry import Telemetry
from governance.wire import OutcomesRequest, OutcomesTaken, RolloutPage, RolloutRequest, RolloutView, SteeringRequest

router = APIRouter(prefix="/v1/rollouts", tags=["rollouts"])

InTransaction = Annotated[Session, Depends(session, scope="function")]
RolloutId = Annotated[str, Path(pattern=r"^rol_[0-9a-f]{16}$", examples=["rol_0123456789abcdef"])]
Why = Annotated[SteeringRequest, Depends(message(SteeringRequest))]

_ALWAYS = (*EVERYWHERE, UsageError)
_BODY = (*_ALWAYS, Forbidden, NotFound, *WITH_BODY)
_STEERED = (*_BODY, Conflict, PreconditionFailed, PreconditionRequired)


@router.post(
    "",
    status_code=201,
    response_model=RolloutView,
    responses=responses(
        *_BODY, InvalidName, InvalidVersion, Conflict, IdempotencyKeyReused, RequestRunning, TooManyRequests
    ),
    openapi_extra=takes(RolloutRequest),
)
def start_rollout(
    request: Request, caller: Known, body: Annotated[RolloutRequest, Depends(message(RolloutRequest))], key: GivenKey
) -> Response:
    """Roll a version out to a growing share of the consumers, or back to an older version of the same line.

    A way back without a `plan` is gone at once. A draft may be rolled out: its share gets it once it is activated.
    """
    check_name(body.skill)
    request.state.attempt = service.attempt_to_start(body)
    database: Database = request.app.state.database
    headers = {"Cache-Control": NO_STORE}
    with claimed(database, key, by=caller) as claim, database.transaction() as current:
        if claim.made is not None:
            made = service.load(current, claim.made, by=caller)
            headers |= {REPLAYED: "true"}
        else:
            made = service.start(current, body, by=caller)
            claim.done(current, made.id)
    return _answer(made, status=201, headers=headers)


@router.get("", response_model=RolloutPage, responses=responses(*_ALWAYS))
def list_rollouts(
    caller: Known,
    current: InTransaction,
    skill: Annotated[str | None, Query(min_length=1, max_length=128)] = None,
    environment: Annotated[str | None, Query(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")] = None,
    state: RolloutState | None = None,
    in_force: Annotated[bool | None, Query(description="Those that keep somebody from a version, or do not.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Rollouts that match all that is given, the newest first, without the numbers of their present steps."""
    items, more = listing.page(
        current,
        by=caller,
        skill=skill,
        environment=environment,
        state=state,
        in_force=in_force,
        after=read_cursor(cursor),
        limit=limit,
    )
    page = RolloutPage(items=items, next=None if more is None else write_cursor(more))
    return JSONAnswer(page, headers={"Cache-Control": NO_STORE})


@router.get("/{rollout_id}", response_model=RolloutView, responses=responses(*_ALWAYS, NotFound))
def get_rollout(caller: Known, current: InTransaction, rollout_id: RolloutId) -> Response:
    """One rollout: the numbers of each step, and what it does next by itself."""
    return _answer(service.load(current, rollout_id, by=caller))


def _steer(
    request: Request, current: Session, caller: Known, rollout_id: str, event: Event, why: str, match: str | None
) -> Response:
    action = {
        Hold: "hold", Resume: "resume", Advance: "advance", FallBack: "fall_back", Cancel: "cancel",
    }[type(event)]  # fmt: skip
    request.state.attempt = service.attempt_to_steer(f"rollout.{action}", rollout_id, why)
    telemetry: Telemetry = request.app.state.telemetry
    steered, kind = service.steer(current, rollout_id, event, reason=why, match=match, by=caller)
    if kind is not None:
        telemetry.count("governance_rollout_steps_total", kind=kind)
    return _answer(steered)


@router.post(
    "/{rollout_id}/hold",
    response_model=RolloutView,
    responses=responses(*_STEERED),
    openapi_extra=takes(SteeringRequest),
)
def hold_rollout(
    request: Request, caller: Known, current: InTransaction, rollout_id: RolloutId, body: Why, match: GivenMatch = None
) -> Response:
    """Keep the share as it is. It still falls back by itself."""
    return _steer(request, current, caller, rollout_id, Hold(), body.reason, match)


@router.post(
    "/{rollout_id}/resume",
    response_model=RolloutView,
    responses=responses(*_STEERED),
    openapi_extra=takes(SteeringRequest),
)
def resume_rollout(
    request: Request, caller: Known, current: InTransaction, rollout_id: RolloutId, body: Why, match: GivenMatch = None
) -> Response:
    """Let a held rollout go on."""
    return _steer(request, current, caller, rollout_id, Resume(), body.reason, match)


@router.post(
    "/{rollout_id}/advance",
    response_model=RolloutView,
    responses=responses(*_STEERED),
    openapi_extra=takes(SteeringRequest),
)
def advance_rollout(
    request: Request, caller: Known, current: InTransaction, rollout_id: RolloutId, body: Why, match: GivenMatch = None
) -> Response:
    """Take the next step now, whatever was seen; out of the last one the rollout is complete."""
    return _steer(request, current, caller, rollout_id, Advance(), body.reason, match)


@router.post(
    "/{rollout_id}/fall-back",
    response_model=RolloutView,
    responses=responses(*_STEERED),
    openapi_extra=takes(SteeringRequest),
)
def fall_back(
    request: Request, caller: Known, current: InTransaction, rollout_id: RolloutId, body: Why, match: GivenMatch = None
) -> Response:
    """Give all callers the incumbent. The candidate stays withheld until this is cancelled or rolled out anew."""
    return _steer(request, current, caller, rollout_id, FallBack(), body.reason, match)


@router.post(
    "/{rollout_id}/cancel",
    response_model=RolloutView,
    responses=responses(*_STEERED),
    openapi_extra=takes(SteeringRequest),
)
def cancel_rollout(
    request: Request, caller: Known, current: InTransaction, rollout_id: RolloutId, body: Why, match: GivenMatch = None
) -> Response:
    """Steer nobody any more: from now on the highest match serves all callers. Ends what an ended one withholds too."""
    return _steer(request, current, caller, rollout_id, Cancel(), body.reason, match)


@router.post(
    "/{rollout_id}/outcomes",
    response_model=OutcomesTaken,
    responses=responses(*_BODY, TooManyRequests),
    openapi_extra=takes(OutcomesRequest),
)
def report_outcomes(
    request: Request,
    caller: Known,
    current: InTransaction,
    rollout_id: RolloutId,
    body: Annotated[OutcomesRequest, Depends(message(OutcomesRequest))],
) -> Response:
    """What calls of both sides came to, by minute. Safe to repeat: a sender's word on a minute counts once."""
    request.state.attempt = outcomes.attempt_to_report(rollout_id)
    row = outcomes.reported_to(current, rollout_id, by=caller)
    request.state.attempt = None  # a sender whose clock is wrong says so every minute: that is nobody's attempt
    taken = outcomes.take(current, row, body, by=caller)
    return JSONAnswer(taken, headers={"Cache-Control": NO_STORE})


def _answer(shown: RolloutView, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    tag = {"Cache-Control": NO_STORE, "ETag": f'"{shown.id}.{shown.revision}"'}
    return JSONAnswer(shown, status_code=status, headers=tag | (headers or {}))
