"""The jobs behind webhooks: news become deliveries once, deliveries are sent until somebody takes them.

A delivery is claimed by a lease and sent with no lock held. A replica that dies in between leaves the lease to run
out; the next attempt bears the same ``webhook-id``, by which a receiver knows what it has had already.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import httpx
from sqlalchemy import text
from sqlmodel import Session, col, select

from governance import __version__
from governance.control.audit.service import SYSTEM
from governance.control.database import time_of
from governance.control.events.signing import signed_headers
from governance.control.events.tables import DeliveryRow, WebhookRow
from governance.control.events.types import NEWEST, Horizon, Position, event_of, event_types, horizon_of
from governance.control.events.webhooks import disable, keys
from governance.control.jobs import Job, Tools, alone, spread
from governance.control.outbound import Unreachable, located
from governance.control.outbound import client as calling
from governance.wire import write_json

BATCH: Final = 200
AT_ONCE: Final = 8
TIMEOUT_SEC: Final = 10.0
LEASE_SEC: Final = 60
RETRY_SEC: Final = (5, 60, 300, 1_800, 7_200, 18_000, 36_000, 36_000)
"""Waits between attempts, each spread by a fifth: a day and a bit in all."""
KEPT_DAYS: Final = 30

_MAX_ERROR: Final = 200
_ANSWER_BYTES: Final = 4_096
_MOST_WAIT_SEC: Final = 86_400

_NEWS = text(
    """
    SELECT xact, id, entry FROM audit_inbox
    WHERE (xact, id) > (:xact, :id) AND (xact, id) <= (:to_xact, :to_id)
      AND outcome = 'done' AND action = ANY(:types)
      AND (:namespace = '*' OR namespace = :namespace OR starts_with(namespace, :namespace || '.'))
    ORDER BY xact, id LIMIT :limit
    """
)
_NEWEST = text(NEWEST)
_CLAIM = text(
    """
    UPDATE webhook_delivery d SET attempts = attempts + 1, next_at = now() + make_interval(secs => :lease)
    FROM (
        SELECT w.webhook, w.id FROM webhook_delivery w JOIN webhook h ON h.id = w.webhook
        WHERE w.state = 'waiting' AND w.next_at <= now() AND h.disabled IS NULL AND h.deleted_at IS NULL
        ORDER BY w.next_at LIMIT :limit FOR UPDATE OF w SKIP LOCKED
    ) due
    WHERE d.webhook = due.webhook AND d.id = due.id
    RETURNING d.webhook, d.id, d.body, d.attempts, d.created_at
    """
)
_PRUNE = text(
    "DELETE FROM webhook_delivery WHERE created_at < now() - make_interval(days => :days) AND (state <> 'waiting'"
    " OR webhook IN (SELECT id FROM webhook WHERE deleted_at IS NOT NULL))"
)


def make_deliveries(tools: Tools) -> int:
    """News as deliveries, with the place they were read up to, in one transaction."""
    with tools.database.transaction() as session:
        if not alone(session, "deliveries-made"):
            return 0
        horizon = horizon_of(session.execute(_NEWEST).one())
        on = (col(WebhookRow.deleted_at).is_(None), col(WebhookRow.disabled).is_(None))
        rows = session.exec(select(WebhookRow).where(*on).with_for_update(skip_locked=True)).all()
        return sum(_make(session, row, horizon) for row in rows)


def _make(session: Session, hook: WebhookRow, horizon: Horizon) -> int:
    """One webhook's share; what does not fit into a batch comes the next time."""
    newest, before = horizon.newest, horizon.here(Position(xact=hook.position_xact, id=hook.position_id))
    if before >= newest:
        return 0
    asked = {
        "xact": before.xact,
        "id": before.id,
        "to_xact": newest.xact,
        "to_id": newest.id,
        "types": hook.types or event_types(),
        "namespace": hook.namespace,
        "limit": BATCH,
    }
    news = session.execute(_NEWS, asked).all()
    now = time_of(session)
    for xact, id_, entry in news:
        event = event_of(Position(xact=xact, id=id_), bytes(entry))
        session.add(
            DeliveryRow(
                webhook=hook.id,
                id="msg_" + secrets.token_hex(12),
                event=event["id"],
                type=event["type"],
                body=write_json(event),
                state="waiting",
                attempts=0,
                created_at=now,
                next_at=now,
            )
        )
    reached = Position(xact=news[-1][0], id=news[-1][1]) if len(news) == BATCH else newest
    hook.position_xact, hook.position_id = reached.xact, reached.id
    session.add(hook)
    return len(news)


@dataclass(frozen=True, kw_only=True)
class _Claimed:
    """One delivery this replica sends now."""

    webhook: str
    id: str
    body: bytes
    attempt: int
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    """What came of an attempt. ``status`` is None where there was no answer."""

    status: int | None
    error: str | None = None
    wait_sec: int = 0
    """At the least, as the receiver asked for."""

    @property
    def taken(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def send_deliveries(tools: Tools) -> int:
    """Send what is due. Each outcome is put on record in a transaction of its own."""
    with tools.database.transaction() as session:
        rows = session.execute(_CLAIM, {"lease": LEASE_SEC, "limit": AT_ONCE * 4}).all()
        claimed = [
            _Claimed(webhook=webhook, id=id_, body=bytes(body), attempt=attempts, created_at=created)
            for webhook, id_, body, attempts, created in rows
        ]
        ids = {one.webhook for one in claimed}
        hooks = {row.id: row for row in session.exec(select(WebhookRow).where(col(WebhookRow.id).in_(ids)))}
        to_send = [(one, hooks[one.webhook].url, keys(hooks[one.webhook], tools.now())) for one in claimed]
    if not to_send:
        return 0
    with ThreadPoolExecutor(min(AT_ONCE, len(to_send)), thread_name_prefix="webhook") as pool:
        for one, outcome in zip(claimed, pool.map(lambda given: _send(tools, *given), to_send), strict=True):
            _record(tools, one, outcome)
    return len(claimed)


def _send(tools: Tools, one: _Claimed, url: str, secrets_: Sequence[bytes]) -> _Outcome:
    try:
        address = located(url, private=tools.settings.webhook_private)
    except Unreachable as error:
        return _Outcome(status=None, error=str(error))
    headers = {
        "Host": address.host,
        "Content-Type": "application/json",
        "User-Agent": f"skill-governance/{__version__}",
        **signed_headers(one.id, one.body, at=int(tools.now().timestamp()), keys=secrets_),
    }
    try:
        with (
            calling(TIMEOUT_SEC) as http,
            http.stream(
                "POST",
                address.url,
                content=one.body,
                headers=headers,
                extensions={"sni_hostname": address.server_name},
            ) as answer,
        ):
            for read, _ in enumerate(answer.iter_raw(_ANSWER_BYTES)):
                if read:
                    break  # what it says is nobody's concern, and may have no end
            return _Outcome(status=answer.status_code, error=_refusal(answer), wait_sec=_asked_wait(answer))
    except httpx.HTTPError as error:
        return _Outcome(status=None, error=(str(error) or type(error).__name__)[:_MAX_ERROR])


def _refusal(answer: httpx.Response) -> str | None:
    if answer.is_success:
        return None
    return "a redirect, which is not followed" if answer.is_redirect else f"answered {answer.status_code}"


def _asked_wait(answer: httpx.Response) -> int:
    asked = answer.headers.get("retry-after", "")
    return min(int(asked), _MOST_WAIT_SEC) if asked.isascii() and asked.isdigit() and len(asked) < 8 else 0


def _record(tools: Tools, one: _Claimed, outcome: _Outcome) -> None:
    """Put an outcome on record, unless the lease ran out and another attempt has begun since."""
    tools.telemetry.count("governance_webhook_attempts_total", result=_word(outcome))
    with tools.database.transaction() as session:
        row = session.exec(
            select(DeliveryRow)
            .where(col(DeliveryRow.webhook) == one.webhook, col(DeliveryRow.id) == one.id)
            .with_for_update()
        ).one_or_none()
        if row is None or row.state != "waiting" or row.attempts != one.attempt:
            return
        now = tools.now()
        row.last_at, row.last_status, row.last_error = now, outcome.status, outcome.error
        if outcome.taken:
            row.state, row.delivered_at, row.next_at = "delivered", now, None
        elif outcome.status == 410 or one.attempt > len(RETRY_SEC):
            row.state, row.next_at = "given_up", None
            _stop(session, one, outcome)
        else:
            wait = max(spread(RETRY_SEC[one.attempt - 1]), outcome.wait_sec)
            row.next_at = now + timedelta(seconds=wait)
        session.add(row)


def _stop(session: Session, one: _Claimed, outcome: _Outcome) -> None:
    """Switch a webhook off that is gone, or that took nothing for as long as it was tried."""
    hook = session.exec(select(WebhookRow).where(col(WebhookRow.id) == one.webhook).with_for_update()).one()
    if hook.disabled is not None or hook.deleted_at is not None:
        return
    taken = session.exec(
        select(DeliveryRow.id)
        .where(col(DeliveryRow.webhook) == hook.id, col(DeliveryRow.delivered_at) >= one.created_at)
        .limit(1)
    ).first()
    if outcome.status == 410:
        disable(session, hook, "it answered 410: gone", by=SYSTEM)
    elif taken is None:
        disable(session, hook, f"it took nothing since {one.created_at:%Y-%m-%d %H:%M} UTC", by=SYSTEM)


def _word(outcome: _Outcome) -> str:
    if outcome.taken:
        return "delivered"
    return "no_answer" if outcome.status is None else "refused"


def prune_deliveries(tools: Tools) -> int:
    """Forget deliveries of a month ago."""
    with tools.database.transaction() as session:
        gone = session.execute(_PRUNE, {"days": KEPT_DAYS})
        return int(getattr(gone, "rowcount", 0) or 0)


DELIVERIES_MADE: Final = Job(
    name="deliveries-made",
    every_sec=1.0,
    run=make_deliveries,
    meaning="What changed becomes deliveries to the webhooks that want to know of it.",
)
DELIVERIES_SENT: Final = Job(
    name="deliveries-sent", every_sec=1.0, run=send_deliveries, meaning="Deliveries that are due are sent."
)
DELIVERIES_PRUNED: Final = Job(
    name="deliveries-pruned",
    every_sec=3_600.0,
    run=prune_deliveries,
    meaning="Deliveries of a month ago are forgotten.",
)
