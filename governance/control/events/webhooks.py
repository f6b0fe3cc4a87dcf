"""Webhooks: who is told, and the log of what was sent to them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import text, tuple_
from sqlmodel import Session, col, select

from governance.control.audit.service import Attempt, append
from governance.control.auth.roles import Caller, Right
from governance.control.database import time_of
from governance.control.edge import dated_position
from governance.control.events.signing import new_secret, shown
from governance.control.events.tables import DeliveryRow, WebhookRow
from governance.control.events.types import NEWEST, chosen_types, horizon_of
from governance.control.outbound import check_url
from governance.errors import Conflict, NotFound
from governance.wire import Delivery, Webhook, WebhookCreated, WebhookRequest, write_json

MOST_WEBHOOKS: Final = 200
OVERLAP: Final = timedelta(days=1)
"""How long deliveries are signed with the secret before a rotation too."""
PING: Final = "webhook.ping"


def attempt(action: str, subject: str, namespace: str = "") -> Attempt:
    return Attempt(action=f"webhook.{action}", subject=subject, namespace=namespace)


def create(session: Session, request: WebhookRequest, *, by: Caller, private: bool) -> WebhookCreated:
    """A webhook that is told of what happens from now on.

    Raises Forbidden, InvalidRequest for an address nothing can be sent to, UsageError for a type there is not, and
    Conflict where there are too many.
    """
    by.need(Right.ADMINISTER, request.namespace)
    check_url(request.url, private=private, setting="GOVCTL_WEBHOOK_PRIVATE")
    types = [] if not request.types else chosen_types(request.types)
    if len(session.exec(select(WebhookRow.id).where(col(WebhookRow.deleted_at).is_(None))).all()) >= MOST_WEBHOOKS:
        raise Conflict(f"There are {MOST_WEBHOOKS} webhooks.", fix="Remove one that nobody needs.")
    newest = horizon_of(session.execute(text(NEWEST)).one()).newest
    row = WebhookRow(
        id="whk_" + secrets.token_hex(8),
        url=request.url,
        namespace=request.namespace,
        types=types,
        secret=new_secret(),
        position_xact=newest.xact,
        position_id=newest.id,
        revision=1,
        created_at=time_of(session),
        created_by=by.label,
    )
    session.add(row)
    session.flush()
    append(session, attempt("create", row.id, row.namespace), by=by, after=_recorded(row))
    return WebhookCreated(secret=shown(row.secret), **view(row).model_dump())


def listed(session: Session, *, by: Caller) -> list[Webhook]:
    """The webhooks whose namespace the caller administers, oldest first."""
    rows = session.exec(select(WebhookRow).where(col(WebhookRow.deleted_at).is_(None)).order_by(col(WebhookRow.id)))
    return [view(row) for row in rows if by.may(Right.ADMINISTER, row.namespace)]


def found(session: Session, webhook: str, *, by: Caller, lock: bool = True) -> WebhookRow:
    """The row, locked for who changes it. Raises NotFound, also for one the caller does not administer."""
    query = select(WebhookRow).where(col(WebhookRow.id) == webhook)
    row = session.exec(query.with_for_update() if lock else query).one_or_none()
    if row is None or row.deleted_at is not None or not by.may(Right.ADMINISTER, row.namespace):
        raise NotFound("There is no such webhook.", fix="List them with `govctl webhook list`.")
    return row


def remove(session: Session, webhook: str, *, by: Caller) -> Webhook:
    """Tell it nothing more; what waits is not sent. Raises NotFound."""
    row = found(session, webhook, by=by)
    before = _recorded(row)
    row.deleted_at = time_of(session)
    session.add(row)
    append(session, attempt("delete", row.id, row.namespace), by=by, before=before)
    return view(row)


def rotate(session: Session, webhook: str, *, by: Caller) -> WebhookCreated:
    """A new secret. For a day deliveries are signed with the old one too. Raises NotFound."""
    row = found(session, webhook, by=by)
    row.previous_secret, row.previous_until = row.secret, time_of(session) + OVERLAP
    row.secret = new_secret()
    row.revision += 1
    session.add(row)
    append(session, attempt("rotate", row.id, row.namespace), by=by)
    return WebhookCreated(secret=shown(row.secret), **view(row).model_dump())


def enable(session: Session, webhook: str, *, by: Caller) -> Webhook:
    """Send again what waits, and go on. Raises NotFound."""
    row = found(session, webhook, by=by)
    if row.disabled is not None:
        before = _recorded(row)
        row.disabled = None
        row.revision += 1
        session.add(row)
        append(session, attempt("enable", row.id, row.namespace), by=by, before=before, after=_recorded(row))
    return view(row)


def disable(session: Session, row: WebhookRow, why: str, *, by: Caller) -> None:
    """Send it nothing until somebody enables it; ``row`` is locked."""
    before = _recorded(row)
    row.disabled = why
    row.revision += 1
    session.add(row)
    append(session, attempt("disable", row.id, row.namespace), by=by, before=before, after=_recorded(row))


def ping(session: Session, webhook: str, *, by: Caller) -> Delivery:
    """Have a delivery of no event sent, to see whether it arrives. Raises NotFound."""
    row = found(session, webhook, by=by)
    now = time_of(session)
    event = f"ping-{secrets.token_hex(8)}"
    body = write_json({"id": event, "type": PING, "time": now, "namespace": row.namespace, "subject": row.id,
                       "actor": by.name, "reason": None, "data": {}})  # fmt: skip
    made = DeliveryRow(
        webhook=row.id,
        id="msg_" + secrets.token_hex(12),
        event=event,
        type=PING,
        body=body,
        state="waiting",
        attempts=0,
        created_at=now,
        next_at=now,
    )
    session.add(made)
    append(session, attempt("ping", row.id, row.namespace), by=by)
    return delivery_view(made)


def deliveries(
    session: Session, webhook: str, *, by: Caller, state: str | None, after: str | None, limit: int
) -> tuple[list[Delivery], str | None]:
    """The log of a webhook, newest first. Raises NotFound, and UsageError for a position in another list."""
    found(session, webhook, by=by, lock=False)
    query = select(DeliveryRow).where(col(DeliveryRow.webhook) == webhook)
    if state is not None:
        query = query.where(col(DeliveryRow.state) == state)
    if after is not None:
        query = query.where(tuple_(col(DeliveryRow.created_at), col(DeliveryRow.id)) < dated_position(after))
    rows = session.exec(
        query.order_by(col(DeliveryRow.created_at).desc(), col(DeliveryRow.id).desc()).limit(limit + 1)
    ).all()
    given = rows[:limit]
    position = f"{given[-1].created_at.isoformat()} {given[-1].id}" if len(rows) > limit else None
    return [delivery_view(row) for row in given], position


def redeliver(session: Session, webhook: str, delivery: str, *, by: Caller) -> Delivery:
    """Send a delivery again, under the id it had. Raises NotFound."""
    hook = found(session, webhook, by=by)
    row = session.exec(
        select(DeliveryRow)
        .where(col(DeliveryRow.webhook) == webhook, col(DeliveryRow.id) == delivery)
        .with_for_update()
    ).one_or_none()
    if row is None:
        raise NotFound("There is no such delivery.", fix=f"List them with `govctl webhook deliveries {webhook}`.")
    if row.state != "waiting":
        row.attempts = 0  # of one that waits an attempt may be under way, whose outcome must not pass for another's
    row.state, row.next_at = "waiting", time_of(session)
    session.add(row)
    append(session, attempt("redeliver", f"{hook.id}/{row.id}", hook.namespace), by=by)
    return delivery_view(row)


def view(row: WebhookRow) -> Webhook:
    return Webhook(
        id=row.id,
        url=row.url,
        namespace=row.namespace,
        types=row.types,
        disabled=row.disabled,
        created_at=row.created_at,
        created_by=row.created_by,
    )


def delivery_view(row: DeliveryRow) -> Delivery:
    return Delivery(
        id=row.id,
        event=row.event,
        type=row.type,
        state=row.state,
        attempts=row.attempts,
        created_at=row.created_at,
        next_at=row.next_at if row.state == "waiting" else None,
        delivered_at=row.delivered_at,
        last_at=row.last_at,
        last_status=row.last_status,
        last_error=row.last_error,
    )


def keys(row: WebhookRow, now: datetime) -> Sequence[bytes]:
    """The secrets to sign with now, the newest first."""
    old = row.previous_secret
    return [row.secret, *([old] if old and row.previous_until and row.previous_until > now else [])]


def _recorded(row: WebhookRow) -> dict[str, Any]:
    return {"url": row.url, "namespace": row.namespace, "types": row.types, "disabled": row.disabled}
