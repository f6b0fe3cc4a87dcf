"""Comparisons that were written down, read back: the inverse of ``Comparison.to_document`` for whoever keeps them."""

from __future__ import annotations

from typing import Any

from governance.core.compat.model import (
    ABSENT,
    JSON,
    Comparison,
    Evidence,
    Finding,
    FindingLevel,
    Level,
    Reading,
    Side,
    Verdict,
    Witness,
    WitnessError,
)


def kept_document(comparison: Comparison) -> dict[str, JSON]:
    """The comparison with what its own document leaves out. Expects one without faults."""
    hidden = [finding.hidden for finding in comparison.findings]
    document = comparison.to_document() | {"identical": comparison.identical}
    return document | ({"hidden": hidden} if any(hidden) else {})


def kept_comparison(document: JSON) -> Comparison:
    """The comparison that ``kept_document`` wrote.

    Raises:
        ValueError: the document is none of them.
    """
    try:
        found = document["findings"]
        hidden = document.get("hidden", [""] * len(found))
        comparison = Comparison(
            verdict=Verdict(document["verdict"]),
            level=Level(document["level"]),
            findings=tuple(_finding(one, digest) for one, digest in zip(found, hidden, strict=True)),
            identical=document["identical"],
            reason=document.get("reason"),
            second_opinion=tuple(map(Side, document.get("second_opinion", ()))),
            disagreement=tuple(map(Side, document.get("disagreement", ()))),
        )
        same = kept_document(comparison) == document
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"this is no comparison: {error}") from error
    if not same:
        raise ValueError("this is no comparison: it does not read back as it stands")
    return comparison


def _finding(document: dict[str, Any], hidden: str) -> Finding:
    witness, evidence = document.get("witness"), document.get("evidence")
    return Finding(
        code=document["code"],
        side=Side(document["side"]),
        level=FindingLevel(document["level"]),
        message=document["message"],
        fix=document["fix"],
        reading=Reading(document["reading"]),
        old_pointer=document["old_pointer"],
        new_pointer=document["new_pointer"],
        old=document.get("old", ABSENT),
        new=document.get("new", ABSENT),
        witness=None if witness is None else _witness(witness),
        evidence=None if evidence is None else Evidence(**evidence),
        hidden=hidden,
    )


def _witness(document: dict[str, Any]) -> Witness:
    return Witness(
        side=Side(document["side"]),
        payload=document["payload"],
        accepted_by=document["accepted_by"],
        errors=tuple(WitnessError(**error) for error in document["errors"]),
    )
