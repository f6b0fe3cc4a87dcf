"""What does not concern a question does not change its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from governance.core.consent import Published, resolve
from governance.core.lines import baseline_of
from governance.core.skill import Status
from governance.core.versioning import Range, Version
from governance.errors import GovernanceError

versions = st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from(["", "", "-rc.1", "-rc.2"])).map(
    lambda parts: Version.parse(f"{parts[0]}.{parts[1]}.0{parts[2]}")
)
states = st.sampled_from(
    [Status.ACTIVE, Status.ACTIVE, Status.ACTIVE, Status.DEPRECATED, Status.SUNSET, Status.RETIRED]
)


@dataclass(frozen=True, kw_only=True)
class Publishing:
    version: Version
    opens: bool
    state: Status
    yanked: bool


publishings = st.lists(
    st.builds(
        Publishing, version=versions, opens=st.booleans(), state=states, yanked=st.sampled_from([False, False, True])
    ),
    min_size=2,
    max_size=9,
    unique_by=lambda one: one.version,
)
ranges = st.sampled_from(
    [None, "<2", "^0.1", "^1", "^2", ">=1 <3", "~1.1", "1.1.0", "^2.0.0-rc.1", "^1 || ^3", ">=2", "<=1.2.0", "0.x"]
)
callers: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "consumer": st.sampled_from([None, "bot"]),
        "on_record": st.booleans(),
        "accepted": st.lists(versions, max_size=2),
        "accept_breaking": st.booleans(),
        "blanket_allowed": st.booleans(),
    }
)


def published(order: list[Publishing]) -> list[Published]:
    """Published one after the other, each judged against what was there then."""
    found: list[Published] = []
    for one in order:
        below = baseline_of(one.version, found)
        found.append(
            Published(
                version=one.version,
                contract_digest=f"sha256:{one.version}",
                manifest_digest=f"sha256:m{one.version}",
                opens_line=one.opens or below is None,
                baseline=below.version if below else None,
            )
        )
    ended = [
        Published(**{**vars(row), "state": one.state, "yanked": "leaks" if one.yanked else None})
        for row, one in zip(found, order, strict=True)
    ]
    return sorted(ended, key=lambda row: row.version.key)


def answer(wanted: str | None, there: list[Published], caller: dict[str, Any]) -> tuple[object, ...]:
    """Without the names of lines: a late prerelease lends its own to the line of its release."""
    try:
        found = resolve("skill", wanted, there, **caller)
    except GovernanceError as error:
        return error.code, error.details.get("newest"), error.details.get("from")
    held = found.held_back
    return found.version, found.basis, [one.basis for one in found.acceptances], held and held.version


@given(publishings, ranges, callers)
def test_resolve_is_monotone_under_additions_that_do_not_match(
    order: list[Publishing], wanted: str | None, caller: dict[str, Any]
) -> None:
    *before, last = order
    assume(wanted is not None and not Range.parse(wanted).admits(last.version))
    caller = {**caller, "accepted": [one for one in caller["accepted"] if one != last.version]}
    assert answer(wanted, published(order), caller) == answer(wanted, published(before), caller)


@given(publishings, ranges, callers)
def test_an_answer_asked_for_again_with_what_was_recorded_is_the_same_version(
    order: list[Publishing], wanted: str | None, caller: dict[str, Any]
) -> None:
    there = published(order)
    try:
        first = resolve("skill", wanted, there, **caller)
    except GovernanceError:
        return
    recorded = [*caller["accepted"], *(one.line for one in first.acceptances)]
    again = resolve("skill", wanted, there, **{**caller, "accepted": recorded})
    assert again.version == first.version
    assert not [one for one in again.acceptances if one.expires], "a blanket acceptance on record is not given again"
