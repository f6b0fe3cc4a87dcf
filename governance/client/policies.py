"""Policies, as typed methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from governance.client.requests import Requests, etag, segment
from governance.wire import EffectivePolicy, PolicyPage, PolicyRequest, PolicyRevision


class Policies(Requests):
    """What scopes set, and what holds. A scope is ``global``, ``namespace:NAME`` or ``skill:NAME``."""

    def get_policy(self, scope: str) -> PolicyRevision:
        """What one scope sets; revision 0 where it never set anything."""
        return self._answer(PolicyRevision, "GET", f"/v1/policies/{segment(scope)}")

    def put_policy(
        self, scope: str, settings: Mapping[str, Any], *, revision: int | None, reason: str | None = None
    ) -> PolicyRevision:
        """Set all of a scope. ``revision``: the one this changes, None for whichever is there.

        Raises:
            PreconditionFailed: somebody set another one since.
        """
        body = PolicyRequest(settings=dict(settings), reason=reason)
        return self._answer(PolicyRevision, "PUT", f"/v1/policies/{segment(scope)}", body=body, match=etag(revision))

    def policy_revisions(self, scope: str) -> list[PolicyRevision]:
        """Everything a scope ever set, newest first."""
        found: list[PolicyRevision] = []
        for page in self._pages(PolicyPage, f"/v1/policies/{segment(scope)}/revisions", {}):
            found += page.items
        return found

    def effective_policy(self, *, skill: str | None = None, namespace: str | None = None) -> EffectivePolicy:
        """What holds for a skill, published or not, or in a namespace."""
        kind, name = ("skills", skill) if skill is not None else ("namespaces", namespace or "")
        return self._answer(EffectivePolicy, "GET", f"/v1/{kind}/{segment(name)}/policy")
