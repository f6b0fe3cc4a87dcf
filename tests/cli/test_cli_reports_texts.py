"""Whatever a skill says, a report that quotes it stays one well-formed report."""

from __future__ import annotations

import json
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from governance.cli.markdown import MARKER, code, escape, render_markdown
from governance.cli.report import Block, Case, Change, Fact, Heading, Paragraph, Remark, Report, Table, Verdict, Weight
from governance.cli.reports.github import render_github
from governance.cli.reports.junit import render_junit
from governance.cli.reports.sarif import render_sarif
from governance.cli.terminal import one_line

# The characters that some host takes for more than text, and then any text at all.
TEXTS = st.one_of(
    st.text(
        st.sampled_from("`*_<>&[]()!|\\\n\t -+=#1.:/@%,{}$~w\"'?;a\ufffe\ufdd0\x00\x1b\u202e\u200b查"), max_size=60
    ),
    st.text(max_size=60),
    st.sampled_from(["<details>", "-->", "]]>", "::error::x", "www.a.example", "<a@b.example>", "&#64;a", "[a]: b"]),
)
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


def report(text: str) -> Report:
    facts = (
        Fact(label="change", value=text, verbatim=True),
        Fact(label="payload", value=text, verbatim=True),
        Fact(label="do", value=text),
    )
    change = Change(code="input.type-narrowed", place=text, tone="bad", message=text, facts=facts)
    payload = {"payload": text, "accepted_by": "old", "refused_by": "new"}
    remark = Remark(skill=text, weight=Weight.ERROR, change=change, fingerprint="0" * 16, pointer=text, payload=payload)
    blocks: tuple[Block, ...] = (
        Verdict(word="block", sentence=text, tone="bad"),
        Table(columns=("skill", "version"), rows=((text, text), ("b", "c"))),
        Heading(text=text),
        change,
        change,
        Paragraph(text=text),
    )
    return Report(document={}, blocks=blocks, cases=(Case(skill=text, part="input", remarks=(remark,)),))


def flat(tokens: list[Token]) -> list[Token]:
    return [one for token in tokens for one in (token, *flat(token.children or []))]


@given(TEXTS)
@example("x\n\n<script>alert(1)</script>")
@example("a\n===\n1. b\n+ c\n    d\n> e\n```\nf")
def test_no_text_is_markup_in_a_comment(text: str) -> None:
    told = flat(MARKDOWN.parse(render_markdown(report(text).blocks, fold=True, marker=MARKER)))
    plain = flat(MARKDOWN.parse(render_markdown(report("harmless").blocks, fold=True, marker=MARKER)))
    html = [token.content.strip() for token in told if token.type.startswith("html")]
    assert html == [token.content.strip() for token in plain if token.type.startswith("html")]
    kinds = {token.type for token in told} - {"softbreak"}
    assert kinds <= {token.type for token in plain} | {"code_block"}, "indented code is data too"
    for token in told:
        if token.type == "text":
            assert "@" not in token.content.replace("@\u200b", "")
            assert "://" not in token.content


@given(TEXTS)
def test_prose_and_data_read_as_they_were_written(text: str) -> None:
    line = one_line(text, 1000)
    (paragraph,) = [token for token in MARKDOWN.parse(f"x {escape(line)} x") if token.type == "inline"]
    shown = "".join(token.content for token in paragraph.children or []).replace("\u200b", "")
    assert shown == f"x {line} x".replace("\u200b", "")
    spans = [token.content for token in flat(MARKDOWN.parse(f"x {code(line)} x")) if token.type == "code_inline"]
    assert [span.strip() for span in spans] == ([line.strip()] if line else [])


@given(TEXTS)
def test_any_text_makes_well_formed_xml(text: str) -> None:
    (suite,) = ET.fromstring(render_junit(report(text)).encode())
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")


@given(TEXTS)
def test_any_text_makes_one_annotation_of_one_line(text: str) -> None:
    line, end = render_github(report(text)).split("\n")
    assert end == ""
    command, properties, message = _parts(line)
    assert command == "error"
    assert properties == {"title": f"input.type-narrowed: {one_line(text)}"}
    assert unquote(message).split("\n")[0] == one_line(text, 1000)


def _parts(line: str) -> tuple[str, dict[str, str], str]:
    """As the runner splits a command: at the first blank, then at the first two colons."""
    head, _, message = line.removeprefix("::").partition("::")
    command, _, rest = head.partition(" ")
    return command, {k: unquote(v) for k, v in (pair.split("=", 1) for pair in rest.split(","))}, message


@given(TEXTS)
def test_any_text_makes_one_sarif_result(text: str) -> None:
    (run,) = json.loads(render_sarif(report(text)).encode())["runs"]
    (result,) = run["results"]
    assert json.loads(result["properties"]["payload"]) == text
