"""Around every request: an id, a trace, a span, a duration, one structured log line. Secrets never reach it."""

from __future__ import annotations

import json
import logging
import re
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, TextIO

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from governance.telemetry import Telemetry, server_span

log = logging.getLogger("governance.request")

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?")
_UNROUTED: Final = "unrouted"
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


Failed = Callable[[Request, Exception], Response]
"""The answer to a request that failed in a way nobody foresaw."""


class Observing:
    """ASGI middleware. Sets ``request_id`` and ``trace_id`` in the request's state and in the answer's headers.

    A caller's ``X-Request-Id`` is kept where it is plain, and its ``traceparent`` joined; else both are new.
    """

    def __init__(self, app: ASGIApp, *, telemetry: Telemetry, failed: Failed) -> None:
        self._app = app
        self._telemetry = telemetry
        self._failed = failed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        state: dict[str, Any] = scope.setdefault("state", {})
        given = headers.get("x-request-id", "")
        state["request_id"] = given if _REQUEST_ID.fullmatch(given) else "req-" + secrets.token_hex(16)
        started = time.perf_counter()
        status = 500
        started_answering = False

        async def observed(message: Message) -> None:
            nonlocal status, started_answering
            if message["type"] == "http.response.start":
                started_answering = True
                status = message["status"]
                answer = MutableHeaders(scope=message)
                answer["X-Request-Id"] = state["request_id"]
                answer["X-Trace-Id"] = state["trace_id"]
                answer["X-Content-Type-Options"] = "nosniff"
            await send(message)

        with server_span("http.server", {"traceparent": headers.get("traceparent", "")}) as span:
            context = span.get_span_context()
            state["trace_id"] = f"{context.trace_id:032x}" if context.is_valid else _trace_id(headers)
            try:
                await self._app(scope, receive, observed)
            except Exception as error:
                if started_answering:
                    raise
                await self._failed(Request(scope), error)(scope, receive, observed)
            finally:
                route = getattr(scope.get("route"), "path", _UNROUTED)
                method = scope["method"] if scope["method"] in _METHODS else "OTHER"
                seconds = time.perf_counter() - started
                span.update_name(f"{method} {route}")
                span.set_attribute("http.response.status_code", status)
                span.set_attribute("governance.request.id", state["request_id"])
                self._telemetry.observe(
                    "http_server_request_duration_seconds",
                    seconds,
                    method=method,
                    route=route,
                    status=str(status),
                )
                _log(scope, state, method=method, route=route, status=status, seconds=seconds)


def _trace_id(headers: Headers) -> str:
    match = _TRACEPARENT.fullmatch(headers.get("traceparent", ""))
    return match.group(1) if match else secrets.token_hex(16)


def _log(scope: Scope, state: dict[str, Any], *, method: str, route: str, status: int, seconds: float) -> None:
    caller = state.get("caller")
    log.log(
        logging.INFO if status < 500 else logging.ERROR,
        "request",
        extra={
            "method": method,
            "route": route,
            "path": scope["path"][:300],
            "status": status,
            "ms": round(seconds * 1_000, 3),
            "caller": None if caller is None else caller.id,
            "code": state.get("problem_code"),
            "request_id": state["request_id"],
            "trace_id": state["trace_id"],
        },
    )


# ── log lines ──

_SECRETS: Final = (
    (re.compile(r"govctl_[A-Za-z0-9_-]{8,}"), "govctl_***"),
    (re.compile(r"(?i)\b(bearer|basic)\s+\S+"), r"\1 ***"),
    (re.compile(r"(://[^\s:/@]*):[^\s@/]+@"), r"\1:***@"),
    (re.compile(r"(?i)\b(password|passwd|secret|api_?key)(\s*[=:]\s*)\S+"), r"\1\2***"),
    (re.compile(r"(\bDETAIL:\s+)[^\n]*"), r"\1***"),  # where Postgres quotes the row it refused
)
_OWN: Final = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName", "color_message"}


def redacted(text: str) -> str:
    """Text without tokens, passwords in URLs and the like."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


class JSONLines(logging.Formatter):
    """One JSON object a line; what was given as ``extra`` stands beside the message."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: value for name, value in record.__dict__.items() if name not in _OWN and value is not None}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(_cleaned(line), ensure_ascii=False, default=str)


def _cleaned(value: Any) -> Any:
    """Each text by itself: over the whole line a secret would take what follows it along."""
    if isinstance(value, dict):
        return {name: _cleaned(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_cleaned(one) for one in value]
    return value if value is None or isinstance(value, bool | int | float) else redacted(str(value))


class PlainLines(logging.Formatter):
    """One line for a person; what was given as ``extra`` follows in brackets."""

    def format(self, record: logging.LogRecord) -> str:
        extra = {name: value for name, value in record.__dict__.items() if name not in _OWN and value is not None}
        told = ", ".join(f"{name}={redacted(str(value))}" for name, value in extra.items())
        line = f"{record.levelname.lower()}: {redacted(record.getMessage())}" + (f" ({told})" if told else "")
        line = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in line)
        if record.exc_info:
            line += "\n" + redacted(self.formatException(record.exc_info))
        return line


def log_to(stream: TextIO) -> None:
    """Send this package's and the server's log lines there: JSON, or on a terminal what a person should read."""
    terminal = stream.isatty()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(PlainLines() if terminal else JSONLines())
    for name in ("governance", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.WARNING if terminal else logging.INFO)
