"""Whatever bytes an importer is given, it gives skills or located errors of ours, within bounds.

Sources are the real ones of the test data, damaged by chance; an importer that reads none of them fails here.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.core.lint import lint
from governance.errors import GovernanceError
from governance.importers import IMPORTERS, ImportResult, import_text
from governance.importers.draft import Source
from governance.importers.export import export_native

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
IDS = [importer.id for importer in IMPORTERS]
_FEW = 3
"""Members that are kept of a long list: a catalogue of a hundred tools is no better a seed than one of three."""


# ── seeds ──


def shortened(node: Any) -> Any:
    if isinstance(node, list):
        return [shortened(one) for one in node[:_FEW]]
    return {key: shortened(one) for key, one in node.items()} if isinstance(node, dict) else node


def texts() -> Iterator[str]:
    for path in sorted([*DATA.glob("*/*"), *(ROOT / "governance" / "cli" / "examples").glob("*/*")]):
        yield path.read_text(encoding="utf-8")
    for entry in json.loads((DATA / "skill_front_matters.json").read_text(encoding="utf-8")):
        yield f"---\n{entry['front_matter']}\n---\n# Do it\n\nSee [more](more.md).\n"
    (skill, *_) = import_text((DATA / "functions" / "openai_tools.json").read_text(encoding="utf-8")).accepted
    yield from (export_native(skill, format=format) for format in ("json", "yaml"))


@cache
def seeds() -> dict[str, list[str]]:
    """Some sources that each importer recognises, short ones first."""
    found: dict[str, list[str]] = {}
    for text in texts():
        source = Source(text=text)
        try:
            if source.format == "json":
                source = Source(text=json.dumps(shortened(json.loads(text)), indent=1))
            taken_by = next(one.id for one in IMPORTERS if one.recognises(source))
        except (GovernanceError, StopIteration):
            continue
        found.setdefault(taken_by, []).append(source.text)
    return {importer: sorted(texts, key=len)[:5] for importer, texts in found.items()}


# ── damage ──


def nested(levels: int, kind: str) -> Any:
    node: Any = {}
    for _ in range(levels):
        node = (
            [node] if kind == "list" else {"properties": {"a": node}, "items": node} if kind == "both" else {"a": node}
        )
    return node


_VALUES: list[Any] = [
    None, True, False, 0, -1, 1e308, 10**400, 2**53 + 1, "", "\x00", "\ud800", "\u202e", "x" * 5_000, [], {}, [[]],
    "#", "#/", "#/$defs/a", "#/components/schemas/A", "other.json#/a", "http://127.0.0.1:9/x", "1.0.0", "a.b", "A B",
    "../../etc/passwd", "not a version", {"$ref": "#"}, {"$ref": "#/$defs/a"}, {"$ref": 7}, {"pattern": "(a+)+$"},
    {"$ref": "#/components/schemas/A"}, {"allOf": [{"$ref": "#"}]}, {"$defs": {"a": {"$ref": "#/$defs/a"}}},
    {"type": "object", "properties": {"a": {"$ref": "#"}}}, {"type": ["object", None]}, {"$id": "a", "id": 7},
    {"$schema": "http://json-schema.org/draft-04/schema#"}, {"$schema": "urn:nobody"}, {"properties": []},
    {"required": "a"}, {"enum": []}, {"minimum": 10**400}, {"a\ud800": 1}, {"": {"": {}}},
]  # fmt: skip
HOSTILE = st.one_of(
    st.sampled_from(_VALUES),
    st.builds(nested, st.sampled_from([3, 40, 127, 128, 400]), st.sampled_from(["list", "dict"])),
    st.builds(nested, st.integers(1, 6), st.just("both")),
    st.text(max_size=20),
    st.integers(),
    st.floats(),
)


@st.composite
def damaged_document(draw: st.DrawFn, document: Any) -> str:
    """A document in which some values are others, gone, moved or doubled; as JSON or YAML text."""
    document = json.loads(json.dumps(document))
    for _ in range(draw(st.integers(1, 3))):
        holder, key = _somewhere(draw, document)
        match draw(st.sampled_from(["hostile", "hostile", "gone", "moved", "doubled", "renamed"])):
            case "gone":
                del holder[key]
            case "moved":
                other, place = _somewhere(draw, document)
                other[place] = json.loads(json.dumps(holder[key]))
            case "doubled" if isinstance(holder, list):
                holder.append(holder[key])
            case "renamed" if isinstance(holder, dict):
                holder[draw(st.sampled_from(["", "a", "$ref", "name", "x" * 300, "\ud800", "~/"]))] = holder.pop(key)
            case _:
                holder[key] = copy.deepcopy(draw(HOSTILE))  # a later step may damage it
        if not document:
            break
    if draw(st.integers(0, 3)) == 0:
        try:
            return yaml.safe_dump(document, allow_unicode=draw(st.booleans()))
        except UnicodeEncodeError:
            pass
    text = json.dumps(document, ensure_ascii=draw(st.booleans()))
    return text.replace('"name":', '"description":', 1) if draw(st.integers(0, 9)) == 0 else text  # a key twice


def _somewhere(draw: st.DrawFn, document: Any) -> tuple[Any, Any]:
    """A container of the document that is not empty, and a key of it."""
    node, keys = document, list(_keys(document))
    while True:
        key = draw(st.sampled_from(keys))
        inside = list(_keys(node[key]))
        if not inside or draw(st.integers(0, 3)) == 0:
            return node, key
        node, keys = node[key], inside


def _keys(node: Any) -> Iterator[Any]:
    if isinstance(node, dict):
        yield from node
    elif isinstance(node, list):
        yield from range(len(node))


_PIECES = [
    "\x00", "\ufeff", "\ud800", "\r", "\t", "---\n", "...\n", "{", "}", "[", "]", '"', "'", ":", ",", "&a ", "*a",
    "<<: *a\n", "? ", "!!python/object:os.system ", "!!binary ", "%YAML 1.2\n", "# ", "- ", "| \n", ">-\n", "\\u",
    "= ", "[[a]]\n", "1e999", "0x7f", "12:30:45", "2026-01-01", "yes", "~", ".inf", "\u2028", "{{", "<<", "://",
]  # fmt: skip
PIECES = st.sampled_from(_PIECES)


@st.composite
def damaged_text(draw: st.DrawFn, text: str) -> str:
    """A text that lost a stretch, has one twice, or has something between that means something to a reader."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, max(0, len(text) - 1)))
        end = min(len(text), start + draw(st.sampled_from([0, 1, 2, 10, 200])))
        between = draw(st.one_of(PIECES, st.just(""), st.just(text[start:end] * 2)))
        text = text[:start] + between + text[end:]
    return text


# ── what must hold ──

_OF_THE_WHOLE_FILE = {"no-skill", "encoding", "size"}


def check(result: ImportResult) -> None:
    for refused in result.refused:
        assert isinstance(refused.error, GovernanceError)
        assert refused.error.fix
        assert refused.origin.file
        for fault in refused.error.faults:
            assert fault.place, fault
            assert fault.place.line or fault.code in _OF_THE_WHOLE_FILE, fault
    for warning in result.warnings:
        assert warning.place, warning
    for manifest in result.accepted:
        assert manifest.manifest_digest
        lint(manifest)


@pytest.mark.fuzzes
@pytest.mark.parametrize("importer", IDS)
def test_a_damaged_document_gives_skills_or_located_errors(importer: str) -> None:
    documents = [Source(text=text).document.value for text in seeds()[importer] if _is_data(text)]
    if not documents:
        assert importer == "skill_md"
        return

    @settings(max_examples=settings().max_examples * 3 // 5)
    @given(st.sampled_from(documents).flatmap(damaged_document))
    def holds(text: str) -> None:
        check(import_text(text))

    holds()


def _is_data(text: str) -> bool:
    return not text.startswith("---\n")


@pytest.mark.fuzzes
@pytest.mark.parametrize("importer", IDS)
def test_a_damaged_text_gives_skills_or_located_errors(importer: str) -> None:
    @settings(max_examples=settings().max_examples * 3 // 5)
    @given(st.sampled_from(seeds()[importer]).flatmap(damaged_text))
    def holds(text: str) -> None:
        check(import_text(text))
        check(import_text(text.encode(errors="surrogatepass")))

    holds()


@given(st.binary(max_size=200) | st.text(max_size=200) | st.lists(PIECES, max_size=30).map("".join))
def test_any_bytes_give_skills_or_located_errors(data: bytes | str) -> None:
    check(import_text(data))
