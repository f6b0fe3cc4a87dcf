"""What the README shows is what happens."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from governance.core.contract import REQUIRED
from governance.importers import import_text

ROOT = Path(__file__).resolve().parent.parent
# A fence opens at the start of a line, with or without a language, and closes at the next bare one.
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
SNIPPETS = [text for language, text in BLOCKS if language == "sh"]


def checked(snippet: str) -> str:
    """The snippet with each command's exit code compared to the one its comment names, else 0."""
    lines: list[str] = []
    here_document = False
    for line in snippet.splitlines():
        lines.append(line)
        if here_document:
            here_document = line != "END"
            continue
        here_document = "<<'END'" in line
        if here_document or line.rstrip().endswith("&") or " & #" in line or line.startswith("cd "):
            continue
        named = re.search(r"# exit (\d)$", line)
        expected = named.group(1) if named else "0"
        lines.append(
            f'code=$?; [ $code -eq {expected} ] || {{ echo "exit $code, not {expected}: line {len(lines)}"; exit 99; }}'
        )
    return "\n".join(lines)


def test_the_readme_has_the_snippets_that_are_run() -> None:
    assert len(SNIPPETS) == 6


@pytest.mark.timeout(240)
def test_the_snippets_run_one_after_the_other_as_shown(tmp_path: Path) -> None:
    home = tmp_path / "home"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("GOVCTL_", "DATABASE_"))},
        "PATH": f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "GOVCTL_HOME": str(home),
        "NO_COLOR": "1",
        **{f"GIT_{who}_{what}": "me" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    script = "set -m\n" + "\n".join(checked(snippet) for snippet in SNIPPETS)
    run = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=220, check=False
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-4000:]
    shown = next(text for language, text in BLOCKS if not language and "payload:" in text)
    for line in shown.splitlines():
        assert line in run.stdout


def test_the_native_manifest_of_the_readme_is_a_valid_one_and_its_fields_are_the_required_ones() -> None:
    text = next(text for language, text in BLOCKS if language == "yaml")
    (manifest,) = import_text(text.encode(), file="manifest.yaml").accepted
    assert manifest.name == "shop.orders.refund"
    named = [line.partition(":")[0] for line in text.splitlines() if line[:1].isalpha()]
    assert set(named[:7]) == set(REQUIRED)
