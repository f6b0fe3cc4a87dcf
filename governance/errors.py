"""Every error of the product, in one tree. An error is named for the fact and says what to do next.

    GovernanceError
    ├── UsageError ................ 400  exit 2   the request itself makes no sense
    │   ├── MalformedDocument ..... 400  exit 2   bytes that are no JSON, YAML, TOML or SKILL.md
    │   ├── DocumentTooLarge ...... 413  exit 2   past a limit of size, depth or count
    │   ├── UnsupportedMediaType .. 415  exit 2   a body that is declared as something else than JSON
    │   ├── UnknownParameter ...... 400  exit 2   a field or query parameter nobody knows
    │   ├── MethodNotAllowed ...... 405  exit 2   the route is there, the method is not
    │   ├── InvalidName ........... 422  exit 2
    │   ├── InvalidVersion ........ 422  exit 2
    │   ├── InvalidRange .......... 422  exit 2
    │   ├── InvalidRequest ........ 422  exit 2   well-formed, but not what the route takes
    │   └── IdempotencyKeyReused .. 422  exit 2   the key stands for another request
    ├── InvalidContract ........... 422  exit 1   well-formed, but not a skill contract
    ├── NotFound .................. 404  exit 2
    ├── AmbiguousName ............. 409  exit 2   a bare name that lives in two namespaces
    ├── NoMatchingVersion ......... 404  exit 1
    ├── BreakingChangeNotAccepted . 409  exit 1
    ├── GateRefused ............... 409  exit 1   carries the whole decision
    ├── Conflict .................. 409  exit 6
    │   ├── VersionExists ......... 409  exit 6   the version is taken by other bytes
    │   ├── RequestRunning ........ 409  exit 6   a request with this key is still at work
    │   ├── SecretShownOnce ....... 409  exit 6   a request with this key made the token already
    │   └── NameCollision ......... 409  exit 6   two tools of one catalogue fall on one name
    ├── StillNeeded ............... 409  exit 1   something live depends on the version
    ├── Retired ................... 410  exit 1
    ├── PastSunset ................ 410  exit 1   still served, but only to consumers already on record
    ├── Disabled .................. 409  exit 1   switched off by an operator
    ├── PreconditionFailed ........ 412  exit 6
    ├── PreconditionRequired ...... 428  exit 2
    ├── TooManyRequests ........... 429  exit 5
    ├── AuthError ................. 401  exit 4
    │   ├── Unauthenticated ....... 401  exit 4
    │   └── Forbidden ............. 403  exit 4
    ├── PartialFailure ............ 207  exit 7   part of a batch failed
    └── ServiceError .............. 500  exit 5
        ├── ServiceUnavailable .... 503  exit 5   the database does not answer
        │   └── OutcomeUnknown .... 503  exit 5   it went away while it committed: done or not, nobody heard
        ├── ServerUnreachable ..... 503  exit 5   the control plane does not answer (client side)
        ├── ToolServerFailed ...... 502  exit 5   a running MCP server did not answer as one does (client side)
        └── DatabaseSetupFailed ... 503  exit 5   no server could be found, initialised or started

``code`` is permanent: it is the problem's type, the CLI's word and the documentation's anchor.
``status`` is the HTTP status, ``exit_code`` what ``govctl`` ends with (0 pass, 1 gate failed, 2 usage,
3 undecided alone blocks, 4 auth, 5 server or network, 6 conflict, 7 part of a batch failed).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where in a source something stands: file (or None), 1-based line and column (or None)."""

    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        parts = [self.file or "<input>", *(str(n) for n in (self.line, self.column) if n is not None)]
        return ":".join(parts)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One thing wrong with a document: a JSON Pointer (``""`` is the root), a sentence, and where it stands."""

    pointer: str
    message: str
    code: str = "invalid"
    place: Place | None = None

    def to_document(self) -> dict[str, Any]:
        document: dict[str, Any] = {"pointer": self.pointer, "message": self.message, "code": self.code}
        if self.place is not None:
            named = (("file", self.place.file), ("line", self.place.line), ("column", self.place.column))
            document |= {name: value for name, value in named if value is not None}
        return document

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.pointer or '/'}: {self.message}"


class GovernanceError(Exception):
    """Base of all. ``message`` is one sentence, ``fix`` says what to do next, ``faults`` are located.

    ``details`` is what the error knows beyond that (plain JSON values); it is shown to the caller.
    """

    code: ClassVar[str] = "error"
    title: ClassVar[str] = "Something went wrong"
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 5

    def __init__(
        self,
        message: str,
        *,
        fix: str = "",
        faults: Sequence[Fault] = (),
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.faults = tuple(faults)
        self.details: dict[str, Any] = dict(details or {})

    def __str__(self) -> str:
        return self.message


class UsageError(GovernanceError):
    code, title, status, exit_code = "usage", "The request makes no sense", 400, 2


class MalformedDocument(UsageError):
    code, title = "malformed-document", "The document cannot be read"


class DocumentTooLarge(UsageError):
    code, title, status = "document-too-large", "The document is past a limit", 413


class UnsupportedMediaType(UsageError):
    code, title, status = "unsupported-media-type", "The body is declared as something else than JSON", 415


class UnknownParameter(UsageError):
    code, title = "unknown-parameter", "Nobody knows this field or parameter"


class MethodNotAllowed(UsageError):
    code, title, status = "method-not-allowed", "The route does not take this method", 405


class InvalidName(UsageError):
    code, title, status = "invalid-name", "Not a skill name", 422


class InvalidVersion(UsageError):
    code, title, status = "invalid-version", "Not a semantic version", 422


class InvalidRange(UsageError):
    code, title, status = "invalid-range", "Not a version range", 422


class InvalidRequest(UsageError):
    code, title, status = "invalid-request", "Not what this route takes", 422


class IdempotencyKeyReused(UsageError):
    code, title, status = "idempotency-key-reused", "The key stands for another request", 422


class InvalidContract(GovernanceError):
    code, title, status, exit_code = "invalid-contract", "Not a valid skill contract", 422, 1


class NotFound(GovernanceError):
    code, title, status, exit_code = "not-found", "There is no such thing", 404, 2


class AmbiguousName(GovernanceError):
    code, title, status, exit_code = "ambiguous-name", "The bare name lives in several namespaces", 409, 2


class NoMatchingVersion(GovernanceError):
    code, title, status, exit_code = "no-matching-version", "No version matches", 404, 1


class BreakingChangeNotAccepted(GovernanceError):
    code, title = "breaking-change-not-accepted", "A breaking change stands between"
    status, exit_code = 409, 1


class GateRefused(GovernanceError):
    code, title, status, exit_code = "gate-refused", "The gate refused the version", 409, 1


class Conflict(GovernanceError):
    code, title, status, exit_code = "conflict", "It conflicts with what stands", 409, 6


class VersionExists(Conflict):
    code, title = "version-exists", "The version is taken by other bytes"


class RequestRunning(Conflict):
    code, title = "request-running", "A request with this key is still at work"


class SecretShownOnce(Conflict):
    code, title = "secret-shown-once", "The token was made, and its secret was shown then"


class NameCollision(Conflict):
    code, title = "name-collision", "Two tools fall on one name"


class StillNeeded(GovernanceError):
    code, title, status, exit_code = "still-needed", "Something live depends on it", 409, 1


class Retired(GovernanceError):
    code, title, status, exit_code = "version-retired", "The version is retired", 410, 1


class PastSunset(GovernanceError):
    code, title, status, exit_code = "past-sunset", "Past its sunset", 410, 1


class Disabled(GovernanceError):
    code, title, status, exit_code = "version-disabled", "Switched off by an operator", 409, 1


class PreconditionFailed(GovernanceError):
    code, title, status, exit_code = "precondition-failed", "It changed since you read it", 412, 6


class PreconditionRequired(GovernanceError):
    code, title, status, exit_code = "precondition-required", "Say which state you change", 428, 2


class TooManyRequests(GovernanceError):
    code, title, status, exit_code = "too-many-requests", "Slow down", 429, 5


class AuthError(GovernanceError):
    code, title, status, exit_code = "unauthenticated", "Who are you?", 401, 4


class Unauthenticated(AuthError):
    pass


class Forbidden(AuthError):
    code, title, status = "forbidden", "You may not do this", 403


class PartialFailure(GovernanceError):
    code, title, status, exit_code = "partial-failure", "Part of the batch failed", 207, 7


class ServiceError(GovernanceError):
    code, title = "internal", "The service failed"


class ServiceUnavailable(ServiceError):
    code, title, status = "service-unavailable", "The database does not answer", 503


class OutcomeUnknown(ServiceUnavailable):
    code, title = "outcome-unknown", "Whether it was done is not known"


class ServerUnreachable(ServiceError):
    code, title, status = "server-unreachable", "The control plane does not answer", 503


class ToolServerFailed(ServiceError):
    code, title, status = "tool-server-failed", "The MCP server did not answer as one does", 502


class DatabaseSetupFailed(ServiceError):
    code, title, status = "database-setup-failed", "No database server could be started", 503


def all_errors() -> Iterator[type[GovernanceError]]:
    """Every class of the tree, base first; the one source for documentation and OpenAPI."""
    stack: list[type[GovernanceError]] = [GovernanceError]
    while stack:
        error = stack.pop()
        yield error
        stack.extend(error.__subclasses__())
