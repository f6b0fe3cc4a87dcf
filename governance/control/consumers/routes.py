"""``/v1/consumers`` and ``/v1/environments``, but for deploying, which asks the gate."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response
from sqlmodel import Session

from governance.control.auth.service import Known
from governance.control.consumers import environments, registering
from governance.control.database import session
from governance.control.edge import (
    NO_STORE,
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
from governance.control.problems import EVERYWHERE, WITH_BODY, responses
from governance.core.names import check_name
from governance.core.versioning import Version
from governance.errors import (
    Forbidden,
    InvalidName,
    InvalidVersion,
    NotFound,
    PreconditionFailed,
    UsageError,
)
from governance.wire import (
    Consumer,
    ConsumerPage,
    ConsumerRequest,
    DeploymentPage,
    DeploymentState,
    Environment,
    EnvironmentPage,
    EnvironmentRequest,
)

router = APIRouter(prefix="/v1", tags=["consumers"])

InTransaction = Annotated[Session, Depends(session, scope="function")]
ConsumerName = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$", description="May hold slashes.", examples=["agents/one"])
]
EnvironmentName = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$", examples=["prod"])]
SkillName = Annotated[str, Path(max_length=128, description="The skill's whole name.")]
SkillFilter = Annotated[str | None, Query(min_length=1, max_length=128)]
EnvironmentFilter = Annotated[str | None, Query(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]

_ALWAYS = (*EVERYWHERE, UsageError)
_PUT = (*_ALWAYS, Forbidden, *WITH_BODY, PreconditionFailed)


@router.put(
    "/consumers/{name:path}",
    response_model=Consumer,
    status_code=201,
    responses={200: {"model": Consumer, "description": "It was there before."}, **responses(*_PUT, NotFound)},
    openapi_extra=takes(ConsumerRequest),
)
def put_consumer(
    request: Request,
    caller: Known,
    current: InTransaction,
    name: ConsumerName,
    body: Annotated[ConsumerRequest, Depends(message(ConsumerRequest))],
    match: GivenMatch = None,
) -> Response:
    """Declare a consumer whole: what it declared before and is not said again is gone. Safe to repeat.

    Wants the right to resolve every skill it needs and needed. `If-Match` may be left out.
    """
    request.state.attempt = registering.attempt_to_register(name, body)
    created, consumer = registering.register(current, name, body, expected=match, by=caller)
    headers = {"ETag": f'"{consumer.revision}"', "Cache-Control": NO_STORE}
    return JSONAnswer(consumer, status_code=201 if created else 200, headers=headers)


@router.get("/consumers", response_model=ConsumerPage, responses=responses(*_ALWAYS))
def list_consumers(
    caller: Known,
    current: InTransaction,
    skill: SkillFilter = None,
    environment: EnvironmentFilter = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """The consumers that need what is asked for, by name."""
    filters = registering.Filters(skill=skill, environment=environment)
    items, after = registering.page(current, filters, by=caller, after=read_cursor(cursor), limit=limit)
    page = ConsumerPage(items=items, next=None if after is None else write_cursor(after))
    return JSONAnswer(page, headers={"Cache-Control": NO_STORE})


@router.get("/consumers/{name:path}", response_model=Consumer, responses=responses(*_ALWAYS, NotFound))
def get_consumer(request: Request, caller: Known, current: InTransaction, name: ConsumerName) -> Response:
    """One consumer, with what it needs of the skills the caller may read."""
    found = registering.load(current, name, by=caller)
    headers = {"ETag": f'"{found.revision}"', "Cache-Control": NO_STORE}
    return JSONAnswer(found, headers=headers)


@router.put(
    "/environments/{environment}",
    response_model=Environment,
    status_code=201,
    responses={200: {"model": Environment, "description": "It was there before."}, **responses(*_PUT)},
    openapi_extra=takes(EnvironmentRequest),
)
def put_environment(
    request: Request,
    caller: Known,
    current: InTransaction,
    environment: EnvironmentName,
    body: Annotated[EnvironmentRequest, Depends(message(EnvironmentRequest))],
    match: GivenMatch = None,
) -> Response:
    """Set an environment whole. Wants the right to administer everywhere; `If-Match` may be left out."""
    request.state.attempt = environments.attempt_to_set(environment)
    created, found = environments.put(current, environment, body, expected=match, by=caller)
    headers = {"ETag": f'"{found.revision}"', "Cache-Control": REVALIDATE}
    return JSONAnswer(found, status_code=201 if created else 200, headers=headers)


@router.get("/environments", response_model=EnvironmentPage, responses=responses(*_ALWAYS))
def list_environments(caller: Known, current: InTransaction, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """The environments, by name."""
    items, after = environments.page(current, after=read_cursor(cursor), limit=limit)
    page = EnvironmentPage(items=items, next=None if after is None else write_cursor(after))
    return JSONAnswer(page, headers={"Cache-Control": REVALIDATE})


@router.get("/environments/{environment}", response_model=Environment, responses=responses(*_ALWAYS, NotFound))
def get_environment(request: Request, caller: Known, current: InTransaction, environment: EnvironmentName) -> Response:
    """One environment."""
    found = environments.load(current, environment)
    return cacheable(request, found, etag=str(found.revision), cache=REVALIDATE)


@router.get(
    "/environments/{environment}/deployments",
    response_model=DeploymentPage,
    responses=responses(*_ALWAYS, NotFound),
)
def list_deployments(
    caller: Known,
    current: InTransaction,
    environment: EnvironmentName,
    skill: SkillFilter = None,
    state: DeploymentState | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """What runs in an environment and what ran there, newest first."""
    environments.load(current, environment)
    items, after = environments.deployments(
        current, environment, skill=skill, state=state, by=caller, after=read_cursor(cursor), limit=limit
    )
    page = DeploymentPage(items=items, next=None if after is None else write_cursor(after))
    return JSONAnswer(page, headers={"Cache-Control": NO_STORE})


@router.delete(
    "/environments/{environment}/deployments/{skill}",
    response_model=DeploymentPage,
    responses=responses(*_ALWAYS, Forbidden, InvalidName, InvalidVersion, NotFound),
)
def end_deployment(
    request: Request,
    caller: Known,
    current: InTransaction,
    environment: EnvironmentName,
    skill: SkillName,
    version: Annotated[str | None, Query(max_length=256, description="Only this one; else all of the skill.")] = None,
    reason: Annotated[str | None, Query(max_length=2_000, description="Why; it goes on record.")] = None,
) -> Response:
    """A skill, or a version of it, runs there no more. Safe to repeat; answers what ended now."""
    request.state.attempt = environments.attempt_to_deploy(environment, check_name(skill), reason, end=True)
    environments.load(current, environment)
    wanted = None if version is None else Version.parse(version)
    ended = environments.end(current, environment, skill, wanted, reason=reason, by=caller)
    return JSONAnswer(DeploymentPage(items=ended), headers={"Cache-Control": NO_STORE})
