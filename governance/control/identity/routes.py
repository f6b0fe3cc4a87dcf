"""``/v1/auth/oidc/exchange`` and ``/v1/trusted-publishers``."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import Response
from sqlmodel import Session
from starlette.concurrency import run_in_threadpool

from governance.control.auth.roles import Caller, Right
from governance.control.auth.service import Known
from governance.control.database import Database, session
from governance.control.edge import NO_STORE, JSONAnswer, message, takes
from governance.control.idempotency.service import REPLAYED, GivenKey, claimed
from governance.control.identity import service
from governance.control.problems import EVERYWHERE, WITH_BODY, WITH_KEY, responses
from governance.control.settings import Settings
from governance.errors import (
    Forbidden,
    NotFound,
)
from governance.wire import Exchanged, ExchangeRequest, Publisher, PublisherPage, PublisherRequest

router = APIRouter(prefix="/v1", tags=["tokens"])

Write = Annotated[Session, Depends(session, scope="function")]

_ALWAYS = (*EVERYWHERE, Forbidden)
_BODY = (*_ALWAYS, *WITH_BODY)
_UNSTORED = {"Cache-Control": NO_STORE}


@router.post(
    "/auth/oidc/exchange",
    response_model=Exchanged,
    responses=responses(*_BODY),
    openapi_extra=takes(ExchangeRequest),
)
async def exchange(request: Request, body: Annotated[ExchangeRequest, Depends(message(ExchangeRequest))]) -> Response:
    """A CI job's OIDC ID token for a token of this service that holds for a quarter of an hour.

    Each assertion is good once. What a sound one is refused is on record under the job's name; what nobody can be
    held to is counted, as with any unknown token.
    """
    return await run_in_threadpool(_exchange, request, body)


def _exchange(request: Request, body: ExchangeRequest) -> Response:
    database: Database = request.app.state.database
    settings: Settings = request.app.state.settings
    found, publishers = service.identify(
        database, request.app.state.issuers, body.assertion, audience=settings.oidc_audience
    )
    by: Caller = service.job(found, request_id=request.state.request_id, trace_id=request.state.trace_id)
    request.state.caller, request.state.attempt = by, service.attempt_to_exchange(found)
    with database.transaction() as current:
        exchanged = service.exchange(current, found, publishers, by=by)
    return JSONAnswer(exchanged, headers=_UNSTORED)


@router.post(
    "/trusted-publishers",
    status_code=201,
    response_model=Publisher,
    responses=responses(*_BODY, *WITH_KEY, NotFound),
    openapi_extra=takes(PublisherRequest),
)
def trust(
    request: Request,
    caller: Known,
    body: Annotated[PublisherRequest, Depends(message(PublisherRequest))],
    key: GivenKey,
) -> Response:
    """Trust CI jobs of which an issuer says all these claims. It is pending until a job uses it for the first time."""
    request.state.attempt = service.attempt_to_trust(body)
    database: Database = request.app.state.database
    with claimed(database, key, by=caller) as claim, database.transaction() as current:
        if claim.made is not None:
            made = service.one(current, claim.made, by=caller)
            return JSONAnswer(made, status_code=201, headers={**_UNSTORED, REPLAYED: "true"})
        private = request.app.state.settings.oidc_private
        created = service.create(current, body, by=caller, private=private)
        claim.done(current, created.id)
    return JSONAnswer(created, status_code=201, headers=_UNSTORED)


@router.get("/trusted-publishers", response_model=PublisherPage, responses=responses(*_ALWAYS))
def list_publishers(caller: Known, current: Write) -> Response:
    """The publishers whose every grant the caller administers, oldest first."""
    if not caller.reach(Right.ADMINISTER):
        caller.need(Right.ADMINISTER, "*")
    return JSONAnswer(PublisherPage(items=service.listed(current, by=caller)), headers=_UNSTORED)


@router.delete("/trusted-publishers/{publisher}", response_model=Publisher, responses=responses(*_ALWAYS, NotFound))
def revoke_publisher(
    request: Request,
    caller: Known,
    current: Write,
    publisher: Annotated[str, Path(pattern=r"^pub_[0-9a-f]{1,32}$")],
) -> Response:
    """Trust it no more. Tokens it has had run out by themselves, within a quarter of an hour."""
    request.state.attempt = service.attempt_to_remove(publisher)
    if not caller.reach(Right.ADMINISTER):
        caller.need(Right.ADMINISTER, "*")
    return JSONAnswer(service.revoke(current, publisher, by=caller), headers=_UNSTORED)
