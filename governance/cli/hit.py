"""Who is hit, as people and CI hosts read it: consumer, owner, what serves it, why, payload, the way on."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from governance.cli.exact import dumps
from governance.cli.report import Change, Fact, Suppression

JSONObject = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Told:
    """How one kind of impact is told."""

    tone: str
    reason: str
    """The reason of the gate that counts for it."""


_TOLD: Final = {
    "served_and_broken": Told(tone="bad", reason="consumer-broken"),
    "affected": Told(tone="warn", reason="consumer-affected"),
    "held_back": Told(tone="faint", reason="consumer-held-back"),
    "unknown": Told(tone="warn", reason="consumer-unknown"),
}
"""Of the impacts that are worth telling; nothing is said of whom a change does not touch."""


@dataclass(frozen=True, kw_only=True)
class Hit:
    """One consumer that is hit."""

    change: Change
    need: tuple[str, ...]
    """Whose need it is, and where: consumer, environment (empty: everywhere), source."""
    reason: str
    """The code of the gate's reason for it."""
    outcome: str
    """What that reason does: ``block``, ``warn`` or ``allow``."""
    payload: Any = None
    """The witness as a document; None where no payload shows it."""
    suppression: Suppression | None = None
    """The exception by which it passes."""


def hits(judged: JSONObject) -> Iterator[Hit]:
    """The consumers that a decision or a judgement (``can-i-…``) tells of, worst first, one a need."""
    outcomes = {reason["code"]: reason["outcome"] for reason in judged["reasons"]}
    passing = {
        (reason["consumer"], reason.get("environment")): reason["exception"]
        for reason in judged["reasons"]
        if reason["code"] == "exception-used" and "consumer" in reason
    }
    for impact in (judged.get("consumers") or {}).get("impacts", ()):
        told = _TOLD.get(impact["impact"])
        if told is None:
            continue
        exception = passing.get((impact["consumer"], impact["environment"]))
        outcome = outcomes.get(told.reason, "allow") if exception is None else "warn"
        facts = [*_facts(impact), *_ways_on(judged, impact, outcome, exception)]
        yield Hit(
            change=Change(
                code=impact["impact"].replace("_", "-"),
                place=impact["consumer"],
                tone=told.tone,
                message=impact["why"],
                facts=tuple(facts),
            ),
            need=(impact["consumer"], impact["environment"] or "", impact["source"]),
            reason=told.reason,
            outcome=outcome,
            payload=_witness(impact),
            suppression=exception and Suppression(reason=f"{exception['id']}: {exception['reason']}", in_source=False),
        )


def hit_changes(judged: JSONObject) -> Iterator[Change]:
    """The same for people; last, how many more there are than a decision lists."""
    found = list(hits(judged))
    yield from (hit.change for hit in found)
    consumers = judged.get("consumers") or {}
    hit = sum(count for impact, count in consumers.get("counts", {}).items() if impact in _TOLD)
    if hit > len(found):
        message = f"{hit - len(found)} more consumers are hit; the worst are told. `govctl matrix` shows all."
        yield Change(code="more-consumers", place="", tone="warn", message=message)


def hit_sentence(consumers: JSONObject | None) -> str:
    """How many consumers are hit how; empty where none is on record."""
    counts = (consumers or {}).get("counts", {})
    told = [f"{count} {impact.replace('_', ' ')}" for impact, count in counts.items() if count]
    return "Consumers: " + ", ".join(told) + "." if told else ""


def _facts(impact: JSONObject) -> Iterator[Fact]:
    asks = impact["range"] or "the bare name"
    where = f" in {impact['environment']}" if impact["environment"] else ""
    yield Fact(label="asks for", value=f"{asks}{where} ({impact['source']})")
    if impact["owner"]:
        yield Fact(label="owner", value=impact["owner"])
    witness = _witness(impact)
    if witness is not None:
        yield Fact(label="payload", value=dumps(witness["payload"]), verbatim=True)


def _witness(impact: JSONObject) -> Any:
    found = (finding["witness"] for finding in impact["findings"] if finding.get("witness") is not None)
    return next(found, None)


def _ways_on(judged: JSONObject, impact: JSONObject, outcome: str, exception: JSONObject | None) -> Iterator[Fact]:
    """The exception that lets it pass; else, where it blocks, how one is asked for."""
    if exception is not None:
        yield Fact(label="exception", value=f"{exception['id']}: {exception['reason']}")
    source = judged.get("check") or f"{judged['skill']}@{judged['version']}"
    fingerprints = list(dict.fromkeys(finding["fingerprint"] for finding in impact["findings"]))
    # nothing excepts a version that goes, or what is not on record
    if exception is None and outcome == "block" and fingerprints and ("check" in judged or judged.get("environment")):
        words = ["govctl", "exception", "add", source, *fingerprints, "--consumer", impact["consumer"]]
        where = judged.get("environment") or impact["environment"]
        words += ["--environment", where] if where else []
        yield Fact(label="or", value=f"{shlex.join(words)} --days 7 --reason WHY", verbatim=True)
