"""``resolve``: the highest servable match inside the lines a caller has accepted.

It is pure: the caller brings what is on record, and persists the acceptances that come back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from governance.core.compat.model import JSON
from governance.core.consent.refusals import nothing_serves, pinned_refusal
from governance.core.consent.serving import Notice, notices_for, obstacle
from governance.core.consent.ways import Case, Way
from governance.core.lines import Line, Published, in_order, line_containing, lines_of, preferred
from governance.core.rollout.steering import Steered, Steering, steer
from governance.core.skill import Status
from governance.core.versioning import Range, Version
from governance.errors import BreakingChangeNotAccepted, InvalidRequest


class Basis(StrEnum):
    """Why the line that serves counts as accepted."""

    PIN = "pin"
    RANGE = "range"
    RECORD = "record"
    FIRST_CONTACT = "first-contact"
    NAMED_LINE = "named-line"
    FLAG = "flag"


@dataclass(frozen=True, kw_only=True)
class Acceptance:
    """What to put on record: the caller has accepted the line that opens at ``line``.

    ``basis`` is first-contact, named-line or flag. The flag is a blanket acceptance: it holds for this call,
    and whoever keeps it longer gives it an expiry.
    """

    line: Version
    basis: Basis

    @property
    def expires(self) -> bool:
        return self.basis is Basis.FLAG


@dataclass(frozen=True, kw_only=True)
class HeldBack:
    """A newer match that is not served, because a line opened on the way to it."""

    version: Version
    line: Version
    """The opening of the newer version's line."""
    openings: tuple[Version, ...]
    """The lines between the version that serves and the newer one, ascending."""
    opened_by: tuple[JSON, ...]
    """The findings that opened the first of them, as documents."""
    why: str
    ways: tuple[Way, ...]
    """The exact ways to accept."""

    def to_document(self) -> dict[str, Any]:
        return {
            "version": str(self.version),
            "line": str(self.line),
            "openings": [str(opening) for opening in self.openings],
            "opened_by": list(self.opened_by),
            "why": self.why,
            "ways": list(self.ways),
        }


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """The version that serves, why, and what is held back."""

    skill: str
    range: str | None
    published: Published
    line: Version
    """The opening of the line that serves."""
    basis: Basis
    held_back: HeldBack | None = None
    notices: tuple[Notice, ...] = ()
    rollout: Steered | None = None
    """The rollout that had a say, and the side of it this caller is on."""
    acceptances: tuple[Acceptance, ...] = ()
    """To be recorded: for a named consumer as its acceptances, for an anonymous caller in the audit log."""

    @property
    def version(self) -> Version:
        return self.published.version

    @property
    def ending(self) -> bool:
        """Its end is announced, or has come."""
        return self.published.state in (Status.DEPRECATED, Status.SUNSET)

    def to_document(self) -> dict[str, Any]:
        announced = self.published if self.ending else None
        return {
            "skill": self.skill,
            "range": self.range,
            "version": str(self.version),
            "contract_digest": self.published.contract_digest,
            "manifest_digest": self.published.manifest_digest,
            "state": self.published.state.value,
            "line": str(self.line),
            "basis": self.basis.value,
            "held_back": self.held_back.to_document() if self.held_back else None,
            "rollout": self.rollout.to_document() if self.rollout else None,
            "deprecated_on": announced and announced.deprecated_on,
            "sunset": announced and announced.sunset,
            "replacement": announced and announced.replacement,
            "migration_guide": announced and announced.migration_guide,
            "warnings": [notice.to_document() for notice in self.notices],
        }


def resolve(
    skill: str,
    wanted: str | None,
    published: Sequence[Published],
    *,
    consumer: str | None = None,
    on_record: bool = False,
    accepted: Iterable[Version] = (),
    accept_line: Version | None = None,
    accept_breaking: bool = False,
    blanket_allowed: bool = True,
    rollouts: Sequence[Steering] = (),
) -> Resolution:
    """Which version of ``skill`` serves ``wanted`` (an npm range; None or empty: a bare name).

    ``consumer`` is None for an anonymous caller, who is at first contact each time. ``on_record``: the
    consumer has been served this skill before, so that versions past their sunset still serve it.
    ``accepted`` holds a version of each line that is on record as accepted. ``accept_line`` accepts one more
    line from now on, named by a version in it; ``accept_breaking`` the newest line, for this call, unless
    ``blanket_allowed`` is False. ``rollouts`` are those in force for the skill and the caller's environment; they
    choose inside the lines alone.

    Raises:
        InvalidRange: ``wanted`` is no range.
        InvalidRequest: ``accept_line`` names no published version, or comes without a consumer.
        NoMatchingVersion, Retired, PastSunset, Disabled: nothing that matches can serve this caller.
        BreakingChangeNotAccepted: only lines the caller has not accepted serve; ``details`` holds ``from`` (the
            version it knows, if it knows any), ``newest``, ``line``, ``opened_by``, ``migration_guide`` and ``ways``.
    """
    range_ = Range.parse(wanted or "*")
    lines = lines_of(published)
    if range_.exact is not None:
        return _pinned(skill, wanted, range_.exact, published, lines, on_record=on_record)
    admitted = [one for one in in_order(published) if one.state is not Status.DRAFT and range_.admits(one.version)]
    serving = [one for one in admitted if obstacle(one, on_record=on_record) is None]
    if not serving:
        raise nothing_serves(skill, range_, published, admitted, on_record=on_record)
    case = Case(
        skill=skill,
        wanted=wanted,
        consumer=consumer,
        blanket_allowed=blanket_allowed,
        lines=lines,
        admitted=admitted,
        serving=serving,
    )
    acceptances: list[Acceptance] = []
    open_to = {case.homes[version].opens: Basis.RECORD for version in accepted if version in case.homes}
    if accept_line is not None:
        opens = _named_line(case, accept_line)
        open_to[opens] = Basis.NAMED_LINE
        acceptances.append(Acceptance(line=opens, basis=Basis.NAMED_LINE))
    for alternative in range_.alternatives:
        met = case.lines_met(one for one in admitted if alternative.admits(one.version))
        if alternative.anchored and met:
            open_to[met[0].opens] = Basis.RANGE
    only = case.lines_met(admitted)
    if not open_to and len(only) == 1:
        open_to[only[0].opens] = Basis.FIRST_CONTACT
        if consumer is not None:
            acceptances.append(Acceptance(line=only[0].opens, basis=Basis.FIRST_CONTACT))
    newest = preferred(serving)
    behind = case.home(newest).opens not in open_to
    if accept_breaking and blanket_allowed and behind:
        open_to[case.home(newest).opens] = Basis.FLAG
        acceptances.append(Acceptance(line=case.home(newest).opens, basis=Basis.FLAG))
    inside = [one for one in serving if case.home(one).opens in open_to]
    if not inside:
        raise _not_accepted(case, newest, accepted=open_to)
    withheld, steered = steer(rollouts, inside, skill=skill, consumer=consumer)
    chosen = preferred([one for one in inside if one.version not in withheld])
    newest = preferred([one for one in serving if one.version not in withheld])
    flag_refused = accept_breaking and behind and not blanket_allowed
    return Resolution(
        skill=skill,
        range=wanted,
        published=chosen,
        line=case.home(chosen).opens,
        basis=open_to[case.home(chosen).opens],
        held_back=_held_back(case, chosen, newest) if newest is not chosen else None,
        notices=notices_for(skill, chosen, admitted, flag_refused=flag_refused),
        rollout=steered,
        acceptances=tuple(acceptances),
    )


def _pinned(
    skill: str,
    wanted: str | None,
    version: Version,
    published: Sequence[Published],
    lines: Sequence[Line],
    *,
    on_record: bool,
) -> Resolution:
    """An exact pin accepts itself: drafts and yanked versions too, but nothing retired or switched off."""
    found = next((one for one in published if one.version == version), None)
    if found is None or obstacle(found, on_record=on_record, pinned=True) is not None:
        raise pinned_refusal(skill, version, found, published, on_record=on_record)
    line = line_containing(lines, version)
    return Resolution(
        skill=skill,
        range=wanted,
        published=found,
        line=line.opens if line else version,
        basis=Basis.PIN,
        notices=notices_for(skill, found, [found]),
    )


def _named_line(case: Case, version: Version) -> Version:
    if case.consumer is None:
        raise InvalidRequest(
            "Only a named consumer can accept a line from now on.",
            fix="Name the consumer, or pass accept_breaking_change for this one call.",
        )
    line = case.homes.get(version)
    if line is None:
        raise InvalidRequest(
            f"{case.skill} {version} is not published, so it names no line.",
            fix="Name one of: " + ", ".join(str(one.opens) for one in case.lines[-10:]) + ".",
        )
    return line.opens


def _held_back(case: Case, chosen: Published, newest: Published) -> HeldBack | None:
    if newest.version < chosen.version:
        return None
    own, target = case.home(chosen), case.home(newest)
    between = [one for one in case.admitted if chosen.version < one.version <= newest.version]
    crossed = [line for line in case.lines_met(between) if line is not own]
    if target not in crossed:
        crossed.append(target)
    return HeldBack(
        version=newest.version,
        line=target.opens,
        openings=tuple(line.opens for line in crossed),
        opened_by=crossed[0].versions[0].opened_by,
        why=f"{newest.version} stands behind {_break_at(crossed[0])}",
        ways=case.ways_to_accept([target]),
    )


def _not_accepted(case: Case, newest: Published, *, accepted: Collection[Version]) -> BreakingChangeNotAccepted:
    target = case.home(newest)
    known = [one for one in case.admitted if case.home(one).opens in accepted]
    serving = {case.home(one).opens for one in case.serving}
    choices = [line for line in reversed(case.lines) if line.opens in serving]
    ways = case.ways_to_accept(choices)
    asked = f"{case.skill}@{case.wanted}" if case.wanted else f"the bare name {case.skill}"
    if accepted:
        message = (
            f"No version in the lines accepted so far serves {asked} any more, "
            f"and {newest.version} stands behind {_break_at(target)}"
        )
    else:
        openings = ", ".join(str(line.opens) for line in case.lines_met(case.admitted))
        message = f"{case.skill} has several lines, opened at {openings}, and {asked} does not say which one."
    return BreakingChangeNotAccepted(
        message,
        fix="Accept a line: " + "; ".join(str(way["do"]) for way in ways) + ".",
        details={
            "skill": case.skill,
            "range": case.wanted,
            "from": str(preferred(known).version) if known else None,
            "newest": str(newest.version),
            "line": str(target.opens),
            "opened_by": list(target.versions[0].opened_by),
            "migration_guide": newest.migration_guide,
            "ways": list(ways),
        },
    )


def _break_at(line: Line) -> str:
    findings = line.versions[0].opened_by
    said = str(findings[0].get("message", "")) if findings and isinstance(findings[0], dict) else ""
    return f"a breaking change that came with {line.opens}" + (f": {said}" if said else ".")
