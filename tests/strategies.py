"""Random schemas of every dialect, small changes to them, and values that have a chance to tell them apart.

Everything is small on purpose: three property names, few numbers, short strings. What matters is that keywords
meet, and they meet most often where there is little room.
"""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from governance.core.schema.dialects import DIALECTS, Dialect

NAMES = ("a", "b", "c")
PATTERNS = ("^a", "b$", "^[ab]*$", "a", "^.$", "^(a|b)+$", "^a?b?$", "^[^a]*$", "^a{2,3}$", "^\\d")
_SCALARS = (0, 1, 2, -1, 0.5, 1.0, 3, 10, "", "a", "b", "ab", "aa", True, False, None)
_TYPES = (
    "object", "object", "object", "array", "array", "string", "integer", "number", "boolean", "null",
    ["string", "null"], ["object", "array"], ["integer", "string"],
)  # fmt: skip
_BOUNDS = (0, 1, 2, -1, 0.5, 3)
_OF_OBJECTS = ("properties", "properties", "required", "additionalProperties", "patternProperties",
               "minProperties", "maxProperties", "propertyNames", "dependency")  # fmt: skip
_OF_ARRAYS = ("items", "items", "tuple", "minItems", "maxItems", "uniqueItems", "contains")
_OF_STRINGS = ("minLength", "maxLength", "pattern")
_OF_NUMBERS = ("minimum", "maximum", "exclusive", "multipleOf")
_OF_ALL = ("enum", "const", "anyOf", "oneOf", "allOf", "not", "if")
_SINCE = {"propertyNames": 6, "contains": 6, "const": 6, "if": 7,
          "unevaluatedProperties": 2019, "unevaluatedItems": 2019}  # fmt: skip

dialects = st.sampled_from(list(DIALECTS.values()))


def values(depth: int = 2) -> st.SearchStrategy[Any]:
    """JSON values over the names and scalars that the schemas speak of."""
    scalar = st.sampled_from(_SCALARS)
    if not depth:
        return scalar
    inner = values(depth - 1)
    return scalar | st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from((*NAMES, "aa")), inner, max_size=3)


@st.composite
def schemas(draw: st.DrawFn, dialect: Dialect, *, depth: int = 2, plain: bool = False, references: bool = True) -> Any:
    """A document of ``dialect``, sometimes with definitions that may refer to each other (``references``).

    ``plain`` leaves out what an oracle of the default reading does not know.
    """
    writer = _Writer(draw, dialect, plain=plain)
    if plain or not references or draw(st.integers(0, 3)):
        document = writer.schema(depth)
    else:
        writer.definitions = ("x", "y")
        document = writer.schema(depth)
        if isinstance(document, dict):
            place = "$defs" if dialect.draft >= 2019 else "definitions"
            document[place] = {name: writer.schema(1) for name in writer.definitions}
    if isinstance(document, dict):
        document["$schema"] = dialect.uri + ("#" if dialect.draft <= 7 else "")
    return document


@st.composite
def pairs(draw: st.DrawFn, dialect: Dialect, *, plain: bool = False, references: bool = True) -> tuple[Any, Any]:
    """Two documents, most often one and a small change of it, in either order."""
    one = schemas(dialect, plain=plain, references=references)
    old = draw(one)
    writer = _Writer(draw, dialect, plain=plain)
    new = writer.changed(old) if draw(st.integers(0, 3)) else draw(one)
    return (new, old) if draw(st.booleans()) else (old, new)


@st.composite
def mixed_pairs(draw: st.DrawFn) -> tuple[Any, Any]:
    """The same, but one of the two is read by the rules of any dialect, whatever it was written for."""
    one, other = draw(dialects.flatmap(pairs))
    dialect = draw(dialects)
    if isinstance(other, dict):
        other = {**other, "$schema": dialect.uri + ("#" if dialect.draft <= 7 else "")}
    return (other, one) if draw(st.booleans()) else (one, other)


class _Writer:
    def __init__(self, draw: st.DrawFn, dialect: Dialect, *, plain: bool) -> None:
        self.draw = draw
        self.dialect = dialect
        self.plain = plain
        self.definitions: tuple[str, ...] = ()

    def schema(self, depth: int) -> Any:
        draft = self.dialect.draft
        if draft >= 6 and _one_in(self.draw, 12):
            return self.draw(st.booleans())
        schema: dict[str, Any] = {}
        declared: Any = None
        if self.draw(st.integers(0, 2)):
            declared = schema["type"] = self.draw(st.sampled_from(_TYPES))
        for keyword in self.draw(st.lists(st.sampled_from(self.keywords(declared)), max_size=3)):
            self.write(schema, keyword, depth)
        return schema

    def keywords(self, declared: Any) -> list[str]:
        types = declared if isinstance(declared, list) else [declared]
        offered = list(_OF_ALL)
        for names, keywords in (
            (("object",), _OF_OBJECTS), (("array",), _OF_ARRAYS), (("string",), _OF_STRINGS),
            (("number", "integer"), _OF_NUMBERS),
        ):  # fmt: skip
            if declared is None or any(name in types for name in names):
                offered.extend(keywords)
        if self.plain:
            offered = [keyword for keyword in offered if keyword not in ("enum", "const", "not", "propertyNames")]
        elif self.dialect.draft >= 2019:
            offered += ["unevaluatedProperties", "unevaluatedItems"]
        if self.definitions:
            offered += ["$ref", "$ref"]
        return [keyword for keyword in offered if self.dialect.draft >= _SINCE.get(keyword, 0)]

    def child(self, depth: int) -> Any:
        if depth:
            return self.schema(depth - 1)
        plain = [{}, {"type": "string"}, {"type": "integer"}, {"type": "boolean"}]
        return self.draw(st.sampled_from(plain if self.dialect.draft == 4 else [*plain, True, False]))

    def children(self, depth: int) -> list[Any]:
        return [self.child(depth) for _ in range(self.draw(st.integers(1, 3)))]

    def write(self, schema: dict[str, Any], keyword: str, depth: int) -> None:
        draw, draft = self.draw, self.dialect.draft
        count = st.integers(0, 3)
        if keyword == "properties":
            schema[keyword] = {name: self.child(depth) for name in draw(_some(NAMES))}
        elif keyword == "required":
            schema[keyword] = draw(_some(NAMES, most=2))
        elif keyword == "patternProperties":
            schema[keyword] = {pattern: self.child(depth) for pattern in draw(_some(PATTERNS, most=2))}
        elif keyword in ("additionalProperties", "unevaluatedProperties", "unevaluatedItems"):
            schema[keyword] = draw(st.booleans()) or self.child(depth) if draw(st.integers(0, 2)) else False
        elif keyword in ("minProperties", "minItems", "minLength", "maxProperties", "maxItems", "maxLength"):
            schema[keyword] = draw(count)
        elif keyword == "propertyNames":
            offered = ({"pattern": draw(st.sampled_from(PATTERNS))}, {"maxLength": 1}, {"enum": ["a", "b"]}, False)
            schema[keyword] = draw(st.sampled_from(offered))
        elif keyword == "dependency":
            self.dependency(schema, depth)
        elif keyword == "items":
            schema[keyword] = self.child(depth)
        elif keyword == "tuple":
            schema[self.dialect.tuple_keyword] = self.children(depth)
            if draft < 2020 and draw(st.booleans()):
                schema["additionalItems"] = draw(st.booleans()) and self.child(depth)
        elif keyword == "uniqueItems":
            schema[keyword] = True
        elif keyword == "contains":
            schema[keyword] = self.child(depth)
            for bound in draw(_some(("minContains", "maxContains"), least=0)) if draft >= 2019 else ():
                schema[bound] = draw(st.integers(0, 2))
        elif keyword == "pattern":
            schema[keyword] = draw(st.sampled_from(PATTERNS))
        elif keyword in ("minimum", "maximum"):
            schema[keyword] = draw(st.sampled_from(_BOUNDS))
        elif keyword == "exclusive":
            side = draw(st.sampled_from(("minimum", "maximum")))
            edge = draw(st.sampled_from(_BOUNDS))
            name = "exclusive" + side.capitalize()
            schema.update({side: edge, name: True} if draft == 4 else {name: edge})
        elif keyword == "multipleOf":
            schema[keyword] = draw(st.sampled_from((1, 2, 3, 0.5, 1.5)))
        elif keyword == "enum":
            schema[keyword] = draw(st.lists(values(1), min_size=1, max_size=3, unique_by=_told_apart))
        elif keyword == "const":
            schema[keyword] = draw(values(1))
        elif keyword in ("anyOf", "oneOf", "allOf"):
            schema[keyword] = self.children(depth)
        elif keyword == "not":
            schema[keyword] = self.child(depth)
        elif keyword == "if":
            schema.update({"if": self.child(depth), "then": self.child(depth), "else": self.child(depth)})
        elif keyword == "$ref":
            place = "$defs" if draft >= 2019 else "definitions"
            schema[keyword] = f"#/{place}/{draw(st.sampled_from(self.definitions))}"

    def dependency(self, schema: dict[str, Any], depth: int) -> None:
        name = self.draw(st.sampled_from(NAMES))
        on_names = self.draw(st.booleans())
        target = [self.draw(st.sampled_from(NAMES))] if on_names else self.child(depth)
        if self.dialect.draft < 2019:
            schema["dependencies"] = {name: target}
        else:
            schema["dependentRequired" if on_names else "dependentSchemas"] = {name: target}

    def changed(self, document: Any) -> Any:
        """The document with one keyword taken out, written anew, or moved by one."""
        copied = copy.deepcopy(document)
        spots = [node for node in _objects(copied) if node]
        if not spots:
            return self.schema(1)
        spot = self.draw(st.sampled_from(spots))
        keys = [key for key in spot if not key.startswith("$") and key != "definitions"]
        how = self.draw(st.integers(0, 2))
        if how == 0 and keys:
            del spot[self.draw(st.sampled_from(keys))]
        elif how == 1:
            for key in keys:
                if type(spot[key]) is int and key not in ("const", "multipleOf"):
                    spot[key] = max(0, spot[key] + self.draw(st.sampled_from((-1, 1))))
        else:
            self.write(spot, self.draw(st.sampled_from(self.keywords(None))), 1)
        return copied


def _one_in(draw: st.DrawFn, times: int) -> bool:
    return draw(st.integers(1, times)) == times


def _some(options: tuple[str, ...], *, least: int = 1, most: int = 3) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(options), min_size=least, max_size=most, unique=True)


def _objects(node: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, dict):
            found.append(current)
            stack.extend(current.values())
        elif isinstance(current, list):
            stack.extend(current)
    return found


def _told_apart(value: Any) -> str:
    """Draft 4 asks that the values of an enum differ; ``1`` and ``1.0`` do not, ``1`` and ``true`` do."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, list):
        return f"[{','.join(map(_told_apart, value))}]"
    if isinstance(value, dict):
        return str([f"{key}:{_told_apart(value[key])}" for key in sorted(value)])
    return f"{type(value).__name__}:{value!r}"
