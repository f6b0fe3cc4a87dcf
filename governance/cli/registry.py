"""The gate as the registry decides it, for a whole set of skills."""

from __future__ import annotations

from collections.abc import Sequence

from governance.cli.announcing import Numbers, breaks_let_in, undecided_alone, withheld
from governance.cli.cards import well_formed
from governance.cli.checking import Release
from governance.cli.config import require_connection
from governance.cli.numbering import CHUNK, Numbered, number
from governance.cli.present import JSONObject, is_taken
from governance.cli.run import Call
from governance.cli.unchecked import in_order
from governance.client import ControlPlane
from governance.core.compat.model import Bump, Verdict
from governance.core.versioning import Version, next_version
from governance.importers import ImportResult


def check_online(
    call: Call, new: ImportResult, *, fail_on: Verdict | None, transitive: bool, numbers: Numbers
) -> Release:
    """Every readable candidate before the registry's gate; skills without a number get the honest one."""
    connection = require_connection(call.arguments, call.environment)
    with well_formed(), connection.open() as plane:
        numbered = number(plane, new.accepted, all_of_them=numbers.automatic)
        decisions = ask(plane, numbered, fail_on=fail_on, transitive=transitive, numbers=numbers)
    return release_of(connection.server, new, numbered, decisions)


def ask(
    plane: ControlPlane,
    numbered: Sequence[Numbered],
    *,
    fail_on: Verdict | None,
    transitive: bool,
    numbers: Numbers,
) -> list[JSONObject]:
    """One decision a candidate that is not standing already, in their order; ``check`` is where it is kept.

    What breaks under a number that nobody gave is refused, unless ``numbers`` are automatic.
    """
    asked = [one for one in numbered if not one.standing]
    documents = [one.manifest.to_document() for one in asked]
    decisions: list[JSONObject] = []
    for start in range(0, len(documents), CHUNK):
        word = fail_on.value if fail_on is not None else None
        checked = plane.check(documents[start : start + CHUNK], fail_on=word, transitive=transitive)
        decisions += [{**decision, "check": checked.id} for decision in checked.decisions]
    return [
        withheld(decision, number=one.manifest.version) if one.computed and not numbers.automatic else decision
        for one, decision in zip(asked, decisions, strict=True)
    ]


def release_of(
    server: str,
    new: ImportResult,
    numbered: Sequence[Numbered],
    decisions: Sequence[JSONObject],
    *,
    verb: str = "to be published",
) -> Release:
    """The registry's decisions as one release. ``verb``: what happens to those it lets in."""
    standing = [one.manifest.name for one in numbered if one.standing]
    added = tuple(one["skill"] for one in decisions if one["verdict"] == "new" and not is_taken(one))
    same = [one["skill"] for one in decisions if _same(one)]
    missing = {name for one in decisions for name in one["not_checked"]}
    bump = max((Bump(one["bump"]) for one in decisions if one["compared"]), key=lambda b: b.rank, default=Bump.NONE)
    if added and len(added) < len(decisions) + len(standing):
        bump = max(bump, Bump.MINOR, key=lambda b: b.rank)
    return Release(
        against=server,
        decisions=tuple(decisions),
        undecided_alone=undecided_alone(decisions),
        added=added,
        changed=tuple(one["skill"] for one in decisions if one["skill"] not in (*added, *same)),
        unchanged=(*standing, *same),
        refused=new.refused,
        bump=bump,
        smallest_version=_smallest(decisions, bump),
        not_checked=in_order((*missing, "removed skills")),
        by_registry=True,
        let_in=breaks_let_in(decisions, verb=verb),
        sources=new.imported,
    )


def _same(decision: JSONObject) -> bool:
    """Nothing at all changed against the baseline."""
    return any(one["role"] == "baseline" and one["bump"] == "none" for one in decision["compared"])


def _smallest(decisions: Sequence[JSONObject], bump: Bump) -> str | None:
    """The number that would do for all, where all stood at one number before."""
    baselines = {one["baseline"] for one in decisions if one["baseline"] is not None}
    if len(baselines) != 1 or bump is Bump.NONE:
        return None
    return str(next_version(Version.parse(baselines.pop()), bump))
