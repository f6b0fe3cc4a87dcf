"""Reports stay within what their hosts take and say what they left out; errors and misuse are told in them too."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema_rs
import pytest

from governance.cli.commands.demo import EXAMPLES
from governance.cli.formats import FORMATS
from governance.cli.markdown import COMMENT_LIMIT, render_markdown
from governance.cli.report import Case, Change, Fact, Heading, Remark, Report, Table, Verdict, Weight
from governance.cli.reports.files import checkout_root, host_path
from governance.cli.reports.github import SUMMARY_BYTES, render_github, write_summary
from governance.cli.reports.sarif import MAX_BYTES, MAX_RESULTS, render_sarif
from governance.cli.run import load_command
from governance.errors import Place
from tests.cli.conftest import Govctl

SCHEMA = json.loads((Path(__file__).parents[1] / "data" / "schemas" / "sarif-2.1.0.json").read_text())
CHANGE = Change(code="input.required-added", place="input /a", tone="bad", message="m", facts=())


def judged(count: int, *, weight: Weight = Weight.ERROR, message: str = "m", place: Place | None = None) -> Report:
    remarks = tuple(
        Remark(
            skill="a.b",
            weight=weight,
            change=Change(code=CHANGE.code, place="input /a", tone="bad", message=message),
            fingerprint=f"{number:016x}",
            place=place,
        )
        for number in range(count)
    )
    blocks = (Verdict(word="block", sentence="Many.", tone="bad"), *(remark.change for remark in remarks))
    return Report(document={}, blocks=blocks, exit_code=1, cases=(Case(skill="a.b", part="input", remarks=remarks),))


def test_sarif_holds_as_many_results_as_hosts_take_and_says_how_many_are_left_out() -> None:
    report = judged(MAX_RESULTS + 7, weight=Weight.NOTE)
    worst = judged(1)
    log = json.loads(render_sarif(Report(document={}, blocks=(), cases=((report.cases or ()) + (worst.cases or ())))))
    (run,) = log["runs"]
    assert len(run["results"]) <= MAX_RESULTS
    assert run["results"][0]["level"] == "error"
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    left = MAX_RESULTS + 8 - len(run["results"])
    assert note["message"]["text"].startswith(f"{left} of {MAX_RESULTS + 8} results are left out")


def test_sarif_stays_below_the_size_hosts_take() -> None:
    text = render_sarif(judged(12_000, message="é" * 900))
    assert len(text.encode()) <= MAX_BYTES
    (run,) = json.loads(text)["runs"]
    assert 0 < len(run["results"]) < 12_000
    assert run["invocations"][0]["toolExecutionNotifications"]


def test_ten_annotations_of_a_level_are_shown_and_the_rest_is_counted(tmp_path: Path) -> None:
    report = judged(23)
    lines = render_github(report).splitlines()
    assert [line.partition(" ")[0] for line in lines[:-1]] == ["::error"] * 10
    assert lines[-1].startswith("govctl: 13 more remarks")


def test_what_stands_at_one_line_is_one_annotation(tmp_path: Path) -> None:
    file = tmp_path / "a, b%.yaml"
    file.write_text("x")
    (line,) = render_github(judged(23, place=Place(file=str(file), line=1))).splitlines()
    assert "a%2C b%25.yaml,line=1,title=23 remarks on a.b::" in line


def test_the_summary_is_added_to_what_stands_there_and_stays_within_its_size(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_text("before\n")
    environment = {"GITHUB_STEP_SUMMARY": str(file)}
    assert write_summary(judged(3), environment) == ""
    assert file.read_text().startswith("before\n### ❌ block")
    assert write_summary(judged(9000, message="查" * 900), environment) == ""
    assert len(file.read_bytes()) <= SUMMARY_BYTES
    assert "Cut here" in file.read_text()
    assert write_summary(judged(3), {}) == ""
    assert "cannot be written" in write_summary(judged(3), {"GITHUB_STEP_SUMMARY": str(tmp_path)})


def test_a_comment_is_cut_with_a_count_of_what_is_missing() -> None:
    rows = tuple((f"shop.tool_{n}", "1.0.0") for n in range(5000))
    fact = Fact(label="payload", value="`" * 900, verbatim=True)
    change = Change(code="c", place="input", tone="bad", message="*" * 500, facts=(fact,))
    blocks = (
        Verdict(word="block", sentence="Many.", tone="bad"),
        Table(columns=("skill", "version"), rows=rows),
        Heading(text="All"),
        *([change] * 100),
    )
    text = render_markdown(blocks, fold=True, marker="<!-- m -->")
    assert len(text) <= COMMENT_LIMIT
    assert "…and " in text, "the table is cut too"
    shown = text.count("<details>")
    assert 0 < shown < 100
    assert f"Left out: {100 - shown} more changes ({100 - shown} ❌)" in text.splitlines()[-1]


def test_a_command_that_judges_nothing_refuses_before_it_does_anything(here: Govctl, tmp_path: Path) -> None:
    for name in ("sarif", "junit", "github"):
        done = here("import", EXAMPLES, "-o", name, "--out", tmp_path / "r")
        assert done.code == 2
        assert "judges nothing" in done.err
    assert {word for word in ("check", "diff", "lint", "publish") if load_command(word).JUDGES} == {
        "check", "diff", "lint", "publish",
    }  # fmt: skip


def test_a_batch_answers_line_by_line_and_takes_no_whole_report(here: Govctl, tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text("")
    done = here("diff", "--batch", tmp_path / "pairs.jsonl", "-o", "sarif")
    assert done.code == 2
    assert "one by one" in done.err


def test_an_error_is_told_in_every_report_that_was_wanted(here: Govctl, tmp_path: Path) -> None:
    words = ("-o", "sarif", "--out", tmp_path / "r.sarif", "-o", "junit", "--out", tmp_path / "r.xml", "-o", "github")
    for command in (("check", tmp_path / "nowhere"), ("check", "--no-such-flag")):
        done = here(*command, *words)
        assert done.code == 2
        assert done.out.startswith("::error title=govctl%3A ")
        log = json.loads((tmp_path / "r.sarif").read_text())
        assert [str(error) for error in jsonschema_rs.validator_for(SCHEMA).iter_errors(log)] == []
        assert log["runs"][0]["invocations"][0]["executionSuccessful"] is False
        assert ET.fromstring((tmp_path / "r.xml").read_text()).get("errors") == "1"
        (tmp_path / "r.sarif").unlink()
        (tmp_path / "r.xml").unlink()


def test_text_beside_annotations_cannot_give_the_runner_orders(here: Govctl, tmp_path: Path) -> None:
    tool = {"name": "f", "description": "Find.\n::add-mask::x", "inputSchema": {"type": "object"}}
    (tmp_path / "tools.json").write_text(json.dumps([tool]))
    done = here("lint", tmp_path / "tools.json", "-o", "github", "-o", "text", "--fail-on", "never")
    assert done.code == 0
    before, _, rest = done.out.partition("::stop-commands::")
    token, _, quoted = rest.partition("\n")
    assert len(token) == 32
    assert before.startswith("::warning ")
    assert quoted.splitlines()[0].startswith("WARNING")
    assert quoted.splitlines()[-1] == f"::{token}::"
    assert here("lint", tmp_path, "-o", "github", "-o", "text", "-o", "json").code == 2


def test_files_are_named_from_the_root_of_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "checkout"
    inner = root / "skills" / "a"
    inner.mkdir(parents=True)
    (inner / "f.yaml").write_text("")
    (tmp_path / "outside.yaml").write_text("")
    monkeypatch.chdir(inner)
    assert checkout_root({}) == inner
    assert checkout_root({"GITHUB_WORKSPACE": str(root)}) == root
    assert checkout_root({"CI_PROJECT_DIR": str(tmp_path / "elsewhere")}) == inner
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    assert checkout_root({}) == root
    assert host_path(Place(file="f.yaml"), root) == "skills/a/f.yaml"
    assert host_path(Place(file=str(inner / "f.yaml")), root) == "skills/a/f.yaml"
    assert host_path(Place(file=str(tmp_path / "outside.yaml")), root) == str(tmp_path / "outside.yaml")
    assert host_path(Place(file="git:HEAD~1:skills/b.json"), root) == "skills/b.json"
    assert host_path(Place(file="shop.orders@1.0.0"), root) is None
    assert host_path(Place(file="<stdin>"), root) is None
    assert host_path(None, root) is None


def test_a_file_name_is_a_valid_uri_whatever_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a b#?%.yaml", "é:查.yaml", "c\udcff.yaml"):
        Path(name).write_text("")
        log = json.loads(render_sarif(judged(1, place=Place(file=name, line=2, column=3))))
        assert [str(error) for error in jsonschema_rs.validator_for(SCHEMA).iter_errors(log)] == []
        artifact = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
        assert artifact["uri"].isascii()
        assert not set(artifact["uri"]) & set(" #?:")


def test_every_format_has_one_row() -> None:
    assert {row.id for row in FORMATS.values() if row.judges} == {"sarif", "junit", "github"}
    suffixes: list[Any] = [suffix for row in FORMATS.values() for suffix in row.suffixes]
    assert len(suffixes) == len(set(suffixes))
