"""SARIF 2.1.0: one run, a rule for every code that occurs, a result for every remark.

Hosts take at most 25,000 results and 10 MB a run; past that the mildest are left out, and a notification of
the run says how many.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from governance import __version__
from governance.cli.exact import dumps
from governance.cli.explanations import Explanation, explanations
from governance.cli.report import Remark, Report, Suppression
from governance.cli.reports.files import checkout_root, host_path
from governance.cli.reports.wording import headline, sentences
from governance.cli.terminal import clean, escaped_json, one_line
from governance.errors import GovernanceError, Place

MAX_RESULTS: Final = 25_000
MAX_BYTES: Final = 10_000_000
"""Hosts weigh the compressed file; this bounds the plain text, which is never the smaller of the two."""

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT: Final = "govctlFinding/v1"
LINE_FINGERPRINT: Final = "primaryLocationLineHash"
"""The one name GitHub looks at. Left out, it hashes the line, and two changes told at one line become one."""

_ROOT: Final = "%SRCROOT%"
_MAX_PAYLOAD: Final = 4000
_LEVELS: Final = {
    "breaking": "error",
    "undecided": "error",
    "block": "error",
    "error": "error",
    "risky": "warning",
    "warn": "warning",
    "warning": "warning",
}
_FRAME: Final = 4_000
"""Bytes kept for what stands around rules and results."""
_LIMITS: Final = f"hosts take {MAX_RESULTS:,} results and {MAX_BYTES // 1_000_000} MB. `-o json` has all."
_PLACEHOLDER: Final = re.compile(r"\{(\d+)\}")
_LINK: Final = re.compile(r"\[(?=[^\[\]]*\]\()")


def render_sarif(report: Report) -> str:
    """The report's remarks as one SARIF log, worst first; those that somebody silenced come last."""
    root = checkout_root()
    remarks = [*report.remarks, *report.suppressed]
    known = explanations()
    rules: list[dict[str, Any]] = []
    indexes: dict[str, int] = {}
    results: list[str] = []
    seen: Counter[str] = Counter()
    left = MAX_BYTES
    for remark in remarks[:MAX_RESULTS]:
        code = one_line(remark.change.code)
        seen[remark.fingerprint] += 1
        index = indexes.setdefault(code, len(indexes))
        text = _json(_result(remark, code, index, root, nth=seen[remark.fingerprint]))
        new_rule = _rule(code, known.get(remark.change.code)) if index == len(rules) else None
        left -= len(text.encode()) + (len(_json(new_rule).encode()) if new_rule else 0) + 2
        if left < _FRAME:
            break
        rules += [new_rule] if new_rule else []
        results.append(text)
    invocation: dict[str, Any] = {"executionSuccessful": True, "exitCode": report.exit_code}
    if len(results) < len(remarks):
        missing = len(remarks) - len(results)
        invocation["toolExecutionNotifications"] = [
            _notification("warning", f"{missing} of {len(remarks)} results are left out, the mildest: {_LIMITS}")
        ]
    return _log(invocation, rules, results)


def sarif_problem(error: GovernanceError) -> str:
    """A run that ended with an error, so that an upload step has something true to upload."""
    text = " ".join(part for part in (error.message, error.fix) if part)
    invocation = {
        "executionSuccessful": False,
        "exitCode": error.exit_code,
        "toolExecutionNotifications": [_notification("error", one_line(text, 2000))],
    }
    return _log(invocation, (), [])


def _log(invocation: Mapping[str, Any], rules: Sequence[Any], results: Sequence[str]) -> str:
    driver = {
        "name": "govctl",
        "fullName": "govctl, the gate of skill-governance",
        "semanticVersion": __version__,
        "rules": list(rules),
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the checkout."}}},
        "invocations": [invocation],
    }
    head = _json({"$schema": SCHEMA, "version": "2.1.0"})[:-1]
    return f'{head},"runs":[{_json(run)[:-1]},"results":[\n' + ",\n".join(results) + "\n]}]}\n"


def _json(value: Any) -> str:
    return escaped_json(dumps(value))


def _notification(level: str, text: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": _message(text)}}


def _rule(code: str, explained: Explanation | None) -> dict[str, Any]:
    if explained is None:
        return {"id": code, "shortDescription": {"text": code}}
    facts = dict(explained.facts)
    told = [f"{label}: {text}" for label, text in explained.facts]
    level = _LEVELS.get(facts.get("level") or facts.get("severity") or facts.get("outcome") or "error", "note")
    return {
        "id": code,
        "shortDescription": {"text": explained.title},
        "fullDescription": {"text": facts.get("means", explained.title)},
        "help": {
            "text": "\n".join(told) or explained.title,
            "markdown": "\n".join(f"- **{label}**: {text}" for label, text in explained.facts) or explained.title,
        },
        "defaultConfiguration": {"level": level},
        "properties": {"tags": [explained.kind]},
    }


def _result(remark: Remark, code: str, index: int, root: Path, *, nth: int) -> dict[str, Any]:
    """One result; what silences it, if anything does, stands under ``suppressions``."""
    pointer = clean(remark.pointer)
    properties: dict[str, Any] = {"skill": one_line(remark.skill), "pointer": pointer}
    properties |= {clean(fact.label): clean(fact.value)[:_MAX_PAYLOAD] for fact in remark.change.facts}
    if remark.payload is not None:
        properties["payload"] = escaped_json(dumps(remark.payload["payload"]))[:_MAX_PAYLOAD]
        properties["acceptedBy"] = remark.payload["accepted_by"]
        properties["refusedBy"] = remark.payload["refused_by"]
    result = {
        "ruleId": code,
        "ruleIndex": index,
        "level": remark.weight.value,
        "message": {"text": _message("\n".join((f"{headline(remark)}.", *sentences(remark))))},
        "locations": list(_locations(remark, pointer, root)),
        "partialFingerprints": {
            FINGERPRINT: remark.fingerprint,
            LINE_FINGERPRINT: f"{remark.fingerprint}:{nth}",
        },
        "properties": properties,
    }
    silenced = remark.suppression
    return result if silenced is None else result | {"suppressions": [_suppression(silenced, root)]}


def _suppression(why: Suppression, root: Path) -> dict[str, Any]:
    place = _physical(why.place, root)
    told = {"kind": "inSource" if why.in_source else "external", "status": "accepted"}
    given = {"justification": one_line(why.reason, 1000)} if why.reason else {}
    return told | given | ({"location": {"physicalLocation": place}} if place else {})


def _locations(remark: Remark, pointer: str, root: Path) -> Iterator[dict[str, Any]]:
    logical = {"name": one_line(remark.skill), "fullyQualifiedName": f"{one_line(remark.skill)}#{pointer}"}
    location: dict[str, Any] = {"logicalLocations": [logical]}
    if physical := _physical(remark.place, root):
        location["physicalLocation"] = physical
    yield location


def _physical(place: Place | None, root: Path) -> dict[str, Any] | None:
    file = host_path(place, root)
    if file is None or place is None:
        return None
    region = {"startLine": place.line or 1} | ({"startColumn": place.column} if place.line and place.column else {})
    return {"artifactLocation": _artifact(file), "region": region}


def _artifact(file: str) -> dict[str, str]:
    path = quote(file, safe="/", errors="surrogateescape")
    return {"uri": f"file://{path}"} if file.startswith("/") else {"uri": path, "uriBaseId": _ROOT}


def _message(text: str) -> str:
    """Text in which nothing is taken for a placeholder or a link."""
    return _LINK.sub(r"\\[", _PLACEHOLDER.sub(r"{{\1}}", text))
