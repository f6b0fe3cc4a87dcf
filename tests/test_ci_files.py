"""What users put into their CI: valid by its host's schema, and its shell does what it says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree as ET

import jsonschema_rs
import pytest
import yaml

from governance.cli.proving import DEFAULT_AUDIENCE, may_prove

ROOT = Path(__file__).parents[1]
SCHEMAS = ROOT / "tests" / "data" / "schemas"
GOVCTL = Path(sys.executable).with_name("govctl")
ACTION = yaml.safe_load((ROOT / "deploy/ci/github-action/action.yml").read_text())
GITLAB = yaml.safe_load((ROOT / "deploy/ci/gitlab.yml").read_text())
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
DOCS = (ROOT / "docs" / "ci.md").read_text()

OLD = {"name": "find", "description": "Finds orders.", "inputSchema": {"type": "object", "properties": {"q": {}}}}
NEW = {**OLD, "inputSchema": {**OLD["inputSchema"], "required": ["q"]}}
MARKER = "<!-- govctl check -->"


def complaints(schema: str, document: Any) -> list[str]:
    validator = jsonschema_rs.validator_for(json.loads((SCHEMAS / schema).read_text()))
    return [str(error) for error in validator.iter_errors(document)]


def workflows() -> list[Any]:
    found = (one for one in re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL) if "runs-on" in one)
    # YAML 1.1 reads `on` as true
    return [{("on" if key is True else key): value for key, value in yaml.safe_load(one).items()} for one in found]


def test_the_action_is_valid_action_metadata() -> None:
    assert complaints("github-actions.json", ACTION) == []


def test_the_documented_workflows_are_valid_and_use_inputs_the_action_has() -> None:
    checking, publishing = workflows()
    for document in (checking, publishing):
        assert complaints("github-workflows.json", document) == []
        (job,) = document["jobs"].values()
        (step,) = (one for one in job["steps"] if "github-action" in one["uses"])
        assert step["with"].keys() <= ACTION["inputs"].keys()
        assert step["uses"].endswith("/deploy/ci/github-action@main")
    assert "token" not in step["with"]
    assert publishing["permissions"]["id-token"] == "write"


def test_the_gitlab_template_is_valid() -> None:
    assert complaints("gitlab-ci.json", GITLAB) == []


def test_no_step_puts_an_input_into_its_shell() -> None:
    """An expression inside a script is a way in for whoever names a branch."""
    assert [step["name"] for step in ACTION["runs"]["steps"] if "${{" in step.get("run", "")] == []


def test_the_hooks_have_what_pre_commit_asks_for() -> None:
    for hook in HOOKS:
        assert {"id", "name", "entry", "language"} <= hook.keys()
        assert re.compile(hook["files"]).search("my/skills/orders.yaml")
        assert re.compile(hook["files"]).search("SKILL.md")
        assert not re.compile(hook["files"]).search("package.json")
    assert [hook["id"] for hook in HOOKS] == re.findall(r"- id: (govctl\S+)", DOCS)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A checkout whose skill breaks its callers in the work tree."""
    root = tmp_path / "checkout"
    (root / "skills").mkdir(parents=True)
    file = root / "skills" / "tools.json"
    file.write_text(json.dumps({"tools": [OLD]}, indent=1))
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", "before")
    file.write_text(json.dumps({"tools": [NEW]}, indent=1))
    return root


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def bash(script: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A step as the runner starts it."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    environment = {
        **kept,
        "PATH": f"{variables.pop('BIN', '')}:{Path(sys.executable).parent}:{kept['PATH']}",
        **variables,
    }
    return subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=120)


def step(name: str) -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = (one for one in ACTION["runs"]["steps"] if one.get("name") == name)
    return found


def run_check(
    repository: Path, tmp_path: Path, **inputs: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """The Action's check; its outputs too."""
    temporary = tmp_path / "runner"
    (temporary / "govctl" / "bin").mkdir(parents=True, exist_ok=True)
    link = temporary / "govctl" / "bin" / "govctl"
    if not link.exists():
        link.symlink_to(GOVCTL)
    output = tmp_path / "output"
    output.write_text("")
    values = {**dict.fromkeys(step("Check")["env"], ""), **inputs}
    done = bash(
        step("Check")["run"],
        repository,
        RUNNER_TEMP=str(temporary),
        GITHUB_OUTPUT=str(output),
        GITHUB_WORKSPACE=str(repository),
        GITHUB_STEP_SUMMARY=str(tmp_path / "summary"),
        GOVCTL_HOME=str(tmp_path / "home"),
        **values,
    )
    return done, dict(line.split("=", 1) for line in output.read_text().splitlines())


def test_the_action_checks_against_where_the_pull_request_starts(repository: Path, tmp_path: Path) -> None:
    done, outputs = run_check(
        repository, tmp_path, SKILL_PATHS="\nskills\n\n", BASE_SHA=git(repository, "rev-parse", "HEAD")
    )
    assert done.returncode == 0, done.stderr
    assert (outputs["decision"], outputs["exit-code"]) == ("block", "1")
    assert "::error file=skills/tools.json,line=" in done.stdout
    assert {path.name for path in Path(outputs["reports"]).iterdir()} == {
        "report.sarif", "report.xml", "report.md", "report.json",
    }  # fmt: skip
    assert (tmp_path / "summary").read_text().startswith("### ❌ block")
    assert bash(step("Verdict")["run"], repository, CODE=outputs["exit-code"]).returncode == 1


def test_inputs_are_words_and_never_flags_or_shell(repository: Path, tmp_path: Path) -> None:
    hostile = "$(touch pwned)\n--fail-on=never\n; touch pwned"
    done, outputs = run_check(repository, tmp_path, SKILL_PATHS=hostile, AGAINST="git:HEAD")
    assert done.returncode == 0
    assert outputs["exit-code"] == "2"
    assert outputs["decision"] == ""
    assert "There is no '$(touch pwned)'." in done.stderr
    assert not list(repository.rglob("pwned"))


def test_a_publishing_action_asks_the_registry_alone_and_keeps_the_way_to_prove_who_it_is(
    repository: Path, tmp_path: Path
) -> None:
    seen = tmp_path / "runner" / "govctl" / "bin" / "govctl"
    seen.parent.mkdir(parents=True)
    seen.write_text('#!/bin/bash\nprintf "%s\\n" "$@"; env | grep -E "^(GOVCTL|ACTIONS)_" || true\n')
    seen.chmod(0o755)
    asked = {
        "SKILL_PATHS": "skills",
        "GOVCTL_SERVER": "https://skills.example.com",
        "ACTIONS_ID_TOKEN_REQUEST_URL": "https://host.example/token",
    }
    told = {}
    for publish, audience in (("true", "https://skills.example.com"), ("false", "")):
        words = {"PUBLISH": publish, "GOVCTL_OIDC_AUDIENCE": audience, "AGAINST": "registry", "OLD_VERSION": "1.0.0"}
        done, _ = run_check(repository, tmp_path, **asked, **words)
        told[publish] = done.stdout.splitlines()
    assert told["true"][0] == "publish"
    assert "GOVCTL_OIDC_AUDIENCE=https://skills.example.com" in told["true"]
    assert not [one for one in told["true"] if one.startswith(("--against", "--old-version", "GOVCTL_TOKEN"))]
    assert told["false"][0] == "check"
    assert {"--against=registry", "--old-version=1.0.0"} <= set(told["false"])
    assert not [one for one in told["false"] if one.startswith(("GOVCTL_TOKEN", "GOVCTL_OIDC_AUDIENCE"))]
    assert "ACTIONS_ID_TOKEN_REQUEST_URL=https://host.example/token" in told["false"]


def test_the_gitlab_jobs_carry_an_id_token_under_the_name_that_govctl_reads() -> None:
    token = {"GOVCTL_OIDC_TOKEN": {"aud": "$GOVCTL_OIDC_AUDIENCE"}}
    assert GITLAB[".govctl"]["id_tokens"] == token
    assert {GITLAB[job]["extends"] for job in ("govctl", "govctl-publish")} == {".govctl"}
    assert GITLAB["variables"]["GOVCTL_OIDC_AUDIENCE"]["value"] == DEFAULT_AUDIENCE
    assert may_prove(dict.fromkeys(token, "x"))


STAND_IN = """#!/bin/bash
printf '%s\\n' "$*" >> "$GH_LOG"
case "$*" in
  *--paginate*) [ -z "$GH_FAILS" ] || exit 1; printf '%s' "$GH_FOUND" ;;
esac
"""


@pytest.mark.parametrize(("found", "expected"), [("", "repos/o/r/issues/7/comments"), ("41\n42\n", "comments/41")])
def test_the_comment_is_made_once_and_then_replaced(
    repository: Path, tmp_path: Path, found: str, expected: str
) -> None:
    _, outputs = run_check(repository, tmp_path, SKILL_PATHS="skills", AGAINST="git:HEAD")
    report = Path(outputs["reports"]) / "report.md"
    done = run_comment(repository, tmp_path, report, GH_FOUND=found)
    assert done.returncode == 0, done.stderr
    asked, posted = (tmp_path / "gh.log").read_text().splitlines()
    assert f'startswith("{MARKER}")' in asked
    assert expected in posted
    assert ("PATCH" in posted) == bool(found)
    body = Path(f"{report}.body").read_text()
    assert body.startswith(f"{MARKER}\n\n### ❌ block")
    assert body.split("\n", 1)[1] == report.read_text().split("\n", 1)[1]


def run_comment(repository: Path, tmp_path: Path, report: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    stand_in = tmp_path / "bin" / "gh"
    stand_in.parent.mkdir(exist_ok=True)
    stand_in.write_text(STAND_IN)
    stand_in.chmod(0o755)
    values = {"ID": "check", "GH_FAILS": "", "GH_FOUND": "", "REPOSITORY": "o/r", "NUMBER": "7", **variables}
    return bash(
        step("Comment")["run"],
        repository,
        BIN=str(stand_in.parent),
        GH_LOG=str(tmp_path / "gh.log"),
        REPORT=str(report),
        **values,
    )


def test_a_token_that_may_not_comment_fails_nothing(repository: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.md"
    report.write_text("<!-- govctl -->\n\n### ok\n")
    done = run_comment(repository, tmp_path, report, GH_FAILS="1")
    assert done.returncode == 0
    assert done.stdout.startswith("::warning title=No comment::")
    assert run_comment(repository, tmp_path, tmp_path / "none.md").returncode == 0
    for bad in ('x") or true', "a--b", ""):
        assert run_comment(repository, tmp_path, report, ID=bad).returncode == 2


def test_the_gitlab_job_checks_a_merge_request(repository: Path, tmp_path: Path) -> None:
    job = GITLAB["govctl"]
    script = "\n".join(job["script"]).replace("/tmp/govctl/bin/govctl", str(GOVCTL))
    done = bash(
        script,
        repository,
        GOVCTL_HOME=str(tmp_path / "home"),
        CI_PROJECT_DIR=str(repository),
        CI_MERGE_REQUEST_DIFF_BASE_SHA=git(repository, "rev-parse", "HEAD"),
        SKILL_PATHS=GITLAB["variables"]["SKILL_PATHS"]["value"],
        GOVCTL_OPTIONS="--fail-on risky",
    )
    assert done.returncode == 1, done.stderr
    for file in job["artifacts"]["paths"]:
        assert (repository / file).stat().st_size > 0
    (failed,) = (one for one in ET.parse(repository / "govctl.xml").iter("testcase") if one.get("name") == "input")
    assert failed.get("file") == "skills/tools.json"


class Notes(BaseHTTPRequestHandler):
    """As much of GitLab's API as the job speaks with."""

    listed: ClassVar[list[dict[str, Any]]] = []
    written: ClassVar[list[tuple[str, str, str]]] = []

    def answer(self, value: Any) -> None:
        assert self.headers["PRIVATE-TOKEN"] == "glpat"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())

    def do_GET(self) -> None:
        first = 100 * (int(self.path.rpartition("&page=")[2]) - 1) if "page=" in self.path else 0
        self.answer({"id": 9} if self.path == "/user" else self.listed[first : first + 100])

    def write(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
        self.written.append((self.command, self.path, body))
        self.answer({})

    def do_POST(self) -> None:
        self.write()

    def do_PUT(self) -> None:
        self.write()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def gitlab() -> Iterator[str]:
    Notes.listed, Notes.written = [], []
    server = HTTPServer(("127.0.0.1", 0), Notes)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_gitlab_job_keeps_one_comment_of_its_own(gitlab: str, tmp_path: Path) -> None:
    (tmp_path / "govctl.md").write_text("<!-- govctl -->\n\n### ✅ allow\n")
    (script,) = GITLAB["govctl"]["after_script"]
    variables = {"CI_API_V4_URL": gitlab, "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "7"}
    assert bash(script, tmp_path, **variables).returncode == 0
    assert Notes.written == [], "without a token nothing is written"
    variables["GOVCTL_COMMENT_TOKEN"] = "glpat"
    notes = "/projects/3/merge_requests/7/notes"
    for author, expected in ((8, ("POST", notes)), (9, ("PUT", f"{notes}/150"))):
        others = [{"id": number, "author": {"id": 9}, "body": "hello"} for number in range(150)]
        Notes.listed = [*others, {"id": 150, "author": {"id": author}, "body": "<!-- govctl -->\n\nbefore"}]
        done = bash(script, tmp_path, **variables)
        assert done.returncode == 0, done.stderr
        assert Notes.written.pop()[:2] == expected
        assert Notes.written == []


def test_the_hooks_run_on_the_files_of_a_commit(repository: Path, tmp_path: Path) -> None:
    entries = {hook["id"]: hook["entry"].replace("govctl", str(GOVCTL), 1) for hook in HOOKS}
    home = {"GOVCTL_HOME": str(tmp_path / "home")}
    assert bash(f"{entries['govctl-lint']} skills/tools.json", repository, **home).returncode == 0
    done = bash(f"{entries['govctl-check']} skills/tools.json", repository, **home)
    assert done.returncode == 1
    assert "input.became-required" in done.stdout
    git(repository, "checkout", "--", "skills/tools.json")
    assert bash(f"{entries['govctl-check']} skills/tools.json", repository, **home).returncode == 0
