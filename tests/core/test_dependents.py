"""What stands on a version: who it serves, what names it, what was judged against it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.consumers import Need
from governance.core.dependents import Reference, ReferenceKind, Served, judged_against, references_to, served_by
from governance.core.lines import Published
from governance.core.skill import Status
from governance.core.versioning import Version

V = Version.parse


def published(spec: str, state: Status = Status.ACTIVE) -> list[Published]:
    """``"1.0.0! 1.1.0"``: ``!`` opens a line."""
    found: list[Published] = []
    for word in spec.split():
        version = V(word.rstrip("!"))
        found.append(
            Published(
                version=version,
                contract_digest=f"sha256:{version}",
                manifest_digest=f"sha256:m{version}",
                opens_line=word.endswith("!"),
                baseline=found[-1].version if found else None,
                state=state,
            )
        )
    return found


THREE = published("1.0.0! 1.1.0 2.0.0!")


def on(version: str, *needs: Need, there: list[Published] = THREE) -> list[Served]:
    return list(served_by("git.log", {V(version)}, there, needs))


@pytest.mark.parametrize(
    ("wanted", "version", "then"),
    [("^1", "1.1.0", "1.0.0"), ("1.1.0", "1.1.0", None), ("^2", "2.0.0", None), (">=1", "1.1.0", "1.0.0")],
)
def test_a_consumer_stands_on_the_version_that_serves_it(wanted: str, version: str, then: str | None) -> None:
    (found,) = on(version, Need(consumer="bot", range=wanted, owner="team"))
    document = found.to_document()
    assert (document["consumer"], document["owner"], document["version"]) == ("bot", "team", version)
    assert document["then"] == then


def test_a_consumer_that_another_version_serves_does_not_stand_on_it() -> None:
    assert on("1.0.0", Need(consumer="bot", range="^1")) == []
    assert on("1.1.0", Need(consumer="bot", range="^2")) == []
    assert on("1.1.0", Need(consumer="lost", range=None)) == [], "several lines and none accepted: nothing serves it"
    assert on("2.0.0", Need(consumer="bot", range=None, accepted=(V("2.0.0"),)))


def test_who_registered_counts_as_on_record_past_the_sunset() -> None:
    assert on("1.1.0", Need(consumer="bot", range="^1"), there=published("1.0.0! 1.1.0", Status.SUNSET))


@pytest.mark.parametrize("kind", ReferenceKind)
def test_a_reference_is_told_where_it_means_the_version(kind: ReferenceKind) -> None:
    def leads(wanted: str, version: str, holder: str = "git.old") -> list[str]:
        reference = Reference(kind=kind, skill=holder, version="1.0.0", holder=f"{holder}@1.0.0", range=wanted)
        return list(references_to("git.log", V(version), THREE, [reference]))

    (said,) = leads("^2", "2.0.0")
    assert "git.old@1.0.0" in said
    assert "nothing else" in said
    (said,) = leads("^1", "1.1.0")
    assert "then be 1.0.0" in said
    assert leads("^1", "1.0.0") == leads("^7", "1.0.0") == []
    assert leads("1.0.0", "1.0.0", holder="git.log") == [], "nothing holds itself"


def test_the_line_of_a_later_version_hangs_on_what_it_was_judged_against() -> None:
    assert judged_against(V("1.0.0"), THREE) == [V("1.1.0")]
    draft = [replace(one, state=Status.DRAFT) if one.version == V("1.1.0") else one for one in THREE]
    assert judged_against(V("1.0.0"), draft) == []


ranges = st.sampled_from([None, "*", "^1", "1.1.0", ">=1", "^2", "<2"])
accepted = st.lists(st.sampled_from([V("1.0.0"), V("2.0.0")]), max_size=2).map(tuple)


@given(ranges, accepted)
def test_every_need_stands_on_one_version_at_most_and_taking_all_leaves_nothing(
    wanted: str | None, lines: tuple[Version, ...]
) -> None:
    need = Need(consumer="bot", range=wanted, accepted=lines)
    alone = [found for one in THREE for found in on(str(one.version), need)]
    assert len(alone) <= 1
    everything = list(served_by("git.log", {one.version for one in THREE}, THREE, [need]))
    assert len(everything) == len(alone)
    assert all(found.then is None for found in everything)
