"""The matrix and every ``can-i-…`` say the same of one need and one version, whatever the history."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from governance.core.compat.engine import check
from governance.core.compat.model import Comparison, Verdict
from governance.core.consumers import Cell, Change, ConsumerImpact, Impact, MatrixRow, Need, impacts, matrix
from governance.core.contract import manifest_from_document
from governance.core.gate import HistoryItem, Outcome, Question, Surroundings, answer, decide, replay
from governance.core.policy import Policy
from governance.core.skill import SkillManifest
from governance.core.versioning import Version

V = Version.parse
NAME = "git.log"
LETTERS = "abc"
NUMBERS = ("0.1.0", "0.2.0", "1.0.0", "1.1.0", "1.2.0", "2.0.0", "2.1.0")

subsets = st.sets(st.sampled_from(LETTERS)).map(lambda found: "".join(sorted(found)))
fields = st.none() | subsets.map(lambda found: tuple(f"/{letter}" for letter in found))
needs = st.builds(
    Need,
    consumer=st.sampled_from(["agents/one", "agents/two"]),
    range=st.sampled_from([None, "^0.1", ">=1", "^1", "^1.1", "^2", "1.0.0", ">=1 <3"]),
    reads=fields,
    sends=fields,
    on_record=st.booleans(),
    accepted=st.lists(st.sampled_from(NUMBERS).map(V), max_size=2).map(tuple),
)

_KNOWN: dict[tuple[str, str], Comparison] = {}


def compare(old: SkillManifest | None, new: SkillManifest | None) -> Comparison:
    """The engine, which need not be asked twice."""
    if old is None or new is None:
        return check(old, new)
    key = (old.contract_digest, new.contract_digest)
    if key not in _KNOWN:
        _KNOWN[key] = check(old, new)
    return _KNOWN[key]


def skill(version: str, required: str, gives: str) -> SkillManifest:
    def schema(names: str, always: str) -> dict[str, Any]:
        return {"type": "object", "properties": {one: {"type": "string"} for one in names}, "required": list(always)}

    document = {"name": NAME, "version": version, "description": "Lists.", "input_schema": schema(LETTERS, required)}
    return manifest_from_document({**document, "output_schema": schema(gives, gives)}, native=False)


@dataclass(frozen=True, kw_only=True)
class World:
    """A history, one more version that may come, and one consumer's need."""

    history: list[HistoryItem]
    after: list[HistoryItem]
    candidate: HistoryItem
    need: Need

    def row(self, items: list[HistoryItem]) -> MatrixRow:
        (row,) = matrix(NAME, [self.need], items, [one.version for one in items], compare=compare)
        return row

    def impact(self, change: Change) -> ConsumerImpact:
        (found,) = impacts(change, [self.need], compare=compare)
        return found


@st.composite
def worlds(draw: st.DrawFn) -> World:
    numbers = draw(st.lists(st.sampled_from(NUMBERS), min_size=2, max_size=4, unique=True))
    manifests = [skill(number, draw(subsets), draw(subsets)) for number in sorted(numbers)]
    last = draw(st.sampled_from(manifests))
    history = replay([one for one in manifests if one is not last], compare=compare)
    decision = decide(last, history, compare=compare)
    (alone,) = replay([last], compare=compare)
    published = replace(
        alone.published,
        opens_line=decision.opens_line,
        baseline=V(decision.baseline) if decision.baseline else None,
    )
    candidate = HistoryItem(published=published, manifest=last)
    return World(history=history, after=[*history, candidate], candidate=candidate, need=draw(needs))


def cell(row: MatrixRow, version: Version) -> Cell:
    return next(one for one in row.cells if one.version == version)


def agrees(impact: ConsumerImpact, row: MatrixRow, target: Version) -> None:
    """What the impact says of a move to ``target`` is what the row says of it."""
    assert impact.now == row.now
    assert impact.verdict is cell(row, target).verdict


@settings(max_examples=120)
@given(worlds())
def test_what_serves_now_and_then_is_what_the_matrix_shows_before_and_after(world: World) -> None:
    before, after = world.row(world.history), world.row(world.after)
    impact = world.impact(Change.publish(world.candidate, world.history))
    assert (impact.now, impact.then) == (before.now, after.now)
    assert [one.version for one in after.cells if one.serves] == ([] if after.now is None else [after.now])
    if impact.verdict is None:
        return
    target = impact.then if impact.then != impact.now and impact.then is not None else world.candidate.version
    if impact.now == after.now:
        agrees(impact, after, target)
    assert (
        impact.impact
        is {
            Verdict.BREAKING: Impact.BROKEN if impact.then != impact.now else Impact.HELD_BACK,
            Verdict.UNDECIDED: Impact.UNKNOWN,
            Verdict.INVALID: Impact.UNKNOWN,
            Verdict.RISKY: Impact.AFFECTED if impact.then != impact.now else Impact.UNTOUCHED,
            Verdict.COMPATIBLE: Impact.UNTOUCHED,
        }[impact.verdict]
    )


@settings(max_examples=120)
@given(worlds(), st.data())
def test_who_is_hit_by_a_retirement_is_who_the_matrix_says_it_serves(world: World, data: st.DataObject) -> None:
    row = world.row(world.history)
    version = data.draw(st.sampled_from([one.version for one in world.history]))
    impact = world.impact(Change.retire(version, world.history))
    assert impact.now == row.now
    if row.now != version:
        assert impact.impact in (Impact.UNTOUCHED, Impact.UNKNOWN)
        assert impact.then == impact.now
    elif impact.then is None:
        assert impact.impact is Impact.BROKEN
    else:
        agrees(impact, row, impact.then)


@settings(max_examples=120)
@given(worlds(), st.booleans(), st.data())
def test_who_is_hit_by_a_deployment_is_judged_by_the_cell_of_the_move(
    world: World, beside: bool, data: st.DataObject
) -> None:
    running = data.draw(st.lists(st.sampled_from(world.history), max_size=2, unique_by=lambda one: one.version))
    change = Change.deploy(world.candidate, world.after, running, beside=beside)
    impact, row = world.impact(change), world.row(world.after)
    if impact.verdict is not None and impact.now == row.now:
        target = impact.then if impact.then != impact.now and impact.then is not None else world.candidate.version
        agrees(impact, row, target)


@settings(max_examples=120)
@given(worlds(), st.data())
def test_the_answer_blocks_exactly_where_a_row_of_it_is_broken_and_the_gate_says_no_less(
    world: World, data: st.DataObject
) -> None:
    version = data.draw(st.sampled_from([one.version for one in world.history]))
    retire = Change.retire(version, world.history)
    found = answer(Question.RETIRE, retire, version, [world.need], compare=compare, policy=Policy())
    broken = [one for one in found.consumers if one.impact is Impact.BROKEN]
    assert (found.outcome is Outcome.BLOCK) == bool(broken)
    assert found.to_document()["consumers"]["counts"]["served_and_broken"] == len(broken)
    decision = decide(
        world.candidate.manifest, world.history, compare=compare, around=Surroundings(needs=(world.need,))
    )
    assert decision.consumers == impacts(Change.publish(world.candidate, world.history), [world.need], compare=compare)
    if any(one.impact is Impact.BROKEN for one in decision.consumers):
        assert decision.outcome is Outcome.BLOCK
