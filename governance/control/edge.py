"""What every route takes in and gives out: bodies within limits, known parameters only, exact JSON, ETags."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable, Coroutine, Iterable
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import partial
from typing import Annotated, Any, Final, TypeVar

from fastapi import Depends, Header, Query, Request
from fastapi.dependencies.models import Dependant
from fastapi.responses import Response
from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from governance.control.problems import invalid_request
from governance.control.settings import Settings
from governance.core.document import Limits, read_json
from governance.errors import (
    DocumentTooLarge,
    Fault,
    MalformedDocument,
    PreconditionFailed,
    PreconditionRequired,
    UnknownParameter,
    UnsupportedMediaType,
    UsageError,
)
from governance.wire import MAX_PAGE, write_json
from governance.wire import Request as Message

IMMUTABLE: Final = "private, max-age=31536000, immutable"
"""Private, for what a token may read a shared cache must not hand to others."""
REVALIDATE: Final = "private, no-cache"
NO_STORE: Final = "no-store"

_JSON_ALONE: Final = "This route takes JSON alone; `govctl publish FILE` reads YAML, TOML and SKILL.md too."
_INLINE_BYTES = 64 * 1024
"""Bodies up to this size are parsed in the event loop; larger ones in a thread."""

M = TypeVar("M", bound=Message)
T = TypeVar("T")


class JSONAnswer(Response):
    """JSON with every digit kept; ``content`` may be bytes that are JSON already."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return content if isinstance(content, bytes) else write_json(content)


async def read_body(request: Request) -> Any:
    """The request's JSON document, strictly read.

    Raises:
        DocumentTooLarge: past the limit of bytes (declared or streamed), depth or values.
        MalformedDocument: no JSON, duplicate keys, lone surrogates, or the body broke off.
        UnsupportedMediaType: the body is declared as something else.
    """
    _check_declared(request)
    settings: Settings = request.app.state.settings
    limit = settings.max_body_bytes
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > limit:
        raise _too_large(limit)
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                raise _too_large(limit)
            chunks.append(chunk)
    except ClientDisconnect:
        raise MalformedDocument("The body broke off.", fix="Send the request again.") from None
    data = b"".join(chunks)
    if not data.strip():
        raise MalformedDocument(
            "The request has no body.",
            fix="Send a JSON document.",
            faults=[Fault(pointer="", message="empty", code="syntax")],
        )
    limits = Limits(size=limit, depth=settings.max_depth)
    if "idempotency-key" in request.headers:
        request.state.body_digest = hashlib.sha256(data).digest()
    request.state.is_large = size > _INLINE_BYTES
    try:
        return await _work(request, partial(read_json, data, limits=limits))
    except MalformedDocument as error:
        if data.lstrip()[:1] not in (b"{", b"["):
            error.fix = _JSON_ALONE
        raise


def _check_declared(request: Request) -> None:
    """A body may say nothing of what it is; what it says must be JSON, as it stands."""
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise UnsupportedMediaType(
            f"The body is declared as {kind[:80]!r}.",
            fix=f"Send it with `Content-Type: application/json`. {_JSON_ALONE}",
        )
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise UnsupportedMediaType(f"The body is declared as {coding[:80]!r}.", fix="Send it without an encoding.")


async def _work(request: Request, work: Callable[[], T]) -> T:
    """Small bodies are worked on at once, large ones in a thread, so that they hold nobody else up."""
    return await run_in_threadpool(work) if request.state.is_large else work()


def _too_large(limit: int) -> DocumentTooLarge:
    return DocumentTooLarge(
        f"The body is larger than {limit} bytes.",
        fix="Send less at a time, or raise GOVCTL_MAX_BODY_BYTES.",
    )


def message(kind: type[M]) -> Callable[[Request], Coroutine[Any, Any, M]]:
    """A dependency that reads the body as ``kind``. Raises InvalidRequest with a pointer for each fault."""

    async def read(request: Request) -> M:
        document = await read_body(request)
        return await _work(request, partial(validated, document))

    def validated(document: Any) -> M:
        try:
            return kind.model_validate(document)
        except ValidationError as error:
            raise invalid_request(error.errors(include_url=False), where="The body") from None

    return read


def takes(kind: type[Message] | None, *, description: str = "") -> dict[str, Any]:
    """The ``openapi_extra`` of a route whose body is read by :func:`read_body` or :func:`message`."""
    schema: dict[str, Any] = {"type": "object"}
    if kind is not None:
        schema = kind.model_json_schema(ref_template="#/components/schemas/{model}")
        schema = _inlined(schema)
    return {
        "requestBody": {
            "required": True,
            "description": description,
            "content": {"application/json": {"schema": schema}},
        }
    }


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with its definitions in place of references to them; messages never refer to themselves."""
    definitions = schema.pop("$defs", {})

    def walk(node: Any) -> Any:
        if isinstance(node, dict):
            reference = node.get("$ref")
            if isinstance(reference, str):
                return walk(definitions[reference.rpartition("/")[2]])
            return {key: walk(child) for key, child in node.items()}
        return [walk(child) for child in node] if isinstance(node, list) else node

    inlined = walk(schema)
    assert isinstance(inlined, dict)
    return inlined


# ── parameters ──


def _known(route: APIRoute) -> dict[str, bool]:
    """Query parameters by name; the value tells whether one may be repeated."""
    found: dict[str, bool] = {}
    stack: list[Dependant] = [route.dependant]
    while stack:
        dependant = stack.pop()
        for parameter in dependant.query_params:
            found[parameter.alias] = getattr(parameter.field_info.annotation, "__origin__", None) is list
        stack.extend(dependant.dependencies)
    return found


async def known_parameters_only(request: Request) -> None:
    """Refuse a query parameter that the route does not know, or one given twice that is a single value."""
    route = request.scope.get("route")
    if not request.url.query or not isinstance(route, APIRoute):
        return
    known = _known(route)
    seen: set[str] = set()
    for name, value in request.query_params.multi_items():
        if name not in known:
            near = get_close_matches(name[:64], known, n=1)
            advice = f"Did you mean {near[0]!r}?" if near else f"Known here: {', '.join(sorted(known)) or 'none'}."
            raise UnknownParameter(
                f"Nobody knows the query parameter {name[:80]!r}.",
                fix=advice,
                faults=[Fault(pointer=f"/{name[:80]}", message="unknown query parameter", code="unknown-parameter")],
            )
        if name in seen and not known[name]:
            raise UsageError(f"The query parameter {name!r} is given twice.", fix="Give it once.")
        if "\x00" in value:
            raise UsageError(f"The query parameter {name!r} holds a NUL.", fix="Leave it out.")
        seen.add(name)


Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="Entries a page.")]
Cursor = Annotated[str | None, Query(max_length=1_000, description="`next` of the page before.")]


def write_cursor(position: str) -> str:
    """An opaque cursor that continues after ``position``."""
    return base64.urlsafe_b64encode(position.encode()).decode().rstrip("=")


def read_cursor(cursor: str | None) -> str | None:
    """The position in a cursor. Raises UsageError for what no page ever gave out."""
    if cursor is None:
        return None
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        position = base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        position = "\x00"
    if "\x00" in position:
        raise UsageError("The cursor was not given out by this service.", fix="Start at the first page again.")
    return position


def dated_position(position: str) -> tuple[datetime, str]:
    """The moment and the id in a position of a list that goes by time. Raises UsageError for one of another list."""
    moment, _, id_ = position.partition(" ")
    try:
        return datetime.fromisoformat(moment).astimezone(UTC), id_
    except (ValueError, OverflowError):
        raise UsageError("The cursor belongs to another list.", fix="Start at the first page again.") from None


# ── ETags ──


def is_fresh(request: Request, etag: str) -> bool:
    """Does the caller hold the thing with this strong ETag already (``If-None-Match``)?"""
    given = request.headers.get("if-none-match")
    return given is not None and (given.strip() == "*" or etag in _tags(given))


def _tags(header: str) -> Iterable[str]:
    return {tag.strip().removeprefix("W/") for tag in header.split(",")}


def cacheable(request: Request, content: Any, *, etag: str, cache: str) -> Response:
    """The content with its ETag, or 304 where the caller holds it."""
    headers = {"ETag": f'"{etag}"', "Cache-Control": cache, "Vary": "Authorization"}
    if is_fresh(request, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    return JSONAnswer(content, headers=headers)


GivenMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        max_length=1_000,
        description="The `ETag` of the state you change, as it was last read; `*` for whatever it is.",
    ),
]


def check_match(given: str | None, etag: str) -> None:
    """May the thing whose ETag is ``etag`` be changed by who sent ``If-Match: given``?

    Raises PreconditionRequired where nothing was sent, PreconditionFailed where it is another state's.
    """
    if given is None:
        raise PreconditionRequired(
            "The request does not say which state it changes.",
            fix="Read it first and send its ETag as If-Match; `If-Match: *` changes whatever is there.",
        )
    if given.strip() != "*" and f'"{etag}"' not in {tag.strip() for tag in given.split(",")}:
        raise PreconditionFailed(
            "It changed since you read it.", fix="Read it again, and decide again.", details={"etag": f'"{etag}"'}
        )


KNOWN_PARAMETERS_ONLY = Depends(known_parameters_only)
