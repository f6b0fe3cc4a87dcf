"""``/v1/events``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response, StreamingResponse

from governance.control.auth.roles import Right
from governance.control.auth.service import Known
from governance.control.edge import NO_STORE
from governance.control.events.feed import Feed, Wanted
from governance.control.events.types import Position, chosen_types
from governance.control.problems import EVERYWHERE, responses
from governance.errors import (
    Forbidden,
    TooManyRequests,
    UsageError,
)

router = APIRouter(prefix="/v1/events", tags=["events"])

_ALWAYS = (*EVERYWHERE, Forbidden, UsageError)


@router.get(
    "",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}},
        **responses(*_ALWAYS, TooManyRequests),
    },
)
async def listen(
    request: Request,
    caller: Known,
    after: Annotated[
        str | None, Query(max_length=64, description="Go on after this event; 0-0: from the beginning.")
    ] = None,
    types: Annotated[list[str], Query(alias="type", max_length=100)] = [],  # noqa: B006
    namespace: Annotated[str | None, Query(min_length=1, max_length=128)] = None,
    follow: Annotated[bool, Query(description="Wait for more; else the stream ends with what there is.")] = True,
    last_event_id: Annotated[str | None, Header(max_length=64)] = None,
) -> Response:
    """What changes, as server-sent events, in an order in which nothing ever appears behind a reader.

    Each event is an `Event` as JSON. Whoever comes back with `Last-Event-ID` misses nothing and gets nothing twice.
    Without a place to go on from it begins now.
    """
    if not caller.reach(Right.READ):
        caller.need(Right.READ, "")
    feed: Feed = request.app.state.feed
    wanted = Wanted(types=chosen_types(types), namespace=namespace, by=caller)
    place = last_event_id or after
    start = await feed.newest() if place is None else Position.parse(place)
    stream = feed.stream(wanted, after=start, follow=follow)
    first = await anext(stream)  # refusals are answers, not broken streams
    headers = {"Cache-Control": NO_STORE, "X-Accel-Buffering": "no"}
    return StreamingResponse(_chained(first, stream), media_type="text/event-stream", headers=headers)


async def _chained(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in rest:
        yield chunk
