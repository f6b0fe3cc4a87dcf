"""Schemas of any size, as the growth of the engine's cost is measured: each with a last part that may be narrowed."""

from __future__ import annotations

from typing import Any, Final

from hard_pairs import NULL, S, any_of, needs, obj, one_of

NARROW: Final = S
WIDE: Final = {"type": ["string", "null"]}


def chain(size: int, last: Any) -> Any:
    """Objects within objects; one field changes, at the bottom."""
    for _ in range(size):
        last = obj(a=last)
    return last


def chain_of_changes(size: int, last: Any) -> Any:
    """Objects within objects; a field changes in each."""
    whole = last
    for _ in range(size):
        whole = obj(a=whole, b=last)
    return whole


def lists(size: int, last: Any) -> Any:
    """Lists within lists."""
    for _ in range(size):
        last = {"type": "array", "items": last}
    return last


def nullable(size: int, last: Any) -> Any:
    """Objects that may be null, within such objects."""
    for _ in range(size):
        last = {"anyOf": [{**obj(a=last), **needs("a")}, NULL]}
    return last


def references(size: int, last: Any) -> Any:
    """A chain of definitions."""
    definitions = {"d0": last} | {f"d{at}": obj(a={"$ref": f"#/$defs/d{at - 1}"}) for at in range(1, size + 1)}
    return {"$defs": definitions, "$ref": f"#/$defs/d{size}"}


def fields(size: int, last: Any) -> Any:
    """Fields, of which the last changes."""
    return obj(**{f"p{at}": S for at in range(size - 1)}, last=last)


def changed_fields(size: int, last: Any) -> Any:
    """Fields that all change."""
    return obj(**{f"p{at}": last for at in range(size)})


def tagged(size: int, last: Any) -> Any:
    """Branches that a constant tells apart, of which the last changes."""
    return one_of(*({**obj(k={"const": at}, v=last if at == size - 1 else S), **needs("k")} for at in range(size)))


def all_tagged(size: int, last: Any) -> Any:
    """Such branches, which all change."""
    return one_of(*({**obj(k={"const": at}, v=last), **needs("k")} for at in range(size)))


def overlapping(size: int, last: Any) -> Any:
    """Branches that nothing tells apart, which all change."""
    return any_of(*({**obj(**{f"k{at}": S}, v=last), **needs(f"k{at}")} for at in range(size)))
