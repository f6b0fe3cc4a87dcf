"""A running MCP server stands wherever a path does: imported, linted, checked, published, released, saved."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from governance.importers import import_paths
from tests.cli.conftest import Govctl
from tests.live.conftest import HttpServer
from tests.live.raw_server import TOOLS, tool

RAW = Path(__file__).parents[1] / "live" / "raw_server.py"


def server(habit: str | Path, *more: object) -> tuple[object, ...]:
    """The words of a started server; a path is a saved list that it offers."""
    return "--", sys.executable, RAW, f"file:{habit}" if isinstance(habit, Path) else habit, *more


def listed(file: Path, *tools: Any, version: str = "1.0.0") -> Path:
    file.write_text(json.dumps({"serverInfo": {"name": "shop", "version": version}, "tools": tools}))
    return file


def test_a_started_server_is_imported_with_its_name_and_version(here: Govctl) -> None:
    done = here("import", "mcp", "-o", "json", *server("plain"))
    assert done.code == 0, done.err
    assert [f"{one['name']}@{one['version']}" for one in done.json["accepted"]] == [
        "raw_server.create_refund@2.3.4",
        "raw_server.find_orders@2.3.4",
        "raw_server.get_user@2.3.4",
    ]
    named = here("import", "mcp", "--namespace", "shop", "--version", "9.0.0", "-o", "json", *server("plain"))
    assert {f"{one['name']}@{one['version']}" for one in named.json["accepted"]} >= {"shop.get_user@9.0.0"}


def test_a_called_server_is_imported_with_secrets_from_the_environment(
    here: Govctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_AUTH", "Bearer s3cret")
    words = ("--header-env", "Authorization=SHOP_AUTH", "--header", "X-Team: shop")
    with closing(HttpServer("plain")) as called:
        done = here("import", "mcp", called.url, *words, "-o", "json")
    assert (done.code, len(done.json["accepted"])) == (0, 3)
    assert {(one["authorization"], one["x-team"]) for _, _, one in called.requests} == {("Bearer s3cret", "shop")}
    assert "s3cret" not in done.out + done.err


def test_what_is_saved_imports_as_the_server_did(here: Govctl, tmp_path: Path) -> None:
    saved = tmp_path / "tools.json"
    done = here("import", "mcp", "--save", saved, "-o", "json", *server("plain"))
    again = import_paths([saved])
    assert [one["contract_digest"] for one in done.json["accepted"]] == [one.contract_digest for one in again.accepted]
    assert [one["name"] for one in done.json["accepted"]] == [one.name for one in again.accepted]
    assert here("import", saved).code == 0


def test_noise_and_odd_tools_are_told(here: Govctl) -> None:
    noisy = here("import", "mcp", *server("noise"))
    assert noisy.code == 0
    assert "4 lines were no message" in noisy.out
    odd = here("import", "mcp", "-o", "json", *server("odd-tool"))
    assert (odd.code, [one["name"] for one in odd.json["refused"]]) == (7, ["odd"])


def test_a_server_that_fails_ends_with_5_and_its_last_words(here: Govctl) -> None:
    done = here("import", "mcp", "-o", "json", *server("dies"))
    assert (done.code, done.json["code"]) == (5, "tool-server-failed")
    assert "exit code 3" in done.err
    assert "no licence" in done.err
    assert "\x1b" not in done.err
    slow = here("lint", "mcp", "--timeout", "0.3", *server("silent"))
    assert slow.code == 5
    assert "within 0.3 seconds" in slow.err


def test_a_server_is_linted_and_checked_against_a_file(here: Govctl, tmp_path: Path) -> None:
    old = listed(tmp_path / "old.json", tool("find"))
    new = listed(tmp_path / "new.json", {**tool("find"), "inputSchema": {"type": "object", "required": ["x"]}})
    assert here("lint", "mcp", *server(old)).code == 0
    assert here("check", "mcp", "--against", old, *server(old)).code == 0
    refused = here("check", "mcp", "--against", old, "-o", "json", *server(new))
    assert refused.code == 1
    assert refused.json["decisions"][0]["verdict"] == "breaking"
    for form in ("sarif", "junit", "github", "markdown"):
        assert here("check", "mcp", "--against", old, "-o", form, *server(new)).code == 1


def test_a_server_without_a_tool_is_nothing_to_judge(here: Govctl, tmp_path: Path) -> None:
    for command in ("import", "lint", "check"):
        done = here(command, "mcp", *server(listed(tmp_path / "none.json")))
        assert done.code == 2
        assert "its list is empty" in done.err


def test_the_servers_own_flags_are_its_own(here: Govctl, tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    done = here(
        "import", "mcp", "--empty-env", "--env", "A=b=c", "--cwd", tmp_path, *server("tells", told, "-o", "json", "--")
    )
    assert done.code == 0, done.err
    assert done.out.startswith("IMPORT")
    seen = json.loads(told.read_text())
    assert seen["folder"] == str(tmp_path)
    assert seen["environment"]["A"] == "b=c"
    assert set(seen["environment"]) <= {"A", "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "SHELL"} | {
        "TERM",
        "TMPDIR",
        "TZ",
        "USER",
        "GOVCTL_STARTED_BY",
    }


def test_a_folder_called_mcp_is_a_path_as_ever(here: Govctl, tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    listed(tmp_path / "mcp" / "tools.json", tool("find"))
    assert here("import", "mcp").code == 0
    listed(tmp_path / "-odd.json", tool("find"))
    assert here("import", "--", "-odd.json").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("mcp", "--"), "no command after `--`"),
        (("mcp",), "Which MCP server?"),
        (("mcp", "python", "server.py"), "Which MCP server?"),
        (("mcp", "x.json", "--", "sh"), "What stands before `--` is 'mcp x.json'"),
        (("mcp", "ftp://host/"), "no address of"),
        (("https://host/mcp",), "is an address, not a path"),
        (("mcp", "http://[::1/mcp"), "no address of"),
        (("mcp", "--no-network", "https://host/mcp"), "--no-network says nothing here"),
        (("mcp", "--header", "A: b", "--", "sh"), "--header says nothing here"),
        (("mcp", "--header", "Ab", "https://host/"), "is no header"),
        (("mcp", "--header-env", "A", "https://host/"), "names no variable"),
        (("mcp", "--header-env", "A=NOT_SET_HERE", "https://host/"), "the environment has no 'NOT_SET_HERE'"),
        (("mcp", "--env", "A B=c", "--", "sh"), "is no variable"),
        (("mcp", "--cwd", "/no/such", "--", "sh"), "There is no folder"),
        (("mcp", "--", "no-such-program-here"), "There is no program"),
        (("--save", "x.json", "y.json"), "--save keeps what a server offers"),
    ],
)
def test_half_a_server_is_a_mistake_that_is_explained(here: Govctl, words: tuple[str, ...], said: str) -> None:
    done = here("import", *words)
    assert done.code == 2
    assert said in done.err.replace("is not the address of", "no address of")


def test_a_server_is_published_and_released(registry: Govctl, tmp_path: Path) -> None:
    offered = listed(tmp_path / "tools.json", *TOOLS)
    published = registry("publish", "mcp", *server(offered))
    assert published.code == 0, published.err
    checked = registry("catalogue", "check", "mcp", "--version", "1.1.0", *server(offered))
    assert checked.code == 0, checked.err
    released = registry("catalogue", "publish", "mcp", "--version", "1.1.0", "-o", "json", *server(offered))
    assert (released.code, released.json["catalogue"]) == (0, "shop")


def test_a_tool_list_is_given_an_owner_by_a_word_and_one_that_is_named_stays(govctl: Govctl, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    tools.write_text(json.dumps({"tools": [{"name": "weather", "description": "Weather.", "inputSchema": schema}]}))
    native = tmp_path / "native.json"
    named = {
        "name": "maps.route", "version": "1.0.0", "compatibility": "backward_compatible", "description": "A route.",
        "input_schema": schema, "output_schema": {"type": "object"}, "timeout_sec": 5, "owner": "maps",
    }  # fmt: skip
    native.write_text(json.dumps(named))
    done = govctl(
        "import", tools, native, "--version", "1.0.0", "--namespace", "met", "--owner", "weather", "-o", "json"
    )
    owners = {one["manifest"]["name"]: one["manifest"]["owner"] for one in done.json["accepted"]}
    assert owners == {"met.weather": "weather", "maps.route": "maps"}
    assert govctl("import", tools, "--owner", "two\nlines").code == 2
