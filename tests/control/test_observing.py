"""Log lines: JSON for machines, and on a terminal what a person should read."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from governance.control.observing import log_to


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def loggers_as_they_were() -> Iterator[None]:
    kept = [(logger := logging.getLogger(name), logger.handlers, logger.level) for name in ("governance", "uvicorn")]
    yield
    for logger, handlers, level in kept:
        logger.handlers, logger.propagate = handlers, True
        logger.setLevel(level)


def written(stream: io.StringIO) -> str:
    log_to(stream)
    log = logging.getLogger("governance.request")
    log.info("request", extra={"route": "/v1/skills"})
    log.warning("nobody reads\x1b[2J this", extra={"variable": "GOVCTL_X", "hint": "password=hunter2"})
    return stream.getvalue()


def test_a_terminal_shows_warnings_as_sentences_and_no_request() -> None:
    (line,) = written(Terminal()).splitlines()
    assert line == r"warning: nobody reads\x1b[2J this (variable=GOVCTL_X, hint=password=***)"


def test_anything_else_gets_every_line_as_json() -> None:
    lines = [json.loads(line) for line in written(io.StringIO()).splitlines()]
    assert [line["level"] for line in lines] == ["info", "warning"]
    assert (lines[0]["route"], lines[1]["hint"]) == ("/v1/skills", "password=***")
