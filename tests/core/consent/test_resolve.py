"""Nobody crosses a breaking change without having said so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.consent import SHELL, WAYS, Acceptance, Basis, Published, Resolution, lines_of, resolve, spelled
from governance.core.skill import Status
from governance.core.versioning import Range, Version
from governance.errors import (
    BreakingChangeNotAccepted,
    Disabled,
    InvalidRange,
    InvalidRequest,
    NoMatchingVersion,
    PastSunset,
    Retired,
)

V = Version.parse
BREAK = ({"code": "input.required-added", "message": "`path` is required now", "fingerprint": "f"},)


def history(spec: str, **states: Any) -> list[Published]:
    """``"1.0.0! 1.1.0 2.0.0!"``: ``!`` opens a line. ``states`` overlay fields by version (``_`` for ``.``)."""
    found: list[Published] = []
    stable: Version | None = None
    for word in spec.split():
        version = V(word.rstrip("!"))
        one = Published(
            version=version,
            contract_digest=f"sha256:{version}",
            manifest_digest=f"sha256:m{version}",
            opens_line=word.endswith("!"),
            baseline=stable,
            opened_by=BREAK if word.endswith("!") and stable else (),
        )
        found.append(replace(one, **states.get("v" + str(version).replace(".", "_").replace("-", "_"), {})))
        if not version.is_prerelease and found[-1].is_baseline:
            stable = version
    return found


def ask(wanted: str | None, spec: str | list[Published], **how: Any) -> Resolution:
    return resolve("git.log", wanted, history(spec) if isinstance(spec, str) else spec, **how)


TWO_LINES = "2.0.0! 2.1.0 2.2.0 2.3.0! 2.4.0 2.5.0"
THREE_MAJORS = "1.0.0! 1.1.0 2.0.0! 2.1.0 3.0.0! 3.1.0"


@pytest.mark.parametrize(
    ("wanted", "spec", "served", "held_back"),
    [
        ("^2", "2.0.0! 2.1.0 2.5.0", "2.5.0", None),
        ("^2", TWO_LINES, "2.2.0", "2.5.0"),
        ("^2.3.0", TWO_LINES, "2.5.0", None),
        ("2.x", TWO_LINES, "2.2.0", "2.5.0"),
        (">=2", THREE_MAJORS, "2.1.0", "3.1.0"),
        (">=2", "1.0.0! 2.1.0! 2.2.0", "2.2.0", None),
        (">=0.2 <1", "0.1.0! 0.2.0! 0.2.5 0.3.0! 0.4.0", "0.2.5", "0.4.0"),
        ("^0.2", "0.1.0! 0.2.0! 0.2.1 0.3.0!", "0.2.1", None),
        (">=1 <4", "1.0.0! 2.0.0 3.0.0", "3.0.0", None),
        ("^1 || ^3", THREE_MAJORS, "3.1.0", None),
        ("^3 || ^1", THREE_MAJORS, "3.1.0", None),
        ("^3.0.0-rc.1", "2.0.0! 3.0.0-rc.1! 3.0.0-rc.2!", "3.0.0-rc.2", None),
        ("^3.0.0-rc.1", "2.0.0! 3.0.0-rc.1! 3.0.0-rc.2! 3.0.0! 3.1.0", "3.1.0", None),
        (">=3.0.0-rc.1 || >=3.2.0-rc.1", "3.0.0-rc.1! 3.0.0! 3.2.0-rc.1", "3.0.0", None),
        ("1.0.0", THREE_MAJORS, "1.0.0", None),
        ("=2.1.0", THREE_MAJORS, "2.1.0", None),
        ("2.1.0-rc.1", "2.0.0! 2.1.0-rc.1 2.1.0", "2.1.0-rc.1", None),
    ],
)
def test_ranges_serve_the_highest_match_inside_the_lines_they_accept(
    wanted: str, spec: str, served: str, held_back: str | None
) -> None:
    for consumer in (None, "agent"):
        answer = ask(wanted, spec, consumer=consumer)
        assert str(answer.version) == served
        assert (str(answer.held_back.version) if answer.held_back else None) == held_back
        assert answer.acceptances == ()


@pytest.mark.parametrize("wanted", [None, "", "*", "x", "<4", "<=3.0.0", "0.x || *", ">=0"])
def test_what_names_no_place_to_start_accepts_nothing_where_there_are_several_lines(wanted: str | None) -> None:
    for consumer in (None, "agent"):
        with pytest.raises(BreakingChangeNotAccepted) as caught:
            ask(wanted, THREE_MAJORS, consumer=consumer)
        ways = {way["way"]: way for way in reversed(caught.value.details["ways"])}
        assert ways["range"]["range"] == "^3"
        assert ways["flag"]["accept_breaking_change"] is True
        assert ways["register"]["accept_line"] == "3.0.0"
        for expected in ("^3", "accept_breaking_change", "accept_line"):
            assert expected in caught.value.fix


def test_the_refusal_names_the_break_and_the_guide() -> None:
    spec = history(THREE_MAJORS, v3_1_0={"migration_guide": "https://docs.acme.dev/3"})
    with pytest.raises(BreakingChangeNotAccepted) as caught:
        resolve("git.log", None, spec)
    details = caught.value.details
    assert (details["newest"], details["line"]) == ("3.1.0", "3.0.0")
    assert details["opened_by"] == list(BREAK)
    assert details["migration_guide"] == "https://docs.acme.dev/3"


def test_first_contact_binds_a_named_consumer_to_a_single_line() -> None:
    answer = ask(None, "1.0.0! 1.1.0 2.0.0", consumer="agent")
    assert str(answer.version) == "2.0.0"
    assert answer.basis is Basis.FIRST_CONTACT
    assert answer.acceptances == (Acceptance(line=V("1.0.0"), basis=Basis.FIRST_CONTACT),)
    assert not answer.acceptances[0].expires


def test_an_anonymous_caller_is_at_first_contact_each_time() -> None:
    answer = ask(None, "1.0.0! 1.1.0")
    assert (str(answer.version), answer.acceptances) == ("1.1.0", ())
    with pytest.raises(BreakingChangeNotAccepted):
        ask(None, "1.0.0! 1.1.0 1.2.0!")


def test_a_bound_consumer_stays_in_its_line_when_another_opens() -> None:
    answer = ask(None, THREE_MAJORS, consumer="agent", accepted=[V("1.0.0")])
    assert (str(answer.version), answer.basis) == ("1.1.0", Basis.RECORD)
    assert answer.held_back is not None
    assert str(answer.held_back.version) == "3.1.0"
    assert [str(one) for one in answer.held_back.openings] == ["2.0.0", "3.0.0"]
    assert answer.held_back.opened_by == BREAK
    assert "`path` is required now" in answer.held_back.why
    assert answer.held_back.ways[0]["range"] == "^3"


def test_any_version_of_a_line_names_it_as_accepted() -> None:
    answer = ask(None, THREE_MAJORS, consumer="agent", accepted=[V("2.1.0"), V("9.9.9")])
    assert (str(answer.version), str(answer.line)) == ("2.1.0", "2.0.0")


def test_the_flag_accepts_the_newest_line_for_this_call_and_is_recorded_as_blanket() -> None:
    for consumer in (None, "agent"):
        answer = ask(None, THREE_MAJORS, consumer=consumer, accept_breaking=True)
        assert (str(answer.version), answer.basis) == ("3.1.0", Basis.FLAG)
        assert answer.acceptances == (Acceptance(line=V("3.0.0"), basis=Basis.FLAG),)
        assert answer.acceptances[0].expires
    answer = ask("^2", TWO_LINES, accept_breaking=True)
    assert str(answer.version) == "2.5.0"


def test_the_flag_is_not_recorded_where_nothing_breaks() -> None:
    answer = ask("^3", THREE_MAJORS, accept_breaking=True)
    assert (str(answer.version), answer.basis, answer.acceptances) == ("3.1.0", Basis.RANGE, ())


def test_a_namespace_may_forbid_the_flag() -> None:
    with pytest.raises(BreakingChangeNotAccepted) as caught:
        ask(None, THREE_MAJORS, accept_breaking=True, blanket_allowed=False)
    assert "flag" not in {way["way"] for way in caught.value.details["ways"]}
    answer = ask("^2", TWO_LINES, accept_breaking=True, blanket_allowed=False)
    assert str(answer.version) == "2.2.0"
    assert [notice.code for notice in answer.notices] == ["flag-refused"]


def test_a_named_line_is_accepted_from_now_on() -> None:
    answer = ask(None, THREE_MAJORS, consumer="agent", accept_line=V("2.1.0"))
    assert (str(answer.version), answer.basis) == ("2.1.0", Basis.NAMED_LINE)
    assert answer.acceptances == (Acceptance(line=V("2.0.0"), basis=Basis.NAMED_LINE),)
    with pytest.raises(InvalidRequest, match="named consumer"):
        ask(None, THREE_MAJORS, accept_line=V("2.0.0"))
    with pytest.raises(InvalidRequest, match="not published"):
        ask(None, THREE_MAJORS, consumer="agent", accept_line=V("7.0.0"))


def test_every_range_that_a_refusal_offers_leads_where_it_says() -> None:
    specs = [THREE_MAJORS, TWO_LINES + " 3.0.0", "0.1.0! 0.2.0! 0.3.0!", "1.0.0! 2.0.0-rc.1! 2.0.0! 2.0.1!"]
    for spec in specs:
        with pytest.raises(BreakingChangeNotAccepted) as caught:
            ask(None, spec)
        lines = [line.opens for line in lines_of(history(spec))]
        offered = [way["range"] for way in caught.value.details["ways"] if way["way"] == "range"]
        assert [ask(text, spec).line for text in offered] == lines[::-1]


# States.


def test_a_yanked_version_is_passed_over_and_its_reason_shown() -> None:
    spec = history("1.0.0! 1.1.0 1.2.0", v1_2_0={"yanked": "leaks memory"})
    answer = resolve("git.log", "^1", spec)
    assert str(answer.version) == "1.1.0"
    assert [(notice.code, "leaks memory" in notice.message) for notice in answer.notices] == [("yanked-skipped", True)]
    pinned = resolve("git.log", "1.2.0", spec)
    assert (pinned.basis, [notice.code for notice in pinned.notices]) == (Basis.PIN, ["yanked"])


def test_yanking_a_whole_line_never_moves_its_callers_across_the_break() -> None:
    yanked = {"yanked": "bad"}
    spec = history("2.0.0! 2.1.0 2.2.0!")
    spec = [replace(one, yanked="bad") if one.version < V("2.2.0") else one for one in spec]
    with pytest.raises(BreakingChangeNotAccepted, match="any more"):
        resolve("git.log", "^2", spec)
    mended = history("1.0.0! 2.0.0! 2.0.1!", v2_0_0=yanked)
    assert str(resolve("git.log", "^2", mended).version) == "2.0.1"


def test_drafts_are_reached_by_exact_pin_alone() -> None:
    spec = history("1.0.0! 1.1.0", v1_1_0={"state": Status.DRAFT})
    assert str(resolve("git.log", "^1", spec).version) == "1.0.0"
    pinned = resolve("git.log", "1.1.0", spec)
    assert [notice.code for notice in pinned.notices] == ["draft"]
    only = history("1.0.0!", v1_0_0={"state": Status.DRAFT})
    with pytest.raises(NoMatchingVersion) as caught:
        resolve("git.log", "^1", only)
    assert "draft" in caught.value.fix


def test_a_deprecated_version_serves_and_says_what_comes_instead() -> None:
    deprecated = {
        "state": Status.DEPRECATED, "deprecated_on": "2026-01-01", "sunset": "2027-01-01",
        "replacement": "git.history@^1", "migration_guide": "https://docs.acme.dev/git",
    }  # fmt: skip
    answer = resolve("git.log", "^1", history("1.0.0!", v1_0_0=deprecated))
    (notice,) = answer.notices
    assert notice.code == "deprecated"
    for word in ("2026-01-01", "2027-01-01", "git.history@^1", "https://docs.acme.dev/git"):
        assert word in notice.message


def test_past_its_sunset_a_version_serves_only_consumers_on_record() -> None:
    spec = history("1.0.0!", v1_0_0={"state": Status.SUNSET, "sunset": "2026-06-01", "replacement": "b@^1"})
    for wanted in ("^1", "1.0.0", None):
        with pytest.raises(PastSunset) as caught:
            resolve("git.log", wanted, spec, consumer="new")
        assert "b@^1" in caught.value.fix
        answer = resolve("git.log", wanted, spec, consumer="old", on_record=True)
        assert [notice.code for notice in answer.notices] == ["sunset"]


def test_a_retired_version_serves_nobody_and_names_its_successor_and_the_day() -> None:
    retired = {"state": Status.RETIRED, "retired_since": "2026-02-03", "replacement": "git.history@^1"}
    spec = history("1.0.0! 2.0.0!", v1_0_0=retired)
    for wanted in ("^1", "1.0.0"):
        with pytest.raises(Retired, match="2026-02-03") as caught:
            resolve("git.log", wanted, spec, consumer="old", on_record=True)
        assert "git.history@^1" in caught.value.fix


def test_a_caller_of_a_retired_line_is_not_moved_to_the_next_one_unasked() -> None:
    spec = history(TWO_LINES, **{f"v2_{n}_0": {"state": Status.RETIRED} for n in range(3)})
    with pytest.raises(BreakingChangeNotAccepted, match="any more"):
        resolve("git.log", "^2", spec)
    with pytest.raises(BreakingChangeNotAccepted):
        resolve("git.log", None, spec, consumer="agent", accepted=[V("2.0.0")])


def test_what_an_operator_switched_off_serves_nobody_and_is_passed_over() -> None:
    spec = history("1.0.0! 1.1.0", v1_1_0={"disabled": "incident 42"})
    answer = resolve("git.log", "^1", spec)
    assert (str(answer.version), answer.notices[0].code) == ("1.0.0", "disabled-skipped")
    with pytest.raises(Disabled, match="incident 42"):
        resolve("git.log", "1.1.0", spec)
    with pytest.raises(Disabled, match="incident 42"):
        resolve("git.log", "^1.1", spec)


@pytest.mark.parametrize(
    ("wanted", "spec", "fix"),
    [
        ("^4", THREE_MAJORS, "3.1.0"),
        ("4.0.0", THREE_MAJORS, "3.1.0"),
        ("^1", "1.0.0-rc.1!", "^1.0.0-rc.1"),
        (None, "", "Publish"),
        (None, "1.0.0-rc.1!", "^1.0.0-rc.1"),
    ],
)
def test_nothing_that_matches_is_a_refusal_with_a_way_on(wanted: str | None, spec: str, fix: str) -> None:
    with pytest.raises(NoMatchingVersion) as caught:
        ask(wanted, spec)
    assert fix in caught.value.fix


def test_a_bad_range_is_refused() -> None:
    with pytest.raises(InvalidRange):
        ask("newest", THREE_MAJORS)


specs = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from(["", "-rc.1"]), st.booleans()),
    unique_by=lambda one: one[:3],
    min_size=1,
    max_size=10,
).map(lambda rows: " ".join(f"{a}.{b}.0{pre}{'!' * opens}" for a, b, pre, opens in sorted(rows)))
ranges = st.sampled_from([None, "*", "^0", "^0.1", "^1", ">=1", "<2", "~1.1", "1.1.0", "^2.0.0-rc.1", "^0.1 || ^2"])


@given(specs, ranges, st.booleans())
def test_no_caller_is_ever_served_from_a_line_that_neither_range_nor_record_accepts(
    spec: str, wanted: str | None, named: bool
) -> None:
    published = sorted(history(spec), key=lambda one: one.version.key)
    try:
        answer = resolve("git.log", wanted, published, consumer="agent" if named else None)
    except (BreakingChangeNotAccepted, NoMatchingVersion):
        return
    range_ = Range.parse(wanted or "*")
    assert range_.admits(answer.version)
    home = {one.version: line.opens for line in lines_of(published) for one in line.versions}
    reached = sorted(version for version in home if range_.admits(version))
    if answer.basis is Basis.RANGE:
        lowest = [
            home[min(v for v in reached if one.admits(v))]
            for one in range_.alternatives
            if any(one.admits(v) for v in reached)
        ]
        assert home[answer.version] in lowest
    if answer.basis is Basis.FIRST_CONTACT:
        assert len({home[version] for version in reached}) == 1
    again = resolve(
        "git.log",
        wanted,
        published,
        consumer="agent",
        accepted=[one.line for one in answer.acceptances] or [answer.line],
    )
    assert again.version == answer.version, "asking again with what is on record moves nobody"


def test_each_way_to_accept_is_spelled_for_the_api_and_for_the_shell_from_one_table() -> None:
    told = {where: " ".join(row[where] for row in WAYS.values()) for where in ("api", "shell")}
    assert "accept_breaking_change" in told["api"]
    assert "--" not in told["api"]
    assert {"--accept-breaking-change", "--consumer", "--accept-line"} <= set(told["shell"].split())
    way = {"way": "register", "accept_line": "2.0.0", "do": "…"}
    assert "--consumer agents/one --accept-line 2.0.0" in spelled(way, SHELL, skill="a.b", consumer="agents/one")
    assert "--consumer NAME" in spelled(way, SHELL, skill="a.b", consumer=None)
    assert spelled({"way": "ask", "do": "ask somebody"}, SHELL, skill="a.b", consumer=None) == "ask somebody"
