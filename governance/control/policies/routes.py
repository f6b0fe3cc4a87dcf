"""``/v1/policies`` and what holds for a skill or a namespace."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import Response
from sqlmodel import Session

from governance.control.auth.service import Known
from governance.control.database import session
from governance.control.edge import (
    REVALIDATE,
    Cursor,
    GivenMatch,
    JSONAnswer,
    Limit,
    cacheable,
    message,
    read_cursor,
    takes,
    write_cursor,
)
from governance.control.policies import service
from governance.control.problems import EVERYWHERE, WITH_BODY, responses
from governance.core.names import check_name
from governance.core.policy import Policy, Scope, ScopeKind
from governance.errors import (
    Forbidden,
    InvalidName,
    PreconditionFailed,
    PreconditionRequired,
    UsageError,
)
from governance.wire import EffectivePolicy, PolicyPage, PolicyRequest, PolicyRevision

router = APIRouter(prefix="/v1", tags=["policies"])

InTransaction = Annotated[Session, Depends(session, scope="function")]
ScopeText = Annotated[
    str,
    Path(max_length=200, description="`global`, `namespace:NAME` or `skill:NAME`.", examples=["namespace:billing"]),
]
Name = Annotated[str, Path(max_length=128)]

_ALWAYS = (*EVERYWHERE, Forbidden, UsageError, InvalidName)


@router.get("/policies/{scope}", response_model=PolicyRevision, responses=responses(*_ALWAYS))
def get_policy(request: Request, caller: Known, current: InTransaction, scope: ScopeText) -> Response:
    """What one scope sets. Its `ETag` is what `If-Match` takes; one that never set anything has revision 0."""
    asked = Scope.parse(scope)
    service.need_to_read(asked, by=caller)
    found = service.current(current, asked)
    return cacheable(request, found, etag=str(found.revision), cache=REVALIDATE)


@router.put(
    "/policies/{scope}",
    response_model=PolicyRevision,
    responses=responses(*_ALWAYS, *WITH_BODY, PreconditionFailed, PreconditionRequired),
    openapi_extra=takes(PolicyRequest),
)
def put_policy(
    request: Request,
    caller: Known,
    current: InTransaction,
    scope: ScopeText,
    body: Annotated[PolicyRequest, Depends(message(PolicyRequest))],
    match: GivenMatch = None,
) -> Response:
    """Set all of a scope, as its next revision. Wants the right to administer there."""
    asked = Scope.parse(scope)
    request.state.attempt = service.attempt_to_set(asked, body.reason)
    set_ = service.put(current, asked, body, expected=match, by=caller)
    return JSONAnswer(set_, headers={"ETag": f'"{set_.revision}"', "Cache-Control": REVALIDATE})


@router.get("/policies/{scope}/revisions", response_model=PolicyPage, responses=responses(*_ALWAYS))
def list_policy_revisions(
    caller: Known, current: InTransaction, scope: ScopeText, limit: Limit = 50, cursor: Cursor = None
) -> Response:
    """Everything a scope ever set, newest first."""
    asked = Scope.parse(scope)
    service.need_to_read(asked, by=caller)
    found = service.revisions(current, asked, below=_revision(cursor), limit=limit + 1)
    more = write_cursor(str(found[limit - 1].revision)) if len(found) > limit else None
    return JSONAnswer(PolicyPage(items=list(found[:limit]), next=more), headers={"Cache-Control": REVALIDATE})


@router.get("/skills/{name}/policy", response_model=EffectivePolicy, responses=responses(*_ALWAYS))
def get_skill_policy(caller: Known, current: InTransaction, name: Name) -> Response:
    """What holds for a skill, published or not, each value with where it was set."""
    return _effective(current, Scope(kind=ScopeKind.SKILL, name=check_name(name)), caller)


@router.get("/namespaces/{name}/policy", response_model=EffectivePolicy, responses=responses(*_ALWAYS))
def get_namespace_policy(caller: Known, current: InTransaction, name: Name) -> Response:
    """What holds in a namespace for skills that set nothing of their own."""
    return _effective(current, Scope(kind=ScopeKind.NAMESPACE, name=check_name(name)), caller)


def _effective(current: Session, scope: Scope, caller: Known) -> Response:
    service.need_to_read(scope, by=caller)
    policy: Policy = service.policy_in(current, scope)
    answer = EffectivePolicy.model_validate({"scope": str(scope), "values": policy.to_document()})
    return JSONAnswer(answer, headers={"Cache-Control": REVALIDATE})


def _revision(cursor: str | None) -> int | None:
    position = read_cursor(cursor)
    if position is None:
        return None
    if not (position.isascii() and position.isdigit() and len(position) < 10):
        raise UsageError("The cursor belongs to another list.", fix="Start at the first page again.")
    return int(position)
