"""``/v1/audit``."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response
from sqlmodel import Session

from governance.control.audit import reading
from governance.control.auth.roles import Right
from governance.control.auth.service import Known
from governance.control.database import session
from governance.control.edge import NO_STORE, JSONAnswer, Limit, read_cursor, write_cursor
from governance.control.problems import EVERYWHERE, responses
from governance.errors import (
    Forbidden,
    UsageError,
)
from governance.wire import AuditPage, write_json

router = APIRouter(prefix="/v1/audit", tags=["audit"])

Read = Annotated[Session, Depends(session, scope="function")]
Exactly = Annotated[str | None, Query(min_length=1, max_length=500)]


@router.get(
    "",
    response_model=AuditPage,
    responses=responses(*EVERYWHERE, Forbidden, UsageError),
)
def read_audit(
    caller: Known,
    current: Read,
    after: Annotated[str | None, Query(max_length=1_000, description="`last` or `next` of the page before.")] = None,
    subject: Exactly = None,
    action: Exactly = None,
    limit: Limit = 50,
) -> Response:
    """The audit log, oldest entries first, each as the canonical JSON it was written as.

    The order never changes behind a reader. `next` is there while there are more; `last` is where to go on later.
    """
    if not caller.reach(Right.AUDIT):
        caller.need(Right.AUDIT, "")
    page = reading.page(current, by=caller, after=read_cursor(after), subject=subject, action=action, limit=limit)
    last = None if page.last is None else write_cursor(page.last)
    tail = write_json({"next": last if page.more else None, "last": last})
    content = b'{"items":[' + b",".join(page.entries) + b"]," + tail[1:]
    return JSONAnswer(content, headers={"Cache-Control": NO_STORE})
