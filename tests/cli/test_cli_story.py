"""The story of the README, word for word, against a real control plane: every exit code, answer and audit entry."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from governance.control.database import Database
from governance.control.exceptions.ending import EXCEPTION_ENDS
from governance.control.jobs import Job, Tools, run_job
from governance.control.lifecycle.sunsets import DUE_SUNSETS
from governance.control.settings import Settings
from governance.telemetry import Telemetry
from tests.cli.conftest import Done, Govctl

README = (Path(__file__).resolve().parent.parent.parent / "README.md").read_text(encoding="utf-8")
SECTION = README.partition("## A break that surprises nobody\n")[2].partition("\n## ")[0]
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", SECTION, re.M | re.S)
STORY = "".join(text for language, text in BLOCKS if language == "bash")
SHOWN = "".join(text for language, text in BLOCKS if not language)
SKILL = "shop.orders.status"


def flowing(text: str) -> str:
    """The words, wherever a terminal breaks the lines."""
    return " ".join(text.split())


@dataclass(kw_only=True)
class Telling:
    """Runs the story's lines: those of govctl in this process, the others by a shell."""

    govctl: Govctl
    folder: Path
    monkeypatch: pytest.MonkeyPatch
    clock: dict[str, Callable[[], None]]
    """By the first words of a comment, how the time it speaks of passes."""
    variables: dict[str, str]
    done: dict[str, list[Done]] = field(default_factory=dict)
    """By command, such as ``publish`` or ``exception add``."""

    def tell(self, story: str) -> None:
        for line in steps(story):
            if line.startswith("# "):
                for words, passes in self.clock.items():
                    if line.startswith(f"# {words}"):
                        passes()
            elif "govctl " in line and "<<" not in line:
                self._command(line)
            else:
                subprocess.run(["bash", "-ec", line], cwd=self.folder, check=True, timeout=30)

    def _command(self, line: str) -> None:
        wanted = int(found[1]) if (found := re.search(r"# exit (\d)$", line)) else 0
        words = [
            re.sub(r"\$([A-Z]+)", lambda name: self.variables[name[1]], word)
            for word in shlex.split(line, comments=True)
        ]
        with self.monkeypatch.context() as patch:
            while "=" in words[0]:
                patch.setenv(*words.pop(0).split("=", 1))
            assert words.pop(0) == "govctl"
            done = self.govctl(*words, cwd=self.folder)
        assert done.code == wanted, f"{line}\n{done.out}{done.err}"
        two = words[0] in ("exception", "consumer", "deployment", "environment", "audit")
        self.done.setdefault(" ".join(words[: 2 if two else 1]), []).append(done)
        if words[:2] == ["exception", "add"]:
            self.variables["EXCEPTION"] = re.findall(r"exc_[0-9a-f]+", done.out)[0]


def steps(story: str) -> Iterator[str]:
    """Lines, but what a here-document says stays with its command."""
    whole: list[str] = []
    for line in story.splitlines():
        whole.append(line)
        if "<<'END'" not in whole[0] or line == "END":
            yield "\n".join(whole)
            whole = []


@pytest.fixture
def passes(settings: Settings, owner_url: str) -> Iterator[Callable[[str, Job], None]]:
    """Time that passes for what a statement names, and the job that then is due."""
    database = Database(settings.database_url or "", settings)
    tools = Tools(database=database, settings=settings, telemetry=Telemetry())

    def pass_(statement: str, job: Job) -> None:
        with psycopg.connect(owner_url, autocommit=True) as connection:
            connection.execute(statement)
        assert run_job(job, tools) == 1

    yield pass_
    database.close()


def test_the_story_of_the_readme_goes_as_it_is_told(
    registry: Govctl, passes: Callable[[str, Job], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = registry("token", "create", "olu", "--grant", "approver:shop", "-o", "json").json["token"]
    back = ", ".join(
        f"{column} = {column} - interval '7 days'" for column in ("created_at", "approved_at", "expires_at")
    )
    telling = Telling(
        govctl=registry,
        folder=tmp_path,
        monkeypatch=monkeypatch,
        clock={
            "a week later": lambda: passes(f"UPDATE gate_exception SET {back}", EXCEPTION_ENDS),
            "400 days later": lambda: passes(
                "UPDATE skill_version_state SET sunset = sunset - 400, deprecated_on = deprecated_on - 400"
                " WHERE sunset IS NOT NULL",
                DUE_SUNSETS,
            ),
        },
        variables={"APPROVER": token},
    )
    telling.tell(STORY)
    done, exception = telling.done, telling.variables["EXCEPTION"]

    announced, amended = (one.out for one in done["deprecate"])
    assert "3 consumers served by it now" in announced
    assert "Callers of 1.0.0 cannot call shop.orders.status@2.0.0 as it is: breaking." in amended
    assert "held-back  chargeback" in done["publish"][1].out
    refused, let_in = done["deployment record"][1:]
    assert flowing(SHOWN) in flowing(refused.out)
    (how,) = re.findall(r"or: +(govctl exception add .*) --reason WHY", refused.out)
    assert f"\n{how} --reason " in STORY, "the refusal says the command that the story goes on with"
    assert "cannot approve it" in done["exception approve"][0].err
    assert f"By exception {exception} (moves on Monday) passes chargeback" in flowing(let_in.out)
    still, free = done["can-i-retire"]
    assert "chargeback: 1.0.0 serves it now, and nothing would" in flowing(still.out)
    assert free.out.startswith("YES  retire shop.orders.status 1.0.0.")
    assert "1.0.0 is deprecated, and its sunset is on" in flowing(free.out)
    assert exception in done["exception list"][0].out
    assert "shop.orders.status@^2" in done["resolve"][0].err

    exported = registry("audit", "export").lines
    told = [(one["action"], one["subject"], one["outcome"]) for one in exported if one["action"] != "check.run"]
    first, second, prod = f"{SKILL}@1.0.0", f"{SKILL}@2.0.0", f"{SKILL} in prod"
    assert told[told.index(("token.create", "olu", "done")) :] == [
        ("token.create", "olu", "done"),
        ("skill.publish", first, "done"),
        ("environment.set", "prod", "done"),
        ("deployment.record", prod, "done"),
        *(("consumer.register", name, "done") for name in ("returns", "helpdesk", "chargeback")),
        ("version.deprecate", first, "done"),
        ("skill.publish", second, "done"),
        ("version.deprecate", first, "done"),
        *(("consumer.register", name, "done") for name in ("returns", "helpdesk")),
        ("deployment.record", prod, "refused"),
        ("exception.ask", exception, "done"),
        ("exception.approve", exception, "refused"),
        ("exception.approve", exception, "done"),
        ("deployment.record", prod, "done"),
        ("exception.use", exception, "done"),
        ("consumer.register", "chargeback", "done"),
        ("exception.expired", exception, "done"),
        ("version.sunset", first, "done"),
        ("version.retire", first, "done"),
    ]
    actors = {one["subject"]: one["actor"]["name"] for one in exported if one["action"] == "exception.approve"}
    assert actors == {exception: "olu"}
    assert token not in json.dumps(exported)
