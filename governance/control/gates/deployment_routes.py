"""``PUT /v1/environments/{environment}/deployments/{skill}``: deploying, which asks the gate."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import Response
from sqlmodel import Session

from governance.control.auth.service import Known
from governance.control.consumers.environments import attempt_to_deploy
from governance.control.database import session
from governance.control.edge import NO_STORE, JSONAnswer, message, takes
from governance.control.gates import deploying
from governance.control.problems import EVERYWHERE, WITH_BODY, responses
from governance.control.skills.judging import Judge
from governance.core.names import check_name
from governance.errors import (
    Conflict,
    Forbidden,
    GateRefused,
    InvalidName,
    InvalidVersion,
    NotFound,
    UsageError,
)
from governance.wire import Deployed, DeploymentRequest

router = APIRouter(prefix="/v1", tags=["consumers"])

_ERRORS = (*EVERYWHERE, Forbidden, UsageError, InvalidName, InvalidVersion, NotFound, *WITH_BODY, GateRefused, Conflict)


@router.put(
    "/environments/{environment}/deployments/{skill}",
    response_model=Deployed,
    responses=responses(*_ERRORS),
    openapi_extra=takes(DeploymentRequest),
)
def put_deployment(
    request: Request,
    caller: Known,
    current: Annotated[Session, Depends(session, scope="function")],
    environment: Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$", examples=["prod"])],
    skill: Annotated[str, Path(max_length=128, description="The skill's whole name.")],
    body: Annotated[DeploymentRequest, Depends(message(DeploymentRequest))],
) -> Response:
    """Put on record that a version runs there from now on, in the place of what runs there. Safe to repeat.

    The answer tells what `can-i-deploy` says; a protected environment refuses what it blocks.
    """
    request.state.attempt = attempt_to_deploy(environment, check_name(skill), body.reason)
    judge: Judge = request.app.state.judge
    done = deploying.deploy(current, environment, skill, body, by=caller, judge=judge)
    return JSONAnswer(done, headers={"Cache-Control": NO_STORE})
