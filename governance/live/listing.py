"""The whole list, page by page: that it ends, and that it is one list and not parts of two."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from governance.core.canonical import canonical_or_text
from governance.live.conversation import Conversation, told

Ask = Callable[[str | None], Awaitable[Any]]
"""From a cursor to the ``result`` of ``tools/list`` as it was sent."""

_ENDLESS: Final = "Correct the server: the last page has no `nextCursor`."


@dataclass(kw_only=True)
class Changes:
    """How often the server said that its list changed."""

    told: int = 0


@dataclass(frozen=True, kw_only=True)
class Listing:
    """One reading from the first page to the last."""

    tools: list[Any]
    pages: int


async def whole_list(ask: Ask, conversation: Conversation, changes: Changes) -> Listing:
    """A reading during which nothing changed. A list of several pages counts when two readings agree.

    Raises:
        ToolServerFailed: it does not end, has no tools where they belong, or changes each time.
    """
    before: Listing | None = None
    for _ in range(conversation.bounds.readings):
        said = changes.told
        listing = await _reading(ask, conversation)
        if changes.told != said:
            before = None
            continue
        if listing.pages == 1 or (before is not None and _same(before, listing)):
            return listing
        before = listing
    raise conversation.refuse(
        f"changed its list while it was read, {conversation.bounds.readings} times over",
        fix="Try again when the server has settled.",
    )


async def _reading(ask: Ask, conversation: Conversation) -> Listing:
    bounds = conversation.bounds
    conversation.begin_list()
    tools: list[Any] = []
    seen: set[str] = set()
    cursor: str | None = None
    for number in range(1, bounds.pages + 1):
        page = await ask(cursor)
        found = page.get("tools") if isinstance(page, dict) else None
        if not isinstance(found, list):
            raise conversation.refuse("answered `tools/list` without a list of tools")
        tools += found
        if len(tools) > bounds.tools:
            raise conversation.refuse(f"offers more than {bounds.tools:,} tools", fix="Split the server.")
        cursor = page.get("nextCursor")
        if not cursor:  # absent, null and empty all end the list in practice
            return Listing(tools=tools, pages=number)
        if not isinstance(cursor, str):
            raise conversation.refuse("answered `tools/list` with a `nextCursor` that is no text", fix=_ENDLESS)
        if cursor in seen:
            raise conversation.refuse(f"gave the cursor {told(cursor, 40)!r} twice: its list has no end", fix=_ENDLESS)
        seen.add(cursor)
    raise conversation.refuse(f"gave {bounds.pages:,} pages and no end of its list", fix=_ENDLESS)


def _same(one: Listing, other: Listing) -> bool:
    """The same tools; their order is not promised."""
    return sorted(map(canonical_or_text, one.tools)) == sorted(map(canonical_or_text, other.tools))
