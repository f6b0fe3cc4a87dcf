"""Find skills by words in any language, by tag, owner, state or the name of a field."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Final

from governance.cli.cards import STATES, skills_report
from governance.cli.config import require_connection
from governance.cli.run import Call
from governance.client import ControlPlane
from governance.errors import UsageError

_MOST_NAMES: Final = 1_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", metavar="WORD", nargs="*", default=[], help="all of them must be found")
    parser.add_argument("--tag", help="only with this tag")
    parser.add_argument("--owner", help="only of this owner")
    parser.add_argument("--state", choices=STATES, help="only in this state")
    parser.add_argument("--field", help="the name of an input or output field")
    parser.add_argument("--limit", type=int, default=50, help="most skills to show (default: 50)")


def run(call: Call) -> int:
    wanted = call.arguments
    filters = {"tag": wanted.tag, "owner": wanted.owner, "state": wanted.state, "field": wanted.field}
    if not wanted.words and not any(filters.values()):
        raise UsageError("There is nothing to search for.", fix="Give words or a filter; `govctl list` shows all.")
    with require_connection(wanted, call.environment).open() as plane:
        found = list(islice(plane.search(" ".join(wanted.words) or None, **filters), wanted.limit + 1))
        if not found:
            call.output.note(_hint(plane, wanted.words))
    return call.output.emit(skills_report(found[: wanted.limit], truncated=len(found) > wanted.limit))


def _hint(plane: ControlPlane, words: Sequence[str]) -> str:
    """What to try instead of words that nothing has: those of names that look like them, or fewer."""
    known = {part for card in islice(plane.search(), _MOST_NAMES) for part in (card.name, *re.split("[._]", card.name))}
    near = dict.fromkeys(
        close for word in words for close in get_close_matches(word.lower(), sorted(known), n=3, cutoff=0.7)
    )
    if near:
        return f"Nothing is found. Names have: {', '.join(near)}."
    fewer = " Fewer words find more: all of them must be there." if len(words) > 1 else ""
    return f"Nothing is found.{fewer} `govctl list` shows all; --field NAME finds skills by a field."
