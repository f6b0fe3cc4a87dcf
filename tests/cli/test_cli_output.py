"""A report goes out in every wanted form, and no text of a skill acts on a terminal or a pull request."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from governance.cli.formats import FORMATS
from governance.cli.markdown import COMMENT_LIMIT, code, escape, render_markdown
from governance.cli.output import Output, destinations, written_file
from governance.cli.report import Change, Code, Fact, Heading, Paragraph, Report, Table, Verdict
from governance.cli.terminal import Style, clean, data, style_for
from governance.cli.text import render_text
from governance.errors import UsageError

EVIL = "\x1b[2Jred\x07 \u202eevil \U000e0041\x9b31m"
REPORT = Report(
    document={"a": 1},
    records=[{"n": 1}, {"n": 2}],
    blocks=(
        Verdict(word="block", sentence=EVIL, tone="bad"),
        Heading(text=EVIL),
        Paragraph(text=EVIL),
        Table(columns=("x",), rows=((EVIL,),)),
        Code(text=EVIL),
        Change(
            code="c",
            place=EVIL,
            tone="bad",
            message=EVIL,
            facts=(Fact(label="p", value=EVIL, verbatim=True),),
        ),
    ),
    exit_code=1,
)


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_lets_control_or_bidirectional_characters_through(name: str) -> None:
    text = FORMATS[name].render(Report(document={"t": EVIL}, blocks=REPORT.blocks), Style())
    assert not {"\x1b", "\x07", "\u202e", "\x9b", "\U000e0041"} & set(text)


def test_cleaning_spells_out_what_it_hides_and_keeps_other_languages() -> None:
    assert clean("a\u202eb") == "a<U+202E>b"
    assert clean("查找 émigré\n\tok") == "查找 émigré\n\tok"
    assert clean("\ud800") == "<U+D800>"


def test_data_keeps_its_own_spaces_and_says_how_much_it_left_out() -> None:
    assert data('{"a":  "x   y"}') == '{"a":  "x   y"}'
    assert data("x" * 12, 10) == "x" * 10 + "… (2 characters more)"


def test_colour_is_used_only_when_asked_for() -> None:
    assert "\x1b[31m" in render_text(REPORT.blocks[:1], Style(color=True))
    assert "\x1b" not in render_text(REPORT.blocks, Style())


@pytest.mark.parametrize(
    ("variables", "flag", "expected"),
    [
        ({"TERM": "xterm"}, False, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, False, True),
        ({"TERM": "dumb"}, False, False),
        ({"TERM": "xterm"}, True, False),
    ],
)
def test_a_terminal_gets_colour_unless_somebody_said_no(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], flag: bool, expected: bool
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert style_for(Terminal(), no_color=flag).color is expected
    assert style_for(io.StringIO(), no_color=flag).color is False


def test_the_verdict_stands_in_the_first_line() -> None:
    assert render_text(REPORT.blocks, Style()).splitlines()[0].startswith("BLOCK  ")
    assert render_markdown(REPORT.blocks).splitlines()[0] == "### ❌ block"


def test_markdown_of_a_skill_is_never_markup() -> None:
    shown = escape("<img src=x> @team **bold** [l](u) `c`")
    assert "<" not in shown
    assert "@" not in shown
    assert "\\*\\*bold\\*\\*" in shown
    assert code("a`b``c") == "```a`b``c```"
    assert code("`x`") == "`` `x` ``"


def test_markdown_stays_below_a_hosts_limit_and_says_what_is_missing() -> None:
    many = tuple(Paragraph(text="x" * 1000) for _ in range(100))
    text = render_markdown(many)
    assert len(text) <= COMMENT_LIMIT + 100
    assert "more" in text.splitlines()[-1]


def test_each_format_pairs_with_the_file_that_follows_it(tmp_path: Path) -> None:
    found = destinations([("-o", "json"), ("--out", "a.json"), ("-o", "markdown"), ("--out", "b"), ("-o", "text")])
    assert [(d.format.id, d.file) for d in found] == [
        ("json", Path("a.json")),
        ("markdown", Path("b")),
        ("text", None),
    ]
    assert [d.format.id for d in destinations([("--out", "x.md")])] == ["markdown"]
    assert [d.format.id for d in destinations([])] == ["text"]


@pytest.mark.parametrize(
    "chosen",
    [
        [("-o", "json"), ("-o", "text")],
        [("-o", "json"), ("--out", "a"), ("-o", "text"), ("--out", "a")],
        [("-o", "yaml")],
    ],
)
def test_two_reports_for_one_place_and_unknown_formats_are_refused(chosen: list[tuple[str, str]]) -> None:
    with pytest.raises(UsageError):
        destinations(chosen)


def test_one_run_writes_several_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = [("-o", "json"), ("--out", str(tmp_path / "r.json")), ("-o", "jsonl")]
    assert Output(destinations=destinations(chosen)).emit(REPORT) == 1
    assert (tmp_path / "r.json").read_text() == '{\n  "a": 1\n}\n'
    assert capsys.readouterr().out == '{"n":1}\n{"n":2}\n'


def test_a_report_that_fails_midway_leaves_the_old_file_untouched(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text("old")

    def half() -> None:
        with written_file(file) as stream:
            stream.write("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_that_is_not_there_is_told_with_a_fix(tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match="cannot be written") as caught,
        written_file(tmp_path / "no" / "r.json"),
    ):
        pass
    assert caught.value.fix
