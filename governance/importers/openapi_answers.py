"""The answer of one OpenAPI operation that succeeds, as one schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from governance.core.canonical import escape
from governance.core.compat.model import JSON
from governance.core.fields import kind_of
from governance.importers.openapi_parts import Part, Side, Unusable, media_of, resolved
from governance.importers.openapi_schema import Schemas
from governance.importers.values import written

_SUCCESS: Final = re.compile(r"2(\d\d|XX)", re.IGNORECASE)


def output_of(document: Mapping[str, JSON], schemas: Schemas, operation: Mapping[str, JSON], pointer: str) -> Side:
    """The answer of an operation that succeeds: the JSON of its 2xx responses. Several make an ``anyOf``, an answer
    without content is null among them; none at all says nothing."""
    side = Side()
    responses = operation.get("responses")
    if responses is None:
        return side
    if not isinstance(responses, Mapping):
        side.unusable.append(Unusable(f"{pointer}/responses", f"an object is expected, not {kind_of(responses)}"))
        return side
    found: list[Part] = []
    empty = foreign = False
    about: dict[str, JSON] = {}
    for status, value in responses.items():
        try:
            response, where = resolved(document, value, f"{pointer}/responses/{escape(status)}")
        except Unusable as error:
            if _SUCCESS.fullmatch(status):
                side.unusable.append(error)
            continue
        content = response.get("content")
        kinds = list(content) if isinstance(content, Mapping) else []
        about[status] = {
            **{key: item for key, item in response.items() if key != "content"},
            **({"content": kinds} if kinds else {}),
        }
        if not _SUCCESS.fullmatch(status):
            continue
        media = media_of(content)
        if media is not None:
            piece = schemas.translate(media[1].get("schema", True), "output")
            found.append(Part(piece=piece, source=f"{where}/content/{escape(media[0])}/schema", pointer=""))
        empty, foreign = empty or not kinds, foreign or (bool(kinds) and media is None)
    if about:
        side.about["responses"] = about
    if found and not foreign:
        _join(side, found, empty=empty)
    return side


def _join(side: Side, found: list[Part], *, empty: bool) -> None:
    distinct = list({written(part.piece.schema): part for part in found}.values())
    if len(distinct) == 1 and not empty:
        side.parts = distinct
        schema = distinct[0].piece.schema
        side.schema = None if schema is True or schema == {} else schema
        return
    side.parts = [
        Part(piece=part.piece, source=part.source, pointer=f"/anyOf/{index}") for index, part in enumerate(distinct)
    ]
    ways: list[JSON] = [part.piece.schema for part in distinct]
    side.schema = {"anyOf": [*ways, {"type": "null"}] if empty else ways}
