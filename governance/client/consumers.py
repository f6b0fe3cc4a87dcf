"""Consumers, environments and deployments, as typed methods."""

from __future__ import annotations

from collections.abc import Iterator

from governance.client.requests import Requests, etag, segment
from governance.wire import (
    Consumer,
    ConsumerCard,
    ConsumerPage,
    ConsumerRequest,
    Deployed,
    Deployment,
    DeploymentPage,
    DeploymentRequest,
    DeploymentState,
    Environment,
    EnvironmentPage,
    EnvironmentRequest,
)


class Consumers(Requests):
    """Who needs what, and what runs where."""

    def put_consumer(self, name: str, consumer: ConsumerRequest, *, revision: int | None = None) -> Consumer:
        """Declare a consumer whole; safe to repeat. ``revision``: the one this changes, None for whichever is there.

        Raises:
            InvalidRequest: with a fault for each need that cannot stand.
            PreconditionFailed: it was declared otherwise since.
        """
        match = None if revision is None else etag(revision)
        return self._answer(Consumer, "PUT", f"/v1/consumers/{segment(name)}", body=consumer, match=match)

    def get_consumer(self, name: str) -> Consumer:
        """One consumer. Raises NotFound."""
        return self._answer(Consumer, "GET", f"/v1/consumers/{segment(name)}")

    def consumers(self, *, skill: str | None = None, environment: str | None = None) -> Iterator[ConsumerCard]:
        """Every consumer that needs what is asked for, by name."""
        for page in self._pages(ConsumerPage, "/v1/consumers", {"skill": skill, "environment": environment}):
            yield from page.items

    def put_environment(
        self,
        name: str,
        *,
        protected: bool = False,
        description: str | None = None,
        revision: int | None = None,
    ) -> Environment:
        """Set an environment whole; safe to repeat. Raises PreconditionFailed."""
        match = None if revision is None else etag(revision)
        body = EnvironmentRequest(protected=protected, description=description)
        return self._answer(Environment, "PUT", f"/v1/environments/{segment(name)}", body=body, match=match)

    def get_environment(self, name: str) -> Environment:
        """One environment. Raises NotFound."""
        return self._answer(Environment, "GET", f"/v1/environments/{segment(name)}")

    def environments(self) -> Iterator[Environment]:
        """Every environment, by name."""
        for page in self._pages(EnvironmentPage, "/v1/environments", {}):
            yield from page.items

    def put_deployment(
        self, environment: str, skill: str, version: str, *, beside: bool = False, reason: str | None = None
    ) -> Deployed:
        """Put on record that a version runs there, in the place of what runs there or ``beside`` it; safe to repeat.

        Raises:
            GateRefused: the environment is protected; ``details["judgement"]`` says why not.
            NotFound: no such environment, skill or version.
        """
        body = DeploymentRequest(version=version, beside=beside, reason=reason)
        path = f"/v1/environments/{segment(environment)}/deployments/{segment(skill)}"
        return self._answer(Deployed, "PUT", path, body=body)

    def end_deployment(
        self, environment: str, skill: str, *, version: str | None = None, reason: str | None = None
    ) -> list[Deployment]:
        """The skill, or that version of it, runs there no more: what ended now. Safe to repeat."""
        path = f"/v1/environments/{segment(environment)}/deployments/{segment(skill)}"
        return self._answer(DeploymentPage, "DELETE", path, query={"version": version, "reason": reason}).items

    def deployments(
        self, environment: str, *, skill: str | None = None, state: DeploymentState | None = None
    ) -> Iterator[Deployment]:
        """What runs in an environment and what ran there, newest first. Raises NotFound."""
        query = {"skill": skill, "state": state}
        for page in self._pages(DeploymentPage, f"/v1/environments/{segment(environment)}/deployments", query):
            yield from page.items
