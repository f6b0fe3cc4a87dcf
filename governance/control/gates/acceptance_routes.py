"""``/v1/acceptances``."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response
from sqlmodel import Session

from governance.control.auth.roles import Right
from governance.control.auth.service import Known
from governance.control.database import session
from governance.control.edge import NO_STORE, Cursor, JSONAnswer, Limit, read_cursor, write_cursor
from governance.control.gates import acceptances
from governance.control.problems import EVERYWHERE, responses
from governance.errors import (
    Forbidden,
    NotFound,
    UsageError,
)
from governance.wire import AcceptancePage, AcceptanceView

router = APIRouter(prefix="/v1/acceptances", tags=["gate"])

Write = Annotated[Session, Depends(session, scope="function")]
AcceptanceId = Annotated[str, Path(pattern=r"^acc_[0-9a-f]{16}$")]

_ALWAYS = (*EVERYWHERE, Forbidden)


@router.get("", response_model=AcceptancePage, responses=responses(*_ALWAYS, UsageError))
def list_acceptances(
    caller: Known,
    current: Write,
    skill: Annotated[str | None, Query(max_length=128)] = None,
    consumer: Annotated[str | None, Query(max_length=128)] = None,
    ended: Annotated[bool, Query(description="Those revoked and expired, too.")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """The lines that consumers have accepted, by skill."""
    found, after = acceptances.page(
        current, by=caller, skill=skill, consumer=consumer, ended=ended, after=read_cursor(cursor), limit=limit
    )
    page = AcceptancePage(items=found, next=None if after is None else write_cursor(after))
    return JSONAnswer(page, headers={"Cache-Control": NO_STORE})


@router.delete("/{acceptance_id}", response_model=AcceptanceView, responses=responses(*_ALWAYS, NotFound))
def revoke_acceptance(request: Request, caller: Known, current: Write, acceptance_id: AcceptanceId) -> Response:
    """Revoke an acceptance at once: whoever was served by it is asked again. Safe to repeat."""
    request.state.attempt = acceptances.attempt_to_revoke(acceptance_id)
    if not caller.reach(Right.RESOLVE):
        caller.need(Right.RESOLVE, "*")
    return JSONAnswer(acceptances.revoke(current, acceptance_id, by=caller), headers={"Cache-Control": NO_STORE})
