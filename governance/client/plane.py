"""``ControlPlane``: every route of the service as a typed method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from governance.client.acceptances import Acceptances
from governance.client.attestations import Attestations
from governance.client.consumers import Consumers
from governance.client.events import Events, Webhooks
from governance.client.exceptions import Exceptions
from governance.client.identity import Identity
from governance.client.lifecycle import Lifecycles
from governance.client.policies import Policies
from governance.client.questions import Questions
from governance.client.requests import error_from_problem
from governance.client.requests import segment as _segment
from governance.client.rollouts import Rollouts
from governance.core.releases import VersionBy
from governance.errors import ServiceError, UsageError
from governance.wire import (
    MAX_PAGE,
    AuditPage,
    Catalogue,
    CatalogueCandidate,
    CatalogueDiff,
    CataloguePage,
    CatalogueRelease,
    CheckProvenance,
    CheckResult,
    Diff,
    Grant,
    Health,
    Published,
    Released,
    ReleasePage,
    ReleaseSummary,
    Resolution,
    ResolveAnswer,
    ResolveQuestion,
    ResolveRequest,
    Skill,
    SkillCard,
    SkillPage,
    SkillVersion,
    TokenCreated,
    TokenPage,
    TokenRequest,
    TokenView,
    VersionPage,
    VersionSummary,
)


class ControlPlane(
    Attestations,
    Consumers,
    Exceptions,
    Policies,
    Questions,
    Lifecycles,
    Acceptances,
    Events,
    Webhooks,
    Identity,
    Rollouts,
):
    """The control plane at ``base_url``; close it, or use it as a context manager.

    ``transport`` is for tests and embedding. Every method may raise ServerUnreachable, AuthError,
    UsageError and ServiceError beside what it names.
    """

    # ── versions ──

    def put_version(
        self,
        manifest: Mapping[str, Any],
        *,
        reason: str | None = None,
        fail_on: str | None = None,
        transitive: bool = True,
        repository: str | None = None,
        commit: str | None = None,
        run: str | None = None,
    ) -> Published:
        """Publish the native manifest document; safe to repeat.

        ``fail_on`` (``risky`` or ``breaking``) is the mildest verdict that blocks whatever the number says.

        Raises:
            GateRefused: ``details["decision"]`` is the whole GateDecision document.
            VersionExists: the version is taken by other bytes.
            InvalidContract: with a fault for each thing wrong.
        """
        name, version = manifest.get("name"), manifest.get("version")
        if not isinstance(name, str) or not isinstance(version, str):
            raise UsageError("The manifest has no name and version.", fix="Give both in the manifest.")
        query = {
            "reason": reason,
            "fail_on": fail_on,
            "transitive": None if transitive else "false",
            "repository": repository,
            "commit": commit,
            "run": run,
        }
        return self._answer(Published, "PUT", self._version_path(name, version), query=query, body=dict(manifest))

    def get_version(self, name: str, version: str) -> SkillVersion:
        """One version whole.

        Raises:
            NotFound: no such skill or version.
            AmbiguousName: a bare name that lives in two namespaces.
        """
        return self._answer(SkillVersion, "GET", self._version_path(name, version))

    def versions(self, name: str, *, range: str | None = None) -> list[VersionSummary]:
        """All versions, highest first; with ``range``, those it admits."""
        found: list[VersionSummary] = []
        for page in self._pages(VersionPage, f"/v1/skills/{_segment(name)}/versions", {"range": range}):
            found += page.items
        return found

    def diff(self, name: str, old: str, new: str, *, reading: str | None = None) -> Diff:
        """The comparison of two published versions."""
        query = {"from": old, "to": new, "reading": reading}
        return self._answer(Diff, "GET", f"/v1/skills/{_segment(name)}/diff", query=query)

    def blob(self, digest: str) -> bytes:
        """The canonical bytes of a manifest, by its manifest digest (``sha256:…``)."""
        return self._send("GET", f"/v1/blobs/{_segment(digest)}").content

    # ── skills ──

    def list_skills(
        self,
        *,
        text: str | None = None,
        tag: str | None = None,
        owner: str | None = None,
        state: str | None = None,
        field: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> SkillPage:
        """One page of the skills that match all that is given, by name."""
        query = {
            "q": text,
            "tag": tag,
            "owner": owner,
            "state": state,
            "field": field,
            "limit": limit,
            "cursor": cursor,
        }
        return self._answer(SkillPage, "GET", "/v1/skills", query=query)

    def search(self, text: str | None = None, **filters: str | None) -> Iterator[SkillCard]:
        """Every skill that matches, page after page; filters as for :meth:`list_skills`."""
        for page in self._pages(SkillPage, "/v1/skills", {"q": text, **filters}):
            yield from page.items

    def get_skill(self, name: str) -> Skill:
        """One skill with its lines."""
        return self._answer(Skill, "GET", f"/v1/skills/{_segment(name)}")

    # ── catalogues ──

    def put_release(
        self,
        catalogue: str,
        version: str,
        members: Sequence[Mapping[str, Any]],
        *,
        version_by: VersionBy = VersionBy.RELEASE,
        renamed: Mapping[str, str] | None = None,
        reason: str | None = None,
        fail_on: str | None = None,
        transitive: bool = True,
        repository: str | None = None,
        commit: str | None = None,
        run: str | None = None,
    ) -> Released:
        """Release native manifest documents, every tool there is, as one; safe to repeat.

        Raises:
            GateRefused: ``details["decision"]`` is the decision on the release, its ``decisions`` on the members.
            VersionExists: the number is taken by another release.
            InvalidContract: with a fault for each thing wrong with a member.
        """
        body = {
            "members": [dict(member) for member in members],
            "version_by": version_by,
            "renamed": dict(renamed or {}),
            "reason": reason,
            "fail_on": fail_on,
            "transitive": transitive,
            "repository": repository,
            "commit": commit,
            "run": run,
        }
        return self._answer(Released, "PUT", self._release_path(catalogue, version), body=body)

    def get_release(self, catalogue: str, version: str) -> CatalogueRelease:
        """One release whole. Raises NotFound."""
        return self._answer(CatalogueRelease, "GET", self._release_path(catalogue, version))

    def releases(self, catalogue: str) -> list[ReleaseSummary]:
        """All releases, highest first. Raises NotFound."""
        found: list[ReleaseSummary] = []
        for page in self._pages(ReleasePage, f"/v1/catalogues/{_segment(catalogue)}/releases", {}):
            found += page.items
        return found

    def diff_releases(self, catalogue: str, old: str, new: str) -> CatalogueDiff:
        """What changed between two releases. Raises NotFound."""
        query = {"from": old, "to": new}
        return self._answer(CatalogueDiff, "GET", f"/v1/catalogues/{_segment(catalogue)}/diff", query=query)

    def get_catalogue(self, name: str) -> Catalogue:
        """One catalogue. Raises NotFound."""
        return self._answer(Catalogue, "GET", f"/v1/catalogues/{_segment(name)}")

    def catalogues(self) -> Iterator[Catalogue]:
        """Every catalogue, by name."""
        for page in self._pages(CataloguePage, "/v1/catalogues", {}):
            yield from page.items

    # ── checks and resolve ──

    def check(
        self,
        candidates: Sequence[Mapping[str, Any]],
        *,
        fail_on: str | None = None,
        transitive: bool = True,
        reason: str | None = None,
        provenance: CheckProvenance | None = None,
        catalogue: CatalogueCandidate | None = None,
        idempotency_key: str | None = None,
    ) -> CheckResult:
        """A dry run of the gate over native manifest documents; a refusal is an answer, not an error.

        With ``catalogue`` they are judged as one release of it. The same ``idempotency_key`` with the same
        candidates gives the same check again.
        """
        body = {
            "candidates": [dict(candidate) for candidate in candidates],
            "catalogue": catalogue,
            "fail_on": fail_on,
            "transitive": transitive,
            "reason": reason,
            "provenance": provenance,
        }
        return self._answer(CheckResult, "POST", "/v1/checks", body=body, key=idempotency_key)

    def get_check(self, check_id: str) -> CheckResult:
        """A stored check."""
        return self._answer(CheckResult, "GET", f"/v1/checks/{_segment(check_id)}")

    def resolve(
        self,
        skill: str,
        range: str | None = None,
        *,
        consumer: str | None = None,
        environment: str | None = None,
        accept_breaking_change: bool = False,
        accept_line: str | None = None,
    ) -> Resolution:
        """The version that serves.

        Raises:
            BreakingChangeNotAccepted: no accepted line serves; ``details`` tell the ways to accept.
            NoMatchingVersion, Retired, NotFound, AmbiguousName.
        """
        question = ResolveQuestion(
            skill=skill, range=range, accept_breaking_change=accept_breaking_change, accept_line=accept_line
        )
        answer = self.resolve_many([question], consumer=consumer, environment=environment).results[0]
        if answer.problem is not None:
            raise error_from_problem(answer.problem)
        if answer.resolution is None:
            raise ServiceError("The server answered neither a version nor a problem.")
        return answer.resolution

    def resolve_many(
        self,
        questions: Sequence[ResolveQuestion],
        *,
        consumer: str | None = None,
        environment: str | None = None,
    ) -> ResolveAnswer:
        """Answers in the order of the questions; each holds a resolution or a problem."""
        request = ResolveRequest(questions=list(questions), consumer=consumer, environment=environment)
        return self._answer(ResolveAnswer, "POST", "/v1/resolve", body=request)

    # ── tokens ──

    def create_token(
        self,
        name: str,
        grants: Sequence[Grant],
        *,
        expires_in_days: int = 90,
        idempotency_key: str | None = None,
    ) -> TokenCreated:
        """A new token; its secret is in this answer and nowhere else.

        Raises:
            SecretShownOnce: a request with this ``idempotency_key`` made the token already; ``details["id"]``.
        """
        request = TokenRequest(name=name, grants=list(grants), expires_in_days=expires_in_days)
        return self._answer(TokenCreated, "POST", "/v1/tokens", body=request, key=idempotency_key)

    def tokens(self) -> list[TokenView]:
        """All tokens the caller may manage, without secrets."""
        found: list[TokenView] = []
        for page in self._pages(TokenPage, "/v1/tokens", {}):
            found += page.items
        return found

    def revoke_token(self, token_id: str) -> TokenView:
        """Revoke at once; safe to repeat."""
        return self._answer(TokenView, "DELETE", f"/v1/tokens/{_segment(token_id)}")

    # ── the audit log ──

    def audit(
        self,
        *,
        after: str | None = None,
        subject: str | None = None,
        action: str | None = None,
        limit: int | None = None,
    ) -> AuditPage:
        """One page of the audit log, oldest entries first; ``after`` is ``last`` or ``next`` of another page."""
        query = {"after": after, "subject": subject, "action": action, "limit": limit}
        return self._answer(AuditPage, "GET", "/v1/audit", query=query)

    def audit_pages(
        self, *, after: str | None = None, subject: str | None = None, action: str | None = None
    ) -> Iterator[AuditPage]:
        """Every page there is now; the ``last`` of the last is where to go on another day."""
        while True:
            page = self.audit(after=after, subject=subject, action=action, limit=MAX_PAGE)
            yield page
            if page.next is None:
                return
            after = page.next

    def ready(self) -> Health:
        """Whether the service can serve: database reachable, migrations at head."""
        return self._answer(Health, "GET", "/readyz")

    @staticmethod
    def _version_path(name: str, version: str) -> str:
        return f"/v1/skills/{_segment(name)}/versions/{_segment(version)}"

    @staticmethod
    def _release_path(catalogue: str, version: str) -> str:
        return f"/v1/catalogues/{_segment(catalogue)}/releases/{_segment(version)}"
