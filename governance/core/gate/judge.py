"""``decide``: may this version in?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import partial

from governance.core.compat.model import Bump, Comparison, Finding, FindingLevel, Level, Verdict
from governance.core.consumers import Change, ConsumerImpact, Need, impacts
from governance.core.gate.decision import ComparedWith, GateDecision, Reason
from governance.core.gate.excuses import Excuses
from governance.core.gate.facts import (
    LintComplaint,
    ReplacementFacts,
    Surroundings,
)
from governance.core.gate.hit import consumer_reasons, softened, surroundings_of
from governance.core.gate.numbering import auto_version
from governance.core.gate.readiness import NOT_KNOWN, is_high_risk, readiness
from governance.core.gate.reasons import REASONS, Outcome
from governance.core.gate.replacing import replacement_faults
from governance.core.gate.standing import DECLARED_BUMP, UNPROVED, Standing
from governance.core.gate.taken import refused_as_taken
from governance.core.lifecycle import NoticePeriod
from governance.core.lines import Compare, HistoryItem, Published, line_containing, lines_of
from governance.core.policy import Policy
from governance.core.skill import SkillManifest, Status
from governance.core.versioning import Version, judged_bump, next_version, satisfies_bump


def decide(
    candidate: SkillManifest,
    history: Sequence[HistoryItem],
    *,
    compare: Compare,
    lint_findings: Iterable[LintComplaint] = (),
    transitive: bool = True,
    fail_on: Verdict | None = None,
    around: Surroundings | None = None,
    replacement: ReplacementFacts | None = None,
    today: date | None = None,
    not_checked: Iterable[str] = (),
) -> GateDecision:
    """May ``candidate`` be published beside ``history`` (every version of the skill, in any order)?

    ``transitive`` False judges against the baseline alone and says so. ``fail_on`` is the mildest verdict
    (risky or breaking) that blocks whatever the number says; the policy's counts where it is None. ``around`` is what
    a registry knows, None without one. ``replacement`` tells of the skill that
    ``candidate.replacement`` names; None leaves that unchecked. ``today`` is where a notice period begins; None
    leaves sunsets unchecked. ``not_checked`` is copied into the decision.

    Raises:
        InvalidVersion: the candidate has no semantic version; see ``auto_version``.
    """
    in_registry, around = around is not None, around or Surroundings()
    again = partial(
        decide,
        history=history,
        compare=compare,
        lint_findings=(lint_findings := tuple(lint_findings)),
        transitive=transitive,
        fail_on=fail_on,
        replacement=replacement,
        today=today,
        not_checked=not_checked,
    )
    version = Version.parse(candidate.version)
    twin = next((one for one in history if one.version == version), None)
    if twin is not None and twin.published.manifest_digest != candidate.manifest_digest:
        honest = auto_version(candidate, history, compare=compare, transitive=transitive)
        judged = again(replace(candidate, version=str(honest)), around=around)
        return refused_as_taken(judged, version, honest)
    standing = Standing(
        candidate=candidate,
        version=version,
        history=[one for one in history if one is not twin],
        compare=compare,
        transitive=transitive,
        excuses=Excuses(exceptions=around.exceptions),
        taken=frozenset(one.version for one in history),
    )
    judge = _Judge(standing=standing)
    unchecked = (*not_checked, *(() if transitive else ("line",)))
    policy = around.policy
    asked = str(policy.values["fail_on"])
    if fail_on is None and asked != "none":
        fail_on = Verdict(asked)
    if twin is not None:
        judge.say("already-published", f"{candidate.name} {version} is published with these very bytes.")
        return judge.decision(policy, unchecked, published=twin.published)
    valid = judge.validity()
    judge.lint(lint_findings)
    if valid:
        judge.declared_level()
        judge.number()
        judge.findings(fail_on)
        judge.line()
        judge.step_onward()
        judge.consumers(around.needs)
    judge.replacement(replacement)
    if in_registry and valid:
        judge.reasons.extend(readiness(candidate, policy, around.tested))
        unchecked += NOT_KNOWN if is_high_risk(candidate) and policy.values["readiness"] != "off" else ()
    if today is not None:
        judge.notice(today, policy.notice)
    decision = judge.decision(policy, unchecked)
    if decision.exceptions_used:
        without = again(candidate, around=replace(around, exceptions=()))
        if without.outcome is not Outcome.BLOCK:  # an exception that nothing needed is none that was used
            return without
    return decision


@dataclass(kw_only=True)
class _Judge:
    """Gathers the reasons; each method judges one thing."""

    standing: Standing
    reasons: list[Reason] = field(default_factory=list)
    impacts: tuple[ConsumerImpact, ...] = ()
    surroundings: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def _named(self) -> str:
        return f"{self.standing.candidate.name} {self.standing.version}"

    def say(
        self,
        code: str,
        message: str,
        *,
        fix: str = "",
        found: tuple[ComparedWith, Finding] | None = None,
        pointer: str | None = None,
    ) -> None:
        """``found``: the finding it speaks of, and the comparison it stands in."""
        row = REASONS[code]
        standing = self.standing
        level = standing.computed or standing.candidate.compatibility
        highest = max((one.version for one in standing.history), default=standing.version)
        text = fix or row.fix.format(
            smallest=standing.smallest or f"a number above {highest}",
            above=next_version(highest, Bump.MAJOR),
            level=level.value if level and level is not Level.UNDECIDED else Level.BREAKING_CHANGE.value,
        )
        reason = Reason(
            code=code,
            outcome=row.outcome,
            message=message,
            fix=text,
            fingerprint=found[1].fingerprint if found else None,
            surroundings=standing.excuses.around(found[1], *standing.sides(found[0])) if found else None,
            pointer=pointer,
        )
        self.reasons.append(reason)

    def validity(self) -> bool:
        """Is the candidate valid, and what it is compared with too?"""
        standing = self.standing
        if standing.baseline is None:
            if standing.alone.verdict is Verdict.INVALID:
                self.say("invalid", f"{self._named} is not valid: {_faults(standing.alone)}.")
                return False
            self.say("first-version", f"There is nothing that {self._named} could break.")
            above = [one.version for one in standing.history if one.published.is_baseline]
            if above:
                self.say("opens-below", f"Callers of {min(above)} whose range admits it are served it instead.")
        for one in standing.compared:
            if one.comparison.verdict is Verdict.INVALID:
                code = "baseline-invalid" if one.comparison.invalid_side == "old" else "invalid"
                which = one.version if code == "baseline-invalid" else standing.version
                name = standing.candidate.name
                self.say(code, f"{name} {which} is not valid: {_faults(one.comparison)}.")
                return False
        return True

    def lint(self, complaints: Iterable[LintComplaint]) -> None:
        for complaint in complaints:
            if complaint.severity == "error":
                place = f" at {complaint.pointer}" if complaint.pointer else ""
                message = f"{complaint.id}{place}: {complaint.message}"
                self.say("lint", message, fix=complaint.fix, pointer=complaint.pointer)

    def declared_level(self) -> None:
        """A level below the counted one is a lie. Below an undecided one it is merely not proved."""
        declared, counted = self.standing.candidate.compatibility, self.standing.counted
        if declared is None or counted is None:
            return
        if declared.rank > counted.rank:
            self.say("declared-too-severe", f"Declared {declared.value}, but it computes as {counted.value}.")
        elif declared.rank < counted.rank and counted is not Level.UNDECIDED:
            worst = self.standing.worst_finding()
            shown = f" against {worst[0].version}: {worst[1].message}" if worst else "."
            self.say(
                "declared-too-mild",
                f"Declared {declared.value}, but it is {counted.value}{shown}",
                found=worst,
            )

    def number(self) -> None:
        """Undecided blocks by itself; what number it would need is known only once it is decided."""
        standing = self.standing
        if standing.baseline is None:
            return
        below, declared = standing.baseline.version, standing.candidate.compatibility
        needed = standing.bump
        if standing.counted is Level.UNDECIDED:
            needed = judged_bump(DECLARED_BUMP[declared], below) if declared else Bump.NONE
        if satisfies_bump(below, standing.version, needed):
            return
        worst = standing.worst_finding()
        if declared is not None and standing.counted is not None and declared.rank > standing.counted.rank:
            because = f": {declared.value} is declared."
        elif worst is not None:
            because = f": {worst[1].code} against {worst[0].version}: {worst[1].message}"
        else:
            because = f": it is {standing.counted.value}." if standing.counted else "."
        self.say(
            "bump-too-small",
            f"{standing.version} is too small a step from {below}, a {needed.value} is due{because}",
            found=worst,
        )

    def findings(self, fail_on: Verdict | None) -> None:
        said: set[tuple[str, bool]] = set()
        for one in self.standing.compared:
            undecided_for_nothing = one.comparison.verdict is Verdict.UNDECIDED
            for finding in one.comparison.findings:
                undecided_for_nothing &= finding.level is not FindingLevel.UNDECIDED
                risky = finding.level is FindingLevel.RISKY and one.role == "baseline"
                if finding.level in UNPROVED or risky:
                    key = (finding.fingerprint, self.standing.passes(one, finding))
                    if key not in said:
                        said.add(key)
                        self._finding(one, finding, fail_on)
            if undecided_for_nothing:
                why = one.comparison.reason or "the engine gave no reason"
                self.say("undecided", f"Against {one.version} it could not be decided: {why}.")

    def _finding(self, one: ComparedWith, finding: Finding, fail_on: Verdict | None) -> None:
        message, found = f"{finding.code} against {one.version}: {finding.message}", (one, finding)
        if self._passes(one, finding, message):
            return
        if finding.level is FindingLevel.UNDECIDED:
            self.say("undecided", message, found=found)
        elif fail_on is Verdict.RISKY or (fail_on is not None and finding.level is FindingLevel.BREAKING):
            self.say("failed-on", message, fix=finding.fix, found=found)
        elif finding.level is FindingLevel.RISKY:
            self.say("risky", message, fix=finding.fix, found=found)

    def _passes(self, one: ComparedWith, finding: Finding, message: str) -> bool:
        """By an exception, which is told; so is one that stands no more."""
        reason = self.standing.excuses.told(finding, *self.standing.sides(one), message)
        self.reasons.extend([] if reason is None else [reason])
        return reason is not None and reason.code == "exception-used"

    def line(self) -> None:
        standing = self.standing
        if not standing.transitive and standing.earlier:
            count = len(standing.earlier)
            self.say("line-not-judged", f"{count} earlier version{'s' * (count > 1)} of the line not compared.")
        if standing.opens_line and standing.later is not None and standing.baseline is not None:
            # ranges start at their lowest version: callers of the higher one would be moved down here
            self.say(
                "splits-line",
                f"{standing.version} breaks with {standing.baseline.version}, and {standing.later.version} "
                "above it does not.",
            )
        elif standing.opens_line and standing.baseline is not None:
            worst = standing.worst_finding()
            self.say(
                "opens-line",
                f"{standing.version} opens a new line: callers of {standing.baseline.version} stay there "
                f"until they accept it, and the bare name {standing.candidate.name} now needs a range.",
                found=worst if worst and worst[1].level in UNPROVED else None,
            )

    def step_onward(self) -> None:
        """A version put in below another must not make the step between the two a break."""
        onward = self.standing.onward
        if onward is None:
            return
        for finding in onward.comparison.findings:
            if finding.level in UNPROVED:
                message = f"{finding.code} from here to {onward.version}: {finding.message}"
                if not self._passes(onward, finding, message):
                    code = "breaks-next" if finding.level is FindingLevel.BREAKING else "undecided"
                    self.say(code, message, found=(onward, finding))

    def consumers(self, needs: Sequence[Need]) -> None:
        """Who would be served what breaks them, or is hit otherwise: one reason a kind, all of them by name below."""
        standing = self.standing
        change = Change.publish(self._as_published(), standing.history)
        self.impacts = impacts(change, needs, compare=standing.compare)
        self.reasons.extend(consumer_reasons(self.impacts, change, standing.excuses))
        self.surroundings = {**surroundings_of(self.impacts, change, standing.excuses), **standing.surroundings}

    def _as_published(self) -> HistoryItem:
        """The candidate as it would stand, were it let in."""
        standing = self.standing
        return HistoryItem(
            published=Published(
                version=standing.version,
                contract_digest=standing.candidate.contract_digest,
                manifest_digest=standing.candidate.manifest_digest,
                opens_line=standing.opens_line,
                baseline=standing.baseline.version if standing.baseline else None,
                state=Status(standing.candidate.status),
            ),
            manifest=standing.candidate,
        )

    def replacement(self, facts: ReplacementFacts | None) -> None:
        candidate = self.standing.candidate
        for code, message in replacement_faults(candidate.name, [self.standing.version], candidate.replacement, facts):
            self.say(code, message)

    def notice(self, today: date, notice: NoticePeriod) -> None:
        """A sunset leaves callers the notice period, unless an earlier version announced one as early."""
        standing = self.standing
        candidate = standing.candidate
        if candidate.sunset is None or candidate.status not in (Status.DEPRECATED, Status.SUNSET):
            return
        sunset = date.fromisoformat(candidate.sunset)
        announced = (one.published.sunset for one in standing.history)
        if any(day is not None and day <= candidate.sunset for day in announced):
            return
        days = notice.days(standing.version)
        earliest = today + timedelta(days=days)
        if sunset < earliest:
            self.say(
                "notice-too-short",
                f"{self._named} would reach its sunset on {sunset}; callers are owed {days} days from {today}.",
                fix=f"Name a sunset on {earliest} or later.",
            )

    def decision(
        self, policy: Policy, not_checked: tuple[str, ...], *, published: Published | None = None
    ) -> GateDecision:
        """The reasons so far, softened by the policy; ``published``: this very version is already there."""
        standing = self.standing
        reasons = [softened(one, policy.mode) for one in self.reasons]
        reasons.sort(key=lambda one: -one.outcome.rank)
        if any(one.outcome is Outcome.BLOCK for one in reasons):
            reasons = [one for one in reasons if one.code != "opens-line"]  # what stays out opens nothing
        itself = published or self._as_published().published
        line = line_containing(lines_of([*(one.published for one in standing.history), itself]), standing.version)
        return GateDecision(
            skill=standing.candidate.name,
            version=str(standing.version),
            outcome=max((one.outcome for one in reasons), key=lambda one: one.rank, default=Outcome.ALLOW),
            reasons=tuple(reasons),
            verdict=standing.verdict,
            declared=standing.candidate.compatibility,
            computed=standing.computed,
            level=standing.level,
            bump=standing.bump,
            smallest_version=str(standing.smallest) if standing.smallest else None,
            baseline=str(standing.baseline.version) if standing.baseline else None,
            opens_line=itself.opens_line,
            line=str(line.opens if line else standing.version),
            compared=(*standing.compared, *((standing.onward,) if standing.onward else ())),
            policy=policy.mode.value,
            policy_origin=policy.origin("mode"),
            consumers=self.impacts,
            surroundings=self.surroundings,
            not_checked=not_checked,
        )


def _faults(comparison: Comparison) -> str:
    shown = "; ".join(str(fault).rstrip(".") for fault in comparison.faults[:5])
    return shown or (comparison.reason or "the engine gave no reason").rstrip(".")
