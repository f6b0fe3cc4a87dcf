"""SKILL.md: front matter that says when to use a skill, and a text that is its contract.

The whole text is kept under ``extensions.skill_md.body`` and so enters the contract digest. Front matter that
is broken in the usual way (an unquoted ``: ``) is read leniently with a located warning; whatever cannot be
read is a located error, never a skill with empty metadata.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, Final

from governance.core.compat.model import JSON
from governance.core.document import Document
from governance.core.fields import kind_of
from governance.errors import Fault, MalformedDocument, Place
from governance.importers.draft import SkillDraft, Source
from governance.importers.rules import business_rules
from governance.importers.yaml_text import quoted, read_yaml

_FENCE: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)
_ENTRY: Final = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*)|)$")
_YAML_MANIFEST: Final = re.compile(r"^(input_schema|inputSchema|output_schema|timeout_sec)\s*:", re.MULTILINE)
_ALLOWED: Final = re.compile(r"[^\s,(]+(?:\([^()]*\))?")
_OFFICIAL_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


MAX_ENTRIES: Final = 200
"""Entries of front matter that are worth mending."""
_STRUCTURED: Final = frozenset({"metadata", "allowed-tools"})
"""Entries that are no text: read as one they would be lost."""


BODY: Final = "/extensions/skill_md/body"
"""Where the text stands in the manifest."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """A SKILL.md, taken apart; lines count from 1, the front matter begins in the second."""

    front: str
    body: str
    body_line: int


class SkillMdImporter:
    id = "skill_md"
    title = "SKILL.md"

    def recognises(self, source: Source) -> bool:
        if (source.file or "").lower().endswith(".md"):
            return True
        parts = _split(source.text)
        return parts is not None and _YAML_MANIFEST.search(parts.front) is None

    def drafts(self, source: Source) -> Iterator[SkillDraft]:
        parts = _split(source.text)
        if parts is None:
            opened = source.text.startswith("---")
            message = (
                "the front matter is never closed by a line of ---"
                if opened
                else "a SKILL.md begins with front matter between two lines of ---"
            )
            raise _malformed(message, Place(file=source.file, line=1), "Write name and description there.")
        yield _draft(parts, source)


def readable_parts(source: Source) -> Parts | None:
    """The parts, the front matter as it could be read: mended where it had to be."""
    parts = _split(source.text)
    return None if parts is None else replace(parts, front=_mend(parts.front)[0])


def _split(text: str) -> Parts | None:
    text = text.replace("\r\n", "\n")
    fences = _FENCE.finditer(text)
    first, second = next(fences, None), next(fences, None)
    if first is None or second is None or first.start() != 0:
        return None
    front = text[first.end() + 1 : second.start()]
    return Parts(front=front, body=text[second.end() + 1 :], body_line=front.count("\n") + 3)


def _draft(parts: Parts, source: Source) -> SkillDraft:
    document, warnings = _read_front(parts.front, source.file)
    meta = document.value
    if not isinstance(meta, dict):
        message = f"the front matter is {kind_of(meta)}, not fields"
        raise _malformed(message, Place(file=source.file, line=2), "Write `name: …` and `description: …`.")
    rest: dict[str, JSON] = {**meta}
    name, description = rest.pop("name", None), rest.pop("description", None)
    faults = [
        Fault(pointer=f"/{field}", message=_text_complaint(value), code="missing" if value is None else "invalid")
        for field, value in (("name", name), ("description", description))
        if not isinstance(value, str) or not value.strip()
    ]
    version = _take_version(rest, parts, document)
    if rest.get("metadata") == {}:
        del rest["metadata"]  # it says nothing, whether a version stood in it or not
    fields: dict[str, JSON] = {"description": description, "category": "knowledge"}
    if allowed := allowed_tools_of(rest.pop("allowed-tools", None), faults):
        fields["allowed_tools"] = allowed
    rules, rule_lines = business_rules(parts.body)
    if rules:
        fields["business_rules"] = rules
    fields["extensions"] = {"skill_md": {**rest, "body": parts.body}}
    if isinstance(name, str):
        warnings += _name_doubts(name, source, document)

    def locate(pointer: str) -> Place | None:
        tokens = pointer.split("/")[1:]
        if tokens[:1] == ["business_rules"] and len(tokens) > 1 and tokens[1].isdigit():
            line = rule_lines[int(tokens[1])] if int(tokens[1]) < len(rule_lines) else 0
            return Place(file=source.file, line=parts.body_line + line)
        if pointer.startswith(BODY) or (BODY.startswith(f"{pointer}/") and pointer):
            return Place(file=source.file, line=parts.body_line)
        bare = pointer.removeprefix("/extensions/skill_md")
        return document.locate(bare.replace("/allowed_tools", "/allowed-tools", 1))

    return SkillDraft(
        document=fields,
        native=False,
        external_name=name if isinstance(name, str) else "",
        external_version=version,
        defaulted=frozenset({"timeout_sec", "compatibility"}),
        locate=locate,
        warnings=tuple(warnings),
        faults=tuple(faults),
    )


def _read_front(front: str, file: str | None) -> tuple[Document, list[Fault]]:
    try:
        return read_yaml(front, file=file, first_line=2), []
    except MalformedDocument as error:
        mended, repairs = _mend(front)
        if not repairs:
            raise
        try:
            document = read_yaml(mended, file=file, first_line=2)
        except MalformedDocument:
            raise error from None
    warnings = [
        Fault(
            pointer=f"/{key}",
            message=f"the value of {key} is not valid YAML and was read as plain text; put it in quotes",
            code="lenient",
            place=Place(file=file, line=line + 2, column=1),
        )
        for key, line in repairs
    ]
    return document, warnings


def _mend(front: str) -> tuple[str, list[tuple[str, int]]]:
    """Quote the values of top-level entries that do not parse alone; with key and line of each.

    Only a value that begins on its key's line can be taken as text. Lines keep their numbers.
    """
    lines = front.split("\n")
    starts = [index for index, line in enumerate(lines) if _ENTRY.match(line)]
    if not 0 < len(starts) <= MAX_ENTRIES or any(map(_says, lines[: starts[0]])):
        return front, []
    repairs: list[tuple[str, int]] = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        entry = _ENTRY.match(lines[start])
        value = entry[2] if entry else None
        if (
            entry is None
            or not value
            or entry[1] in _STRUCTURED
            or value[0] in "|>"
            or _parses("\n".join(lines[start:end]))
        ):
            continue
        if any(line and not line[0].isspace() for line in lines[start + 1 : end]):
            continue  # what follows at the margin is no part of this value
        text = _folded([value, *lines[start + 1 : end]])
        lines[start:end] = [f"{entry[1]}: {quoted(text)}", *[""] * (end - start - 1)]
        repairs.append((entry[1], start))
    return "\n".join(lines), repairs


def _says(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _parses(text: str) -> bool:
    try:
        read_yaml(text)
    except MalformedDocument:
        return False
    return True


def _folded(lines: list[str]) -> str:
    """Lines joined as YAML folds a plain scalar: a break is a blank, an empty line a break."""
    paragraphs: list[list[str]] = [[]]
    for line in (line.strip() for line in lines):
        if line:
            paragraphs[-1].append(line)
        elif paragraphs[-1]:
            paragraphs.append([])
    return "\n".join(" ".join(paragraph) for paragraph in paragraphs if paragraph)


def _take_version(rest: dict[str, JSON], parts: Parts, document: Document) -> str | None:
    """The version as written (``1.10`` unquoted is a number to YAML), out of ``metadata`` or the top level."""
    metadata = rest.get("metadata")
    holder: Any = metadata if isinstance(metadata, dict) and metadata.get("version") is not None else rest
    value = holder.get("version")
    if value is None or isinstance(value, bool | list | dict):
        return None
    pointer = "/metadata/version" if holder is metadata else "/version"
    left = {key: item for key, item in holder.items() if key != "version"}
    if holder is metadata:
        rest["metadata"] = left
    else:
        del rest["version"]
    if isinstance(value, str):
        return value
    place = document.locate(pointer)
    if place is None or place.line is None or place.column is None:
        return str(value)
    return parts.front.split("\n")[place.line - 2][place.column - 1 :].split()[0].rstrip(",}")


def allowed_tools_of(value: JSON, faults: list[Fault]) -> list[JSON]:
    """A list, or names divided by blanks or commas; blanks inside parentheses belong to a name."""
    if isinstance(value, str):
        return list(_ALLOWED.findall(value))
    if isinstance(value, list):
        return value
    if value is not None:
        message = f"a list of tools is expected, not {kind_of(value)}"
        faults.append(Fault(pointer="/allowed_tools", message=message))
    return []


def _name_doubts(name: str, source: Source, document: Document) -> list[Fault]:
    doubts: list[str] = []
    if len(name) > 64 or not _OFFICIAL_NAME.fullmatch(name):
        doubts.append("SKILL.md names are at most 64 lower-case letters, digits and single hyphens")
    path = PurePath(source.file or "")
    if path.name == "SKILL.md" and path.parent.name not in ("", name):
        doubts.append(f"the name differs from its folder, {path.parent.name!r}")
    return [
        Fault(pointer="/name", message=message, code="skill-md-name", place=document.locate("/name"))
        for message in doubts
    ]


def _text_complaint(value: JSON) -> str:
    if value is None:
        return "this field is missing"
    return "this field is empty" if isinstance(value, str) else f"a string is expected, not {kind_of(value)}"


def _malformed(message: str, place: Place, fix: str) -> MalformedDocument:
    fault = Fault(pointer="", message=message, code="front-matter", place=place)
    return MalformedDocument(f"{place}: {message}.", fix=fix, faults=[fault])


SKILL_MD: Final = SkillMdImporter()
