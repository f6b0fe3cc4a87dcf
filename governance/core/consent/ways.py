"""One question as it stands, line by line, and the exact ways to accept a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from governance.core.compat.model import JSON
from governance.core.lines import Line, Published, in_order, preferred
from governance.core.versioning import Range, Version

Way = dict[str, JSON]
"""``way`` (range, flag, register), what to write under its own key, and ``do``, the same in the API's words."""

API: Final = "api"
SHELL: Final = "shell"
WAYS: Final[dict[str, dict[str, str]]] = {
    "range": {
        API: "ask for {skill}@{range}",
        SHELL: "ask for {skill}@{range}",
    },
    "flag": {
        API: "pass accept_breaking_change=True to take the newest line for one call",
        SHELL: "add --accept-breaking-change to take the newest line for this call",
    },
    "register": {
        API: "name the consumer {consumer} and pass accept_line={accept_line}, which stays on record",
        SHELL: "add --consumer {consumer} --accept-line {accept_line}, which stays on record",
    },
}
"""How each way is spelled where it is taken."""

_MOST_LINES_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Case:
    """A caller's question against the lines of a skill. Both sequences are ascending."""

    skill: str
    wanted: str | None
    consumer: str | None
    blanket_allowed: bool
    lines: Sequence[Line]
    admitted: Sequence[Published]
    serving: Sequence[Published]

    @cached_property
    def homes(self) -> dict[Version, Line]:
        """The line of each version; drafts have none."""
        return {one.version: line for line in self.lines for one in line.versions}

    def home(self, one: Published) -> Line:
        return self.homes[one.version]

    def lines_met(self, admitted: Iterable[Published]) -> list[Line]:
        """The lines that ``admitted`` versions (ascending) stand in, lowest such version first.

        A line of which only yanked versions are met is passed over if none of the others was judged against it: it
        was gone before anything followed it. Otherwise it counts, so that yanking a line never moves its callers
        across a break.
        """
        met: dict[Version, list[Published]] = {}
        followed: set[Version] = set()
        for one in admitted:
            home = self.home(one).opens
            met.setdefault(home, []).append(one)
            before = self.homes.get(one.baseline) if one.baseline is not None else None
            if before is not None and before.opens != home:
                followed.add(before.opens)
        return [
            self.home(versions[0])
            for opens, versions in met.items()
            if opens in followed or any(one.yanked is None for one in versions)
        ]

    def ways_to_accept(self, targets: Sequence[Line]) -> tuple[Way, ...]:
        """What to write to be served from one of ``targets``: a range each, the flag, registration."""
        ways: list[Way] = []
        for target in targets[:_MOST_LINES_SHOWN]:
            text = self._range_for(target)
            ways.append({"way": "range", "range": text})
        if self.blanket_allowed:
            ways.append({"way": "flag", "accept_breaking_change": True})
        ways.append({"way": "register", "accept_line": str(targets[0].opens)})
        return tuple({**way, "do": spelled(way, API, skill=self.skill, consumer=self.consumer)} for way in ways)

    def _range_for(self, target: Line) -> str:
        """The plainest range that leads into ``target``: ^3 if that does, else one anchored inside it."""
        best = preferred([one for one in self.serving if self.home(one) is target])
        lowest = min((one.version for one in target.versions if not one.version.is_prerelease), default=None)
        texts = [f"^{target.opens}"]
        if lowest is not None:
            texts = [f"^{lowest.major}" if lowest.major else f"^0.{lowest.minor}", f"^{lowest}", *texts]
        everything = in_order(one for line in self.lines for one in line.versions)
        for text in texts:
            range_ = Range.parse(text)
            met = self.lines_met(one for one in everything if range_.admits(one.version))
            if met and met[0] is target and range_.admits(best.version):
                return text
        return str(best.version)


def spelled(way: Mapping[str, JSON], where: str, *, skill: str, consumer: str | None) -> str:
    """What to do to take ``way``, in the words of ``where`` (API or SHELL); those of ``do`` if it is no way of ours."""
    templates = WAYS.get(str(way.get("way")))
    if templates is None:
        return str(way.get("do", ""))
    values = {key: way.get(key, "") for key in ("range", "accept_line")}
    return templates[where].format(skill=skill, consumer=consumer or "NAME", **values)
