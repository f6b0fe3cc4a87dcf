"""``/v1/tokens``."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import Response
from sqlmodel import Session

from governance.control.auth.roles import Right
from governance.control.auth.service import Known
from governance.control.database import Database, session
from governance.control.edge import (
    NO_STORE,
    Cursor,
    JSONAnswer,
    Limit,
    message,
    read_cursor,
    takes,
    write_cursor,
)
from governance.control.idempotency.service import GivenKey, claimed
from governance.control.problems import EVERYWHERE, WITH_BODY, WITH_KEY, responses
from governance.control.tokens import service
from governance.errors import (
    Forbidden,
    NotFound,
    SecretShownOnce,
    UsageError,
)
from governance.wire import TokenCreated, TokenPage, TokenRequest, TokenView

router = APIRouter(prefix="/v1/tokens", tags=["tokens"])

Write = Annotated[Session, Depends(session, scope="function")]

TokenId = Annotated[str, Path(pattern=r"^tok_[0-9a-f]{1,32}$", description="A token's id, not its secret.")]

_ALWAYS = (*EVERYWHERE, Forbidden)


@router.post(
    "",
    status_code=201,
    response_model=TokenCreated,
    responses=responses(*_ALWAYS, *WITH_BODY, *WITH_KEY, SecretShownOnce),
    openapi_extra=takes(TokenRequest),
)  # fmt: skip
def create_token(
    request: Request,
    caller: Known,
    body: Annotated[TokenRequest, Depends(message(TokenRequest))],
    key: GivenKey,
) -> Response:
    """Make a token. Its secret is in this answer and nowhere else.

    So the same `Idempotency-Key` again makes no second token and shows no secret: 409 `secret-shown-once` names the
    token that was made.
    """
    request.state.attempt = service.attempt_to_create(body)
    database: Database = request.app.state.database
    with claimed(database, key, by=caller) as claim:
        if claim.made is not None:
            raise SecretShownOnce(
                f"A request with this Idempotency-Key made token {claim.made}; its secret was in that answer alone.",
                fix=f"If it was lost: `govctl token revoke {claim.made}`, and make another with a new key.",
                details={"id": claim.made},
            )
        with database.transaction() as current:
            created = service.create(current, body, by=caller)
            claim.done(current, created.id)
    return JSONAnswer(created, status_code=201, headers={"Cache-Control": NO_STORE})


@router.get("", response_model=TokenPage, responses=responses(*_ALWAYS, UsageError))
def list_tokens(caller: Known, current: Write, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """The tokens whose every grant the caller administers, without secrets."""
    if not caller.reach(Right.ADMINISTER):
        caller.need(Right.ADMINISTER, "*")
    items, after = service.page(current, by=caller, after=read_cursor(cursor), limit=limit)
    page = TokenPage(items=items, next=None if after is None else write_cursor(after))
    return JSONAnswer(page, headers={"Cache-Control": NO_STORE})


@router.delete("/{token_id}", response_model=TokenView, responses=responses(*_ALWAYS, NotFound))
def revoke_token(request: Request, caller: Known, current: Write, token_id: TokenId) -> Response:
    """Revoke a token at once. Safe to repeat."""
    request.state.attempt = service.attempt_to_revoke(token_id)
    if not caller.reach(Right.ADMINISTER):
        caller.need(Right.ADMINISTER, "*")
    return JSONAnswer(service.revoke(current, token_id, by=caller), headers={"Cache-Control": NO_STORE})
