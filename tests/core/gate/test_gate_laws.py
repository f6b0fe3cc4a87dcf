"""Whatever is published in whatever order: what the gate lets in keeps every line whole."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from governance.core.compat.model import Comparison, Finding, FindingLevel, Level, Side, Verdict
from governance.core.consent import resolve
from governance.core.gate import HistoryItem, Outcome, auto_version, decide
from governance.core.lines import Published, lines_of
from governance.core.skill import SkillManifest
from governance.core.versioning import Version
from governance.errors import GovernanceError

numbers = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1)).map(lambda n: ".".join(map(str, n)))
levels = st.sampled_from([None, Level.BACKWARD_COMPATIBLE, Level.INPUT_COMPATIBLE, Level.BREAKING_CHANGE])
publications = st.lists(st.tuples(numbers, levels), min_size=4, max_size=8, unique_by=lambda one: one[0])
# two masks over each other: a quarter of all steps break
breaks = st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)).map(
    lambda masks: {(bit // 8, bit % 8) for bit in range(64) if masks[0] & masks[1] >> bit & 1}
)

Breaks = set[tuple[int, int]]


def skill(order: int, version: str, level: Level | None) -> SkillManifest:
    return SkillManifest(
        name="git.log",
        version=version,
        compatibility=level,
        title=str(order),
        input_schema={"type": "object", "properties": {f"field{order}": {}}},
    )


class Engine:
    """Knows by fiat which steps break; nothing adds up, as in the worst of worlds."""

    def __init__(self, breaks: Breaks) -> None:
        self.breaks = breaks

    def __call__(self, old: SkillManifest | None, new: SkillManifest | None) -> Comparison:
        if old is None or new is None or (int(old.title or 0), int(new.title or 0)) not in self.breaks:
            return Comparison(verdict=Verdict.COMPATIBLE, level=Level.BACKWARD_COMPATIBLE)
        finding = Finding(
            code="input.narrowed", side=Side.INPUT, level=FindingLevel.BREAKING, message="narrower", fix="widen"
        )
        return Comparison(verdict=Verdict.BREAKING, level=Level.BREAKING_CHANGE, findings=(finding,))


def publish(engine: Engine, candidates: list[SkillManifest]) -> list[HistoryItem]:
    """The candidates that the gate lets in, in the order they came."""
    history: list[HistoryItem] = []
    for candidate in candidates:
        decision = decide(candidate, history, compare=engine)
        taken = any(str(one.version) == candidate.version for one in history)
        if decision.outcome is Outcome.BLOCK or taken:
            continue
        published = Published(
            version=Version.parse(candidate.version),
            contract_digest=candidate.contract_digest,
            manifest_digest=candidate.manifest_digest,
            opens_line=decision.opens_line,
            baseline=Version.parse(decision.baseline) if decision.baseline else None,
        )
        history.append(HistoryItem(published=published, manifest=candidate))
        lines = lines_of(one.published for one in history)
        assert decision.line == str(next(line.opens for line in lines if published in line.versions))
    return history


@settings(max_examples=150)
@given(publications, breaks)
def test_no_later_version_of_a_line_breaks_an_earlier_one(
    wanted: list[tuple[str, Level | None]], broken: Breaks
) -> None:
    history = publish(Engine(broken), [skill(n, version, level) for n, (version, level) in enumerate(wanted)])
    came = {one.version: place for place, one in enumerate(history)}
    order = {one.version: int(one.manifest.title or 0) for one in history}
    for line in lines_of(one.published for one in history):
        inside = [one.version for one in line.versions]
        for low in inside:
            for high in inside:
                if low < high and came[low] < came[high]:
                    assert (order[low], order[high]) not in broken


@settings(max_examples=150)
@given(publications, breaks)
def test_a_caller_is_never_moved_across_a_break_by_a_new_release(
    wanted: list[tuple[str, Level | None]], broken: Breaks
) -> None:
    history = publish(Engine(broken), [skill(n, version, level) for n, (version, level) in enumerate(wanted)])
    for text in ("^1", ">=1", "^0.1", None):
        served: Version | None = None
        accepted: list[Version] = []
        for known in range(1, len(history) + 1):
            published = [one.published for one in history[:known]]
            before = served
            try:
                answer = resolve("git.log", text, published, consumer="agent", accepted=accepted)
            except GovernanceError:
                continue
            served = answer.version
            accepted += [one.line for one in answer.acceptances]
            if before is not None and served > before:
                titles = {one.version: int(one.manifest.title or 0) for one in history}
                assert (titles[before], titles[served]) not in broken


@settings(max_examples=100)
@given(st.integers(1, 8), breaks)
def test_a_history_of_automatic_versions_is_never_blocked_and_always_rises(count: int, broken: Breaks) -> None:
    engine = Engine(broken)
    history: list[HistoryItem] = []
    for order in range(count):
        candidate = skill(order, "", None)
        version = auto_version(candidate, history, compare=engine)
        assert all(version > one.version for one in history)
        grown = publish(engine, [*(one.manifest for one in history), skill(order, str(version), None)])
        assert len(grown) == len(history) + 1
        history = grown
