"""What an exception was given for: the finding, and the schema object that holds what changed, on either side.

An exception names a finding by its fingerprint, which tells what changed and nothing around it. People agree to a
change where they see it, so an exception also keeps its surroundings, and stands only while they are the same.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from governance.core.compat.model import Finding, Side
from governance.core.schema.subschemas import is_index, subschema_at
from governance.core.skill import SkillManifest

_REFERENCE: Final = re.compile(r'"\$(?:ref|dynamicRef|recursiveRef)": "((?:[^"\\]|\\.)*)"')
"""As :func:`_text` writes one; a field of that name is taken for one too, which holds more together, never less."""
_MOST_READ: Final = 4 * 1024 * 1024
"""Characters of one contract; beyond them a place is surrounded by its whole schema."""


def surroundings(finding: Finding, old: SkillManifest, new: SkillManifest) -> str:
    """What surrounds a finding of ``compare(old, new)``, as ``OLD.NEW``, each 16 hex digits.

    Of a schema: the nearest schema object above the place of the finding, whole, with the definitions it refers
    to. Beside the schemas: the field. So whatever changes there gives another text, whatever changes elsewhere the
    same.
    """
    return between(finding, Enclosures(manifest=old), Enclosures(manifest=new))


def between(finding: Finding, old: Enclosures, new: Enclosures) -> str:
    """As :func:`surroundings`, with what is known of the two contracts already."""
    pointers = (finding.old_pointer, finding.new_pointer)
    there = next((one for one in pointers if one is not None), "")
    return ".".join(
        side.around(finding.side, there if pointer is None else pointer)
        for side, pointer in zip((old, new), pointers, strict=True)
    )


def moved(before: str, now: str) -> str:
    """Which sides differ between two texts of :func:`surroundings`, in words."""
    differ = [was != is_ for was, is_ in zip(before.split("."), now.split("."), strict=False)]
    if differ == [True, False]:
        return "the older contract"
    return "the newer contract" if differ == [False, True] else "both contracts"


@dataclass(kw_only=True)
class Enclosures:
    """What surrounds places of one contract; each schema object is gone through once."""

    manifest: SkillManifest
    _known: dict[int, str] = field(default_factory=dict)
    """By id of a schema object, which the manifest keeps alive."""
    _read: int = 0

    def around(self, side: Side, pointer: str) -> str:
        """16 hex digits over what surrounds a place, in the words of a finding."""
        tokens = _tokens(pointer)
        name = f"{side.value}_schema" if side is not Side.CONTRACT else tokens.pop(0) if tokens else ""
        if name in ("input_schema", "output_schema"):
            schema = getattr(self.manifest, name)
            return self._enclosing(schema, _holder(schema, tokens))
        # what has no place, such as a tool that is gone, is about the whole
        return _short(_text(self._fields.get(name)) if name else self.manifest.contract_digest)

    @cached_property
    def _fields(self) -> dict[str, Any]:
        return self.manifest.to_document()

    def _enclosing(self, schema: Any, holder: Any) -> str:
        if self._read > _MOST_READ:  # nested so that its objects hold each other over and over
            holder = schema
        known = self._known.get(id(holder))
        if known is None or not isinstance(holder, dict):
            known = self._known[id(holder)] = _short("\n".join(self._texts(schema, holder)))
        return known

    def _texts(self, schema: Any, holder: Any) -> Iterator[str]:
        """The holder, and every definition it leads to, each once; the whole schema, where that is too much."""
        reached, stack = {id(holder)}, [holder]
        while stack and self._read <= _MOST_READ:
            text = _text(stack.pop())
            self._read += len(text)
            yield text
            for found in sorted({found[1] for found in _REFERENCE.finditer(text)}):
                target = _target(schema, json.loads(f'"{found}"'))
                if id(target) not in reached:
                    reached.add(id(target))
                    stack.append(target)
        if stack:
            yield _text(schema)


def _holder(schema: Any, tokens: Sequence[str]) -> Any:
    """The nearest schema strictly above a place, as far as the schema goes along with its pointer."""
    holder = node = schema
    while tokens and isinstance(node, dict):
        holder = node
        found = subschema_at(node, tokens)
        if found is None:
            break
        node, used = found
        tokens = tokens[used:]
    return holder


def _target(schema: Any, reference: str) -> Any:
    """What a reference leads to; for one that is no pointer into the same schema, the whole of it."""
    if reference != "#" and not reference.startswith("#/"):
        return schema
    node = schema
    for token in _tokens(reference[1:]):
        if isinstance(node, dict) and token in node:
            node = node[token]
        elif isinstance(node, list) and is_index(token, node):
            node = node[int(token)]
        else:
            return schema
    return node


def _tokens(pointer: str) -> list[str]:
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]


def _text(value: Any) -> str:
    """The same text for the same value; what is written otherwise, such as 1.0 for 1, may be another."""
    return json.dumps(value, sort_keys=True, default=str)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
