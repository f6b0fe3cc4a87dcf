"""Rollout: a version takes over from another in steps, and steps back by itself."""

from governance.core.rollout.arms import Arm, arm_of
from governance.core.rollout.evidence import FIRST_LOOK, Evidence, Finding, Seen, Tally, compare_rates
from governance.core.rollout.plan import AT_ONCE, DEFAULT_PLAN, Margin, Plan
from governance.core.rollout.steering import Steered, Steering, steer
from governance.core.rollout.stepping import (
    Advance,
    Cancel,
    Event,
    FallBack,
    Hold,
    Kind,
    Look,
    Outlook,
    Resume,
    Rollout,
    RolloutState,
    Standing,
    Transition,
    Verdict,
    outlook,
    step,
)

__all__ = [
    "AT_ONCE",
    "DEFAULT_PLAN",
    "FIRST_LOOK",
    "Advance",
    "Arm",
    "Cancel",
    "Event",
    "Evidence",
    "FallBack",
    "Finding",
    "Hold",
    "Kind",
    "Look",
    "Margin",
    "Outlook",
    "Plan",
    "Resume",
    "Rollout",
    "RolloutState",
    "Seen",
    "Standing",
    "Steered",
    "Steering",
    "Tally",
    "Transition",
    "Verdict",
    "arm_of",
    "compare_rates",
    "outlook",
    "steer",
    "step",
]
