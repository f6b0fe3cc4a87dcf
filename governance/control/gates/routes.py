"""``/v1/checks``, ``/v1/resolve``, and questions about a published version."""

from __future__ import annotations

import hashlib
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response
from sqlmodel import Session
from starlette.concurrency import run_in_threadpool

from governance.control.auth.roles import Caller
from governance.control.auth.service import Known
from governance.control.database import Database, session
from governance.control.edge import IMMUTABLE, NO_STORE, JSONAnswer, cacheable, is_fresh, message, takes
from governance.control.exceptions import service as exceptions
from governance.control.gates import checks, excepting, recording, resolving
from governance.control.idempotency.service import REPLAYED, GivenKey, claimed
from governance.control.problems import EVERYWHERE, WITH_BODY, WITH_KEY, problem_of, responses
from governance.control.settings import Settings
from governance.control.skills import asking
from governance.control.skills.judging import Judge
from governance.core.names import check_name
from governance.core.versioning import Version
from governance.errors import (
    Conflict,
    DocumentTooLarge,
    Forbidden,
    InvalidName,
    InvalidVersion,
    NotFound,
    UsageError,
)
from governance.telemetry import Telemetry
from governance.wire import (
    CheckRequest,
    CheckResult,
    ExceptionRequest,
    ExceptionView,
    Judgement,
    Matrix,
    Problem,
    ResolveAnswer,
    ResolveRequest,
    write_json,
)

router = APIRouter(prefix="/v1", tags=["gate"])

Read = Annotated[Session, Depends(session, scope="function")]

SkillName = Annotated[str, Path(max_length=128, description="The skill's whole name.")]
VersionNumber = Annotated[str, Path(max_length=256)]
EnvironmentName = Annotated[str, Query(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
EnvironmentFilter = Annotated[str | None, Query(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]

_BODY = (*EVERYWHERE, Forbidden, *WITH_BODY)
_QUESTION = (*EVERYWHERE, Forbidden, InvalidName, InvalidVersion, NotFound, UsageError)
_CHECK = (*_BODY, InvalidName, InvalidVersion, NotFound, *WITH_KEY)


@router.post("/checks", response_model=CheckResult, responses=responses(*_CHECK), openapi_extra=takes(CheckRequest))
def run_check(
    request: Request,
    caller: Known,
    body: Annotated[CheckRequest, Depends(message(CheckRequest))],
    key: GivenKey,
) -> Response:
    """Have candidates judged as a publish would judge them. Always 200 with a decision each; nothing is published.

    With `catalogue` they are judged as one release, and `release` tells the decision on it. The same
    `Idempotency-Key` gives the same check again.
    """
    request.state.attempt = checks.attempt_to_check(body.reason)
    database: Database = request.app.state.database
    judge: Judge = request.app.state.judge
    telemetry: Telemetry = request.app.state.telemetry
    settings: Settings = request.app.state.settings
    headers = {"Cache-Control": NO_STORE}
    with claimed(database, key, by=caller) as claim:
        if claim.made is not None:
            with database.transaction() as current:
                result = checks.load(current, claim.made, by=caller)
            return JSONAnswer(result, headers={**headers, REPLAYED: "true"})
        decided = checks.decide_all(body, database, by=caller, settings=settings, judge=judge)
        with database.transaction() as current:
            check_id, result = checks.store(current, body, decided, by=caller)
            claim.done(current, check_id)
    for outcome in decided.outcomes:
        telemetry.count("governance_checks_total", decision=outcome)
    return JSONAnswer(result, headers=headers)


@router.get("/checks/{check_id}", response_model=CheckResult, responses=responses(*EVERYWHERE, NotFound))
def get_check(
    request: Request,
    caller: Known,
    current: Read,
    check_id: Annotated[str, Path(pattern=r"^chk_[0-9a-f]{24}$")],
) -> Response:
    """A stored check, as it was answered."""
    result = checks.load(current, check_id, by=caller)
    return cacheable(request, result, etag=check_id, cache=IMMUTABLE)


@router.post(
    "/exceptions",
    status_code=201,
    response_model=ExceptionView,
    responses=responses(*_CHECK, Conflict),
    openapi_extra=takes(ExceptionRequest),
)
def ask_for_exception(
    request: Request,
    caller: Known,
    body: Annotated[ExceptionRequest, Depends(message(ExceptionRequest))],
    key: GivenKey,
) -> Response:
    """Ask that findings of a stored check pass for a while. It opens nothing until somebody else approves it.

    Without `environment` and `consumer` it opens the gate; with one of them it lets the findings in there alone.
    """
    request.state.attempt = exceptions.attempt_to_ask(body)
    database: Database = request.app.state.database
    headers = {"Cache-Control": NO_STORE}
    with claimed(database, key, by=caller) as claim, database.transaction() as current:
        if claim.made is not None:
            made = exceptions.load(current, claim.made, by=caller)
            return JSONAnswer(made, status_code=201, headers={**headers, REPLAYED: "true"})
        made = excepting.ask(current, body, by=caller)
        claim.done(current, made.id)
    return JSONAnswer(made, status_code=201, headers=headers)


@router.post("/resolve", response_model=ResolveAnswer, responses=responses(*_BODY), openapi_extra=takes(ResolveRequest))
async def resolve(
    request: Request, caller: Known, body: Annotated[ResolveRequest, Depends(message(ResolveRequest))]
) -> Response:
    """Which versions serve. 200 though some questions are refused: each answer is a resolution or a problem.

    The ETag names the answer, so that whoever keeps it can ask with `If-None-Match` and get 304.
    """
    limit = request.app.state.settings.max_batch
    if len(body.questions) > limit:
        raise DocumentTooLarge(
            f"{len(body.questions)} questions are more than {limit}.",
            fix="Send fewer at a time, or raise GOVCTL_MAX_BATCH.",
        )
    database: Database = request.app.state.database
    async with database.read() as connection:
        answered = await resolving.answer(connection, body, caller, request.app.state.judge)
    marks = [one.to_record for one in answered if one.to_record is not None]
    if marks:
        await run_in_threadpool(_record, database, marks, caller)
    results = [_result(one, body.consumer, request.app.state.telemetry) for one in answered]
    content = write_json({"results": results})
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'  # of what was found, whichever request found it
    if any(one["problem"] is not None for one in results):
        content = write_json({"results": [_of_request(one, request) for one in results]})
    headers = {"ETag": etag, "Cache-Control": NO_STORE}
    if len(answered) == 1:
        headers |= resolving.headers(answered[0])
    if is_fresh(request, etag):
        return Response(status_code=304, headers=headers)
    return JSONAnswer(content, headers=headers)


@router.get(
    "/skills/{name}/versions/{version}/can-i-deploy",
    response_model=Judgement,
    responses=responses(*_QUESTION),
)
def can_i_deploy(
    request: Request,
    caller: Known,
    name: SkillName,
    version: VersionNumber,
    environment: EnvironmentName,
    beside: Annotated[bool, Query(description="It runs beside what runs there, not in its place.")] = False,
) -> Response:
    """May this version run there: for each consumer of that environment, whether its calls keep working."""
    state = request.app.state
    judged = asking.may_deploy(
        state.database,
        check_name(name),
        Version.parse(version),
        environment,
        beside=beside,
        by=caller,
        judge=state.judge,
    )
    return JSONAnswer(judged.to_document(), headers={"Cache-Control": NO_STORE})


@router.get(
    "/skills/{name}/versions/{version}/can-i-retire",
    response_model=Judgement,
    responses=responses(*_QUESTION),
)
def can_i_retire(request: Request, caller: Known, current: Read, name: SkillName, version: VersionNumber) -> Response:
    """May this version go: for each consumer, what would serve it then, and whether its calls keep working."""
    judged = asking.may_retire(
        current, check_name(name), Version.parse(version), by=caller, judge=request.app.state.judge
    )
    return JSONAnswer(judged.to_document(), headers={"Cache-Control": NO_STORE})


@router.get("/skills/{name}/matrix", response_model=Matrix, responses=responses(*_QUESTION))
def get_matrix(
    request: Request,
    caller: Known,
    name: SkillName,
    versions: Annotated[list[str], Query(alias="version", max_length=asking.MAX_COLUMNS)] = [],  # noqa: B006
    consumer: Annotated[str | None, Query(max_length=128)] = None,
    environment: EnvironmentFilter = None,
) -> Response:
    """Consumers by versions: what serves each now, and which versions would keep its calls working."""
    found = asking.matrix_of(
        request.app.state.database,
        check_name(name),
        versions=[Version.parse(one) for one in versions],
        consumer=consumer,
        environment=environment,
        by=caller,
        judge=request.app.state.judge,
    )
    return JSONAnswer(found, headers={"Cache-Control": NO_STORE})


def _of_request(result: dict[str, object], request: Request) -> dict[str, object]:
    """The result with the request's ids in its problem, if it has one."""
    problem = result["problem"]
    if not isinstance(problem, Problem):
        return result
    ids = {"request_id": request.state.request_id, "trace_id": request.state.trace_id}
    return {**result, "problem": problem.model_copy(update=ids)}


def _record(database: Database, marks: list[recording.ToRecord], caller: Caller) -> None:
    with database.transaction() as current:
        recording.record(current, marks, by=caller)


def _result(one: resolving.Answered, consumer: str | None, telemetry: Telemetry) -> dict[str, object]:
    if one.resolution is not None:
        if one.resolution.ending:
            resolving.note_ending(one.resolution, consumer, telemetry)
        result = "held_back" if one.resolution.held_back else "served"
        telemetry.count("governance_resolves_total", result=result)
        return {"skill": one.resolution.skill, "resolution": one.resolution.to_document(), "problem": None}
    assert one.error is not None
    telemetry.count("governance_resolves_total", result=one.error.code)
    problem = problem_of(one.error)
    return {"skill": one.question.skill, "resolution": None, "problem": problem}
