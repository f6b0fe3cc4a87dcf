"""Events as they come: one question a moment to the database, however many listen."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from governance.control.auth.roles import Caller, Right
from governance.control.auth.service import stands
from governance.control.database import Database
from governance.control.events.types import NEWEST, Horizon, Position, event_of, horizon_of
from governance.errors import ServiceUnavailable, TooManyRequests
from governance.wire import write_json

log = logging.getLogger("governance.control")

PAGE: Final = 200
POLL_SEC: Final = 0.5
HEARTBEAT_SEC: Final = 15.0

EVENTS_AFTER: Final = """
SELECT xact, id, entry FROM audit_inbox
WHERE (xact, id) > (%(xact)s, %(id)s) AND (xact, id) <= (%(to_xact)s, %(to_id)s)
  AND outcome = 'done' AND action = ANY(%(types)s)
  AND ('*' = ANY(%(reach)s)
       OR EXISTS (SELECT FROM unnest(%(reach)s::text[]) r WHERE namespace = r OR starts_with(namespace, r || '.')))
  AND (%(namespace)s::text IS NULL OR namespace = %(namespace)s OR starts_with(namespace, %(namespace)s || '.'))
ORDER BY xact, id LIMIT %(limit)s
"""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What one listener wants to hear."""

    types: Sequence[str]
    namespace: str | None
    by: Caller


class Feed:
    """The newest place there is, for all who listen to this replica."""

    def __init__(self, database: Database, *, most: int) -> None:
        self._database = database
        self._most = most
        self._listening = 0
        self._newest: Position | None = None
        self._moved = asyncio.Condition()
        self._closed = False

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Look for news for the block; when it ends, so does every stream."""
        looking = asyncio.create_task(self._look())
        try:
            yield
        finally:
            looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await looking  # it may hold a connection, which the pool is about to miss
            await self.close()

    async def close(self) -> None:
        """End every stream."""
        self._closed = True
        async with self._moved:
            self._moved.notify_all()

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(POLL_SEC)
            if not self._listening:
                continue
            try:
                newest = await self.newest()
            except ServiceUnavailable:
                continue  # the streams wait as well
            if newest != self._newest:
                async with self._moved:
                    self._newest = newest
                    self._moved.notify_all()

    async def newest(self) -> Position:
        """The last place that readers may know of."""
        return (await self._horizon()).newest

    async def _horizon(self) -> Horizon:
        async with self._database.read() as connection:
            cursor = await connection.execute(NEWEST)
            row = await cursor.fetchone()
        assert row is not None
        return horizon_of(row)

    async def stream(self, wanted: Wanted, *, after: Position, follow: bool) -> AsyncIterator[bytes]:
        """Server-sent events after a place; without ``follow`` until there are no more.

        Raises TooManyRequests at the first step where too many listen already.
        """
        if self._listening >= self._most:
            raise TooManyRequests(
                f"{self._most} streams of events are open here already.",
                fix="Close one, ask another replica, or raise GOVCTL_MAX_EVENT_STREAMS.",
            )
        self._listening += 1
        try:
            # the place goes along from the start: whoever breaks off before the first event can come back to it
            yield f"retry: 2000\nid: {after}\n\n".encode()
            async for chunk in self._chunks(wanted, after=after, follow=follow):
                yield chunk
        except ServiceUnavailable:
            log.warning("a stream of events ended: the database does not answer")
        finally:
            self._listening -= 1

    async def _chunks(self, wanted: Wanted, *, after: Position, follow: bool) -> AsyncIterator[bytes]:
        now = asyncio.get_running_loop().time
        horizon = await self._horizon()
        position, told, newest = horizon.here(after), now(), horizon.newest
        while True:
            while position < newest:
                if now() - told >= HEARTBEAT_SEC:
                    if not await self._may_stay(wanted.by):
                        return
                    told = now()
                found = await self._page(wanted, after=position, to=newest)
                for place, event in found:
                    yield f"id: {place}\nevent: {event['type']}\ndata: ".encode() + write_json(event) + b"\n\n"
                position = found[-1][0] if len(found) == PAGE else newest
            if not follow:
                return
            latest = await self._news(newest)
            if self._closed:
                return
            if latest is None or now() - told >= HEARTBEAT_SEC:  # however much goes on, of which nothing may be theirs
                if not await self._may_stay(wanted.by):
                    return
                # the place goes along, so that whoever comes back need not look through what was not theirs
                yield f": still here\nid: {position}\n\n".encode()
                told = now()
            newest = latest or newest

    async def _news(self, known: Position) -> Position | None:
        """A newer place, or None when none came for as long as a heartbeat takes."""
        try:
            async with asyncio.timeout(HEARTBEAT_SEC), self._moved:
                await self._moved.wait_for(lambda: self._closed or (self._newest is not None and self._newest > known))
        except TimeoutError:
            return None
        return self._newest

    async def _may_stay(self, caller: Caller) -> bool:
        async with self._database.read() as connection:
            return await stands(connection, caller)

    async def _page(self, wanted: Wanted, *, after: Position, to: Position) -> list[tuple[Position, dict[str, Any]]]:
        question = {
            "xact": after.xact,
            "id": after.id,
            "to_xact": to.xact,
            "to_id": to.id,
            "types": list(wanted.types),
            "reach": sorted(wanted.by.reach(Right.READ)),
            "namespace": wanted.namespace,
            "limit": PAGE,
        }
        async with self._database.read() as connection:
            cursor = await connection.execute(EVENTS_AFTER, question)
            rows = await cursor.fetchall()
        places = [(Position(xact=xact, id=id_), bytes(entry)) for xact, id_, entry in rows]
        return [(place, event_of(place, entry)) for place, entry in places]
