"""The life of a version: ``…/deprecation``, ``…/retirement``, ``…/yank``, ``…/disablement``, ``…/activation``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response
from sqlmodel import Session

from governance.control.auth.roles import Caller, Right
from governance.control.auth.service import Known
from governance.control.database import session
from governance.control.edge import (
    NO_STORE,
    Cursor,
    GivenMatch,
    JSONAnswer,
    Limit,
    message,
    read_cursor,
    takes,
    write_cursor,
)
from governance.control.lifecycle import activating, service, sunsets
from governance.control.lifecycle.holding import attempt_on
from governance.control.lifecycle.service import Ending, Told
from governance.control.problems import EVERYWHERE, WITH_BODY, responses
from governance.core.lifecycle import Disable, Enable, Event, Unyank, Yank
from governance.core.names import check_name
from governance.core.versioning import Range, Version
from governance.errors import (
    Conflict,
    Forbidden,
    GateRefused,
    InvalidName,
    InvalidRange,
    InvalidVersion,
    NotFound,
    PreconditionFailed,
    PreconditionRequired,
    StillNeeded,
    UsageError,
)
from governance.wire import (
    DeprecationRequest,
    LifecycleChange,
    RangeDeprecationRequest,
    RetirementRequest,
    SunsetPage,
    SwitchRequest,
)
from governance.wire.lifecycle import Day

router = APIRouter(prefix="/v1", tags=["lifecycle"])

Write = Annotated[Session, Depends(session, scope="function")]
Name = Annotated[str, Path(max_length=128, description="A skill's whole name.", examples=["knowledge.extract"])]
VersionText = Annotated[str, Path(max_length=256, description="A semantic version.", examples=["1.4.0"])]
DryRun = Annotated[bool, Query(description="Tell what would become of it and whom it reaches; change nothing.")]
Reason = Annotated[str | None, Query(max_length=2_000, description="Why; it goes on record.")]

_CHANGE = (
    *EVERYWHERE, Forbidden, InvalidName, InvalidVersion, NotFound, Conflict, PreconditionFailed, PreconditionRequired,
    UsageError,
)  # fmt: skip
_VERSION = "/skills/{name}/versions/{version}"


def _changed(
    request: Request,
    current: Session,
    caller: Caller,
    name: str,
    what: object,
    *,
    action: str,
    right: Right = Right.PUBLISH,
    reason: str | None,
    dry_run: bool,
    change: Callable[[], Told],
) -> Response:
    """Make the change, or show what it would come to; ``request`` is told what is attempted before it is judged."""
    check_name(name)
    if not dry_run:
        request.state.attempt = attempt_on(action, name, what, reason)
    caller.need(right, name.rpartition(".")[0])
    trial = current.begin_nested() if dry_run else None
    told = change()
    document = told.to_document(dry_run=dry_run)
    if trial is not None:
        trial.rollback()
    headers = {"Cache-Control": NO_STORE}
    if isinstance(what, Version) and not dry_run:
        headers["ETag"] = f'"{told.versions[0].etag}"'
    return JSONAnswer(document, headers=headers)


@router.put(
    _VERSION + "/deprecation",
    response_model=LifecycleChange,
    responses=responses(*_CHANGE, *WITH_BODY),
    openapi_extra=takes(DeprecationRequest),
)
def deprecate_version(
    request: Request,
    caller: Known,
    current: Write,
    name: Name,
    version: VersionText,
    body: Annotated[DeprecationRequest, Depends(message(DeprecationRequest))],
    match: GivenMatch = None,
    dry_run: DryRun = False,
) -> Response:
    """Announce the end of a version: its sunset and what replaces it. Again, to amend that.

    The answer shows, with payloads, whether callers could call the replacement as it is, and who they are.
    """
    asked = Version.parse(version)
    return _changed(
        request, current, caller, name, asked, action="version.deprecate", reason=body.reason, dry_run=dry_run,
        change=lambda: service.deprecate(
            current, name, asked, _ending(body), match=match, by=caller, judge=request.app.state.judge
        ),
    )  # fmt: skip


@router.post(
    "/skills/{name}/deprecations",
    response_model=LifecycleChange,
    responses=responses(*_CHANGE, *WITH_BODY, InvalidRange),
    openapi_extra=takes(RangeDeprecationRequest),
)
def deprecate_range(
    request: Request,
    caller: Known,
    current: Write,
    name: Name,
    body: Annotated[RangeDeprecationRequest, Depends(message(RangeDeprecationRequest))],
    dry_run: DryRun = False,
) -> Response:
    """Announce the end of all versions that a range admits, or of the whole skill. All or none; safe to repeat."""
    wanted = None if body.range is None else Range.parse(body.range)
    return _changed(
        request, current, caller, name, body.range or "*", action="version.deprecate", reason=body.reason,
        dry_run=dry_run,
        change=lambda: service.deprecate_range(
            current, name, wanted, _ending(body), by=caller, judge=request.app.state.judge
        ),
    )  # fmt: skip


def _ending(body: DeprecationRequest) -> Ending:
    return Ending(
        sunset=body.sunset, replacement=body.replacement, migration_guide=body.migration_guide, reason=body.reason
    )


@router.delete(_VERSION + "/deprecation", response_model=LifecycleChange, responses=responses(*_CHANGE))
def undeprecate_version(
    request: Request,
    caller: Known,
    current: Write,
    name: Name,
    version: VersionText,
    sunset: Annotated[Day | None, Query(description="Past its sunset it takes a new day, after today.")] = None,
    reason: Reason = None,
    match: GivenMatch = None,
    dry_run: DryRun = False,
) -> Response:
    """Take the announcement back."""
    asked = Version.parse(version)
    return _changed(
        request, current, caller, name, asked, action="version.undeprecate", reason=reason, dry_run=dry_run,
        change=lambda: service.undeprecate(
            current, name, asked, sunset=sunset, reason=reason, match=match, by=caller
        ),
    )  # fmt: skip


@router.put(
    _VERSION + "/retirement",
    response_model=LifecycleChange,
    responses=responses(*_CHANGE, *WITH_BODY, StillNeeded),
    openapi_extra=takes(RetirementRequest),
)
def retire_version(
    request: Request,
    caller: Known,
    current: Write,
    name: Name,
    version: VersionText,
    body: Annotated[RetirementRequest, Depends(message(RetirementRequest))],
    match: GivenMatch = None,
    dry_run: DryRun = False,
) -> Response:
    """Serve nobody from a version any more, for good, once it is past its sunset and nothing live depends on it.

    409 `still-needed` holds the answer of `can-i-retire`. `force` overrides that, for admins, with a reason.
    """
    asked = Version.parse(version)
    return _changed(
        request, current, caller, name, asked, action="version.retire", reason=body.reason, dry_run=dry_run,
        change=lambda: service.retire(
            current, name, asked, force=body.force, reason=body.reason, match=match, by=caller,
            judge=request.app.state.judge,
        ),
    )  # fmt: skip


@router.put(
    _VERSION + "/yank",
    response_model=LifecycleChange,
    responses=responses(*_CHANGE, *WITH_BODY),
    openapi_extra=takes(SwitchRequest),
)
def yank_version(
    request: Request,
    caller: Known,
    current: Write,
    name: Name,
    version: VersionText,
    body: Annotated[SwitchRequest, Depends(message(SwitchRequest))],
    match: GivenMatch = None,
    dry_run: DryRun = False,
) -> Response:
    """Have ranges pass a version over; exact pins still reach it, and the reason is shown."""
    event = Yank(reason=body.reason)
    return _switch(request, current, caller, name, version, event, "version.yank", body.reason, match, dry_run)


@router.delete(_VERSION + "/yank", response_model=LifecycleChange, responses=responses(*_CHANGE))
def unyank_version(
    request: Request,
    caller: Known,
    current: Write,
    name: Name,
    version: VersionText,
    reason: Reason = None,
    match: GivenMatch = None,
    dry_run: DryRun = False,
) -> Response:
    """Let ranges reach a version again."""
    return _switch(request, current, caller, name, version, Unyank(), "version.unyank", reason, match, dry_run)


@router.put(
    _VERSION + "/disablement",
    response_model=LifecycleChange,
    responses=responses(*_CHANGE, *WITH_BODY),
    openapi_extra=takes(SwitchRequest),
)
def disable_version(
    request: Request,
    caller: Known,
    current: Write,
    name: Name,
    version: VersionText,
    body: Annotated[SwitchRequest, Depends(message(SwitchRequest))],
    match: GivenMatch = None,
    dry_run: DryRun = False,
) -> Response:
    """Switch a version off at once, for everybody, pins included: for operators."""
    event = Disable(reason=body.reason)
    return _switch(request, current, caller, name, version, event, "version.disable", body.reason, match, dry_run)


@router.delete(_VERSION + "/disablement", response_model=LifecycleChange, responses=responses(*_CHANGE))
def enable_version(
    request: Request,
    caller: Known,
    current: Write,
    name: Name,
    version: VersionText,
    reason: Reason = None,
    match: GivenMatch = None,
    dry_run: DryRun = False,
) -> Response:
    """Switch a version on again: for operators."""
    return _switch(request, current, caller, name, version, Enable(), "version.enable", reason, match, dry_run)


def _switch(
    request: Request,
    current: Session,
    caller: Caller,
    name: str,
    version: str,
    event: Event,
    action: str,
    reason: str | None,
    match: str | None,
    dry_run: bool,
) -> Response:
    asked = Version.parse(version)
    return _changed(
        request, current, caller, name, asked, action=action, reason=reason, dry_run=dry_run,
        right=Right.OPERATE if isinstance(event, Disable | Enable) else Right.PUBLISH,
        change=lambda: service.switch(
            current, name, asked, event, action=action, reason=reason, match=match, by=caller
        ),
    )  # fmt: skip


@router.put(_VERSION + "/activation", response_model=LifecycleChange, responses=responses(*_CHANGE, GateRefused))
def activate_version(
    request: Request,
    caller: Known,
    current: Write,
    name: Name,
    version: VersionText,
    reason: Reason = None,
    match: GivenMatch = None,
    dry_run: DryRun = False,
) -> Response:
    """Let a draft serve, if the gate lets it in beside what was published meanwhile. It takes no body."""
    asked = Version.parse(version)
    return _changed(
        request, current, caller, name, asked, action="version.activate", reason=reason, dry_run=dry_run,
        change=lambda: activating.activate(
            current, name, asked, reason=reason, match=match, by=caller, judge=request.app.state.judge
        ),
    )  # fmt: skip


@router.delete(_VERSION + "/activation", response_model=LifecycleChange, responses=responses(*_CHANGE, StillNeeded))
def draft_version(
    request: Request,
    caller: Known,
    current: Write,
    name: Name,
    version: VersionText,
    reason: Reason = None,
    match: GivenMatch = None,
    dry_run: DryRun = False,
) -> Response:
    """Make an active version a draft again, where nobody is served by it and no later version was judged against it."""
    asked = Version.parse(version)
    return _changed(
        request, current, caller, name, asked, action="version.draft", reason=reason, dry_run=dry_run,
        change=lambda: activating.draft_again(
            current, name, asked, reason=reason, match=match, by=caller, judge=request.app.state.judge
        ),
    )  # fmt: skip


@router.get("/sunsets", response_model=SunsetPage, responses=responses(*EVERYWHERE, UsageError))
def list_sunsets(
    caller: Known,
    current: Write,
    within_days: Annotated[int | None, Query(ge=0, le=36_500, description="Leave out what is further off.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """The versions whose end is announced, the next one first, with who is still served by each."""
    found, after = sunsets.coming(current, by=caller, within_days=within_days, after=read_cursor(cursor), limit=limit)
    page = SunsetPage(items=found, next=None if after is None else write_cursor(after))
    return JSONAnswer(page, headers={"Cache-Control": NO_STORE})
