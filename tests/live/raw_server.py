"""An MCP server by hand, without any SDK: ``python raw_server.py HABIT`` speaks over standard input and output.

A habit is a way to behave, good or bad; ``file:PATH`` offers what a saved list holds. :func:`answers` is shared with
the HTTP form of the same server.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

OBJECT = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
INFO = {"name": "raw-server", "version": "2.3.4"}


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"Does {name}.", "inputSchema": OBJECT, **more}


FULL = tool(
    "create_refund",
    title="Refund",
    outputSchema={"type": "object", "properties": {"refunded": {"type": "boolean"}}, "required": ["refunded"]},
    annotations={"destructiveHint": True, "idempotentHint": False, "openWorldHint": True},
    _meta={"vendor/team": "payments"},
    icons=[{"src": "data:image/png;base64,AA=="}],
)
TOOLS = [FULL, tool("findOrders"), tool("get-user")]
EXACT = """{"tools": [{"name": "weigh", "description": "Weighs.", "inputSchema": {"type": "object",
 "properties": {"g": {"type": "number", "maximum": 0.1000000000000000055, "multipleOf": 1.0}}}}]}"""


Answer = dict[str, Any] | str
"""A message; text goes out as it stands."""
_calls = count(1)


def answers(message: dict[str, Any], habit: str) -> Iterator[Answer]:
    """What is sent for one message of a client, in order."""
    method, number = message.get("method"), message.get("id")
    saved = json.loads(Path(habit.removeprefix("file:")).read_text()) if habit.startswith("file:") else {}
    if number is None:
        return
    if method == "initialize":
        if habit == "modern":
            yield error(number, -32601, "Method not found")
        elif habit == "refuses":
            yield error(number, -32000, "licence\x1b[31m expired")
        elif habit == "strange-version":
            yield result(number, {"protocolVersion": "1999-01-01", "capabilities": {"tools": {}}, "serverInfo": INFO})
        elif habit == "strange-answer":
            yield result(number, {"hello": "world"})
        else:
            offers: dict[str, Any] = {"prompts": {}} if habit == "no-tools" else {"tools": {"listChanged": True}}
            yield result(
                number,
                {"protocolVersion": "2025-06-18", "capabilities": offers, "serverInfo": saved.get("serverInfo", INFO)},
            )
    elif method == "server/discover" and habit == "modern":
        meta = {"io.modelcontextprotocol/serverInfo": INFO}
        found = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "public"}
        yield result(number, {**found, "resultType": "complete", "_meta": meta})
    elif method == "tools/list" and saved:
        yield result(number, {"tools": saved["tools"]})
    elif method == "tools/list":
        cursor = (message.get("params") or {}).get("cursor")
        yield from LISTS.get(habit, plain)(number, cursor)
    else:
        yield error(number, -32601, "Method not found")


def result(number: Any, value: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": value}


def error(number: Any, code: int, text: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}}


def plain(number: Any, cursor: str | None) -> Iterator[Answer]:
    yield result(number, {"tools": TOOLS})


def paged(number: Any, cursor: str | None) -> Iterator[Answer]:
    at = int(cursor or 0)
    more = {"nextCursor": str(at + 1)} if at + 1 < len(TOOLS) else {}
    yield result(number, {"tools": TOOLS[at : at + 1], **more})


def endless(number: Any, cursor: str | None) -> Iterator[Answer]:
    at = int(cursor or 0)
    yield result(number, {"tools": [tool(f"t{at}")], "nextCursor": str(at + 1)})


def looping(number: Any, cursor: str | None) -> Iterator[Answer]:
    yield result(number, {"tools": [tool(f"t{next(_calls)}")], "nextCursor": "again"})


def many(number: Any, cursor: str | None) -> Iterator[Answer]:
    yield result(number, {"tools": [tool(f"t{index}") for index in range(200)]})


def shifting(number: Any, cursor: str | None) -> Iterator[Answer]:
    """Each page is of another list."""
    call = next(_calls)
    yield result(number, {"tools": [tool(f"t{call}")], **({} if cursor else {"nextCursor": "2"})})


def announcing(number: Any, cursor: str | None) -> Iterator[Answer]:
    yield {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    yield result(number, {"tools": TOOLS})


def settling(number: Any, cursor: str | None) -> Iterator[Answer]:
    """The first reading is of a server that is still starting."""
    call = next(_calls)
    if call == 1:
        yield {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    yield result(number, {"tools": TOOLS[:1] if call == 1 else TOOLS})


def exact(number: Any, cursor: str | None) -> Iterator[Answer]:
    yield f'{{"jsonrpc": "2.0", "id": {number}, "result": {" ".join(EXACT.split())}}}'


def twice(number: Any, cursor: str | None) -> Iterator[Answer]:
    yield f'{{"jsonrpc": "2.0", "id": {number}, "result": {{"tools": [], "tools": []}}}}'


def deep(number: Any, cursor: str | None) -> Iterator[Answer]:
    yield f'{{"jsonrpc": "2.0", "id": {number}, "result": {{"tools": {"[" * 100_000}{"]" * 100_000}}}}}'


def surrogate(number: Any, cursor: str | None) -> Iterator[Answer]:
    yield f'{{"jsonrpc": "2.0", "id": {number}, "result": {{"tools": [{{"name": "\\ud800"}}]}}}}'


def huge_numbers(number: Any, cursor: str | None) -> Iterator[Answer]:
    for digits in ("9" * 5000, "1e99999"):
        yield f'{{"jsonrpc": "2.0", "id": {number}, "result": {{"tools": [{{"name": "a", "maximum": {digits}}}]}}}}'


def asking(number: Any, cursor: str | None) -> Iterator[Answer]:
    """It wants things of its client first."""
    yield {"jsonrpc": "2.0", "id": "s1", "method": "sampling/createMessage", "params": {}}
    yield {"jsonrpc": "2.0", "id": "s2", "method": "roots/list"}
    yield {"jsonrpc": "2.0", "id": "s3", "method": "ping"}
    yield result(number, {"tools": TOOLS})


def nobodys(number: Any, cursor: str | None) -> Iterator[Answer]:
    """Answers nobody asked for stand around the right one."""
    yield result(4711, {"tools": [tool("wrong")]})
    yield result(str(number), {"tools": TOOLS})
    yield result(4712, {"tools": [tool("wrong")]})


def fixed(value: Any) -> Callable[[Any, str | None], Iterator[Answer]]:
    return lambda number, cursor: iter([result(number, value)])


LISTS: dict[str, Callable[[Any, str | None], Iterator[Answer]]] = {
    "paged": paged,
    "endless": endless,
    "looping": looping,
    "many": many,
    "shifting": shifting,
    "announcing": announcing,
    "settling": settling,
    "exact": exact,
    "twice": twice,
    "deep": deep,
    "surrogate": surrogate,
    "huge-numbers": huge_numbers,
    "no-object": fixed([1, 2]),
    "neither": lambda number, cursor: iter([{"jsonrpc": "2.0", "id": number}]),
    "asking": asking,
    "nobodys": nobodys,
    "odd-tool": fixed({"tools": [{"name": "odd", "inputSchema": 7}, *TOOLS]}),
    "same-names": fixed({"tools": [tool("find"), tool("find"), tool("other")]}),
    "no-list": fixed({"tools": {"find": OBJECT}}),
    "numbered-cursor": fixed({"tools": TOOLS, "nextCursor": 7}),
    "null-cursor": fixed({"tools": TOOLS, "nextCursor": None}),
    "modern": fixed({"tools": TOOLS, "ttlMs": 0, "cacheScope": "public", "resultType": "complete"}),
    "list-fails": lambda number, cursor: iter([error(number, -32603, "database is down")]),
    "error-without-id": lambda number, cursor: iter([error(None, -32700, "Parse error")]),
}


def put(answer: Answer) -> None:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def before(habit: str, argv: list[str]) -> None:
    """What it does before it says anything."""
    if habit == "dies":
        sys.stderr.write("no licence for \x1b[31mthis\x1b[0m machine\n")
        sys.exit(3)
    if habit == "silent":
        time.sleep(600)
    if habit == "noise":
        print("Starting server…")
        print('{"level": "info", "msg": "ready"}', flush=True)
        sys.stdout.buffer.write(b"\xff\xfe broken\n" + b"x" * 300_000 + b"\n\n")
    if habit in ("families", "lingers"):
        starts_a_family(Path(argv[0]))
    if habit == "lingers":
        time.sleep(600)
    if habit == "tells":
        Path(argv[0]).write_text(json.dumps({"environment": dict(os.environ), "folder": str(Path.cwd())}))
    if habit == "complains":
        while True:
            os.write(2, b"all is wrong\n" * 1000)
    if habit == "chatters":
        print("Listening on port 8000", flush=True)
        time.sleep(600)
    if habit == "mute":
        os.close(1)
        time.sleep(600)
    if habit == "deaf":
        sys.stdin.close()
        time.sleep(600)


def starts_a_family(file: Path) -> None:
    """A child in its process group, and a grandchild in a session of its own whose parent is gone."""
    child = subprocess.Popen(["sleep", "600"])
    daemon = (
        "import os, sys, time\nif os.fork(): os._exit(0)\nos.setsid()\nprint(os.getpid(), flush=True)\ntime.sleep(600)"
    )
    told = subprocess.Popen([sys.executable, "-c", daemon], stdout=subprocess.PIPE, text=True)
    assert told.stdout is not None
    file.write_text(f"{child.pid} {told.stdout.readline()}")


def at_list(habit: str, number: Any, argv: list[str]) -> None:
    """What no message can say."""
    out = sys.stdout.buffer
    if habit == "ends":
        sys.stderr.write("out of memory\n")
        sys.exit(7)
    if habit == "hangs":
        time.sleep(600)
    if habit == "bad-utf8":
        out.write(b'{"jsonrpc": "2.0", "id": %d, "result": {"tools": [{"name": "\xff\xfe"}]}}\n' % number)
        out.flush()
    if habit == "torn":
        out.write(b'{"jsonrpc": "2.0", "id": %d, "result": {"tools": [\n' % number)
        out.flush()
    if habit in ("huge", "flood"):
        if habit == "huge":
            out.write(b'{"jsonrpc": "2.0", "id": %d, "result": {"tools": ["' % number)
        megabyte = b"x" * 1_000_000 if habit == "huge" else (b"noise" * 1999 + b"nois\n") * 100
        with Path(argv[0]).open("ab", buffering=0) as progress:
            for _ in range(100):
                out.write(megabyte)
                progress.write(b".")


def main(habit: str, *argv: str) -> None:
    before(habit, list(argv))
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "tools/list":
            at_list(habit, message["id"], list(argv))
        for answer in answers(message, habit):
            put(answer)


if __name__ == "__main__":
    main(*sys.argv[1:])
