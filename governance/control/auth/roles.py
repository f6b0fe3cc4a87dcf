"""ROLES: what each role may do in its namespace, in one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from governance.errors import Forbidden
from governance.wire import Grant, Role


class Right(StrEnum):
    """One thing a route asks for."""

    READ = "read"
    """See skills, versions, checks; resolve without a name."""
    RESOLVE = "resolve"
    """Resolve as a named consumer, which is recorded."""
    CHECK = "check"
    """Have candidates judged, which is stored."""
    PUBLISH = "publish"
    """Publish, deprecate, yank and retire; ask for exceptions."""
    APPROVE = "approve"
    """Approve exceptions that others asked for."""
    OPERATE = "operate"
    """Switch versions off and on, record deployments, steer rollouts."""
    AUDIT = "audit"
    """Read the audit log."""
    ADMINISTER = "administer"
    """Tokens, policies, trusted publishers, webhooks; retire by force."""


ROLES: Final[dict[Role, frozenset[Right]]] = {
    Role.VIEWER: frozenset({Right.READ}),
    Role.CALLER: frozenset({Right.READ, Right.RESOLVE}),
    Role.PUBLISHER: frozenset({Right.READ, Right.RESOLVE, Right.CHECK, Right.PUBLISH}),
    Role.APPROVER: frozenset({Right.READ, Right.CHECK, Right.APPROVE}),
    Role.OPERATOR: frozenset({Right.READ, Right.RESOLVE, Right.CHECK, Right.OPERATE}),
    Role.AUDITOR: frozenset({Right.READ, Right.AUDIT}),
    Role.ADMIN: frozenset(Right),
}


_IN_WORDS: Final = {
    Right.READ: "read",
    Right.RESOLVE: "resolve as a named consumer",
    Right.CHECK: "have skills checked",
    Right.PUBLISH: "publish",
    Right.APPROVE: "approve exceptions",
    Right.OPERATE: "operate skills",
    Right.AUDIT: "read the audit log",
    Right.ADMINISTER: "administer",
}


def within(namespace: str, granted: str) -> bool:
    """Does a grant in ``granted`` reach ``namespace``? ``*`` reaches all; a namespace reaches all below it."""
    return granted == "*" or namespace == granted or namespace.startswith(granted + ".")


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Who sent a request, what they hold, and which request it is."""

    id: str
    name: str
    grants: Sequence[Grant] = ()
    request_id: str = ""
    trace_id: str = ""

    @property
    def label(self) -> str:
        """How records name the caller: the name people gave and the id that is unique."""
        return f"{self.name} ({self.id})"

    def may(self, right: Right, namespace: str) -> bool:
        return any(right in ROLES[grant.role] and within(namespace, grant.namespace) for grant in self.grants)

    def reach(self, right: Right) -> frozenset[str]:
        """The granted namespaces in which the caller has ``right``; ``*`` among them is everywhere."""
        return frozenset(grant.namespace for grant in self.grants if right in ROLES[grant.role])

    def need(self, right: Right, namespace: str) -> None:
        """Raises Forbidden, naming the roles that would do."""
        if self.may(right, namespace):
            return
        roles = [role.value for role, rights in ROLES.items() if right in rights]
        where = {"": " skills without a namespace (which needs a grant on '*')", "*": " any namespace"}.get(
            namespace, f" namespace {namespace!r}"
        )
        raise Forbidden(
            f"This token may not {_IN_WORDS[right]} in{where}.",
            fix=f"Ask an admin for a token with one of these roles there: {', '.join(roles)}.",
            details={"right": right.value, "namespace": namespace, "roles": roles},
        )
