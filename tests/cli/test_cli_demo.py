"""The demo does the main job on its own, and leaves nothing behind."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Govctl


def test_the_demo_publishes_lets_in_and_refuses_with_a_payload(govctl: Govctl, tmp_path: Path) -> None:
    done = govctl("demo", "-o", "json", "--out", "demo.json", "-o", "text")
    assert done.code == 0, done.err
    shown = json.loads((tmp_path / "demo.json").read_text())
    assert set(shown["published"].values()) == {"1.0.0"}
    assert shown["accepted"]["shop.orders.find"] == "1.1.0"
    decisions = {one["skill"]: one for one in shown["check"]["decisions"]}
    assert decisions["shop.orders.find"]["bump"] == "minor"
    refused = decisions["shop.orders.refund"]
    assert refused["decision"] == "block"
    finding = next(f for f in refused["compared"][0]["findings"] if f["level"] == "breaking")
    assert finding["fix"]
    assert "reason" not in finding["witness"]["payload"]
    assert not Path(shown["home"]).exists()
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert shown["home"] not in left
    text = done.out
    order = [text.index(word) for word in ("DEMO", "2. Published", "3. A newer version", "4. Refused", "payload:")]
    assert order == sorted(order)
    assert "### ❌ block" in text
    assert "/docs" in text
    assert re.search(r"\(\d+ more lines: `govctl check NEW --against OLD -o markdown` writes all of them\.\)\n", text)


@pytest.mark.parametrize("newer", [True, False])
def test_the_demo_runs_on_given_catalogues(govctl: Govctl, tmp_path: Path, newer: bool) -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps({"tools": [{"name": "find", "description": "Find a thing.", "inputSchema": schema}]}))
    narrower = {**schema, "required": ["q"]}
    new.write_text(json.dumps({"tools": [{"name": "find", "description": "Find a thing.", "inputSchema": narrower}]}))
    done = govctl("demo", "--catalogue", old, *([new] if newer else []), "--namespace", "mine", "-o", "json")
    assert done.code == 0, done.err
    assert done.json["published"] == {"mine.find": "1.0.0"}
    assert done.json["check"]["bump"] == "major"
