"""One stable rule brings every foreign spelling to a skill name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.names import MAX_NAME, check_name, is_name, qualified, slug, snake_name
from governance.errors import InvalidName


@pytest.mark.parametrize(
    ("external", "name"),
    [
        ("getUser", "get_user"),
        ("HTTPServerError", "http_server_error"),
        ("API-get-user", "api_get_user"),
        ("send.email", "send.email"),
        ("Send.Email Now", "send.email_now"),
        ("a__b", "a_b"),
        ("_private_", "private"),
        ("2fa-check", "n2fa_check"),
        ("v1.2x", "v1.n2x"),
        ("get--user!!", "get_user"),
        ("crééTicket", "cr_ticket"),
        ("knowledge.extract", "knowledge.extract"),
    ],
)
def test_foreign_spellings_map_by_one_rule(external: str, name: str) -> None:
    assert snake_name(external) == name


def test_a_spelling_without_latin_letters_stays_one_stable_name() -> None:
    assert snake_name("查询订单") == snake_name("查询订单") != snake_name("取消订单")
    assert is_name(snake_name("查询订单"))


@given(st.text(min_size=1, max_size=60))
def test_the_rule_always_gives_a_name_and_is_its_own_fixed_point(external: str) -> None:
    name = snake_name(external)
    assert is_name(name)
    assert snake_name(name) == name


@pytest.mark.parametrize(
    "text", ["", "A", "a..b", ".a", "a.", "1a", "a-b", "a b", "a\n", "a\x00", "é", "a" * 129, 3, None]
)
def test_what_is_no_name_is_refused_with_advice(text: object) -> None:
    assert not is_name(text)
    with pytest.raises(InvalidName) as caught:
        check_name(text)
    assert caught.value.fix


def test_the_longest_name_is_one() -> None:
    assert check_name("a" * MAX_NAME) == "a" * MAX_NAME


@pytest.mark.parametrize(
    ("package", "namespace"),
    [
        ("@notionhq/notion-mcp-server", "notionhq_notion_mcp_server"),
        ("mcp.server.git", "mcp_server_git"),
        ("Playwright", "playwright"),
    ],
)
def test_a_package_becomes_one_name_part(package: str, namespace: str) -> None:
    assert slug(package) == namespace
    assert qualified(namespace, "x") == f"{namespace}.x"
    assert qualified("", "x") == "x"
