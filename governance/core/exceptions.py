"""What an exception was given for: the finding, and the schema object that holds what changed, on either side.

An exception names a finding by its fingerprint, which tells what changed and nothing around it. People agree to a
change where they see it, so an exception also keeps its surroundings, and stands only while they are the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from governance.core.canonical import canonical_or_text
from governance.core.compat.model import Finding, Side
from governance.core.contract import OUTSIDE_CONTRACT
from governance.core.schema.subschemas import is_index, subschema_at
from governance.core.skill import SkillManifest

_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


def surroundings(finding: Finding, old: SkillManifest, new: SkillManifest) -> str:
    """What surrounds a finding of ``compare(old, new)``, as ``OLD.NEW``, each 16 hex digits.

    Of a schema: the nearest schema object above the place of the finding, whole, with the definitions it refers
    to. Beside the schemas: the field. So whatever changes there gives another text, whatever changes elsewhere the
    same.
    """
    return Enclosures(old=old, new=new).around(finding)


def moved(before: str, now: str) -> str:
    """Which sides differ between two texts of :func:`surroundings`, in words."""
    differ = [was != is_ for was, is_ in zip(before.split("."), now.split("."), strict=False)]
    if differ == [True, False]:
        return "the older contract"
    return "the newer contract" if differ == [False, True] else "both contracts"


@dataclass(frozen=True, kw_only=True)
class Enclosures:
    """The surroundings of every finding of one comparison; each schema is gone through once."""

    old: SkillManifest
    new: SkillManifest
    _known: dict[int, tuple[Any, str, frozenset[str]]] = field(default_factory=dict)
    """By id, with the value itself, so that no other comes to have its id."""

    def around(self, finding: Finding) -> str:
        """As :func:`surroundings`."""
        pointers = (finding.old_pointer, finding.new_pointer)
        there = next((one for one in pointers if one is not None), "")
        return ".".join(
            self._side(finding.side, manifest, _tokens(there if pointer is None else pointer))
            for manifest, pointer in zip(self._documents, pointers, strict=True)
        )

    @cached_property
    def _documents(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return self.old.to_document(), self.new.to_document()

    def _side(self, side: Side, manifest: dict[str, Any], tokens: list[str]) -> str:
        name = f"{side.value}_schema" if side is not Side.CONTRACT else tokens.pop(0) if tokens else ""
        if not name:  # what has no place, such as a tool that is gone, is about the whole
            return self._enclosing(None, {key: manifest[key] for key in manifest if key not in OUTSIDE_CONTRACT})
        value = manifest.get(name)
        return self._enclosing(value, _holder(value, tokens) if name.endswith("_schema") else value)

    def _enclosing(self, schema: Any, holder: Any) -> str:
        digest, wanted = self._read(holder)
        targets: dict[str, str] = {}
        stack = list(wanted)
        while stack:
            reference = stack.pop()
            if reference not in targets:
                targets[reference], further = self._read(_target(schema, reference))
                stack.extend(further)
        return _short("\n".join([digest, *(f"{name} {target}" for name, target in sorted(targets.items()))]))

    def _read(self, value: Any) -> tuple[str, frozenset[str]]:
        """The digest of a JSON value, and the references in it."""
        if not isinstance(value, dict | list):
            return _short(canonical_or_text(value)), frozenset()
        known = self._known.get(id(value))
        if known is None:
            known = self._known[id(value)] = (value, *self._fresh(value))
        return known[1:]

    def _fresh(self, value: dict[str, Any] | list[Any]) -> tuple[str, frozenset[str]]:
        pairs = sorted(value.items()) if isinstance(value, dict) else enumerate(value)
        lines = ["{" if isinstance(value, dict) else "["]
        references: set[str] = set()
        for key, child in pairs:
            digest, inside = self._read(child)
            lines.append(f"{canonical_or_text(key)} {digest}")
            references |= inside
            if key in _REFERENCES and isinstance(child, str):
                references.add(child)
        return _short("\n".join(lines)), frozenset(references)


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


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
