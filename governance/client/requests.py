"""One request: what goes out with it, and what every answer becomes, a message or the error its problem names."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Final, Self, TypeAlias, TypeVar
from urllib.parse import quote

import httpx
from pydantic import ValidationError

from governance import __version__
from governance.core.document import Limits, read_json
from governance.errors import (
    Fault,
    GovernanceError,
    MalformedDocument,
    ServerUnreachable,
    ServiceError,
    UsageError,
    all_errors,
)
from governance.wire import Answer, Problem, write_json

DEFAULT_TIMEOUT_SEC: Final = 60.0
_CONNECT_SEC: Final = 5.0
_ANSWER_LIMITS: Final = Limits(size=256 * 1024 * 1024, depth=512, nodes=20_000_000)

_CLASSES: Final[dict[str, type[GovernanceError]]] = {error.code: error for error in all_errors()}
"""By code; of two classes with one code the more special, which ``all_errors`` gives later, wins."""

A = TypeVar("A", bound=Answer)
Query: TypeAlias = Mapping[str, Any] | None


def error_from_problem(problem: Problem) -> GovernanceError:
    """The error a problem document speaks of; an unknown code becomes the nearest class by status."""
    error_class = _CLASSES.get(problem.code)
    if error_class is None:
        error_class = ServiceError if problem.status >= 500 else UsageError
    details = dict(problem.details)
    if problem.request_id:
        details.setdefault("request_id", problem.request_id)
    return error_class(
        problem.detail,
        fix=problem.fix,
        faults=[Fault(pointer=f.pointer, message=f.message, code=f.code) for f in problem.errors],
        details=details,
    )


class Requests:
    """Requests to the control plane at ``base_url``; ``ControlPlane`` says which there are."""

    def __init__(
        self,
        base_url: str,
        token: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT_SEC,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise UsageError(
                f"{base_url!r} is not the address of a server.",
                fix="Give it as http://HOST:PORT or https://HOST.",
            )
        self.base_url = base_url.rstrip("/")
        headers = {"User-Agent": f"skill-governance/{__version__}", "Accept": "application/json"}
        if token:
            if not token.isascii() or not token.isprintable():
                raise UsageError("The token holds characters no token has.", fix="Copy it again, without line breaks.")
            headers["Authorization"] = f"Bearer {token}"
        self._http = httpx.Client(
            base_url=self.base_url,
            headers=headers,
            timeout=httpx.Timeout(timeout, connect=_CONNECT_SEC),
            transport=transport,
            verify=self.base_url.startswith("https://") or _trusting_nobody(),
            follow_redirects=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def _pages(self, kind: type[A], path: str, query: Mapping[str, Any]) -> Iterator[A]:
        cursor: str | None = None
        while True:
            page = self._answer(kind, "GET", path, query={**query, "limit": 200, "cursor": cursor})
            yield page
            cursor = getattr(page, "next", None)
            if cursor is None:
                return

    def _answer(
        self,
        kind: type[A],
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        key: str | None = None,
        match: str | None = None,
    ) -> A:
        response = self._send(method, path, query=query, body=body, key=key, match=match)
        try:
            return kind.model_validate(read_json(response.content, limits=_ANSWER_LIMITS))
        except (GovernanceError, ValidationError) as error:
            raise ServerUnreachable(
                f"{self.base_url} answered what no control plane answers.",
                fix="Check the address; a proxy or another program may stand there, or its version differs.",
            ) from error

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: Query = None,
        body: Any = None,
        key: str | None = None,
        match: str | None = None,
    ) -> httpx.Response:
        params = {key: value for key, value in (query or {}).items() if value is not None}
        content = None if body is None else write_json(body)
        headers = {} if content is None else {"Content-Type": "application/json"}
        headers |= {} if key is None else {"Idempotency-Key": f'"{key}"'}
        headers |= {} if match is None else {"If-Match": match}
        try:
            response = self._http.request(method, path, params=params, content=content, headers=headers)
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise ServerUnreachable(
                f"{self.base_url} does not answer: {str(error) or type(error).__name__}.",
                fix="Start it with `govctl serve`, or set GOVCTL_SERVER to where it runs.",
            ) from error
        if response.status_code < 300:
            return response
        raise self._error(response)

    def _error(self, response: httpx.Response) -> GovernanceError:
        try:
            problem = Problem.model_validate(read_json(response.content, limits=_ANSWER_LIMITS))
        except (MalformedDocument, ValidationError, GovernanceError):
            return ServerUnreachable(
                f"{self.base_url} answered {response.status_code} without a problem document.",
                fix="Check the address; a proxy or another program may stand there.",
            )
        return error_from_problem(problem)


def segment(text: str) -> str:
    """``text`` as one segment of a path."""
    return quote(text, safe="")


def etag(revision: int | None) -> str:
    """The ``If-Match`` of a revision; None stands for whatever is there."""
    return "*" if revision is None else f'"{revision}"'


def _trusting_nobody() -> ssl.SSLContext:
    """For addresses without TLS: the machine's certificates take tens of milliseconds to load, and are not asked."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
