"""Events as they come."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import httpx
from pydantic import ValidationError

from governance.client.requests import Requests
from governance.errors import ServerUnreachable
from governance.wire import Event

_SILENCE_SEC = 60.0
"""Longer than the service's heartbeat: a stream that says nothing for so long is dead."""
_MAX_LINE = 16 * 1024 * 1024


class Events(Requests):
    """The stream of events."""

    def events(
        self,
        *,
        after: str | None = None,
        types: Sequence[str] = (),
        namespace: str | None = None,
        follow: bool = False,
    ) -> Iterator[Event]:
        """Events after a place (``0-0``: from the beginning; None: from now on), oldest first.

        Without ``follow`` it ends with what there is. Raises ServerUnreachable when the stream breaks off; the id of
        the last event is where to go on.
        """
        query = {
            "after": after,
            "type": list(types) or None,
            "namespace": namespace,
            "follow": None if follow else "false",
        }
        params = {key: value for key, value in query.items() if value is not None}
        headers = {"Accept": "text/event-stream"}
        timeout = httpx.Timeout(_SILENCE_SEC, connect=5)
        try:
            with self._http.stream("GET", "/v1/events", params=params, headers=headers, timeout=timeout) as answer:
                if answer.status_code >= 300:
                    answer.read()
                    raise self._error(answer)
                for line in answer.iter_lines():
                    if len(line) > _MAX_LINE:
                        raise ValueError("a line without end")
                    if line.startswith("data: "):
                        yield Event.model_validate(json.loads(line[6:]))
        except (httpx.TransportError, ValidationError, ValueError) as error:
            raise ServerUnreachable(
                f"The stream of {self.base_url} broke off: {str(error) or type(error).__name__}.",
                fix="Go on after the last event that came: `govctl events --after ID`.",
            ) from error
