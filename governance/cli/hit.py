"""Who is hit, as people read it: consumer, owner, what serves it, why, payload."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from governance.cli.exact import dumps
from governance.cli.report import Change, Fact

_TONES: Final = {"served_and_broken": "bad", "affected": "warn", "held_back": "faint", "unknown": "warn"}
"""Of the impacts that are worth telling; nothing is said of whom a change does not touch."""


def hit_changes(consumers: Mapping[str, Any] | None) -> Iterator[Change]:
    """A change for each consumer that is hit, from the ``consumers`` of a decision or a judgement."""
    for impact in (consumers or {}).get("impacts", ()):
        tone = _TONES.get(impact["impact"])
        if tone is not None:
            yield Change(
                code=impact["impact"].replace("_", "-"),
                place=impact["consumer"],
                tone=tone,
                message=impact["why"],
                facts=tuple(_facts(impact)),
            )


def hit_sentence(consumers: Mapping[str, Any] | None) -> str:
    """How many consumers are hit how; empty where none is on record."""
    counts = (consumers or {}).get("counts", {})
    told = [f"{count} {impact.replace('_', ' ')}" for impact, count in counts.items() if count]
    return "Consumers: " + ", ".join(told) + "." if told else ""


def _facts(impact: Mapping[str, Any]) -> Iterator[Fact]:
    asks = impact["range"] or "the bare name"
    where = f" in {impact['environment']}" if impact["environment"] else ""
    yield Fact(label="asks for", value=f"{asks}{where} ({impact['source']})")
    if impact["owner"]:
        yield Fact(label="owner", value=impact["owner"])
    for finding in impact["findings"]:
        witness = finding.get("witness")
        if witness is not None:
            yield Fact(label="payload", value=dumps(witness["payload"]), verbatim=True)
            return
