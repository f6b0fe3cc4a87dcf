"""Attestations, as typed methods."""

from __future__ import annotations

from collections.abc import Iterator

from governance.client.requests import Requests, segment
from governance.wire import Attestation, AttestationPage, AttestationRequest


class Attestations(Requests):
    """How the tests of contracts ended."""

    def put_attestation(
        self, skill: str, digest: str, *, passed: int, failed: int = 0, source: str | None = None
    ) -> Attestation:
        """Put on record how the tests of the contract ``digest`` ended; safe to repeat."""
        path = f"/v1/skills/{segment(skill)}/attestations/{segment(digest)}"
        body = AttestationRequest(passed=passed, failed=failed, source=source)
        return self._answer(Attestation, "PUT", path, body=body)

    def attestations(self, skill: str, *, digest: str | None = None) -> Iterator[Attestation]:
        """Every test run of a skill, newest first."""
        for page in self._pages(AttestationPage, f"/v1/skills/{segment(skill)}/attestations", {"digest": digest}):
            yield from page.items
