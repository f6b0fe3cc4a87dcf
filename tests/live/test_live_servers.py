"""A running server gives what its saved tool list gives, whoever wrote it and however it is reached."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from governance.cli.exact import dumps
from governance.importers import ImportResult, import_text
from governance.live import Address, Command, Heard, read_server
from tests.live.conftest import ROOT, SOON, HttpServer, heard_from
from tests.live.raw_server import EXACT, INFO, TOOLS

ByHand = Callable[..., HttpServer]


def skills(heard: Heard) -> ImportResult:
    return import_text(dumps(heard.document, indent=2), file="live")


def digests(result: ImportResult) -> dict[str, str]:
    assert not result.refused
    return {manifest.name: manifest.contract_digest for manifest in result.accepted}


def faults(result: ImportResult) -> list[tuple[str, str]]:
    return [(fault.pointer, fault.code) for refused in result.refused for fault in refused.error.faults]


CATALOGUES = sorted((ROOT / "tests" / "data" / "catalogues").glob("*-*.json"))
SAVED = import_text(json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": TOOLS}}), namespace="raw_server")


def test_a_started_server_gives_the_contracts_of_its_saved_list() -> None:
    heard = heard_from("plain")
    assert (heard.server, heard.protocol, heard.pages) == (INFO, "2025-06-18", 1)
    assert heard.tools == tuple(TOOLS)
    result = skills(heard)
    assert digests(result) == digests(SAVED)
    assert {manifest.version for manifest in result.accepted} == {"2.3.4"}


@pytest.mark.parametrize("events", [False, True], ids=["json", "events"])
def test_a_called_server_gives_the_contracts_of_its_saved_list(by_hand_over_http: ByHand, events: bool) -> None:
    heard = read_server(by_hand_over_http("plain", events=events).address, bounds=SOON)
    assert heard.tools == tuple(TOOLS)
    assert digests(skills(heard)) == digests(SAVED)


def test_a_server_of_the_official_sdk_is_the_same_over_both_transports(sdk_url: str) -> None:
    words = (sys.executable, "-m", "tests.live.sdk_server")
    started = read_server(Command(argv=words, environment=dict(os.environ), folder=str(ROOT)), bounds=SOON)
    called = read_server(Address(url=sdk_url), bounds=SOON)
    assert started.tools == called.tools
    assert dict(started.server) == dict(called.server) == {"name": "Shop Tools", "version": "1.4.0"}
    result = skills(called)
    assert digests(result) == digests(skills(started))
    assert [f"{one.name}@{one.version}" for one in result.accepted] == [
        "shop_tools.create_refund@1.4.0",
        "shop_tools.find_orders@1.4.0",
    ]
    assert result.accepted[0].dangerous


@pytest.mark.parametrize("catalogue", CATALOGUES, ids=lambda path: path.stem)
def test_real_catalogues_are_the_same_when_a_server_offers_them(catalogue: Path) -> None:
    saved = import_text(catalogue.read_bytes(), namespace="real")
    heard = heard_from(f"file:{catalogue}")
    offered = import_text(dumps(heard.document), namespace="real")
    assert digests(offered) == digests(saved)
    assert len(offered.accepted) == len(heard.tools) > 10


@pytest.mark.parametrize("events", [None, False, True], ids=["stdio", "json", "events"])
def test_numbers_arrive_digit_for_digit(by_hand_over_http: ByHand, events: bool | None) -> None:
    heard = (
        heard_from("exact")
        if events is None
        else read_server(by_hand_over_http("exact", events=events).address, bounds=SOON)
    )
    assert "0.1000000000000000055" in dumps(heard.document)
    saved = import_text(EXACT, namespace="raw_server")
    assert faults(skills(heard)) == faults(saved) == [("/input_schema/properties/g/maximum", "number")]


def test_pages_are_followed_to_the_end() -> None:
    heard = heard_from("paged")
    assert (heard.pages, heard.tools) == (3, tuple(TOOLS))


def test_a_cursor_of_null_ends_the_list() -> None:
    assert heard_from("null-cursor").pages == 1


def test_a_list_that_settles_is_read_anew() -> None:
    assert len(heard_from("settling").tools) == len(TOOLS)


def test_a_server_that_knows_no_handshake_is_asked_in_the_new_way() -> None:
    heard = heard_from("modern")
    assert (heard.protocol, heard.server, len(heard.tools)) == ("2026-07-28", INFO, 3)


def test_one_odd_tool_hides_no_other() -> None:
    result = skills(heard_from("odd-tool"))
    assert [refused.name for refused in result.refused] == ["odd"]
    assert len(result.accepted) == len(TOOLS)


def test_two_tools_of_one_name_are_refused_both() -> None:
    result = skills(heard_from("same-names"))
    assert {refused.error.code for refused in result.refused} == {"name-collision"}
    assert [manifest.name for manifest in result.accepted] == ["raw_server.other"]


def test_noise_on_standard_output_is_passed_over_and_counted() -> None:
    heard = heard_from("noise")
    assert (heard.noise, heard.first_noise) == (4, "Starting server…")
    assert heard.tools == tuple(TOOLS)


def test_requests_of_the_server_and_answers_nobody_asked_for_do_no_harm() -> None:
    assert heard_from("asking").tools == tuple(TOOLS)
    assert heard_from("nobodys").tools == tuple(TOOLS)


def test_an_endless_line_of_noise_takes_no_memory() -> None:
    narrow = replace(SOON, answer_bytes=100_000)
    assert heard_from("noise", bounds=narrow).tools == tuple(TOOLS)


def test_a_server_sees_the_environment_and_folder_it_is_given(tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    heard_from("tells", told, environment={"PATH": os.environ["PATH"], "MINE": "1"}, folder=str(tmp_path))
    seen = json.loads(told.read_text())
    assert seen["folder"] == str(tmp_path)
    assert seen["environment"]["MINE"] == "1"
    assert "HOME" not in seen["environment"]


def test_a_server_that_lets_nobody_go_is_left(by_hand_over_http: ByHand) -> None:
    server = by_hand_over_http("plain", clings=True, headers={"mcp-session-id": "1"})
    assert read_server(server.address, bounds=SOON).tools == tuple(TOOLS)


def test_who_asks_no_server_does_not_pay_for_the_sdk() -> None:
    program = "import sys, governance.cli.servers; print({'mcp', 'anyio', 'httpx2'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"


def test_the_label_of_a_command_keeps_its_secrets() -> None:
    words = ("npx", "-y", "@shop/server", "--api-key", "s3cret", "--token=s3cret", "AUTH_TOKEN=s3cret", "--port", "1")
    label = Command(argv=words, environment={}).label
    assert label == "mcp:npx -y @shop/server --api-key ... --token=... AUTH_TOKEN=... --port 1"


def test_the_label_of_an_address_keeps_its_secrets() -> None:
    address = Address(url="https://me:secret@host.example/mcp?key=secret#x", headers=[("Authorization", "secret")])
    assert address.label == "https://host.example/mcp"
    assert "secret" not in repr(address)
