"""CI identity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from governance.client.requests import Requests, segment
from governance.wire import Exchanged, ExchangeRequest, Grant, Publisher, PublisherPage, PublisherRequest


class Identity(Requests):
    """Whom to trust, and a short token for whoever proves to be that."""

    def exchange(self, assertion: str) -> Exchanged:
        """A CI job's OIDC ID token for a short token of the service. Raises AuthError."""
        return self._answer(Exchanged, "POST", "/v1/auth/oidc/exchange", body=ExchangeRequest(assertion=assertion))

    def create_publisher(
        self, name: str, *, issuer: str, claims: Mapping[str, str], grants: Sequence[Grant], key: str | None = None
    ) -> Publisher:
        """Trust jobs of which ``issuer`` says all these claims. Raises InvalidRequest for what would be too wide."""
        body = PublisherRequest(name=name, issuer=issuer, claims=dict(claims), grants=list(grants))
        return self._answer(Publisher, "POST", "/v1/trusted-publishers", body=body, key=key)

    def publishers(self) -> list[Publisher]:
        return self._answer(PublisherPage, "GET", "/v1/trusted-publishers").items

    def revoke_publisher(self, publisher: str) -> Publisher:
        """Raises NotFound."""
        return self._answer(Publisher, "DELETE", f"/v1/trusted-publishers/{segment(publisher)}")
