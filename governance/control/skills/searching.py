"""What a search sees of a skill, folded so that accents, case and width never stand in the way.

No extension of the database is needed: folding happens here, the database looks for substrings, which finds
words of languages that put no spaces between them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from governance.core.contract import SkillManifest

_MAX_FIELDS: Final = 2_000
MAX_INDEXED: Final = 200
"""Characters kept of a tag or a field's name: an index entry has a limit, and a filter takes no more."""
_MAX_TEXT: Final = 20_000
_LETTERS: Final = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "đ": "d", "ł": "l", "ı": "i", "\x00": " "})
_SCHEMA_MAPS: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def fold(text: str) -> str:
    """Text without accents, case and width, white space collapsed: ``Résumé`` and ``ＲＥＳＵＭＥ`` are one."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(char for char in decomposed if unicodedata.category(char) != "Mn").casefold()
    return re.sub(r"\s+", " ", bare.translate(_LETTERS)).strip()


def words(query: str) -> list[str]:
    """The parts of a query that must all be found, folded."""
    return [word for word in fold(query).split(" ") if word]


def like(word: str) -> str:
    """A LIKE pattern that finds ``word`` as it stands."""
    escaped = re.sub(r"([\\%_])", r"\\\1", word)
    return f"%{escaped}%"


def stems(word: str) -> str | None:
    """A regular expression for whole words of a text that ``word`` is a longer form of: refunds → refund.

    None where ``word`` is too short, or no word of letters alone. It costs up to two letters at the end.
    """
    if not re.fullmatch(r"[a-z]{5,64}", word):
        return None
    return rf"\m({word[:-1]}|{word[:-2]})\M" if len(word) > 5 else rf"\m{word[:-1]}\M"


def field_names(manifest: SkillManifest) -> list[str]:
    """Names of the fields both schemas declare, at any depth, as written; bounded."""
    names: dict[str, None] = {}
    stack: list[Any] = [manifest.output_schema, manifest.input_schema]
    while stack and len(names) < _MAX_FIELDS:
        node = stack.pop()
        if isinstance(node, Mapping):
            for keyword, child in node.items():
                if keyword == "properties" and isinstance(child, Mapping):
                    names |= dict.fromkeys(child)
                if keyword in _SCHEMA_MAPS and isinstance(child, Mapping):
                    stack.extend(child.values())
                elif keyword not in {"enum", "const", "default", "examples", "x-example"}:
                    stack.append(child)
        elif isinstance(node, list):
            stack.extend(node)
    return list(names)[:_MAX_FIELDS]


def folded_field(name: str) -> str:
    """A field's name as the index holds it and a search asks for it."""
    return fold(name[:MAX_INDEXED])[:MAX_INDEXED]


def searchable(manifest: SkillManifest, fields: list[str]) -> str:
    """All that a search by text looks through, folded; names also with their parts apart."""
    parts = [
        manifest.name,
        manifest.name.replace(".", " ").replace("_", " "),
        manifest.title or "",
        manifest.external_name or "",
        manifest.description,
        manifest.owner or "",
        *manifest.tags,
        *(rule.text for rule in manifest.business_rules),
        *(field[:MAX_INDEXED] for field in fields),
    ]
    return fold("\n".join(parts))[:_MAX_TEXT]
