"""The image: what its last stage holds, and that no file of ours reaches it unasked. No engine builds it here."""

from __future__ import annotations

import json
import re
import subprocess

from deployed import PORT, ROOT, stages

BUILD, FINAL = stages((ROOT / "Dockerfile").read_text())


def test_the_bases_are_pinned_and_the_same() -> None:
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", FINAL.base)
    assert BUILD.base == FINAL.base  # the environment that is copied points to the base's Python


def test_it_runs_as_a_number_that_is_not_root_and_owns_its_home_alone() -> None:
    uid, gid = FINAL.only("USER").split(":")
    assert int(uid) >= 10_000
    assert int(gid) >= 10_000
    made = FINAL.only("RUN")
    home = FINAL.environment()["GOVCTL_HOME"]
    assert f"install --directory --owner={uid} --group={gid} --mode=0700 {home}" in made
    assert FINAL.only("VOLUME") == home
    words = [word for word, _ in FINAL.steps]
    assert words.index("USER") > max(words.index("RUN"), words.index("COPY"))


def test_the_last_stage_takes_nothing_but_the_environment_and_installs_no_build_tool() -> None:
    assert FINAL.only("COPY") == f"--from={BUILD.name} /opt/govctl /opt/govctl"
    assert not re.search(r"\b(pip|gcc|build-essential|git|curl)\b", FINAL.only("RUN"))
    assert "--without-pip /opt/govctl" in BUILD.only("RUN")
    assert all(word != "ARG" for stage in (BUILD, FINAL) for word, _ in stage.steps)  # no secret in a layer


def test_what_is_installed_is_the_wheel_with_the_versions_that_were_tested() -> None:
    run = BUILD.only("RUN")
    installs = [step for step in run.split("&&") if " install " in step]
    assert len(installs) == 2
    assert all("-c constraints.txt" in step for step in installs)
    assert "hatchling build -t wheel" in run
    assert installs[-1].strip().endswith("/dist/*.whl")


def test_everything_the_builder_copies_is_let_through_and_nothing_else() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    let_through = {rule.removeprefix("!") for rule in rules if rule.startswith("!")}
    copied = {source for word, arguments in BUILD.steps if word == "COPY" for source in arguments.split()[:-1]}
    assert copied == let_through
    assert all((ROOT / name).exists() for name in copied)


def test_a_secret_file_is_ignored_by_git() -> None:
    answer = subprocess.run(["git", "check-ignore", "-q", ".env"], cwd=ROOT, check=False)
    assert answer.returncode == 0


def test_it_serves_where_the_health_check_and_the_port_say() -> None:
    assert json.loads(FINAL.only("ENTRYPOINT")) == ["govctl"]
    assert json.loads(FINAL.only("CMD")) == ["serve", "--host", "0.0.0.0"]
    assert FINAL.only("EXPOSE") == PORT
    assert f"'127.0.0.1', {PORT}" in FINAL.only("HEALTHCHECK")
    assert "/livez" in FINAL.only("HEALTHCHECK")
