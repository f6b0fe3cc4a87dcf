"""Events as they come."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import httpx
from pydantic import ValidationError

from governance.client.requests import Requests, segment
from governance.errors import ServerUnreachable
from governance.wire import (
    Delivery,
    DeliveryPage,
    Event,
    Webhook,
    WebhookCreated,
    WebhookPage,
    WebhookRequest,
)

_SILENCE_SEC = 60.0
"""Longer than the service's heartbeat: a stream that says nothing for so long is dead."""
_MAX_LINE = 16 * 1024 * 1024


class Events(Requests):
    """The stream of events."""

    place: str | None = None
    """How far the last stream had got, events of others included: where to go on."""

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
                    if line.startswith("id: "):
                        self.place = line[4:]
                    if line.startswith("data: "):
                        yield Event.model_validate(json.loads(line[6:]))
        except (httpx.TransportError, ValidationError, ValueError) as error:
            raise ServerUnreachable(
                f"The stream of {self.base_url} broke off: {str(error) or type(error).__name__}.",
                fix="Go on after the last event that came: `govctl events --after ID`.",
            ) from error


class Webhooks(Requests):
    """Addresses that are told, and what was sent to them."""

    def create_webhook(
        self, url: str, *, namespace: str = "*", types: Sequence[str] = (), key: str | None = None
    ) -> WebhookCreated:
        """Have an address told of what changes from now on. Raises InvalidRequest for one nothing can be sent to."""
        body = WebhookRequest(url=url, namespace=namespace, types=list(types))
        return self._answer(WebhookCreated, "POST", "/v1/webhooks", body=body, key=key)

    def webhooks(self) -> list[Webhook]:
        return self._answer(WebhookPage, "GET", "/v1/webhooks").items

    def remove_webhook(self, webhook: str) -> Webhook:
        """Raises NotFound."""
        return self._answer(Webhook, "DELETE", f"/v1/webhooks/{segment(webhook)}")

    def rotate_webhook(self, webhook: str) -> WebhookCreated:
        """A new secret; the old one signs too for a day. Raises NotFound."""
        return self._answer(WebhookCreated, "POST", f"/v1/webhooks/{segment(webhook)}/secret")

    def enable_webhook(self, webhook: str) -> Webhook:
        """Raises NotFound."""
        return self._answer(Webhook, "POST", f"/v1/webhooks/{segment(webhook)}/enablement")

    def ping_webhook(self, webhook: str) -> Delivery:
        """Have a delivery of no event sent. Raises NotFound."""
        return self._answer(Delivery, "POST", f"/v1/webhooks/{segment(webhook)}/ping")

    def deliveries(self, webhook: str, *, state: str | None = None) -> Iterator[Delivery]:
        """The log of a webhook, newest first. Raises NotFound."""
        for page in self._pages(DeliveryPage, f"/v1/webhooks/{segment(webhook)}/deliveries", {"state": state}):
            yield from page.items

    def redeliver(self, webhook: str, delivery: str) -> Delivery:
        """Send a delivery again, under the id it had. Raises NotFound."""
        path = f"/v1/webhooks/{segment(webhook)}/deliveries/{segment(delivery)}/redelivery"
        return self._answer(Delivery, "POST", path)
