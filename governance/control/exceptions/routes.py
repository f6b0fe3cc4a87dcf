"""``/v1/exceptions``, but for asking for one, which needs a check."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response
from sqlmodel import Session

from governance.control.auth.service import Known
from governance.control.database import session
from governance.control.edge import NO_STORE, Cursor, JSONAnswer, Limit, message, read_cursor, takes, write_cursor
from governance.control.exceptions import listing, service
from governance.control.problems import EVERYWHERE, WITH_BODY, responses
from governance.errors import (
    Conflict,
    Forbidden,
    NotFound,
    UsageError,
)
from governance.wire import ApprovalRequest, ExceptionPage, ExceptionState, ExceptionView
from governance.wire.base import Why

router = APIRouter(prefix="/v1/exceptions", tags=["exceptions"])

InTransaction = Annotated[Session, Depends(session, scope="function")]
ExceptionId = Annotated[str, Path(pattern=r"^exc_[0-9a-f]{16}$", examples=["exc_0123456789abcdef"])]

_ALWAYS = (*EVERYWHERE, UsageError)
_ONE = (*_ALWAYS, Forbidden, NotFound)


@router.get("", response_model=ExceptionPage, responses=responses(*_ALWAYS))
def list_exceptions(
    caller: Known,
    current: InTransaction,
    state: ExceptionState | None = None,
    skill: Annotated[str | None, Query(min_length=1, max_length=128)] = None,
    expires_within_days: Annotated[
        int | None, Query(ge=0, le=3_650, description="Those that are not over and will be by then.")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Exceptions that match all that is given, those that end first first."""
    filters = listing.Filters(state=state, skill=skill, expires_within_days=expires_within_days)
    items, more = listing.page(current, filters, by=caller, after=read_cursor(cursor), limit=limit)
    page = ExceptionPage(items=list(items), next=None if more is None else write_cursor(more))
    return JSONAnswer(page, headers={"Cache-Control": NO_STORE})


@router.get("/{exception_id}", response_model=ExceptionView, responses=responses(*_ONE))
def get_exception(caller: Known, current: InTransaction, exception_id: ExceptionId) -> Response:
    """One exception whole."""
    return JSONAnswer(service.load(current, exception_id, by=caller), headers={"Cache-Control": NO_STORE})


@router.post(
    "/{exception_id}/approval",
    response_model=ExceptionView,
    responses=responses(*_ONE, *WITH_BODY, Conflict),
    openapi_extra=takes(ApprovalRequest),
)
def approve_exception(
    request: Request,
    caller: Known,
    current: InTransaction,
    exception_id: ExceptionId,
    body: Annotated[ApprovalRequest, Depends(message(ApprovalRequest))],
) -> Response:
    """Let an exception come into force that somebody else asked for. Safe to repeat."""
    request.state.attempt = service.attempt_to_approve(exception_id, body.reason)
    approved = service.approve(current, exception_id, reason=body.reason, by=caller)
    return JSONAnswer(approved, headers={"Cache-Control": NO_STORE})


@router.delete("/{exception_id}", response_model=ExceptionView, responses=responses(*_ONE))
def revoke_exception(
    request: Request,
    caller: Known,
    current: InTransaction,
    exception_id: ExceptionId,
    reason: Annotated[Why, Query(description="Why; it goes on record.")],
) -> Response:
    """End an exception at once, or withdraw one that was only asked for. Safe to repeat."""
    request.state.attempt = service.attempt_to_revoke(exception_id, reason)
    revoked = service.revoke(current, exception_id, reason=reason, by=caller)
    return JSONAnswer(revoked, headers={"Cache-Control": NO_STORE})
