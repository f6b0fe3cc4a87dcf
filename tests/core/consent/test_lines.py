"""A line is a stretch of versions within which nothing breaks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from governance.core.lines import Published, baseline_of, line_containing, lines_of
from governance.core.skill import Status
from governance.core.versioning import Version

V = Version.parse


def published(
    version: str, *, opens: bool = False, baseline: str | None = None, yanked: str | None = None,
    state: Status = Status.ACTIVE,
) -> Published:  # fmt: skip
    return Published(
        version=V(version),
        contract_digest=f"sha256:{version}",
        manifest_digest=f"sha256:{version}",
        opens_line=opens,
        baseline=V(baseline) if baseline else None,
        yanked=yanked,
        state=state,
    )


def shape(*versions: Published) -> list[list[str]]:
    return [[str(one.version) for one in line.versions] for line in lines_of(versions)]


def test_a_line_opens_where_something_broke_wherever_the_number_stands() -> None:
    assert shape(
        published("1.0.0", opens=True),
        published("1.1.0", baseline="1.0.0"),
        published("1.2.0", opens=True, baseline="1.1.0"),
        published("2.0.0", baseline="1.2.0"),
        published("0.9.0", opens=True),
    ) == [["0.9.0"], ["1.0.0", "1.1.0"], ["1.2.0", "2.0.0"]]


def test_the_prereleases_of_a_release_open_its_line_with_it() -> None:
    assert shape(
        published("2.0.0", opens=True),
        published("3.0.0-rc.1", opens=True, baseline="2.0.0"),
        published("3.0.0-rc.2", opens=True, baseline="2.0.0"),
        published("3.0.0", opens=True, baseline="2.0.0"),
        published("3.0.1", baseline="3.0.0"),
    ) == [["2.0.0"], ["3.0.0-rc.1", "3.0.0-rc.2", "3.0.0", "3.0.1"]]


def test_a_release_that_keeps_what_its_prerelease_broke_stays_in_the_old_line() -> None:
    assert shape(
        published("2.0.0", opens=True),
        published("2.1.0-rc.1", opens=True, baseline="2.0.0"),
        published("2.1.0", baseline="2.0.0"),
    ) == [["2.0.0", "2.1.0"], ["2.1.0-rc.1"]]


def test_a_release_that_mends_a_yanked_accident_goes_back_to_the_line_before_it() -> None:
    assert shape(
        published("2.2.0", opens=True),
        published("2.3.0", opens=True, baseline="2.2.0", yanked="broke callers"),
        published("2.3.1", baseline="2.2.0"),
    ) == [["2.2.0", "2.3.1"], ["2.3.0"]]


def test_a_backport_does_not_cut_the_line_above_it() -> None:
    assert shape(
        published("1.0.0", opens=True),
        published("1.0.1", opens=True, baseline="1.0.0"),
        published("1.1.0", baseline="1.0.0"),
    ) == [["1.0.0", "1.1.0"], ["1.0.1"]]


def test_drafts_stand_in_no_line() -> None:
    lines = lines_of([published("1.0.0", opens=True), published("1.1.0", opens=True, state=Status.DRAFT)])
    assert line_containing(lines, V("1.1.0")) is None


def test_the_baseline_is_the_highest_stable_servable_unyanked_version_below() -> None:
    history = [
        published("1.0.0"),
        published("1.1.0", state=Status.DEPRECATED),
        published("1.2.0", state=Status.SUNSET),
        published("1.3.0", state=Status.RETIRED),
        published("1.4.0", yanked="bad"),
        published("1.5.0", state=Status.DRAFT),
        published("1.6.0-rc.1"),
        published("2.0.0"),
    ]
    found = baseline_of(V("1.6.0"), history)
    assert found is not None
    assert str(found.version) == "1.2.0"
    assert baseline_of(V("1.0.0"), history) is None


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from(["", "-rc.1"]), st.booleans()),
        unique_by=lambda one: one[:3],
        max_size=12,
    )
)
def test_every_version_stands_in_exactly_one_line_named_by_its_lowest(
    rows: list[tuple[int, int, str, bool]],
) -> None:
    history = [published(f"{major}.{minor}.0{pre}", opens=opens) for major, minor, pre, opens in rows]
    lines = lines_of(reversed(history))
    inside = [one.version for line in lines for one in line.versions]
    assert sorted(inside) == sorted(one.version for one in history)
    assert all(line.opens == min(one.version for one in line.versions) for line in lines)
    assert [line.opens for line in lines] == sorted(line.opens for line in lines)
