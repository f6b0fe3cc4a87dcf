"""Business rules in prose: the list under a heading that says so becomes the semantic contract."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from governance.core.compat.model import JSON

_HEADING: Final = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
_BRACKETED: Final = re.compile(r"(?:\*\*)?[【［](.+?)[】］](?:\*\*)?\s*[:：]?\s*$")
_TITLES: Final = re.compile(
    r"(?:\d+[.)、]?\s*)?(?:business\s+rules?|业务规则|業務規則|règles\s+métiers?)\s*[:：]?", re.IGNORECASE
)
_ITEM: Final = re.compile(r"(\s*)(?:[-*+•]|\d{1,3}[.)、．]|[（(]\d{1,3}[)）])\s*(.+)$")
_OWN_ID: Final = re.compile(r"\**([A-Za-z]{1,10}[-_]?\d{1,5})\**\s*[:：.、]\**\s*(?=\S)")
_BRACKET_LEVEL: Final = 7
"""A 【…】 line divides more finely than any heading."""


def business_rules(markdown: str) -> tuple[list[JSON], list[int]]:
    """``({id, text}…, line indexes)`` of the rules in a text, from every section headed Business rules,
    业务规则 or 【业务规则】. Without list items each paragraph of the section is a rule.

    A rule that names itself (``BR-01: …``) keeps that id; another gets one from its words, so that moving it
    is no change.
    """
    rules: list[JSON] = []
    lines: list[int] = []
    seen: set[str] = set()
    for section in _sections(markdown.split("\n")):
        for number, text in _items(section) or _paragraphs(section):
            own = _OWN_ID.match(text)
            by_words = "rule_" + hashlib.sha256(text.encode()).hexdigest()[:8]
            rule_id = own[1] if own and own[1] not in seen else by_words
            if rule_id in seen:
                continue  # the same sentence twice is one rule
            seen.add(rule_id)
            rules.append({"id": rule_id, "text": text[own.end() :] if own and rule_id == own[1] else text})
            lines.append(number)
    return rules, lines


_Lines = list[tuple[int, str]]


def _sections(lines: list[str]) -> list[_Lines]:
    """The numbered lines under each heading that announces rules, down to the next heading as high."""
    sections: list[_Lines] = []
    level: int | None = None
    fenced = False
    for number, line in enumerate(lines):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        heading = None if fenced else _heading(line)
        if heading is None:
            if level is not None:
                sections[-1].append((number, line))
        elif _TITLES.fullmatch(heading[1]):
            level = heading[0]
            sections.append([])
        elif level is not None and heading[0] <= level:
            level = None
    return sections


def _heading(line: str) -> tuple[int, str] | None:
    if match := _HEADING.match(line):
        inner = _BRACKETED.fullmatch(match[2])
        return len(match[1]), inner[1].strip() if inner else match[2]
    if match := _BRACKETED.fullmatch(line.strip()):
        return _BRACKET_LEVEL, match[1].strip()
    return None


def _items(section: _Lines) -> _Lines:
    """List items of the outermost list; what is indented under one belongs to it."""
    found: _Lines = []
    margin: int | None = None
    for number, line in section:
        match = _ITEM.match(line)
        if match and (margin is None or len(match[1]) <= margin):
            margin = len(match[1])
            found.append((number, match[2].strip()))
        elif found and line.strip() and line[0].isspace():
            first, text = found[-1]
            found[-1] = (first, f"{text} {line.strip()}")
    return found


def _paragraphs(section: _Lines) -> _Lines:
    found: _Lines = []
    ended = True
    for number, line in section:
        if not line.strip():
            ended = True
        elif ended:
            found.append((number, line.strip()))
            ended = False
        else:
            first, text = found[-1]
            found[-1] = (first, f"{text} {line.strip()}")
    return found
