"""Fields that a union's branch lost to no one: another branch still declares them, for values meant for that one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from governance.core.compat.branches import Partners
from governance.core.compat.places import Places, Spot

MOST_PAIRS: Final = 200_000
"""Branches times branches that are looked at in one place."""


def lost_in_branches(
    ours: Places, old: list[Spot], theirs: Places, new: list[Spot], *, unless_required: bool = False
) -> Iterator[tuple[Spot, list[Spot]]]:
    """Where ``old`` declares fields that ``new`` declares as well, but not for what was meant for that branch.

    Each with what ``new`` says of such a value. Only where it is plain that some branch of ``new`` still takes it: what
    nobody takes is a break. ``unless_required`` leaves out what the branch promises, whose loss is a break as well.
    """
    branches = [spot for spot in old if not spot.sure and spot.has("properties")]
    if not branches or all(spot.sure for spot in new):
        return
    kept = {theirs.lowering.lower(spot.schema, spot.scope, lifted=False) for spot in new}
    nodes = [ours.lowering.lower(spot.schema, spot.scope, lifted=False) for spot in branches]
    changed = [(spot, node) for spot, node in zip(branches, nodes, strict=True) if node not in kept]
    if not changed:
        return
    partners, told = Partners(theirs, new), theirs.properties(new)
    for spot, node in islice(changed, MOST_PAIRS // len(new)):
        meant = partners.meant_for(node)
        if len(meant) == len(new) or all(one.sure for one in meant):
            continue
        left_out = {*theirs.properties(meant), *(spot.schema.get("required", ()) if unless_required else ())}
        for name in spot.schema["properties"]:
            if name in told and name not in left_out and not theirs.describes(meant, name):
                yield ours.declared(spot, name), meant
