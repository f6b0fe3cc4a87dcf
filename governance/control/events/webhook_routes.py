"""``/v1/webhooks``."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import Response
from sqlmodel import Session

from governance.control.auth.roles import Right
from governance.control.auth.service import Known
from governance.control.database import Database, session
from governance.control.edge import NO_STORE, Cursor, JSONAnswer, Limit, message, read_cursor, takes, write_cursor
from governance.control.events import webhooks
from governance.control.idempotency.service import GivenKey, claimed
from governance.control.problems import EVERYWHERE, WITH_BODY, WITH_KEY, responses
from governance.errors import (
    Conflict,
    Forbidden,
    NotFound,
    SecretShownOnce,
    UsageError,
)
from governance.wire import Delivery, DeliveryPage, Webhook, WebhookCreated, WebhookPage, WebhookRequest

router = APIRouter(prefix="/v1/webhooks", tags=["events"])

Write = Annotated[Session, Depends(session, scope="function")]
WebhookId = Annotated[str, Path(pattern=r"^whk_[0-9a-f]{1,32}$")]
DeliveryId = Annotated[str, Path(pattern=r"^msg_[0-9a-f]{1,48}$")]

_ALWAYS = (*EVERYWHERE, Forbidden)
_UNSTORED = {"Cache-Control": NO_STORE}


@router.post(
    "",
    status_code=201,
    response_model=WebhookCreated,
    responses=responses(*_ALWAYS, *WITH_BODY, *WITH_KEY, SecretShownOnce, Conflict),
    openapi_extra=takes(WebhookRequest),
)  # fmt: skip
def create_webhook(
    request: Request,
    caller: Known,
    body: Annotated[WebhookRequest, Depends(message(WebhookRequest))],
    key: GivenKey,
) -> Response:
    """Have an address told of what changes from now on, signed as Standard Webhooks says.

    The secret is in this answer and nowhere else; the same `Idempotency-Key` again makes no second webhook.
    """
    request.state.attempt = webhooks.attempt("create", "webhook", body.namespace)
    database: Database = request.app.state.database
    with claimed(database, key, by=caller) as claim:
        if claim.made is not None:
            raise SecretShownOnce(
                f"A request with this Idempotency-Key made webhook {claim.made}; its secret was in that answer alone.",
                fix=f"If it was lost: `govctl webhook rotate {claim.made}`.",
                details={"id": claim.made},
            )
        with database.transaction() as current:
            private = request.app.state.settings.webhook_private
            created = webhooks.create(current, body, by=caller, private=private)
            claim.done(current, created.id)
    return JSONAnswer(created, status_code=201, headers=_UNSTORED)


@router.get("", response_model=WebhookPage, responses=responses(*_ALWAYS))
def list_webhooks(caller: Known, current: Write) -> Response:
    """The webhooks of the namespaces that the caller administers."""
    if not caller.reach(Right.ADMINISTER):
        caller.need(Right.ADMINISTER, "*")
    return JSONAnswer(WebhookPage(items=webhooks.listed(current, by=caller)), headers=_UNSTORED)


@router.delete("/{webhook}", response_model=Webhook, responses=responses(*_ALWAYS, NotFound))
def remove_webhook(request: Request, caller: Known, current: Write, webhook: WebhookId) -> Response:
    """Tell it nothing more; what waits is not sent."""
    request.state.attempt = webhooks.attempt("delete", webhook)
    return JSONAnswer(webhooks.remove(current, webhook, by=caller), headers=_UNSTORED)


@router.post("/{webhook}/secret", response_model=WebhookCreated, responses=responses(*_ALWAYS, NotFound))
def rotate_secret(request: Request, caller: Known, current: Write, webhook: WebhookId) -> Response:
    """A new secret, shown this once. For a day deliveries are signed with the old one too."""
    request.state.attempt = webhooks.attempt("rotate", webhook)
    return JSONAnswer(webhooks.rotate(current, webhook, by=caller), headers=_UNSTORED)


@router.post("/{webhook}/enablement", response_model=Webhook, responses=responses(*_ALWAYS, NotFound))
def enable_webhook(request: Request, caller: Known, current: Write, webhook: WebhookId) -> Response:
    """Send to it again, what waits and what came since it was switched off."""
    request.state.attempt = webhooks.attempt("enable", webhook)
    return JSONAnswer(webhooks.enable(current, webhook, by=caller), headers=_UNSTORED)


@router.post("/{webhook}/ping", status_code=202, response_model=Delivery, responses=responses(*_ALWAYS, NotFound))
def ping_webhook(request: Request, caller: Known, current: Write, webhook: WebhookId) -> Response:
    """Have a delivery of no event sent, to see whether it arrives."""
    request.state.attempt = webhooks.attempt("ping", webhook)
    return JSONAnswer(webhooks.ping(current, webhook, by=caller), status_code=202, headers=_UNSTORED)


@router.get("/{webhook}/deliveries", response_model=DeliveryPage, responses=responses(*_ALWAYS, NotFound, UsageError))
def list_deliveries(
    caller: Known,
    current: Write,
    webhook: WebhookId,
    state: Literal["waiting", "delivered", "given_up"] | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """What was sent to it and what waits, newest first."""
    items, after = webhooks.deliveries(current, webhook, by=caller, state=state, after=read_cursor(cursor), limit=limit)
    page = DeliveryPage(items=items, next=None if after is None else write_cursor(after))
    return JSONAnswer(page, headers=_UNSTORED)


@router.post(
    "/{webhook}/deliveries/{delivery}/redelivery",
    status_code=202,
    response_model=Delivery,
    responses=responses(*_ALWAYS, NotFound),
)
def redeliver(request: Request, caller: Known, current: Write, webhook: WebhookId, delivery: DeliveryId) -> Response:
    """Send a delivery again, under the id it had."""
    request.state.attempt = webhooks.attempt("redeliver", f"{webhook}/{delivery}")
    return JSONAnswer(webhooks.redeliver(current, webhook, delivery, by=caller), status_code=202, headers=_UNSTORED)
