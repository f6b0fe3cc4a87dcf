"""The publish gate: verdict, bump, line and lifecycle in; one decision with coded reasons out.

``decide`` is the same function for ``PUT``, ``POST /v1/checks``, ``govctl publish`` and ``govctl check``.
What an offline caller cannot know (consumers, policy, exceptions) it names under ``not_checked``.
"""

from governance.core.gate.decision import ComparedWith, GateDecision, Reason
from governance.core.gate.facts import (
    NEEDS_A_REGISTRY,
    GateException,
    LintComplaint,
    ReplacementFacts,
    Surroundings,
)
from governance.core.gate.judge import decide
from governance.core.gate.numbering import auto_version, replay
from governance.core.gate.questions import Answer, Question, answer
from governance.core.gate.readiness import readiness
from governance.core.gate.reasons import REASONS, Outcome, ReasonCode
from governance.core.gate.replacing import can_replace, check_replacement, replacement_faults
from governance.core.lines import Compare, HistoryItem

__all__ = [
    "NEEDS_A_REGISTRY",
    "REASONS",
    "Answer",
    "Compare",
    "ComparedWith",
    "GateDecision",
    "GateException",
    "HistoryItem",
    "LintComplaint",
    "Outcome",
    "Question",
    "Reason",
    "ReasonCode",
    "ReplacementFacts",
    "Surroundings",
    "answer",
    "auto_version",
    "can_replace",
    "check_replacement",
    "decide",
    "readiness",
    "replacement_faults",
    "replay",
]
