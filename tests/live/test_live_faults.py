"""Whatever a server does, it is told what it did, in bounded time and memory, and nothing of it is left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from governance.errors import AuthError, ToolServerFailed, UsageError
from governance.live import Address, Bounds, Command, read_server
from tests.live.conftest import HERE, SOON, HttpServer, heard_from

HUNDRED_MEGABYTES = 100 * 1000 * 1000
ByHand = Callable[..., HttpServer]
BRIEF = replace(SOON, answer_sec=0.3)
"""For a server that says nothing, however slow the machine."""
ONCE_STARTED = replace(SOON, answer_sec=2)
"""For one that first says something."""


def complaint(habit: str, *argv: object, **options: Any) -> str:
    with pytest.raises(ToolServerFailed) as caught:
        heard_from(habit, *argv, **options)
    assert caught.value.fix
    return caught.value.message


@pytest.mark.parametrize(
    ("habit", "said"),
    [
        ("looping", "gave the cursor 'again' twice: its list has no end"),
        ("shifting", "changed its list while it was read, 4 times over"),
        ("announcing", "changed its list while it was read, 4 times over"),
        ("no-list", "answered `tools/list` without a list of tools"),
        ("numbered-cursor", "answered `tools/list` with a `nextCursor` that is no text"),
        ("list-fails", "answered `tools/list` with error -32603: database is down"),
        ("error-without-id", "answered `tools/list` with an error: Parse error"),
        ("twice", "answered `tools/list` with what cannot be read: "),
        ("deep", "answered `tools/list` with what cannot be read: it is past a limit"),
        ("surrogate", "answered `tools/list` with what cannot be read: "),
        ("huge-numbers", "answered `tools/list` with what cannot be read: it is past a limit"),
        ("no-object", "answered `tools/list` with neither a result nor an error"),
        ("neither", "answered `tools/list` with neither a result nor an error"),
        ("bad-utf8", "answered `tools/list` with what cannot be read: "),
        ("torn", "answered `tools/list` with what cannot be read: "),
        ("no-tools", "offers no tools; it offers prompts"),
        ("refuses", "answered `initialize` with error -32000: licence<U+001B>[31m expired"),
        ("strange-version", "could not be asked: Unsupported protocol version from the server: 1999-01-01"),
        ("strange-answer", "answered `initialize` with what is no such answer: "),
    ],
)
def test_what_a_server_does_wrong_is_said(habit: str, said: str) -> None:
    assert said in complaint(habit)


def test_a_list_without_end_is_left(tmp_path: Path) -> None:
    assert "gave 20 pages and no end of its list" in complaint("endless", bounds=replace(SOON, pages=20))
    assert "offers more than 150 tools" in complaint("many", bounds=replace(SOON, tools=150))


def test_a_server_that_dies_at_its_start_is_quoted_harmlessly() -> None:
    with pytest.raises(ToolServerFailed) as caught:
        heard_from("dies")
    assert caught.value.message.endswith(
        "closed its output before it answered `initialize`; it ended with exit code 3."
    )
    assert "Its last words: no licence for <U+001B>[31mthis<U+001B>[0m machine" in caught.value.fix
    assert caught.value.details["exit_code"] == 3


def test_a_server_that_ends_in_the_middle_is_quoted() -> None:
    with pytest.raises(ToolServerFailed) as caught:
        heard_from("ends")
    assert caught.value.message.endswith(
        "closed its output before it answered `tools/list`; it ended with exit code 7."
    )
    assert "out of memory" in caught.value.fix


@pytest.mark.parametrize(("habit", "bounds"), [("silent", BRIEF), ("deaf", BRIEF), ("hangs", ONCE_STARTED)])
def test_a_server_that_stays_silent_is_left_and_ended(habit: str, bounds: Bounds) -> None:
    stage = "tools/list" if habit == "hangs" else "initialize"
    assert f"did not answer `{stage}` within {bounds.answer_sec:g} seconds" in complaint(habit, bounds=bounds)


def test_what_a_server_prints_in_place_of_answers_is_told() -> None:
    with pytest.raises(ToolServerFailed) as caught:
        heard_from("chatters", bounds=ONCE_STARTED)
    assert "It printed what is no message: Listening on port 8000" in caught.value.fix


def test_a_server_that_never_stops_complaining_is_ended() -> None:
    with pytest.raises(ToolServerFailed) as caught:
        heard_from("complains", bounds=ONCE_STARTED)
    assert "all is wrong" in caught.value.fix


def test_a_server_that_says_goodbye_and_stays_is_ended() -> None:
    assert complaint("mute").endswith("closed its output before it answered `initialize`.")


def test_the_whole_has_an_end_however_often_a_server_answers() -> None:
    said = complaint("endless", bounds=replace(SOON, whole_sec=3, pages=1_000_000, tools=1_000_000))
    assert "was not done with `tools/list` after 3 seconds in all" in said


@pytest.mark.parametrize(("habit", "said"), [("huge", "more than 16 MiB"), ("flood", "sent more than 64 MiB")])
def test_a_hundred_megabytes_are_not_waited_for(habit: str, said: str, tmp_path: Path) -> None:
    written = tmp_path / "written"
    assert said in complaint(habit, written)
    assert written.stat().st_size < 99, "megabytes"


def test_everything_a_server_started_ends_with_it(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    heard_from("families", pids)
    child, daemon = map(int, pids.read_text().split())
    assert not lives(child)
    assert not lives(daemon)


def test_what_a_hanging_server_started_ends_too(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    complaint("families", pids, bounds=replace(SOON, pages=0))
    assert not any(map(lives, map(int, pids.read_text().split())))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["interrupt", "terminate"])
def test_who_ends_us_ends_the_server_too(tmp_path: Path, number: signal.Signals) -> None:
    pids = tmp_path / "pids"
    words = ("import", "mcp", "--", sys.executable, HERE / "raw_server.py", "lingers", pids)
    with subprocess.Popen([Path(sys.executable).with_name("govctl"), *words], stderr=subprocess.PIPE) as govctl:
        while not (pids.exists() and " " in pids.read_text()):
            assert govctl.poll() is None
        govctl.send_signal(number)
        assert govctl.wait(30) == 128 + number
    assert not any(map(lives, map(int, pids.read_text().split())))


def test_no_child_is_left_unreaped() -> None:
    complaint("silent", bounds=BRIEF)
    heard_from("plain")
    with pytest.raises(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pytest.fail("a child was left behind")


@pytest.mark.parametrize(
    ("argv", "options"),
    [
        (("no-such-program-here",), {}),
        (("/no/such/program",), {}),
        (("/",), {}),
        (("a\0b",), {}),
        (("sh", "a\0b"), {}),
        (("sh",), {"folder": "/no/such/folder"}),
    ],
)
def test_what_cannot_be_started_is_the_users_mistake(argv: tuple[str, ...], options: dict[str, Any]) -> None:
    command = Command(argv=argv, environment={"PATH": os.environ["PATH"]}, **options)
    with pytest.raises(UsageError):
        read_server(command, bounds=SOON)


@pytest.mark.parametrize("events", [False, True], ids=["json", "events"])
def test_a_hundred_megabytes_over_http_are_not_waited_for(by_hand_over_http: ByHand, events: bool) -> None:
    sent = [0]

    def body(message: dict[str, Any]) -> Iterator[bytes]:
        yield (b"data: " if events else b"") + b'{"jsonrpc": "2.0", "id": 2, "result": {"tools": ["'
        while sent[0] < HUNDRED_MEGABYTES:
            yield b"x" * 65536
            sent[0] += 65536

    server = by_hand_over_http("plain", events=events, body=body)
    with pytest.raises(ToolServerFailed, match="more than 16 MiB"):
        read_server(server.address, bounds=SOON)
    server.close()
    assert sent[0] < HUNDRED_MEGABYTES


@pytest.mark.parametrize("habit", ["looping", "shifting", "twice", "deep", "no-object", "no-tools", "list-fails"])
def test_over_http_the_same_is_said(by_hand_over_http: ByHand, habit: str) -> None:
    with pytest.raises(ToolServerFailed) as caught:
        read_server(by_hand_over_http(habit).address, bounds=SOON)
    assert caught.value.message.partition("/mcp ")[2] == complaint(habit).partition(f"{habit} ")[2]


@pytest.mark.parametrize(("habit", "said"), [("announcing", "changed its list"), ("huge-numbers", "cannot be read")])
def test_what_stands_in_events_is_heard(by_hand_over_http: ByHand, habit: str, said: str) -> None:
    with pytest.raises(ToolServerFailed, match=said):
        read_server(by_hand_over_http(habit, events=True).address, bounds=SOON)


def test_a_compressed_answer_is_not_unpacked(by_hand_over_http: ByHand) -> None:
    server = by_hand_over_http("plain", headers={"content-encoding": "gzip"})
    with pytest.raises(ToolServerFailed, match="compresses its answers"):
        read_server(server.address, bounds=SOON)


def test_who_must_say_who_he_is_is_told_how(by_hand_over_http: ByHand) -> None:
    server = by_hand_over_http("plain", status=401)
    with pytest.raises(AuthError) as caught:
        read_server(server.address, bounds=SOON)
    assert caught.value.exit_code == 4
    assert "--header-env" in caught.value.fix


@pytest.mark.parametrize("status", [404, 405, 500, 503])
def test_a_status_is_told(by_hand_over_http: ByHand, status: int) -> None:
    with pytest.raises(ToolServerFailed, match=f"answered `initialize` with HTTP {status}"):
        read_server(by_hand_over_http("plain", status=status).address, bounds=SOON)


def test_headers_are_sent_and_never_to_another_host(by_hand_over_http: ByHand) -> None:
    other = by_hand_over_http("plain")
    server = by_hand_over_http("plain", status=307, headers={"location": other.url})
    address = Address(url=server.url, headers=[("Authorization", "Bearer secret")])
    with pytest.raises(ToolServerFailed, match="not followed"):
        read_server(address, bounds=SOON)
    assert {headers["authorization"] for _, _, headers in server.requests} == {"Bearer secret"}
    assert other.requests == []
    read_server(replace(address, url=other.url), bounds=SOON)
    assert {headers.get("authorization") for _, _, headers in other.requests} == {"Bearer secret"}
    assert {headers["accept-encoding"] for _, _, headers in other.requests} == {"identity"}


@pytest.mark.parametrize(
    "address",
    [
        Address(url="ftp://127.0.0.1/mcp"),
        Address(url="file:///etc/passwd"),
        Address(url="http://"),
        Address(url="http://127.0.0.1:99999/"),
        Address(url="http://host name/"),
        Address(url="http://[::1/mcp"),
        Address(url="http://127.0.0.1/", headers=[("a b", "c")]),
        Address(url="http://127.0.0.1/", headers=[("X", "a\r\nY: b")]),
        Address(url="http://127.0.0.1/", headers=[("X", "ü")]),
    ],
)
def test_what_is_no_address_is_the_users_mistake(address: Address) -> None:
    with pytest.raises(UsageError):
        read_server(address, bounds=SOON)


def test_a_port_where_nobody_listens_is_said() -> None:
    with pytest.raises(ToolServerFailed, match="does not answer"):
        read_server(Address(url="http://127.0.0.1:1/mcp"), bounds=SOON)


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False
