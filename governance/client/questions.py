"""Questions about a published version."""

from __future__ import annotations

from collections.abc import Sequence

from governance.client.requests import Requests, segment
from governance.wire import Judgement, Matrix


class Questions(Requests):
    """Whom a deployment, a retirement or a version would hit."""

    def can_i_deploy(self, name: str, version: str, environment: str, *, beside: bool = False) -> Judgement:
        """May the version run there? Raises NotFound."""
        query = {"environment": environment, "beside": "true" if beside else None}
        return self._answer(Judgement, "GET", f"{_version(name, version)}/can-i-deploy", query=query)

    def can_i_retire(self, name: str, version: str) -> Judgement:
        """May the version go? Raises NotFound."""
        return self._answer(Judgement, "GET", f"{_version(name, version)}/can-i-retire")

    def matrix(
        self,
        name: str,
        *,
        versions: Sequence[str] = (),
        consumer: str | None = None,
        environment: str | None = None,
    ) -> Matrix:
        """Consumers by versions; without ``versions`` the highest that may serve somebody. Raises NotFound."""
        query = {"version": list(versions) or None, "consumer": consumer, "environment": environment}
        return self._answer(Matrix, "GET", f"/v1/skills/{segment(name)}/matrix", query=query)


def _version(name: str, version: str) -> str:
    return f"/v1/skills/{segment(name)}/versions/{segment(version)}"
