"""One problem shape (RFC 9457) for every error, the framework's own included, and its place in the API docs."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match

from governance.control.database import unavailable
from governance.core.canonical import escape
from governance.errors import (
    DocumentTooLarge,
    Fault,
    GovernanceError,
    IdempotencyKeyReused,
    InvalidRequest,
    MalformedDocument,
    MethodNotAllowed,
    NotFound,
    RequestRunning,
    ServiceError,
    ServiceUnavailable,
    TooManyRequests,
    Unauthenticated,
    UnknownParameter,
    UnsupportedMediaType,
    UsageError,
)
from governance.wire import PROBLEM_MEDIA_TYPE, PROBLEM_TYPE_PREFIX, Problem, ProblemFault, write_json

log = logging.getLogger("governance.control")

RETRY_AFTER_SEC: Final = "1"
_MAX_FAULTS: Final = 100

Refused = Callable[[Request, GovernanceError], Awaitable[None]]
"""Told of every refusal before it is answered; what it raises is answered instead."""


def problem_of(error: GovernanceError, *, request_id: str = "", trace_id: str = "") -> Problem:
    """The problem document of an error; faults past the hundredth are counted, not shown."""
    details = dict(error.details)
    if len(error.faults) > _MAX_FAULTS:
        details["more_errors"] = len(error.faults) - _MAX_FAULTS
    return Problem(
        type=PROBLEM_TYPE_PREFIX + error.code,
        title=error.title,
        status=error.status,
        detail=error.message,
        code=error.code,
        fix=error.fix,
        errors=[
            ProblemFault(pointer=fault.pointer, message=fault.message, code=fault.code)
            for fault in error.faults[:_MAX_FAULTS]
        ],
        details=details,
        request_id=request_id,
        trace_id=trace_id,
    )


def answer(request: Request, error: GovernanceError) -> Response:
    """The HTTP answer for an error."""
    state = request.scope.get("state", {})
    problem = problem_of(error, request_id=state.get("request_id", ""), trace_id=state.get("trace_id", ""))
    headers: dict[str, str] = {"Cache-Control": "no-store"}
    if error.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="govctl"'
    if error.status in {429, 503}:
        headers["Retry-After"] = RETRY_AFTER_SEC
    if isinstance(error, MethodNotAllowed):
        headers["Allow"] = ", ".join(error.details.get("allowed", []))
    request.scope.setdefault("state", {})["problem_code"] = error.code
    return Response(write_json(problem), status_code=error.status, headers=headers, media_type=PROBLEM_MEDIA_TYPE)


def install(app: FastAPI, refused: Refused) -> None:
    """Make every error of ``app`` a problem; ``refused`` is told of each that is the caller's."""

    async def governance_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, GovernanceError)
        if error.status < 500:
            try:
                await refused(request, error)
            except GovernanceError as failure:
                return answer(request, failure)
        else:
            log.error("request failed", extra={"code": error.code, "detail": error.message})
        return answer(request, error)

    async def validation_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return answer(request, invalid_request(error.errors(), where="The request"))

    async def http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return answer(request, _from_framework(request, error))

    app.add_exception_handler(GovernanceError, governance_error)
    app.add_exception_handler(RequestValidationError, validation_error)
    app.add_exception_handler(HTTPException, http_error)


def failed(request: Request, error: Exception) -> Response:
    """The answer to what nobody foresaw; a database that is gone is told apart."""
    lost = unavailable(error)
    if lost is not None:
        return answer(request, lost)
    log.error("unexpected failure", exc_info=error, extra={"request_id": request.state.request_id})
    return answer(request, ServiceError("The service failed; nothing was changed.", fix=_REPORT))


_REPORT = "Try again; if it stays, report it with the request id."


def invalid_request(errors: Any, *, where: str) -> InvalidRequest:
    """What pydantic found, as faults with JSON Pointers; query and path parameters are named by theirs."""
    faults, fix = [], _SEE_DOCS
    for error in list(errors)[:_MAX_FAULTS]:
        location = [str(part) for part in error["loc"]]
        if location and location[0] in {"query", "path", "body"}:
            location = location[1:]
        pointer = "".join(f"/{escape(part)}" for part in location)
        code = "unknown-field" if error["type"] == "extra_forbidden" else "invalid"
        message = "nobody knows this field" if code == "unknown-field" else str(error["msg"])
        if error["loc"][:1] == ("path",) and error["type"] == "string_pattern_mismatch":
            message, fix = "nothing of this kind is called so", "List what there is: its id or name is in the list."
        faults.append(Fault(pointer=pointer, message=message, code=code))
    first = f": {faults[0]}" if faults else ""
    return InvalidRequest(f"{where} is not what this route takes{first}.", fix=fix, faults=faults)


_SEE_DOCS = "See /openapi.json for what the route takes."


def _from_framework(request: Request, error: HTTPException) -> GovernanceError:
    if error.status_code == 404:
        return NotFound("There is no such route.", fix="See /openapi.json for the routes there are.")
    if error.status_code == 405:
        allowed = _methods_of(request)
        return MethodNotAllowed(
            f"This route answers {' and '.join(allowed) or 'other methods'} only.",
            fix=_SEE_DOCS,
            details={"allowed": allowed},
        )
    if error.status_code >= 500:
        return ServiceError("The service failed.", fix=_REPORT)
    return UsageError(str(error.detail), fix=_SEE_DOCS)


def _methods_of(request: Request) -> list[str]:
    """What the routes of the request's path answer to together; the framework tells the first route's alone."""
    found: set[str] = set()
    for route in _each(request.app.routes):
        if route.matches(request.scope)[0] is not Match.NONE:
            found |= getattr(route, "methods", None) or set()
    return sorted(found | ({"HEAD"} if "GET" in found else set()))


def _each(routes: Iterable[BaseRoute]) -> Iterator[BaseRoute]:
    """Every route, those of included routers among them, which the framework keeps apart."""
    for route in routes:
        inside = getattr(route, "original_router", None)
        yield from [route] if inside is None else _each(inside.routes)


_SCHEMA: Final = {"$ref": "#/components/schemas/Problem"}


def describe(app: FastAPI) -> None:
    """Have the API's description hold the problem, and not the framework's own shape of a refusal."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            schemas = document.setdefault("components", {}).setdefault("schemas", {})
            problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas |= problem.pop("$defs", {}) | {"Problem": problem}
            for leftover in ("HTTPValidationError", "ValidationError"):
                schemas.pop(leftover, None)
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


EVERYWHERE: Final = (Unauthenticated, UnknownParameter, InvalidRequest, ServiceUnavailable, ServiceError)
"""What every route of the API may answer; who may not do a thing is told Forbidden beside it."""
WITH_BODY: Final = (MalformedDocument, UnsupportedMediaType, DocumentTooLarge)
"""What a route that takes a document may answer beside that."""
WITH_KEY: Final = (UsageError, IdempotencyKeyReused, RequestRunning, TooManyRequests)
"""And one that takes an Idempotency-Key."""


def responses(*errors: type[GovernanceError]) -> dict[int | str, dict[str, Any]]:
    """What a route may answer beside success, for ``responses=``: each error under its status with an example."""
    by_status: dict[int | str, dict[str, Any]] = {}
    for error in errors:
        entry = by_status.setdefault(
            error.status,
            {"description": "", "content": {PROBLEM_MEDIA_TYPE: {"schema": _SCHEMA, "examples": {}}}},
        )
        entry["description"] = "; ".join(filter(None, [entry["description"], error.title]))
        entry["content"][PROBLEM_MEDIA_TYPE]["examples"][error.code] = {
            "summary": error.title,
            "value": _example(error),
        }
    return by_status


def _example(error: type[GovernanceError]) -> Mapping[str, Any]:
    shown = problem_of(
        error(f"{error.title}.", fix="What to do next stands here."),
        request_id="req-4f1d2c3b5a69788796a5b4c3d2e1f001",
        trace_id="0af7651916cd43dd8448eb211c80319c",
    )
    return shown.model_dump(mode="json")
