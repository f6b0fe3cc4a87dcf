"""Skill names: what is one, and the one rule by which foreign spellings become one.

A name is dot.snake_case, at most 128 characters; the part before the last dot is its namespace.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

from governance.errors import InvalidName

MAX_NAME: Final = 128
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*", re.ASCII)
_CAMEL: Final = (
    (re.compile(r"([a-z0-9])([A-Z])"), r"\1_\2"),  # getUser → get_User
    (re.compile(r"([A-Z])([A-Z][a-z])"), r"\1_\2"),  # HTTPServer → HTTP_Server
)
_FOREIGN: Final = re.compile(r"[^a-z0-9]+")


def is_name(text: object) -> bool:
    """Is ``text`` a skill name as it stands?"""
    return isinstance(text, str) and len(text) <= MAX_NAME and _NAME.fullmatch(text) is not None


def check_name(text: object) -> str:
    """``text`` if it is a skill name.

    Raises:
        InvalidName: with the nearest spelling that would do.
    """
    if is_name(text):
        return str(text)
    raise InvalidName(f"{shown(text)} is not a skill name: {name_complaint(text)}.", fix=_advice(text))


def name_complaint(text: object) -> str:
    """What is wrong with a text that is no name, as the end of a sentence."""
    if not isinstance(text, str):
        return "a name is text"
    if not text:
        return "it is empty"
    if len(text) > MAX_NAME:
        return f"it has {len(text)} characters, {MAX_NAME} are allowed"
    return "names are dot.snake_case: lower-case letters, digits and underscores, parts joined by dots"


def snake_name(external: str) -> str:
    """The skill name a foreign spelling stands for; a name keeps its dots, every other mark becomes ``_``.

    Camel case is split, runs of other characters collapse to one ``_``, a part that begins with a digit gets
    ``n`` in front. A spelling without any ASCII letter or digit (``查询``) becomes ``n`` and eight hex digits
    of its hash, so that it stays one stable name. The result may still be too long: :func:`check_name` tells.
    """
    text = external
    for pattern, by in _CAMEL:
        text = pattern.sub(by, text)
    parts = (_FOREIGN.sub("_", part.lower()).strip("_") for part in text.split("."))
    named = [f"n{part}" if part[0].isdigit() else part for part in parts if part]
    if not named:
        return "n" + hashlib.sha256(external.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return ".".join(named)


def slug(text: str) -> str:
    """One namespace part for a package or server name: ``@scope/mcp-server`` → ``scope_mcp_server``."""
    return snake_name(text.replace(".", "_"))


def qualified(namespace: str, local: str) -> str:
    """``local`` inside ``namespace``; an empty namespace leaves it bare."""
    return f"{namespace}.{local}" if namespace else local


def shown(text: object, *, limit: int = 60) -> str:
    """Foreign text for a message: quoted, escaped, cut."""
    if not isinstance(text, str):
        return f"A {type(text).__name__}"
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return '"' + "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in cut) + '"'


def _advice(text: object) -> str:
    if isinstance(text, str) and text:
        near = snake_name(text)
        if is_name(near):
            return f'Write "{near}".'
    return "Write a name such as knowledge.extract."
