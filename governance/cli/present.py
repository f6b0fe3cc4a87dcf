"""Comparisons and gate decisions as blocks, from their JSON form: a server's answer shows like our own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from governance.cli.exact import dumps
from governance.cli.hit import hit_changes
from governance.cli.report import Block, Change, Fact, Verdict
from governance.core.compat.codes import CODES

JSONObject = Mapping[str, Any]

TONES: Final[dict[str, str]] = {
    "breaking": "bad",
    "undecided": "bad",
    "invalid": "bad",
    "block": "bad",
    "error": "bad",
    "risky": "warn",
    "warn": "warn",
    "warning": "warn",
    "compatible": "good",
    "allow": "good",
    "note": "faint",
}

_REPEATS: Final = frozenset({"risky", "undecided"})
"""Reasons that say no more than the finding they point to, which is shown too."""

_WORTH_TELLING: Final = frozenset({"opens-line"})
"""Reasons to allow that callers should hear of."""

_NEEDS: Final = {".became-required": "optional → required", ".became-optional": "required → optional"}
"""Changes of a list of names, which say little as fragments."""

_SENTENCES: Final[dict[str, str]] = {
    "compatible": "whatever worked before works on",
    "risky": "old calls still pass, but something they rely on is ignored, moved or weakened",
    "breaking": "a call that worked stops working",
    "undecided": "neither proved nor refuted, so it counts as breaking",
    "invalid": "one of the two is no contract",
}


def comparison_verdict(document: JSONObject, subject: str) -> Verdict:
    """The first line of one comparison."""
    verdict = document["verdict"]
    sentence = f"{subject}: {_SENTENCES[verdict]}"
    if verdict == "invalid":
        sentence = f"{subject}: the {document.get('invalid_side', 'input')} side is no contract"
        sentence += f": {document['reason']}" if document.get("reason") else ""
    elif verdict == "compatible" and document["bump"] == "none":
        sentence = f"{subject}: nothing changed"
    elif document["bump"] != "none":
        sentence += f"; needs a {document['bump']}"
    if verdict == "undecided" and document.get("reason"):
        sentence += f" ({document['reason']})"
    if document.get("second_opinion"):
        sentence += f" (the {' and '.join(document['second_opinion'])} side by the second opinion's proof)"
    return Verdict(word=verdict, sentence=sentence + ".", tone=TONES[verdict])


def comparison_changes(document: JSONObject) -> Iterator[Change]:
    """Every finding, worst first, then what makes a side invalid."""
    yield from (finding_change(finding) for finding in document.get("findings", ()))
    for fault in document.get("faults", ()):
        yield Change(code=fault["code"], place=fault["pointer"] or "/", tone="bad", message=fault["message"])


def finding_change(finding: JSONObject) -> Change:
    """Code, pointer, old → new, who is hit, payload, what to do."""
    return Change(
        code=finding["code"],
        place=_place(finding),
        tone=TONES[finding["level"]],
        message=finding["message"],
        facts=tuple(_facts(finding)),
    )


def _place(finding: JSONObject) -> str:
    old, new = finding.get("old_pointer"), finding.get("new_pointer")
    pointers = [pointer or "/" for pointer in (old, new) if pointer is not None]
    shown = pointers[0] if len(set(pointers)) == 1 else " → ".join(pointers)
    return f"{finding['side']} {shown}".strip()


def _facts(finding: JSONObject) -> Iterator[Fact]:
    evidence = finding.get("evidence")
    need = next((words for ending, words in _NEEDS.items() if finding["code"].endswith(ending)), None)
    if need is not None:
        yield Fact(label="change", value=need)
    elif "old" in finding or "new" in finding:
        yield Fact(label="change", value=f"{_fragment(finding, 'old')} → {_fragment(finding, 'new')}", verbatim=True)
    elif evidence is not None:
        change = f"{evidence['field']}: {_short(evidence['old'])} → {_short(evidence['new'])}"
        yield Fact(label="change", value=change, verbatim=True)
    code = CODES.get(finding["code"])
    if code is not None and code.hits:
        yield Fact(label="hits", value=code.hits)
    witness = finding.get("witness")
    if witness is not None:
        yield Fact(label="payload", value=dumps(witness["payload"]), verbatim=True)
        yield Fact(label="shows", value=_shows(witness))
    if finding.get("fix"):
        yield Fact(label="do", value=finding["fix"])


def _shows(witness: JSONObject) -> str:
    errors = witness.get("errors") or ()
    why = f": {errors[0]['message']} (at {errors[0]['pointer'] or '/'})" if errors else ""
    accepts = f"the {witness['accepted_by']} {witness['side']} accepts it"
    return f"{accepts}, the {witness['refused_by']} one does not{why}"


def _fragment(finding: JSONObject, key: str) -> str:
    return _short(finding[key]) if key in finding else "(none)"


def _short(value: Any, limit: int = 160) -> str:
    text = dumps(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def decision_sentence(decision: JSONObject) -> str:
    """One gate decision in a sentence: the verdict, what it was held against, the bump it needs."""
    numbered = not decision.get("assumed")
    subject = f"{decision['skill']} {decision['version']}" if numbered else str(decision["skill"])
    if decision["verdict"] == "new" and is_taken(decision):
        return f"{subject} is published with other bytes."
    if decision["verdict"] == "new":
        return f"{subject} is new; nothing to compare with."
    against = next((c["version"] for c in decision["compared"] if c["role"] == "baseline"), None)
    sentence = f"{subject} is {decision['verdict']}" + (f" against {against}" if against and numbered else "")
    if decision["bump"] != "none":
        sentence += f"; needs a {decision['bump']}"
        sentence += f", {decision['smallest_version']} or higher" if decision.get("smallest_version") else ""
    return sentence + "."


def is_taken(decision: JSONObject) -> bool:
    """The number is published with other bytes, so the skill is not new though nothing lies below it."""
    return any(reason["code"] == "version-taken" for reason in decision["reasons"])


def decision_blocks(decision: JSONObject, *, notes: bool = True) -> Iterator[Block]:
    """The reasons, every change once, though several versions of the line may show it, then who is hit."""
    yield from map(reason_change, told_reasons(decision))
    for _, finding, change in told_findings(decision):
        if notes or finding["level"] != "note":
            yield change
    yield from hit_changes(decision)


def told_reasons(decision: JSONObject) -> Iterator[JSONObject]:
    """The reasons that say more than the findings do, and are worth reading."""
    findings = {f["fingerprint"] for compared in decision["compared"] for f in compared.get("findings", ())}
    for reason in decision["reasons"]:
        told_by_finding = reason["code"] in _REPEATS and reason.get("fingerprint") in findings
        if not told_by_finding and (reason["outcome"] != "allow" or reason["code"] in _WORTH_TELLING):
            yield reason


def reason_change(reason: JSONObject) -> Change:
    """One reason of the gate, with what to do."""
    facts = (Fact(label="do", value=reason["fix"]),) if reason.get("fix") else ()
    return Change(code=reason["code"], place="", tone=TONES[reason["outcome"]], message=reason["message"], facts=facts)


def exceptions_used(decision: JSONObject) -> dict[str, JSONObject]:
    """By fingerprint, the exception (``id`` and ``reason``) that lets a finding pass, whoever is served it."""
    used = (one for one in decision["reasons"] if one["code"] == "exception-used" and "consumer" not in one)
    return {reason["fingerprint"]: reason["exception"] for reason in used}


def _ways_on(decision: JSONObject, finding: JSONObject) -> Iterator[Fact]:
    """The exception that lets it pass; else, where a registry blocks it, how one is asked for."""
    fingerprint = finding["fingerprint"]
    used = exceptions_used(decision).get(fingerprint)
    if used is not None:
        yield Fact(label="exception", value=f"{used['id']}: {used['reason']}")
    elif "check" in decision and decision["decision"] == "block" and fingerprint in decision.get("surroundings", ()):
        words = f"govctl exception add {decision['check']} {fingerprint} --days 7 --reason WHY"
        yield Fact(label="or", value=words, verbatim=True)


def told_findings(decision: JSONObject) -> Iterator[tuple[JSONObject, JSONObject, Change]]:
    """Each finding once: the comparison that shows it first, the finding, and how it is told."""
    shown: set[str] = set()
    for compared in decision["compared"]:
        for finding in compared.get("findings", ()):
            if finding["fingerprint"] in shown:
                continue
            shown.add(finding["fingerprint"])
            change = finding_change(finding)
            change = replace(change, facts=(*change.facts, *_ways_on(decision, finding)))
            if compared["role"] != "baseline":
                against = Fact(label="against", value=f"{compared['version']} ({compared['role']})")
                change = replace(change, facts=(against, *change.facts))
            yield compared, finding, change


def worst(decisions: Sequence[JSONObject]) -> str:
    """``block``, ``warn`` or ``allow``: the worst there is."""
    outcomes = {decision["decision"] for decision in decisions}
    return next((outcome for outcome in ("block", "warn") if outcome in outcomes), "allow")
