"""``/v1/skills/{name}/attestations``."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response
from sqlmodel import Session

from governance.control.attestations import service
from governance.control.auth.service import Known
from governance.control.database import session
from governance.control.edge import NO_STORE, Cursor, JSONAnswer, Limit, message, read_cursor, takes, write_cursor
from governance.control.problems import EVERYWHERE, WITH_BODY, responses
from governance.core.names import check_name
from governance.errors import (
    Forbidden,
    InvalidName,
    UsageError,
)
from governance.wire import Attestation, AttestationPage, AttestationRequest

router = APIRouter(prefix="/v1/skills/{name}/attestations", tags=["skills"])

InTransaction = Annotated[Session, Depends(session, scope="function")]
Name = Annotated[str, Path(max_length=128, description="The skill's whole name.")]
_DIGEST = r"^sha256:[0-9a-f]{64}$"

_ALWAYS = (*EVERYWHERE, Forbidden, UsageError, InvalidName)


@router.put(
    "/{digest}",
    response_model=Attestation,
    status_code=201,
    responses={
        200: {"model": Attestation, "description": "The last run on record says the same."},
        **responses(*_ALWAYS, *WITH_BODY),
    },
    openapi_extra=takes(AttestationRequest),
)
def put_attestation(
    request: Request,
    caller: Known,
    current: InTransaction,
    name: Name,
    digest: Annotated[str, Path(pattern=_DIGEST, description="Of the contract that was tested.")],
    body: Annotated[AttestationRequest, Depends(message(AttestationRequest))],
) -> Response:
    """Put on record how the tests of a contract ended; it need not be published yet. Safe to repeat."""
    request.state.attempt = service.attempt_to_record(check_name(name))
    created, found = service.record(current, name, digest, body, by=caller)
    return JSONAnswer(found, status_code=201 if created else 200, headers={"Cache-Control": NO_STORE})


@router.get("", response_model=AttestationPage, responses=responses(*_ALWAYS))
def list_attestations(
    caller: Known,
    current: InTransaction,
    name: Name,
    digest: Annotated[str | None, Query(pattern=_DIGEST)] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """The test runs of a skill, newest first."""
    items, more = service.page(
        current, check_name(name), digest=digest, by=caller, after=read_cursor(cursor), limit=limit
    )
    page = AttestationPage(items=list(items), next=None if more is None else write_cursor(more))
    return JSONAnswer(page, headers={"Cache-Control": NO_STORE})
