"""``/v1/catalogues``."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response
from sqlmodel import Session

from governance.control.auth.roles import Right
from governance.control.auth.service import Known
from governance.control.catalogues import reading, service
from governance.control.database import Database, session
from governance.control.edge import (
    IMMUTABLE,
    NO_STORE,
    REVALIDATE,
    Cursor,
    JSONAnswer,
    Limit,
    cacheable,
    message,
    read_cursor,
    takes,
    write_cursor,
)
from governance.control.problems import EVERYWHERE, WITH_BODY, responses
from governance.control.skills.judging import Judge
from governance.control.skills.service import version_in_cursor
from governance.core.names import check_name
from governance.core.versioning import Version
from governance.errors import (
    Conflict,
    Forbidden,
    GateRefused,
    InvalidContract,
    InvalidName,
    InvalidVersion,
    NotFound,
    UsageError,
    VersionExists,
)
from governance.wire import (
    Catalogue,
    CatalogueDiff,
    CataloguePage,
    CatalogueRelease,
    Released,
    ReleasePage,
    ReleaseRequest,
)

router = APIRouter(prefix="/v1/catalogues", tags=["catalogues"])

Read = Annotated[Session, Depends(session, scope="function")]
Name = Annotated[str, Path(max_length=128, description="A catalogue's name: the namespace of its members.")]
VersionText = Annotated[str, Path(max_length=256, description="A semantic version.", examples=["1.4.0"])]

_NAMED = (*EVERYWHERE, Forbidden, InvalidName, NotFound)


@router.put(
    "/{name}/releases/{version}",
    status_code=201,
    response_model=Released,
    responses={
        200: {"model": Released, "description": "The very same release was there already."},
        **responses(
            *EVERYWHERE, *WITH_BODY, Forbidden, InvalidName, InvalidVersion, InvalidContract, GateRefused,
            VersionExists, Conflict,
        ),
    },
    openapi_extra=takes(ReleaseRequest),
)  # fmt: skip
def publish_release(
    request: Request,
    caller: Known,
    name: Name,
    version: VersionText,
    body: Annotated[ReleaseRequest, Depends(message(ReleaseRequest))],
) -> Response:
    """Release a whole tool list through the gate: every member goes in or none. Safe to repeat.

    409 `gate-refused` carries the decision on the release in `details.decision`, and there, under `decisions`,
    those on the members.
    """
    check_name(name)
    asked = Version.parse(version)
    request.state.attempt = service.attempt_to_release(name, asked, body.reason)
    caller.need(Right.PUBLISH, name)
    proposal, unreadable = service.propose(
        body.members,
        catalogue=name,
        version=asked,
        version_by=body.version_by,
        renamed=body.renamed,
        settings=request.app.state.settings,
    )
    service.all_readable(unreadable)
    order = service.Publish(
        reason=body.reason,
        fail_on=body.fail_on,
        transitive=body.transitive,
        repository=body.repository,
        commit=body.commit,
        run=body.run,
    )
    database: Database = request.app.state.database
    judge: Judge = request.app.state.judge
    created, release = service.release(database, proposal, order, by=caller, judge=judge)
    request.app.state.telemetry.count("governance_releases_total", result="created" if created else "unchanged")
    content = b'{"created":' + (b"true" if created else b"false") + b',"release":' + release + b"}"
    return JSONAnswer(content, status_code=201 if created else 200, headers={"Cache-Control": NO_STORE})


@router.get("/{name}/releases/{version}", response_model=CatalogueRelease, responses=responses(*_NAMED, InvalidVersion))
def get_release(request: Request, caller: Known, current: Read, name: Name, version: VersionText) -> Response:
    """One release whole: its members with their versions, what it withdrew, the decision that let it in."""
    asked = Version.parse(version)
    caller.need(Right.READ, check_name(name))
    row = reading.release(current, name, asked)
    return cacheable(request, reading.whole(row), etag=row["digest"], cache=IMMUTABLE)


@router.get("/{name}/releases", response_model=ReleasePage, responses=responses(*_NAMED, UsageError))
def list_releases(caller: Known, current: Read, name: Name, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """The releases of a catalogue, highest first."""
    caller.need(Right.READ, check_name(name))
    after = read_cursor(cursor)
    before = None if after is None else version_in_cursor(after)
    rows = reading.page(current, name, before=before, limit=limit + 1)
    more = write_cursor(rows[limit - 1].version) if len(rows) > limit else None
    return JSONAnswer(ReleasePage(items=rows[:limit], next=more), headers={"Cache-Control": REVALIDATE})


@router.get("/{name}/diff", response_model=CatalogueDiff, responses=responses(*_NAMED, InvalidVersion))
def diff_releases(
    request: Request,
    caller: Known,
    name: Name,
    old: Annotated[str, Query(alias="from", max_length=256)],
    new: Annotated[str, Query(alias="to", max_length=256)],
) -> Response:
    """What changed between two releases: tools added, removed, renamed, changed, each break with its payload."""
    asked = [Version.parse(old), Version.parse(new)]
    caller.need(Right.READ, check_name(name))
    database: Database = request.app.state.database
    answer = service.diff(database, name, *asked, judge=request.app.state.judge)
    return JSONAnswer(answer, headers={"Cache-Control": REVALIDATE})


@router.get("/{name}", response_model=Catalogue, responses=responses(*_NAMED))
def get_catalogue(caller: Known, current: Read, name: Name) -> Response:
    """One catalogue: its newest release, and how many there are."""
    caller.need(Right.READ, check_name(name))
    card = Catalogue.model_validate(reading.catalogue(current, name).model_dump())
    return JSONAnswer(card, headers={"Cache-Control": REVALIDATE})


@router.get("", response_model=CataloguePage, responses=responses(*EVERYWHERE, UsageError))
def list_catalogues(caller: Known, current: Read, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """The catalogues the caller may read, by name."""
    rows = reading.catalogues(current, caller, after=read_cursor(cursor), limit=limit + 1)
    cards = [Catalogue.model_validate(row.model_dump()) for row in rows[:limit]]
    page = CataloguePage(items=cards, next=write_cursor(cards[-1].name) if len(rows) > limit else None)
    return JSONAnswer(page, headers={"Cache-Control": REVALIDATE})
