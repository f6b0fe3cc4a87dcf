"""Exceptions, as typed methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from governance.client.requests import Requests, segment
from governance.wire import ApprovalRequest, ExceptionPage, ExceptionRequest, ExceptionState, ExceptionView


class Exceptions(Requests):
    """Findings that named people let pass for a while."""

    def ask_for_exception(
        self,
        source: str,
        fingerprints: Sequence[str],
        *,
        reason: str,
        expires_in_days: int,
        environment: str | None = None,
        consumer: str | None = None,
        max_uses: int | None = None,
        idempotency_key: str | None = None,
    ) -> ExceptionView:
        """Propose an exception for findings that ``source`` tells: a stored check's id, or NAME@VERSION.

        Raises:
            NotFound: no such check or version.
            InvalidRequest: it does not tell of a finding, or the policy lets none stand that long.
        """
        body = ExceptionRequest(
            check=None if "@" in source else source,
            version=source if "@" in source else None,
            fingerprints=list(fingerprints),
            environment=environment,
            consumer=consumer,
            reason=reason,
            expires_in_days=expires_in_days,
            max_uses=max_uses,
        )
        return self._answer(ExceptionView, "POST", "/v1/exceptions", body=body, key=idempotency_key)

    def approve_exception(self, exception_id: str, *, reason: str | None = None) -> ExceptionView:
        """Let it come into force.

        Raises:
            Forbidden: you asked for it yourself, or may not approve there.
            Conflict: it is revoked or over.
        """
        path = f"/v1/exceptions/{segment(exception_id)}/approval"
        return self._answer(ExceptionView, "POST", path, body=ApprovalRequest(reason=reason))

    def revoke_exception(self, exception_id: str, *, reason: str) -> ExceptionView:
        """End it at once; safe to repeat."""
        path = f"/v1/exceptions/{segment(exception_id)}"
        return self._answer(ExceptionView, "DELETE", path, query={"reason": reason})

    def get_exception(self, exception_id: str) -> ExceptionView:
        """One exception. Raises NotFound."""
        return self._answer(ExceptionView, "GET", f"/v1/exceptions/{segment(exception_id)}")

    def exceptions(
        self,
        *,
        state: ExceptionState | None = None,
        skill: str | None = None,
        expires_within_days: int | None = None,
    ) -> Iterator[ExceptionView]:
        """Every exception that matches, those that end first first."""
        query = {"state": state, "skill": skill, "expires_within_days": expires_within_days}
        for page in self._pages(ExceptionPage, "/v1/exceptions", query):
            yield from page.items
