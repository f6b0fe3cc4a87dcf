"""Who gets the candidate of a rollout."""

from __future__ import annotations

import os
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from governance.core.rollout import Arm, arm_of

names = st.text(min_size=1, max_size=40)
weights = st.integers(0, 100)


@given(consumer=names, skill=names, one=weights, other=weights)
def test_a_consumer_that_is_in_stays_in_while_the_weight_grows(consumer: str, skill: str, one: int, other: int) -> None:
    low, high = sorted((one, other))
    if arm_of(consumer, skill, low) is Arm.CANDIDATE:
        assert arm_of(consumer, skill, high) is Arm.CANDIDATE


@given(consumer=names, skill=names)
def test_nobody_is_in_at_nothing_and_everybody_with_a_name_at_all(consumer: str, skill: str) -> None:
    assert arm_of(consumer, skill, 0) is Arm.INCUMBENT
    assert arm_of(consumer, skill, 100) is Arm.CANDIDATE
    assert arm_of(None, skill, 100) is Arm.INCUMBENT


@given(skill=names, weight=weights)
def test_the_share_that_is_in_is_close_to_the_weight(skill: str, weight: int) -> None:
    total = 1_000
    inside = sum(arm_of(f"agent-{number}", skill, weight) is Arm.CANDIDATE for number in range(total))
    # six standard deviations of a binomial: chance never fails this
    assert abs(inside - total * weight / 100) <= 6 * (total * weight / 100 * (1 - weight / 100)) ** 0.5


def test_where_a_consumer_stands_for_one_skill_says_nothing_of_another() -> None:
    agents = [f"agent-{number}" for number in range(4_000)]
    first = {one for one in agents if arm_of(one, "weather.current", 50) is Arm.CANDIDATE}
    second = {one for one in agents if arm_of(one, "weather.forecast", 50) is Arm.CANDIDATE}
    assert abs(len(first & second) - 1_000) < 150


def test_the_arms_are_the_same_in_every_process_and_release() -> None:
    told = "".join(
        "c" if arm_of(f"agent-{number}", "weather.current", 25) is Arm.CANDIDATE else "." for number in range(40)
    )
    assert told == "............c...c...c..c.ccccc.cc.c...c."
    program = (
        "from governance.core.rollout import arm_of\n"
        "print(''.join(arm_of(f'agent-{n}', 'weather.current', 25)[0].replace('i', '.') for n in range(40)))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert other.stdout.strip() == told
