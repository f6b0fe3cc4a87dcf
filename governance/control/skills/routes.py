"""``/v1/skills`` and ``/v1/blobs``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response
from sqlmodel import Session
from starlette.concurrency import run_in_threadpool

from governance.control.auth.roles import Right
from governance.control.auth.service import Known
from governance.control.database import Database, session
from governance.control.edge import (
    IMMUTABLE,
    NO_STORE,
    REVALIDATE,
    Cursor,
    JSONAnswer,
    Limit,
    cacheable,
    read_body,
    read_cursor,
    takes,
    write_cursor,
)
from governance.control.problems import EVERYWHERE, WITH_BODY, responses
from governance.control.skills import listing, reading, service
from governance.control.skills.announcing import deprecation_headers
from governance.control.skills.judging import Judge
from governance.core.compat.engine import Settings as Comparing
from governance.core.compat.model import Reading
from governance.core.names import check_name
from governance.core.skill import Status
from governance.core.versioning import Range, Version
from governance.errors import (
    AmbiguousName,
    Conflict,
    Forbidden,
    GateRefused,
    InvalidContract,
    InvalidName,
    InvalidRange,
    InvalidVersion,
    NotFound,
    UsageError,
    VersionExists,
)
from governance.wire import Diff, Published, Skill, SkillPage, SkillVersion, VersionPage, write_json

router = APIRouter(prefix="/v1", tags=["skills"])

Write = Annotated[Session, Depends(session, scope="function")]
Name = Annotated[str, Path(max_length=128, description="A skill's name.", examples=["knowledge.extract"])]
VersionText = Annotated[str, Path(max_length=256, description="A semantic version.", examples=["1.4.0"])]
Short = Annotated[str | None, Query(min_length=1, max_length=200)]

_NAMED = (*EVERYWHERE, Forbidden, InvalidName, NotFound, AmbiguousName)

_EXAMPLE = {
    "name": "weather.current",
    "version": "1.0.0",
    "compatibility": "backward_compatible",
    "description": "Use when somebody asks for the weather now at a place.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "output_schema": {"type": "object", "properties": {"celsius": {"type": "number"}}},
    "timeout_sec": 10,
}


def _publish_body() -> dict[str, Any]:
    extra = takes(None, description="The native manifest. Its name and version are those of the path.")
    extra["requestBody"]["content"]["application/json"]["example"] = _EXAMPLE
    return extra


@router.put(
    "/skills/{name}/versions/{version}",
    status_code=201,
    response_model=Published,
    responses={
        200: {"model": Published, "description": "The very same manifest was there already."},
        **responses(
            *EVERYWHERE, *WITH_BODY, Forbidden, InvalidName, InvalidVersion, InvalidContract, GateRefused,
            VersionExists, Conflict,
        ),
    },
    openapi_extra=_publish_body(),
)  # fmt: skip
def publish_version(
    request: Request,
    caller: Known,
    current: Write,
    name: Name,
    version: VersionText,
    body: Annotated[Any, Depends(read_body)],
    reason: Annotated[str | None, Query(max_length=2_000, description="Why; it goes on record.")] = None,
    fail_on: Annotated[
        Literal["risky", "breaking"] | None,
        Query(description="The mildest verdict that blocks whatever the number says."),
    ] = None,
    transitive: Annotated[bool, Query(description="Compare with the whole line, not the baseline alone.")] = True,
    repository: Short = None,
    commit: Short = None,
    run: Short = None,
) -> Response:
    """Publish a version through the gate. Safe to repeat; a version never changes.

    409 `gate-refused` carries the whole decision in `details.decision`.
    """
    check_name(name)
    asked = Version.parse(version)
    request.state.attempt = service.attempt_to_publish(name, asked, reason)
    caller.need(Right.PUBLISH, name.rpartition(".")[0])
    order = service.Publish(
        reason=reason,
        fail_on=fail_on,
        transitive=transitive,
        repository=repository,
        commit=commit,
        run=run,
    )
    judge: Judge = request.app.state.judge
    manifest = service.read_manifest(body, name=name, version=asked, settings=request.app.state.settings)
    created, stored = service.publish(current, manifest, order, by=caller, judge=judge)
    content = b'{"created":' + (b"true" if created else b"false") + b',"version":' + reading.whole(stored) + b"}"
    request.app.state.telemetry.count("governance_publishes_total", result="created" if created else "unchanged")
    return JSONAnswer(content, status_code=201 if created else 200, headers={"Cache-Control": NO_STORE})


@router.get(
    "/skills/{name}/versions/{version}",
    response_model=SkillVersion,
    responses=responses(*_NAMED, InvalidVersion),
)
async def get_version(request: Request, caller: Known, name: Name, version: VersionText) -> Response:
    """One version whole: the manifest as stored, the decision that let it in, and its state now."""
    asked = Version.parse(version)
    database: Database = request.app.state.database
    async with database.read() as connection:
        skill = await reading.located(connection, name, caller)
        row = await reading.version(connection, skill, asked, caller)
    etag = f"{row['manifest_digest']}.{row['revision']}"
    answer = cacheable(request, reading.whole(row), etag=etag, cache=REVALIDATE)
    answer.headers.update(
        deprecation_headers(
            deprecated_on=row["deprecated_on"],
            sunset=row["sunset"],
            replacement=row["replacement"],
            migration_guide=row["migration_guide"],
        )
    )
    return answer


@router.get(
    "/skills/{name}/versions",
    response_model=VersionPage,
    responses=responses(*_NAMED, InvalidRange, UsageError),
)
async def list_versions(
    request: Request,
    caller: Known,
    name: Name,
    range_: Annotated[str | None, Query(alias="range", max_length=2_000, description="npm's grammar.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """The versions of a skill, highest first; with `range`, those it admits."""
    wanted = None if range_ is None else Range.parse(range_)
    after = read_cursor(cursor)
    position = None if after is None else service.version_in_cursor(after)
    database: Database = request.app.state.database
    async with database.read() as connection:
        skill = await reading.located(connection, name, caller)
        rows = await reading.versions(connection, skill, caller)
    chosen = [
        row
        for row, parsed in ((row, Version.parse(row["version"])) for row in reversed(rows))
        if (wanted is None or wanted.admits(parsed)) and (position is None or parsed < position)
    ]
    more = write_cursor(chosen[limit - 1]["version"]) if len(chosen) > limit else None
    page = {"items": [reading.summary(row) for row in chosen[:limit]], "next": more}
    return JSONAnswer(page, headers={"Cache-Control": REVALIDATE})


@router.get("/skills", response_model=SkillPage, responses=responses(*EVERYWHERE, UsageError))
def list_skills(
    caller: Known,
    current: Write,
    q: Annotated[
        str | None,
        Query(max_length=500, description="Words in any language; all must be found, accents do not count."),
    ] = None,
    tag: Short = None,
    owner: Short = None,
    state: Status | None = None,
    field: Annotated[
        str | None, Query(min_length=1, max_length=200, description="Name of an input or output field.")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """The skills that match all that is given, by name."""
    filters = listing.Filters(text=q, tag=tag, owner=owner, state=state, field=field)
    cards, after = listing.page(current, filters, by=caller, after=read_cursor(cursor), limit=limit)
    page = SkillPage(items=cards, next=None if after is None else write_cursor(after))
    return JSONAnswer(page, headers={"Cache-Control": REVALIDATE})


@router.get("/skills/{name}", response_model=Skill, responses=responses(*_NAMED))
async def get_skill(request: Request, caller: Known, name: Name) -> Response:
    """One skill: its card and its lines, newest first."""
    database: Database = request.app.state.database
    async with database.read() as connection:
        skill = await reading.located(connection, name, caller)
        card = await reading.card(connection, skill, caller)
        rows = await reading.versions(connection, skill, caller)
    content = write_json(card | {"lines": reading.lines(rows)})
    return JSONAnswer(content, headers={"Cache-Control": REVALIDATE})


@router.get(
    "/skills/{name}/diff",
    response_model=Diff,
    responses=responses(*_NAMED, InvalidVersion),
)
async def diff_versions(
    request: Request,
    caller: Known,
    name: Name,
    old: Annotated[str, Query(alias="from", max_length=256)],
    new: Annotated[str, Query(alias="to", max_length=256)],
    reading_: Annotated[Reading, Query(alias="reading")] = Reading.DEFAULT,
) -> Response:
    """What changed between two published versions, each break with the payload that shows it."""
    asked = [Version.parse(old), Version.parse(new)]
    database: Database = request.app.state.database
    judge: Judge = request.app.state.judge
    async with database.read() as connection:
        skill = await reading.located(connection, name, caller)
        rows = [await reading.version(connection, skill, version, caller) for version in asked]
    comparison = await run_in_threadpool(judge.compare_stored, rows[0], rows[1], Comparing(reading=reading_))
    answer = {
        "name": skill,
        "old": rows[0]["version"],
        "new": rows[1]["version"],
        "comparison": comparison.to_document(),
    }
    return JSONAnswer(answer, headers={"Cache-Control": REVALIDATE})


@router.get(
    "/blobs/{digest}",
    response_class=JSONAnswer,
    responses={
        200: {"content": {"application/json": {"schema": {"type": "object"}}}},
        **responses(*EVERYWHERE, NotFound),
    },
)
async def get_blob(
    request: Request,
    caller: Known,
    digest: Annotated[str, Path(pattern=r"^sha256:[0-9a-f]{64}$", description="A manifest's or a contract's digest.")],
) -> Response:
    """The canonical bytes that a manifest digest or a contract digest was taken over."""
    database: Database = request.app.state.database
    async with database.read() as connection:
        content = await reading.blob(connection, digest, caller)
    return cacheable(request, content, etag=digest, cache=IMMUTABLE)
