"""JUnit XML: a suite for every skill, a case for every part of it that was judged."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from governance.cli.report import Case, Remark, Report, Weight
from governance.cli.reports.files import checkout_root, host_path
from governance.cli.reports.wording import headline, sentences
from governance.cli.terminal import clean, one_line
from governance.errors import GovernanceError

_NOT_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(report: Report) -> str:
    """The report's cases; a case fails when something in it blocks, and says all there is to say about it."""
    root = checkout_root()
    suites: dict[str, list[Case]] = {}
    for case in report.cases or ():
        suites.setdefault(case.skill, []).append(case)
    cases = report.cases or ()
    whole = ET.Element("testsuites", _counts("govctl", cases))
    for skill, its in suites.items():
        suite = ET.SubElement(whole, "testsuite", _counts(skill, its))
        for case in its:
            _case(suite, case, root)
    return _text(whole)


def junit_problem(error: GovernanceError) -> str:
    """A run that ended with an error: one case that says why."""
    counts = {"name": "govctl", "tests": "1", "failures": "0", "errors": "1", "skipped": "0"}
    whole = ET.Element("testsuites", counts)
    case = ET.SubElement(
        ET.SubElement(whole, "testsuite", counts), "testcase", {"classname": "govctl", "name": "run", "time": "0"}
    )
    told = ET.SubElement(case, "error", {"message": _xml(one_line(error.message, 500)), "type": error.code})
    told.text = _xml("\n".join((error.message, *map(str, error.faults[:20]), error.fix)))
    return _text(whole)


def _counts(name: str, cases: Sequence[Case]) -> dict[str, str]:
    failed = sum(case.failed for case in cases)
    numbers = {"tests": len(cases), "failures": failed, "errors": 0, "skipped": 0}
    return {"name": _xml(one_line(name)), **{key: str(number) for key, number in numbers.items()}, "time": "0"}


def _case(suite: ET.Element, case: Case, root: Path) -> None:
    attributes = {"classname": _xml(one_line(case.skill)), "name": case.part, "time": "0"}
    errors = [remark for remark in case.remarks if remark.weight is Weight.ERROR]
    first = errors[0] if errors else None
    place = first.place if first and first.place else case.place
    file = host_path(place, root)
    if file is not None:
        attributes["file"] = _xml(clean(file))
        if place is not None and place.line:
            attributes["line"] = str(place.line)
    element = ET.SubElement(suite, "testcase", attributes)
    if first is not None:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        message = f"{one_line(first.change.message, 500)}{more}"
        failure = {"message": _xml(message), "type": _xml(one_line(first.change.code))}
        ET.SubElement(element, "failure", failure).text = _told(errors)
    rest = [remark for remark in case.remarks if remark.weight is not Weight.ERROR]
    if rest:
        ET.SubElement(element, "system-out").text = _told(rest)


def _told(remarks: Sequence[Remark]) -> str:
    return "\n\n".join(_xml("\n".join((_line(remark), *sentences(remark)))) for remark in remarks)


def _line(remark: Remark) -> str:
    at = f" at {one_line(remark.change.place)}" if remark.change.place else ""
    where = f" ({clean(str(remark.place))})" if remark.place else ""
    return f"{remark.weight.value} {headline(remark)}{at}{where}"


def _xml(text: str) -> str:
    """Text in which every character is one that XML 1.0 can hold."""
    return _NOT_XML.sub(lambda found: f"<U+{ord(found[0]):04X}>", clean(text))


def _text(whole: ET.Element) -> str:
    ET.indent(whole)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(whole, encoding="unicode")}\n'
