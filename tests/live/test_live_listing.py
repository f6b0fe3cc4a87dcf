"""A list read in pages is the list, wherever it was cut; what is not one list is refused."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.errors import ToolServerFailed
from governance.live import Address, Bounds
from governance.live.conversation import Conversation
from governance.live.listing import Changes, Listing, whole_list
from tests.importers.generated_tools import TOOLS

Pages = list[list[Any]]
READINGS = Bounds().readings


def read(pages_of: Callable[[int], Pages], *, during: Callable[[int, Changes], None] | None = None) -> Listing:
    """``pages_of``: the pages of each reading, counted from 1; ``during`` is called before each of its pages."""
    changes = Changes()
    reading = 0

    async def ask(cursor: str | None) -> Any:
        nonlocal reading
        reading += cursor is None
        if during is not None:
            during(reading, changes)
        pages, at = pages_of(reading), int(cursor or 0)
        return {"tools": pages[at], **({"nextCursor": str(at + 1)} if at + 1 < len(pages) else {})}

    conversation = Conversation(server=Address(url="http://host.example/mcp"), bounds=Bounds())
    return anyio.run(whole_list, ask, conversation, changes)


@given(st.lists(st.lists(TOOLS, max_size=3), min_size=1, max_size=4))
def test_where_the_list_was_cut_does_not_matter(pages: Pages) -> None:
    listing = read(lambda reading: pages)
    assert listing == Listing(tools=list(chain.from_iterable(pages)), pages=len(pages))


@given(st.lists(TOOLS, min_size=2, max_size=4), st.integers(1, READINGS - 1))
def test_a_list_that_changed_counts_once_two_readings_agree(tools: list[Any], settled: int) -> None:
    def pages_of(reading: int) -> Pages:
        return [[tools[0]], [*tools[1:], *[{"name": f"new{reading}"}] * (reading < settled)]]

    assert read(pages_of).tools == tools


def test_a_list_that_never_settles_is_refused() -> None:
    with pytest.raises(ToolServerFailed, match=f"{READINGS} times over"):
        read(lambda reading: [[{"name": str(reading)}], []])


def test_what_changed_meanwhile_is_read_again_though_it_is_one_page() -> None:
    def during(reading: int, changes: Changes) -> None:
        changes.told += reading < READINGS

    assert read(lambda reading: [[{"name": str(reading)}]], during=during).tools == [{"name": str(READINGS)}]
