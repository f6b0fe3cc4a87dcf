"""Whatever stands around: what the engine forbids, the gate lets in by an announced number or by consent alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from governance.core.compat.model import Bump, Comparison, Finding, FindingLevel, Level, Side, Verdict
from governance.core.consumers import Impact, Need
from governance.core.exceptions import surroundings
from governance.core.gate import GateDecision, GateException, HistoryItem, Outcome, Surroundings, decide
from governance.core.lines import Published, baseline_of, line_containing, lines_of
from governance.core.policy import PolicyMode, policy_of
from governance.core.skill import SkillManifest, Status
from governance.core.versioning import Version, judged_bump, satisfies_bump

V = Version.parse
NAME = "git.log"
FORBIDDEN = {Verdict.BREAKING: FindingLevel.BREAKING, Verdict.UNDECIDED: FindingLevel.UNDECIDED}
LEVELS = {
    Verdict.COMPATIBLE: Level.INPUT_COMPATIBLE,
    Verdict.RISKY: Level.INPUT_COMPATIBLE,
    Verdict.BREAKING: Level.BREAKING_CHANGE,
    Verdict.UNDECIDED: Level.UNDECIDED,
}


def skill(order: int, version: str) -> SkillManifest:
    return SkillManifest(
        name=NAME,
        version=version,
        title=str(order),
        input_schema={"type": "object", "properties": {f"field{order}": {}}},
    )


@dataclass(frozen=True)
class Engine:
    """Says by fiat what each step comes to; nothing adds up, as in the worst of worlds."""

    verdicts: tuple[Verdict, ...]

    def __call__(self, old: SkillManifest | None, new: SkillManifest | None) -> Comparison:
        if old is None or new is None or old.title == new.title:
            return Comparison(verdict=Verdict.COMPATIBLE, level=Level.BACKWARD_COMPATIBLE)
        step = int(old.title or 0) * 8 + int(new.title or 0)
        verdict = self.verdicts[step % len(self.verdicts)]
        findings: tuple[Finding, ...] = ()
        if verdict is not Verdict.COMPATIBLE:
            level = FORBIDDEN.get(verdict, FindingLevel.RISKY)
            findings = tuple(
                Finding(
                    code="input.narrowed",
                    side=Side.INPUT,
                    level=level,
                    message="narrower",
                    fix="widen",
                    skill=NAME,
                    old_pointer=f"/properties/field{old.title}/{place}",
                )
                for place in range(1 + step % 2)
            )
        return Comparison(verdict=verdict, level=LEVELS[verdict], findings=findings)


@dataclass(frozen=True, kw_only=True)
class World:
    """A history, a candidate beside it, and who relies on it."""

    engine: Engine
    history: tuple[HistoryItem, ...]
    candidate: SkillManifest
    needs: tuple[Need, ...]

    def forbidden(self) -> Iterator[tuple[HistoryItem, Finding]]:
        """What the engine forbids to be published under this number, worked out without the gate."""
        version = V(self.candidate.version)
        published = [one.published for one in self.history]
        baseline = baseline_of(version, published)
        if baseline is None:
            return
        line = line_containing(lines_of(published), baseline.version)
        assert line is not None
        announced = satisfies_bump(baseline.version, version, judged_bump(Bump.MAJOR, baseline.version))
        inside = {one.version for one in line.versions if one.is_baseline and one.version < version}
        for item in self.history:
            if item.version in inside:
                for finding in self.engine(item.manifest, self.candidate).findings:
                    broken = finding.level is FindingLevel.BREAKING and not announced
                    if broken or finding.level is FindingLevel.UNDECIDED:
                        yield item, finding

    def around(self, item: HistoryItem, finding: Finding) -> str:
        return surroundings(finding, item.manifest, self.candidate)

    def decided(self, mode: PolicyMode, exceptions: tuple[GateException, ...]) -> GateDecision:
        around = Surroundings(policy=policy_of(mode), exceptions=exceptions, needs=self.needs)
        return decide(self.candidate, self.history, compare=self.engine, around=around)


numbers = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1)).map(lambda n: ".".join(map(str, n)))
states = st.sampled_from([Status.ACTIVE, Status.ACTIVE, Status.DEPRECATED, Status.SUNSET, Status.RETIRED])
ranges = st.sampled_from(["^1", ">=1", "^0.1", "1.0.0", None, "no range"])


@st.composite
def worlds(draw: st.DrawFn) -> World:
    verdicts = draw(st.lists(st.sampled_from(list(LEVELS)), min_size=5, max_size=11).map(tuple))
    engine, history = Engine(verdicts), list[HistoryItem]()
    *published, (last, _, _) = draw(
        st.lists(
            st.tuples(numbers, states, st.sampled_from([None, None, "leaks"])),
            min_size=2,
            max_size=6,
            unique_by=lambda one: one[0],
        )
    )
    for order, (number, state, yanked) in enumerate(published):
        manifest = skill(order, number)
        decision = decide(manifest, history, compare=engine)
        row = Published(
            version=V(number),
            contract_digest=manifest.contract_digest,
            manifest_digest=manifest.manifest_digest,
            opens_line=decision.opens_line,
            baseline=V(decision.baseline) if decision.baseline else None,
            state=state,
            yanked=yanked,
        )
        history.append(HistoryItem(published=row, manifest=manifest))
    needs = tuple(
        Need(consumer=f"agents/{place}", range=range_, on_record=known)
        for place, (range_, known) in enumerate(draw(st.lists(st.tuples(ranges, st.booleans()), max_size=3)))
    )
    return World(engine=engine, history=tuple(history), candidate=skill(7, last), needs=needs)


scopes = st.sampled_from([{}, {}, {}, {"environment": "prod"}, {"consumer": "agents/0"}])


@st.composite
def excepted(draw: st.DrawFn) -> tuple[World, tuple[GateException, ...]]:
    """A world, and exceptions for some of what is forbidden there: right, for other surroundings, or for one alone."""
    world = draw(worlds())
    exceptions = []
    for place, (item, finding) in enumerate(world.forbidden()):
        if draw(st.sampled_from([True, True, False])):
            right = world.around(item, finding)
            exceptions.append(
                GateException(
                    fingerprint=finding.fingerprint,
                    id=f"exc_{place}",
                    surroundings=draw(st.sampled_from([right, right, "others"])),
                    **draw(scopes),
                )
            )
    return world, tuple(exceptions)


@settings(max_examples=150)
@given(excepted())
def test_what_the_engine_forbids_gets_in_only_where_each_finding_of_it_has_an_exception_that_stands(
    given_: tuple[World, tuple[GateException, ...]],
) -> None:
    world, exceptions = given_
    decision = world.decided(PolicyMode.ENFORCE, exceptions)
    if decision.outcome is Outcome.BLOCK:
        return
    used = set(decision.exceptions_used)
    for item, finding in world.forbidden():
        standing = {
            one.id
            for one in exceptions
            if one.fingerprint == finding.fingerprint
            and one.surroundings == world.around(item, finding)
            and one.environment is None
            and one.consumer is None
        }
        assert standing & used, f"{finding.code} against {item.version} passes by nothing"


@settings(max_examples=60)
@given(excepted())
def test_who_would_be_served_what_breaks_them_keeps_it_out(given_: tuple[World, tuple[GateException, ...]]) -> None:
    world, exceptions = given_
    decision = world.decided(PolicyMode.ENFORCE, exceptions)
    broken = [one for one in decision.consumers if one.impact is Impact.BROKEN]
    named = {reason.need.consumer for reason in decision.reasons if reason.need is not None}
    if decision.outcome is not Outcome.BLOCK:
        assert {one.need.consumer for one in broken} <= named


@settings(max_examples=60)
@given(worlds(), st.sampled_from([PolicyMode.WARN, PolicyMode.OFF]))
def test_a_policy_that_softens_tells_everything_it_softens_and_that_it_does(world: World, mode: PolicyMode) -> None:
    strict, soft = world.decided(PolicyMode.ENFORCE, ()), world.decided(mode, ())
    assert soft.policy == mode.value
    assert soft.verdict == strict.verdict
    blocking = {reason.code for reason in strict.reasons if reason.outcome is Outcome.BLOCK}
    assert blocking <= {reason.code for reason in soft.reasons}
    if blocking and soft.outcome is Outcome.ALLOW:
        assert mode is PolicyMode.OFF


@settings(max_examples=60)
@given(excepted())
def test_an_exception_never_makes_a_decision_stricter_nor_the_verdict_another(
    given_: tuple[World, tuple[GateException, ...]],
) -> None:
    world, exceptions = given_
    without, with_ = world.decided(PolicyMode.ENFORCE, ()), world.decided(PolicyMode.ENFORCE, exceptions)
    assert with_.outcome.rank <= max(without.outcome.rank, Outcome.WARN.rank)
    assert (with_.verdict, with_.opens_line, with_.line) == (without.verdict, without.opens_line, without.line)
    if without.outcome is not Outcome.BLOCK:
        assert with_ == without
