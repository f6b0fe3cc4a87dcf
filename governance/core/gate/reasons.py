"""REASONS: every reason the gate can give, one row each. Codes are permanent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Outcome(StrEnum):
    ALLOW = "allow"
    WARN = "warn"
    BLOCK = "block"

    @property
    def rank(self) -> int:
        return list(Outcome).index(self)


@dataclass(frozen=True, kw_only=True)
class ReasonCode:
    """One kind of reason: what it does to the decision under ``enforce``, and what to do about it.

    ``hard``: no policy softens it, since what it refuses cannot be stored. ``fix`` may hold
    ``{smallest}``, ``{above}`` and ``{level}``.
    """

    id: str
    outcome: Outcome
    title: str
    fix: str
    hard: bool = False
    field: str = ""
    """The field of the manifest it speaks of, as a JSON Pointer; empty: the whole."""


_ROWS: Final = (
    ReasonCode(
        id="first-version",
        outcome=Outcome.ALLOW,
        title="There is nothing to compare with",
        fix="Nothing to do: the level is as declared.",
    ),
    ReasonCode(
        id="opens-below",
        outcome=Outcome.WARN,
        title="The version opens a line below all others",
        fix="Tell the consumers of ranges that admit it: ranges start at their lowest version.",
        field="/version",
    ),
    ReasonCode(
        id="already-published",
        outcome=Outcome.ALLOW,
        title="The version is published with the same bytes",
        fix="Nothing to do: publishing it again changes nothing.",
    ),
    ReasonCode(
        id="opens-line",
        outcome=Outcome.ALLOW,
        title="The version opens a new line",
        fix="Tell callers of the bare name to ask for a range, and give migration_guide the address of a guide.",
    ),
    ReasonCode(
        id="invalid",
        outcome=Outcome.BLOCK,
        title="The contract is not valid",
        fix="Mend the contract at the places named.",
        hard=True,
    ),
    ReasonCode(
        id="version-taken",
        outcome=Outcome.BLOCK,
        title="The version is taken by other bytes",
        fix="Versions are immutable: publish these bytes under a number of their own, {smallest}.",
        hard=True,
        field="/version",
    ),
    ReasonCode(
        id="baseline-invalid",
        outcome=Outcome.BLOCK,
        title="A version to compare with is not valid",
        fix="Offline: mend the older file or compare with another one. What is published stays: publish a new skill.",
    ),
    ReasonCode(
        id="lint",
        outcome=Outcome.BLOCK,
        title="A lint of severity error fired",
        fix="Change what the lint names.",
    ),
    ReasonCode(
        id="declared-too-mild",
        outcome=Outcome.BLOCK,
        title="The declared level promises more than the contract keeps",
        fix="Declare {level} and publish {smallest}, or undo the change.",
        field="/compatibility",
    ),
    ReasonCode(
        id="declared-too-severe",
        outcome=Outcome.WARN,
        title="The declared level is worse than the computed one",
        fix="Declare {level} if behaviour did not change either; the number follows what is declared.",
        field="/compatibility",
    ),
    ReasonCode(
        id="bump-too-small",
        outcome=Outcome.BLOCK,
        title="The number promises more than the contract keeps",
        fix="Publish it as {smallest}, or undo the change.",
        field="/version",
    ),
    ReasonCode(
        id="unnumbered-break",
        outcome=Outcome.BLOCK,
        title="It breaks its callers, and no number that anybody chose announces it",
        fix="Give it {smallest} with --version, let --bump auto number it, or undo the change.",
        field="/version",
    ),
    ReasonCode(
        id="undecided",
        outcome=Outcome.BLOCK,
        title="Compatible or not could not be decided",
        fix="Write that part of the schema more simply, or leave it as it was.",
    ),
    ReasonCode(
        id="risky",
        outcome=Outcome.WARN,
        title="A change that no schema check can show to be harmless",
        fix="Follow the finding's fix, or tell the consumers that rely on it.",
    ),
    ReasonCode(
        id="failed-on",
        outcome=Outcome.BLOCK,
        title="The verdict is one this check was asked to fail on",
        fix="Undo the change, or check without failing on it.",
    ),
    ReasonCode(
        id="breaks-next",
        outcome=Outcome.BLOCK,
        title="The next higher version of the line would break callers of this one",
        fix="Leave out what the higher version does not keep, or publish above it.",
    ),
    ReasonCode(
        id="splits-line",
        outcome=Outcome.BLOCK,
        title="A new line would open below versions of the line it leaves",
        fix="Publish the break above every version of the line, as {above} or higher.",
        field="/version",
    ),
    ReasonCode(
        id="consumer-broken",
        outcome=Outcome.BLOCK,
        title="A consumer would be served what breaks it",
        fix="Undo the change, or have the consumers named move first; `govctl witness` prints their payloads.",
    ),
    ReasonCode(
        id="consumer-affected",
        outcome=Outcome.WARN,
        title="A consumer would be served a risky change to what it uses",
        fix="Tell the owners of the consumers named.",
    ),
    ReasonCode(
        id="consumer-held-back",
        outcome=Outcome.ALLOW,
        title="A consumer stays where it is, since moving would break it",
        fix="Nothing happens to them now; tell their owners what to change before they accept the new line.",
    ),
    ReasonCode(
        id="consumer-unknown",
        outcome=Outcome.WARN,
        title="Of a consumer nothing is known that would tell",
        fix="Have it declare a range that is published: `govctl consumer register`.",
    ),
    ReasonCode(
        id="still-deployed",
        outcome=Outcome.BLOCK,
        title="The version still runs in an environment",
        fix="Deploy another version there, or end the deployment on record: `govctl deployment`.",
    ),
    ReasonCode(
        id="before-sunset",
        outcome=Outcome.ALLOW,
        title="The version may go, but not before its sunset",
        fix="Announce the day by `govctl deprecate`, and retire the version once it has come.",
    ),
    ReasonCode(
        id="not-served",
        outcome=Outcome.BLOCK,
        title="The version serves nobody",
        fix="Deploy one that is served: `govctl versions` lists them.",
    ),
    ReasonCode(
        id="still-named",
        outcome=Outcome.BLOCK,
        title="Another skill's replacement or fallback leads to the version",
        fix="Have that skill name another one, or retire it first.",
    ),
    ReasonCode(
        id="still-rolling",
        outcome=Outcome.BLOCK,
        title="A rollout serves the version",
        fix="End the rollout first.",
    ),
    ReasonCode(
        id="consumer-silent",
        outcome=Outcome.BLOCK,
        title="Consumers that never said what they need would be cut off",
        fix="Have them register what they need, or retire by force with a reason that they will read.",
    ),
    ReasonCode(
        id="nobody-hit",
        outcome=Outcome.ALLOW,
        title="No consumer on record is hit",
        fix="Nothing to do.",
    ),
    ReasonCode(
        id="nobody-known",
        outcome=Outcome.ALLOW,
        title="No consumer is on record",
        fix="Have consumers register what they need: `govctl consumer register`.",
    ),
    ReasonCode(
        id="line-not-judged",
        outcome=Outcome.WARN,
        title="Only the baseline was compared, the rest of the line is unproven",
        fix="Check without --no-transitive.",
    ),
    ReasonCode(
        id="exception-used",
        outcome=Outcome.WARN,
        title="A finding passes by an approved exception",
        fix="Mend the finding before the exception expires.",
    ),
    ReasonCode(
        id="exception-reopened",
        outcome=Outcome.WARN,
        title="An exception does not stand here: what surrounds the finding is not what was approved",
        fix="Undo the change around the finding, or have a new exception approved for this check.",
    ),
    ReasonCode(
        id="not-ready",
        outcome=Outcome.WARN,
        title="Something is missing that others need before they rely on it",
        fix="Add what is named; the policy `readiness` says whether it blocks.",
    ),
    ReasonCode(
        id="replacement-missing",
        outcome=Outcome.BLOCK,
        title="The replacement does not exist",
        fix="Publish the replacement first, or name another one.",
        field="/replacement",
    ),
    ReasonCode(
        id="replacement-inactive",
        outcome=Outcome.BLOCK,
        title="No version of the replacement is active",
        fix="Publish a version of the replacement that the range admits, or name another one.",
        field="/replacement",
    ),
    ReasonCode(
        id="replacement-itself",
        outcome=Outcome.BLOCK,
        title="The version names itself as its replacement",
        fix="Name another skill, or a range of this one that leaves this version out.",
        field="/replacement",
    ),
    ReasonCode(
        id="replacement-circular",
        outcome=Outcome.BLOCK,
        title="The replacement leads back to the skill it replaces",
        fix="Name a replacement that does not lead back here.",
        field="/replacement",
    ),
    ReasonCode(
        id="notice-too-short",
        outcome=Outcome.BLOCK,
        title="The sunset comes sooner than the notice period",
        fix="Name a later sunset.",
        field="/sunset",
    ),
    ReasonCode(
        id="member-refused",
        outcome=Outcome.BLOCK,
        title="A member of the release is refused, and with it the release",
        fix="Mend the member as its own decision says, or leave it out.",
        hard=True,
        field="/members",
    ),
    ReasonCode(
        id="member-withdrawn",
        outcome=Outcome.WARN,
        title="The release no longer holds a tool that the one before it held",
        fix="Tell its consumers, and name its successor under `renamed` if there is one.",
        field="/members",
    ),
)

REASONS: Final[dict[str, ReasonCode]] = {row.id: row for row in _ROWS}
