"""``govctl range`` says what a range admits, in npm's grammar."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Govctl


def test_matches_come_ascending_with_the_best_of_them(govctl: Govctl) -> None:
    done = govctl("range", ">=1.2 <3", "2.5.0", "1.2.0", "3.0.0", "2.10.0", "-o", "json")
    assert done.code == 0
    assert done.json == {"range": ">=1.2 <3", "matches": ["1.2.0", "2.5.0", "2.10.0"], "best": "2.10.0"}


def test_nothing_that_matches_is_exit_1_with_no_best(govctl: Govctl) -> None:
    done = govctl("range", "^2", "1.0.0", "-o", "json")
    assert done.code == 1
    assert done.json == {"range": "^2", "matches": [], "best": None}


def test_a_prerelease_of_the_next_major_never_matches_a_caret(govctl: Govctl) -> None:
    versions = ("2.1.0-pre.0", "2.0.0", "3.0.0-pre.0")
    assert govctl("range", "^2", *versions, "--include-prerelease", "-o", "json").json["best"] == "2.1.0-pre.0"
    assert govctl("range", "^2", *versions, "-o", "json").json["best"] == "2.0.0"


def test_versions_keep_their_spelling_and_their_digits(govctl: Govctl) -> None:
    huge = f"1.{10**40}.0+build.7"
    assert govctl("range", "1.x", huge, "-o", "json").json["matches"] == [huge]


@pytest.mark.parametrize("spelled", ["~1.2", "<2", ">=1", "1.x || 5", "1 - 2", "*", "", "=1.2.3"])
def test_every_way_to_begin_a_range_passes_the_command_line(govctl: Govctl, spelled: str) -> None:
    assert govctl("range", spelled, "1.2.3", "-o", "json").json["best"] == "1.2.3"


@pytest.mark.parametrize("spelled", ["-1", "->=2", "latest", ">", "1.2.3.4", "\x1b"])
def test_what_is_no_range_is_exit_2(govctl: Govctl, spelled: str) -> None:
    done = govctl("range", spelled, "1.2.3", "-o", "json")
    assert done.code == 2
    assert done.json["code"] == "invalid-range"
