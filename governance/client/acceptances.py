"""Lines that consumers have accepted."""

from __future__ import annotations

from collections.abc import Iterator

from governance.client.requests import Requests, segment
from governance.wire import AcceptancePage, AcceptanceView


class Acceptances(Requests):
    def acceptances(
        self, *, skill: str | None = None, consumer: str | None = None, ended: bool = False
    ) -> Iterator[AcceptanceView]:
        """The acceptances that stand, by skill; with ``ended`` those revoked and expired too."""
        query = {"skill": skill, "consumer": consumer, "ended": "true" if ended else None}
        for page in self._pages(AcceptancePage, "/v1/acceptances", query):
            yield from page.items

    def revoke_acceptance(self, acceptance_id: str) -> AcceptanceView:
        """Revoke at once; safe to repeat. Raises NotFound."""
        return self._answer(AcceptanceView, "DELETE", f"/v1/acceptances/{segment(acceptance_id)}")
