"""A rollout chooses inside what lines, pins and consent allow, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.consent import Published, Resolution, resolve
from governance.core.rollout import Arm, Steering
from governance.core.skill import Status
from governance.core.versioning import Version
from governance.errors import GovernanceError

V = Version.parse
IN, OUT = "agent-in", "agent-out"
"""On either side at half."""


def published(version: str, *, opens: bool = False, state: Status = Status.ACTIVE, **fields: str) -> Published:
    return Published(
        version=V(version), contract_digest=version, manifest_digest=version, opens_line=opens, baseline=None,
        state=state, **fields,
    )  # fmt: skip


def forward(*, weight: int = 50, open: bool = True, id: str = "rol_1", to: str = "2.5.0") -> Steering:
    return Steering(id=id, candidate=V(to), incumbent=V("2.4.0"), above=frozenset({V(to)}), weight=weight, open=open)


def back(*, weight: int = 100, open: bool = False) -> Steering:
    return Steering(
        id="rol_2", candidate=V("2.4.0"), incumbent=V("2.5.0"), above=frozenset({V("2.5.0")}), weight=weight, open=open
    )


SKILL = "weather.current"
LINE = [published("2.0.0", opens=True), published("2.4.0"), published("2.5.0")]


def served(wanted: str | None, consumer: str | None, *rollouts: Steering, among: list[Published] = LINE) -> Resolution:
    return resolve(SKILL, wanted, among, consumer=consumer, rollouts=rollouts)


def version(*args: object, **fields: object) -> str:
    return str(served(*args, **fields).version)  # type: ignore[arg-type]


def test_the_share_gets_the_candidate_and_the_others_what_stood_there() -> None:
    at = [one for one in range(1, 101) if version("^2", IN, forward(weight=one)) == "2.5.0"]
    assert at == list(range(at[0], 101))
    found = served("^2", IN, forward(weight=100))
    assert found.rollout is not None
    assert found.rollout.to_document() == {"id": "rol_1", "arm": "candidate", "weight": 100}
    left = served("^2", IN, forward(weight=at[0] - 1))
    assert str(left.version) == "2.4.0"
    assert left.rollout is not None
    assert left.rollout.arm is Arm.INCUMBENT
    assert left.held_back is None, "what a rollout withholds is held back by no break"


def test_anonymous_callers_get_the_incumbent_until_it_has_ended() -> None:
    assert version("^2", None, forward(weight=100)) == "2.4.0"
    assert version("^2", None) == "2.5.0"
    assert version("^2", None, back(open=True)) == "2.5.0"
    assert version("^2", None, back()) == "2.4.0"


def test_a_pin_or_a_range_of_one_side_alone_is_never_moved() -> None:
    for rollout in (forward(weight=0), forward(weight=0, open=False), back()):
        assert version("2.5.0", OUT, rollout) == "2.5.0"
        assert version(">=2.5.0 <3", OUT, rollout) == "2.5.0"
    assert version("2.4.0", OUT, forward(weight=100)) == "2.4.0"
    assert version("<2.5.0 >=2.0.0", OUT, forward(weight=100)) == "2.4.0"


def test_nobody_is_left_without_a_version() -> None:
    gone = [published("2.0.0", opens=True), published("2.4.0", yanked="broken"), published("2.5.0")]
    assert version("^2", OUT, forward(weight=0), among=gone) == "2.5.0"


def test_what_came_after_a_rollout_began_is_kept_from_nobody() -> None:
    newer = [*LINE, published("2.5.1")]
    assert version("^2", OUT, forward(weight=0), among=newer) == "2.5.1"
    assert served("^2", OUT, forward(weight=0), among=newer).rollout is None
    patched = [*LINE, published("2.4.1")]
    assert version("^2", OUT, forward(weight=0), among=patched) == "2.4.1"


def test_a_draft_candidate_waits_for_its_activation() -> None:
    draft = [*LINE[:2], published("2.5.0", state=Status.DRAFT)]
    found = served("^2", IN, forward(weight=100), among=draft)
    assert (str(found.version), found.rollout) == ("2.4.0", None)


def test_what_one_rollout_withholds_no_other_gives_back() -> None:
    fallen = forward(weight=0, open=False)
    again = forward(weight=100, id="rol_3")
    assert version("^2", IN, fallen, again) == "2.4.0"
    newer = Steering(
        id="rol_4", candidate=V("2.6.0"), incumbent=V("2.4.0"), above=frozenset({V("2.5.0"), V("2.6.0")}), weight=0,
        open=True,
    )  # fmt: skip
    found = served("^2", OUT, fallen, newer, among=[*LINE, published("2.6.0")])
    assert str(found.version) == "2.4.0"
    assert found.rollout is not None
    assert found.rollout.id == "rol_4"


numbers = st.sampled_from(["1.0.0", "1.1.0", "2.0.0", "2.1.0", "2.2.0", "2.3.0"])
skills = st.dictionaries(
    numbers,
    st.tuples(st.booleans(), st.sampled_from([Status.ACTIVE, Status.DRAFT, Status.RETIRED]), st.booleans()),
    min_size=1,
).map(
    lambda found: [
        published(number, opens=opens, state=state, **({"yanked": "r"} if yanked else {}))
        for number, (opens, state, yanked) in found.items()
    ]
)


@st.composite
def rollouts(draw: st.DrawFn) -> Steering:
    candidate, incumbent = draw(st.lists(numbers, min_size=2, max_size=2, unique=True))
    newer, older = max(V(candidate), V(incumbent)), min(V(candidate), V(incumbent))
    between = {V(one) for one in draw(st.lists(numbers)) if older < V(one) <= newer}
    return Steering(
        id=draw(st.sampled_from(["rol_a", "rol_b", "rol_c"])),
        candidate=V(candidate),
        incumbent=V(incumbent),
        above=frozenset(between | {newer}),
        weight=draw(st.integers(0, 100)),
        open=draw(st.booleans()),
    )


@given(
    among=skills,
    steering=st.lists(rollouts(), max_size=4),
    wanted=st.sampled_from([None, "*", "^1", "^2", ">=1.1.0", "2.1.0", "=1.0.0", "^2 || ^1", "<2.2.0"]),
    consumer=st.sampled_from([None, IN, OUT]),
    accepted=st.lists(numbers.map(V), max_size=2),
)
def test_a_rollout_refuses_nobody_and_moves_nobody_over_a_pin_or_a_line(
    among: list[Published],
    steering: list[Steering],
    wanted: str | None,
    consumer: str | None,
    accepted: list[Version],
) -> None:
    try:
        without = resolve(SKILL, wanted, among, consumer=consumer, accepted=accepted)
    except GovernanceError as refused:
        with pytest.raises(type(refused)):
            resolve(SKILL, wanted, among, consumer=consumer, accepted=accepted, rollouts=steering)
        return
    found = resolve(SKILL, wanted, among, consumer=consumer, accepted=accepted, rollouts=steering)
    assert found.acceptances == without.acceptances
    if without.basis.value == "pin":
        assert found == without
    if found.version != without.version:
        assert found.rollout is not None
        assert found.version < without.version
    if found.line != without.line:
        assert accepted or "||" in (wanted or ""), "who accepted one line stays in it"
    if not steering:
        assert found == without
