"""Comments in a source that silence a warning where it stands: ``govctl: ignore[id, …] reason``.

The author of a text writes its comments too, so they never silence an error: what hides instructions could
hide behind them. A reason is asked for, since a comment without one tells the next reader nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Final

from governance.core.lint.model import Ignore, Lint, Located, Position, Severity, Spot
from governance.errors import Place

MARK: Final = "govctl:"
"""What a comment of ours begins with."""
MAX_REASON: Final = 300

_IGNORE: Final = re.compile(r"ignore\s*\[([^\[\]]*)\]\s*:?(.*)", re.DOTALL)
_HOW: Final = "write `govctl: ignore[id] reason`"


def read_comment(text: str, place: Place, *, begins: Position, ends: Position) -> Ignore:
    """The comment whose text, after MARK, is ``text``."""
    found = _IGNORE.match(text.strip())
    ids = tuple(dict.fromkeys(one.strip() for one in found[1].split(",") if one.strip())) if found else ()
    reason = " ".join(found[2].split())[:MAX_REASON] if found else ""
    complaint = ""
    if not found:
        complaint = f"this comment asks for nothing that is known; {_HOW}"
    elif not ids:
        complaint = f"it names no lint; {_HOW}"
    elif not any(char.isalnum() for char in reason):
        complaint = f"it gives no reason; {_HOW}"
    return Ignore(place=place, ids=ids, reason=reason, complaint=complaint, begins=begins, ends=ends)


@dataclass(frozen=True, kw_only=True)
class Honoured:
    """What is left once the comments were heard, what they silenced, and the comments with what they were for."""

    kept: tuple[Located, ...]
    silenced: tuple[tuple[Located, Ignore], ...]
    ignores: tuple[Ignore, ...]


def honour(found: Iterable[Located], ignores: Sequence[Ignore]) -> Honoured:
    """Warnings that a comment speaks of are silenced; errors never."""
    by_id: dict[tuple[str | None, str], list[Ignore]] = defaultdict(list)
    for ignore in ignores:
        for lint in () if ignore.complaint else ignore.ids:
            by_id[ignore.place.file, lint].append(ignore)
    used: set[tuple[int, str]] = set()
    kept: list[Located] = []
    silenced: list[tuple[Located, Ignore]] = []
    for one in found:
        finding, place = one.finding, one.place
        covering: list[Ignore] = []
        if place is not None and finding.severity is not Severity.ERROR:
            covering = [ignore for ignore in by_id.get((place.file, finding.id), ()) if ignore.covers(place)]
        used |= {(id(ignore), finding.id) for ignore in covering}
        if covering:
            silenced.append((one, covering[-1]))
        else:
            kept.append(one)
    heard = (
        replace(ignore, idle=tuple(lint for lint in ignore.ids if (id(ignore), lint) not in used)) for ignore in ignores
    )
    return Honoured(kept=tuple(kept), silenced=tuple(silenced), ignores=tuple(heard))


def misspelt(ignore: Ignore, known: Mapping[str, Lint]) -> Iterator[Spot]:
    """What makes the comment, or one of its ids, count for nothing."""
    if ignore.complaint:
        yield Spot("", ignore.complaint)
    for lint in ignore.ids:
        row = known.get(lint)
        if row is None:
            near = get_close_matches(lint[:60], known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            yield Spot("", f"there is no lint {lint[:60]!r}{hint}", lint)
        elif row.severity is Severity.ERROR:
            yield Spot("", f"{lint} is an error, and no comment silences one", lint)


def idle(ignore: Ignore, known: Mapping[str, Lint]) -> Iterator[Spot]:
    """Ids for which nothing was found where the comment speaks."""
    for lint in () if ignore.complaint else ignore.idle:
        row = known.get(lint)
        if row is not None and row.severity is not Severity.ERROR:
            yield Spot("", f"nothing here needs ignore[{lint}]", lint)
