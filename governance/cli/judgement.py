"""An answer to ``can-i-…`` as a report: the verdict first, then why, then who is hit."""

from __future__ import annotations

from typing import Final

from governance.cli.cards import document
from governance.cli.cases import judgement_case
from governance.cli.hit import hit_changes, hit_sentence
from governance.cli.present import TONES, reason_change
from governance.cli.report import Paragraph, Report, Verdict
from governance.core.gate import Outcome
from governance.errors import UsageError
from governance.wire import Judgement

_WORDS: Final = {"allow": "yes", "warn": "yes, with warnings", "block": "no"}


def judgement_report(judged: Judgement) -> Report:
    """Exit 1 where it is blocked."""
    where = f" in {judged.environment}" if judged.environment else ""
    asked = judged.question.replace("can-i-", "")
    sentence = f"{asked} {judged.skill} {judged.version}{where}."
    counted = hit_sentence(judged.consumers)
    return Report(
        document=document(judged),
        blocks=(
            Verdict(word=_WORDS[judged.decision], sentence=sentence, tone=TONES[judged.decision]),
            *((Paragraph(text=counted),) if counted else ()),
            *(reason_change(reason) for reason in judged.reasons),
            *hit_changes(document(judged)),
        ),
        records=[document(judged)],
        cases=(judgement_case(document(judged)),),
        exit_code=1 if judged.decision == Outcome.BLOCK.value else 0,
    )


def version_of(text: str) -> tuple[str, str]:
    """Name and version of ``NAME@VERSION``. Raises UsageError."""
    name, _, version = text.partition("@")
    if not name or not version:
        raise UsageError(f"{text!r} names no version.", fix="Write NAME@VERSION, for example billing.charge@1.2.0.")
    return name, version
