"""The ceiling, the reading and the second opinion are asked for alike by every command that compares."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Govctl

BACK_REFERENCE = ({"pattern": r"^(.)\1$"}, {"pattern": r"^(.)\1*$"})


def pair(folder: Path, old: Any, new: Any) -> tuple[Path, Path]:
    files = folder / "old.json", folder / "new.json"
    for file, value in zip(files, (old, new), strict=True):
        file.write_text(json.dumps(value))
    return files


def overlapping(leaf: str) -> Any:
    fields = ({"properties": {f"k{i}": {"type": leaf}}, "required": [f"k{i % 7}"]} for i in range(400))
    return {"type": "object", "oneOf": list(fields)}


@pytest.mark.timeout(60)
def test_hostile_schemas_end_at_the_ceiling_with_its_reason(here: Govctl, tmp_path: Path) -> None:
    files = pair(tmp_path, overlapping("integer"), overlapping("number"))
    done = here("diff", *files, "--side", "input", "--ceiling-ms", "50", "-o", "json")
    assert done.code == 3, done.err
    assert done.json["verdict"] == "undecided"
    assert "(time)" in done.json["reason"]


def test_a_batch_answers_a_hostile_line_and_goes_on(here: Govctl, tmp_path: Path) -> None:
    lines = [
        {"id": 1, "old": overlapping("integer"), "new": overlapping("number")},
        {"id": 2, "old": {"minimum": 1}, "new": {"minimum": 0}},
    ]
    batch = tmp_path / "pairs.jsonl"
    batch.write_text("\n".join(map(json.dumps, lines)))
    done = here("diff", "--batch", batch, "--side", "input", "--ceiling-ms", "50", "-o", "jsonl")
    assert [line["verdict"] for line in done.lines] == ["undecided", "compatible"]
    assert done.lines[0]["micros"] < 5_000_000


@pytest.mark.parametrize("word", ["-1", "1.5", "soon", "99999999", ""])
def test_a_ceiling_that_is_none_is_refused(here: Govctl, tmp_path: Path, word: str) -> None:
    files = pair(tmp_path, True, True)
    done = here("diff", *files, "--side", "input", f"--ceiling-ms={word}")
    assert done.code == 2
    assert "milliseconds" in done.err


class Agreeable:
    """A second opinion that proves everything it is asked."""

    asked = 0

    def __init__(self, **_: object) -> None: ...

    def __call__(self, old: Any, new: Any, **_: object) -> bool:
        Agreeable.asked += 1
        return True

    def close(self) -> None: ...


def test_the_second_opinions_proof_is_named_and_can_be_done_without(
    here: Govctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("governance.cli.comparing.CoversWorker", Agreeable)
    files = pair(tmp_path, *BACK_REFERENCE)
    done = here("diff", *files, "--side", "input", "-o", "json", "--out", tmp_path / "a.json", "-o", "text")
    assert done.code == 0
    assert "by the second opinion's proof" in done.out.splitlines()[0]
    assert json.loads((tmp_path / "a.json").read_text())["second_opinion"] == ["input"]
    assert Agreeable.asked == 1
    alone = here("diff", *files, "--side", "input", "--no-second-opinion", "-o", "json")
    assert alone.json["verdict"] == "undecided"
    assert Agreeable.asked == 1


def test_a_check_can_do_without_it_too(here: Govctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("governance.cli.comparing.CoversWorker", Agreeable)
    tools = [
        {"name": "find", "description": "Find.", "inputSchema": {"type": "object", "properties": {"a": schema}}}
        for schema in BACK_REFERENCE
    ]
    files = pair(tmp_path, *tools)
    words = ("check", files[1], "--against", files[0], "--old-version", "1.0.0", "--version", "1.1.0")
    assert here(*words).code == 0
    assert here(*words, "--no-second-opinion").code == 3
