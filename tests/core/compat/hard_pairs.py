# ruff: noqa: E501 - a row reads best as one line
"""Hard pairs and how their sets of values relate, worked out by hand; read as written.

``=`` equal, ``<`` the first lies strictly within the second, ``>`` the other way round, ``x`` neither within the other.
"""

from __future__ import annotations

from typing import Any, Final

Row = tuple[str, Any, Any, str]

S, I, N, B, NULL = ({"type": name} for name in ("string", "integer", "number", "boolean", "null"))  # noqa: E741
LETTER, DIGITS = {"pattern": "^[a-z]$"}, {"pattern": "^[0-9]+$"}


def obj(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def closed(**properties: Any) -> dict[str, Any]:
    return {**obj(**properties), "additionalProperties": False}


def arr(*prefix: Any, **rest: Any) -> dict[str, Any]:
    return {"type": "array", **({"prefixItems": list(prefix)} if prefix else {}), **rest}


def any_of(*branches: Any) -> dict[str, Any]:
    return {"anyOf": list(branches)}


def one_of(*branches: Any) -> dict[str, Any]:
    return {"oneOf": list(branches)}


def all_of(*branches: Any) -> dict[str, Any]:
    return {"allOf": list(branches)}


def no(schema: Any) -> dict[str, Any]:
    return {"not": schema}


def draft(number: int, schema: dict[str, Any]) -> dict[str, Any]:
    return {"$schema": f"http://json-schema.org/draft-0{number}/schema#", **schema}


def d2019(schema: dict[str, Any]) -> dict[str, Any]:
    return {"$schema": "https://json-schema.org/draft/2019-09/schema", **schema}


def needs(*names: str) -> dict[str, Any]:
    return {"required": list(names)}


NUMBERS: Final[list[Row]] = [
    ("an open end against the next integer", {**I, "exclusiveMinimum": 0}, {**I, "minimum": 1}, "="),
    ("an open end against the next number", {**N, "exclusiveMinimum": 0}, {**N, "minimum": 1}, ">"),
    ("open against closed at the same bound", {**N, "exclusiveMaximum": 3}, {**N, "maximum": 3}, "<"),
    ("a fraction far below a great bound", {**N, "maximum": 10**20}, {**N, "maximum": 10**20, "multipleOf": 1}, ">"),
    ("a fraction far above a great bound", {**N, "minimum": -(10**20)}, {**N, "minimum": -(10**20), "multipleOf": 1}, ">"),
    ("a small period below a great bound", {**N, "exclusiveMaximum": 10**20}, {**N, "exclusiveMaximum": 10**20, "multipleOf": 0.001}, ">"),
    ("a fractional period above a great bound", {**N, "multipleOf": 1.5}, {**N, "multipleOf": 1.5, "maximum": 10**20}, ">"),
    ("integers are multiples of one", I, {**N, "multipleOf": 1}, "="),
    ("integers are multiples of a half", I, {**N, "multipleOf": 0.5}, "<"),
    ("a tenth is exact", {**N, "multipleOf": 0.3}, {**N, "multipleOf": 0.1}, "<"),
    ("a seventh part in decimals", {**N, "multipleOf": 0.07}, {**N, "multipleOf": 0.01}, "<"),
    ("periods meet at their common multiple", all_of(I, {"multipleOf": 4}, {"multipleOf": 10}), {**I, "multipleOf": 20}, "="),
    ("periods of fractions", all_of(N, {"multipleOf": 0.5}, {"multipleOf": 0.75}), {**N, "multipleOf": 1.5}, "="),
    ("a point between two bounds", {**N, "minimum": 3, "maximum": 3}, {"const": 3}, "="),
    ("no integer between", {**I, "exclusiveMinimum": 0, "exclusiveMaximum": 1}, False, "="),
    ("one number between", {**N, "exclusiveMinimum": 0, "exclusiveMaximum": 1}, False, ">"),
    ("a range as finitely many", {**I, "minimum": 1, "maximum": 3}, {"enum": [1, 2, 3]}, "="),
    ("floats of integers are integers", {"const": 1.0}, {"const": 1}, "="),
    ("a number is not a boolean", {"const": 1}, {"const": True}, "x"),
    ("zero is not false", {"enum": [0, False]}, {"enum": [0]}, ">"),
    ("minus zero is zero", {"const": -0.0}, {"const": 0}, "="),
    ("large integers stay apart", {"const": 2**53 + 1}, {"const": 2**53}, "x"),
    ("even or odd is every integer", I, any_of({**I, "multipleOf": 2}, {**I, "not": {"multipleOf": 2}}), "="),
    ("not below is at least, numbers only", all_of(N, no({"exclusiveMaximum": 5})), {**N, "minimum": 5}, "="),
    ("a denied bound denies other types too", no({"exclusiveMaximum": 5}), {**N, "minimum": 5}, "="),
    ("bounds say nothing of strings", {"minimum": 5}, {**N, "minimum": 5}, ">"),
    ("halves together", {**N, "minimum": 0, "maximum": 9}, any_of({**N, "maximum": 4.5}, {**N, "minimum": 4.5}), "<"),
    ("halves with a hole", {**N, "minimum": 0, "maximum": 9}, any_of({**N, "exclusiveMaximum": 4}, {**N, "exclusiveMinimum": 4}), "x"),
    ("integers have no hole there", {**I, "minimum": 0, "maximum": 9}, any_of({**N, "maximum": 4}, {**N, "minimum": 5}), "<"),
    ("multiples of three within a gap", {**I, "multipleOf": 3, "minimum": 4, "maximum": 5}, False, "="),
    ("integer beside number in a list", {"type": ["integer", "number"]}, N, "="),
    ("numbers that are no integers", all_of(N, no(I)), all_of({"minimum": 0}, N, no({"multipleOf": 1})), ">"),
    ("a great bound", {**I, "minimum": 10**30}, {**I, "exclusiveMinimum": 10**30 - 1}, "="),
]  # fmt: skip

STRINGS: Final[list[Row]] = [
    ("length and pattern", {**S, "pattern": "^.{3}$"}, {**S, "minLength": 3, "maxLength": 3}, "<"),
    ("line ends are characters too", {**S, "pattern": "^[\\s\\S]{3}$"}, {**S, "minLength": 3, "maxLength": 3}, "="),
    ("not anchored", {**S, "pattern": "b"}, {**S, "pattern": "^.*b"}, ">"),
    ("alternatives in another order", {**S, "pattern": "^(ab|cd)$"}, {**S, "pattern": "^(cd|ab)$"}, "="),
    ("a prefix", {**S, "pattern": "^abc"}, {**S, "pattern": "^ab"}, "<"),
    ("finitely many texts in a pattern", {"enum": ["a", "b"]}, {**S, **LETTER}, "<"),
    ("a pattern of finitely many", {**S, "pattern": "^[ab]$"}, {"enum": ["b", "a"]}, "="),
    ("one text less", {**S, "pattern": "^[ab]$"}, {"enum": ["a"]}, ">"),
    ("digits are ASCII", {**S, "pattern": "^\\d$"}, {"enum": list("0123456789")}, "="),
    ("a character past the basic plane is one", {"const": "\U0001f600"}, {**S, "maxLength": 1}, "<"),
    ("two patterns at once", all_of(S, {"pattern": "^a"}, {"pattern": "z$"}), {**S, "pattern": "^a[\\s\\S]*z$"}, "="),
    ("two patterns that exclude each other", all_of(S, {"pattern": "^a"}, {"pattern": "^b"}), False, "="),
    ("no empty text", {**S, "minLength": 1}, all_of(S, no({"const": ""})), "="),
    ("look-ahead as exclusion", {**S, "pattern": "^(?!a)"}, all_of(S, no({"pattern": "^a"})), "="),
    ("look-ahead at the end", {**S, "pattern": "^a(?=b)"}, {**S, "pattern": "^ab"}, "="),
    ("counted and repeated", {**S, "pattern": "^(ab){2}$"}, {"const": "abab"}, "="),
    ("greedy or not is the same set", {**S, "pattern": "^a+?b$"}, {**S, "pattern": "^a+b$"}, "="),
    ("nested repetition", {**S, "pattern": "^(a*)*$"}, {**S, "pattern": "^a*$"}, "="),
    ("case matters", {**S, "pattern": "^[A-Z]$"}, {**S, "pattern": "^[a-z]$"}, "x"),
    ("word characters are ASCII", {**S, "pattern": "^\\w$"}, {**S, "pattern": "^[A-Za-z0-9_]$"}, "="),
    ("a denied length", all_of(S, no({"maxLength": 4})), {**S, "minLength": 5}, "="),
    ("a pattern says nothing of numbers", {"pattern": "a"}, {**S, "pattern": "a"}, ">"),
    ("lengths together", S, any_of({**S, "maxLength": 3}, {**S, "minLength": 4}), "="),
    ("lengths with a hole", S, any_of({**S, "maxLength": 3}, {**S, "minLength": 5}), ">"),
    ("an empty class matches nothing", {**S, "pattern": "^[^\\s\\S]$"}, False, "="),
    ("format is an annotation", {**S, "format": "email"}, S, "="),
    ("patterns together cover", {**S, "pattern": "^[ab]$"}, any_of({"pattern": "^a"}, {"pattern": "^b"}), "<"),
    ("quantified any length", {**S, "pattern": "^[0-9]{2,}$"}, {**S, "pattern": "^[0-9]+$"}, "<"),
]  # fmt: skip

FINITE: Final[list[Row]] = [
    ("constant and single enum", {"const": "x"}, {"enum": ["x"]}, "="),
    ("an enum in another order", {"enum": [1, "a", None]}, {"enum": [None, 1, "a"]}, "="),
    ("an enum as a union of constants", {"enum": [1, 2]}, any_of({"const": 2}, {"const": 1}), "="),
    ("an enum as a choice of constants", {"enum": [1, 2]}, one_of({"const": 2}, {"const": 1}), "="),
    ("a constant twice in a choice fits twice", {"enum": [1, 2]}, one_of({"const": 1}, {"enum": [1, 2]}), ">"),
    ("objects compare without order", {"const": {"a": 1, "b": 2}}, {"const": {"b": 2.0, "a": 1}}, "="),
    ("arrays compare with order", {"const": [1, 2]}, {"const": [2, 1]}, "x"),
    ("an enum with its type", {"enum": ["a", 1], "type": "string"}, {"const": "a"}, "="),
    ("an enum against its type", {"enum": ["a", 1]}, S, "x"),
    ("both booleans", B, {"enum": [True, False]}, "="),
    ("null is one value", NULL, {"const": None}, "="),
    ("a constant object in a schema", {"const": {"a": 1}}, closed(a=I), "<"),
    ("the empty object", {"const": {}}, {"type": "object", "maxProperties": 0}, "="),
    ("the empty array", {"const": []}, {"type": "array", "maxItems": 0}, "="),
    ("a denied constant", all_of(I, no({"const": 3})), any_of({**I, "maximum": 2}, {**I, "minimum": 4}), "="),
    ("enum without one of its values", all_of({"enum": [1, 2, 3]}, no({"const": 2})), {"enum": [3, 1]}, "="),
    ("nested constants", {"enum": [{"a": [1]}, {"a": [2]}]}, {"type": "object", "properties": {"a": arr({"enum": [1, 2]})}}, "<"),
]  # fmt: skip

UNIONS: Final[list[Row]] = [
    ("nullable by a type list and by a union", {"type": ["string", "null"]}, any_of(S, NULL), "="),
    ("nullable by a union and by a choice", any_of(S, NULL), one_of(NULL, S), "="),
    ("nullable by a choice and by a constant", one_of(S, NULL), any_of({"const": None}, S), "="),
    ("nullable enum", {"enum": ["a", None]}, any_of({"const": "a"}, NULL), "="),
    ("nullable is no keyword", {**S, "nullable": True}, {"type": ["string", "null"]}, "<"),
    ("a type widened inside a union", any_of(I, S), any_of(N, S), "<"),
    ("a union in another order", any_of(S, I, obj(a=S)), any_of(obj(a=S), I, S), "="),
    ("a conjunction in another order", all_of({"minimum": 1}, {"maximum": 4}), all_of({"maximum": 4}, {"minimum": 1}), "="),
    ("a conjunction flattened", all_of(I, {"minimum": 1}), {**I, "minimum": 1}, "="),
    ("a choice with overlapping branches", one_of(I, {"minimum": 2}), any_of(I, {"minimum": 2}), "<"),
    ("an overlapping branch added to a choice", one_of(S, I), one_of(S, I, N), "x"),
    ("a disjoint branch added to a choice", one_of(S, I), one_of(S, I, B), "<"),
    ("a contained branch added to a union", any_of(S, N), any_of(S, N, I), "="),
    ("a choice of one", one_of(S), S, "="),
    ("the same branch twice can never be the one", one_of(S, S), False, "="),
    ("three overlapping", one_of({"minimum": 1}, {"minimum": 2}, {"minimum": 3}), {"type": "number", "minimum": 1, "exclusiveMaximum": 2}, "="),
    ("a union against a conjunction", any_of({"const": 1}, {"const": 2}), all_of({"enum": [1, 2, 3]}, {"enum": [2, 1, 4]}), "="),
    ("De Morgan", no(any_of(S, I)), all_of(no(S), no(I)), "="),
    ("De Morgan the other way", no(all_of(S, {"minLength": 2})), any_of(no(S), {**S, "maxLength": 1}), "="),
    ("a conditional as a union", {"if": S, "then": {"minLength": 2}, "else": I}, any_of({**S, "minLength": 2}, I), "="),
    ("a conditional without else", {"if": S, "then": {"minLength": 2}}, any_of({**S, "minLength": 2}, no(S)), "="),
    ("then without if says nothing", {"then": S}, True, "="),
    ("an if alone says nothing", {"if": S}, True, "="),
    ("if not ever", {"if": False, "then": False, "else": S}, S, "="),
    ("excluded middle of objects", {"type": "object"}, any_of({"type": "object", **needs("a")}, {"type": "object", "not": needs("a")}), "="),
    ("distribution", all_of(any_of(S, I), any_of(S, B)), S, "="),
    ("a tagged union narrowed in a branch",
     one_of({**obj(k={"const": "a"}, v=N), **needs("k")}, {**obj(k={"const": "b"}), **needs("k")}),
     one_of({**obj(k={"const": "a"}, v=I), **needs("k")}, {**obj(k={"const": "b"}), **needs("k")}), ">"),
    ("a tagged union as conditionals",
     one_of({**obj(k={"const": "a"}, v=I), **needs("k")}, {**obj(k={"const": "b"}, v=S), **needs("k")}),
     {**obj(k={"enum": ["a", "b"]}), **needs("k"), "if": {"properties": {"k": {"const": "a"}}},
      "then": {"properties": {"v": I}}, "else": {"properties": {"v": S}}}, "="),
    ("branches cover only together", obj(a=I), any_of(obj(a={"maximum": 4}), obj(a={"minimum": 4})), "<"),
    ("branches leave a hole between fields", {**obj(a=I, b=I), **needs("a", "b")},
     any_of(obj(a={"maximum": 0}), obj(b={"maximum": 0})), "x"),
    ("true in a union", any_of(True, S), True, "="),
    ("false in a conjunction", all_of(False, S), False, "="),
    ("everything denied", no({}), False, "="),
]  # fmt: skip

OBJECTS: Final[list[Row]] = [
    ("an optional property typed in an open object", obj(a=S), obj(a=S, b=I), ">"),
    ("a property added to a closed object", closed(a=S), closed(a=S, b=I), "<"),
    ("an object closed", obj(a=S), closed(a=S), ">"),
    ("required added", obj(a=S), {**obj(a=S), **needs("a")}, ">"),
    ("a default does not fill a required field", {**obj(a=S), **needs("a")},
     {**obj(a=S, b={"default": 1}), **needs("a", "b")}, ">"),
    ("a forbidden property", obj(a=False), {"type": "object", "not": needs("a")}, "="),
    ("required and forbidden", {**obj(a=False), **needs("a")}, False, "="),
    ("counts force presence", {**closed(a=S, b=S), "minProperties": 2}, {**closed(a=S, b=S), **needs("a", "b")}, "="),
    ("counts force absence", {**closed(a=S, b=S), "maxProperties": 0}, {"const": {}}, "="),
    ("more properties than there are names", {**closed(a=S), "minProperties": 2}, False, "="),
    ("a map of integers within a map of numbers", {"type": "object", "additionalProperties": I},
     {"type": "object", "additionalProperties": N}, "<"),
    ("a map with a named exception", {"type": "object", "additionalProperties": I}, {**obj(a=S), "additionalProperties": I}, "x"),
    ("a pattern against a name", {"type": "object", "patternProperties": {"^a$": S}}, obj(a=S), "="),
    ("a pattern that reaches a declared name", {**obj(ab=S), "patternProperties": {"^a": {"minLength": 2}}},
     obj(ab={**S, "minLength": 2}), "<"),
    ("patterns do not reach the rest", {"type": "object", "patternProperties": {"^a": S}, "additionalProperties": False},
     {"type": "object", "propertyNames": {"pattern": "^a"}, "additionalProperties": S}, "="),
    ("names by pattern and by closing", {"type": "object", "propertyNames": {"enum": ["a", "b"]}}, closed(a=True, b=True), "="),
    ("a name too long", {"type": "object", "propertyNames": {"maxLength": 2}, **needs("abc")}, False, "="),
    ("no names at all", {"type": "object", "propertyNames": False}, {"const": {}}, "="),
    ("finitely many names bound the count", {"type": "object", "propertyNames": {"enum": ["a", "b"]}},
     {"type": "object", "maxProperties": 2}, "<"),
    ("a pattern of finitely many names", {"type": "object", "propertyNames": {"pattern": "^[ab]$"}, "minProperties": 3}, False, "="),
    ("dependence as a conditional", {"type": "object", "dependentRequired": {"a": ["b"]}},
     {"type": "object", "if": needs("a"), "then": needs("b")}, "="),
    ("dependence chained", {"type": "object", "dependentRequired": {"a": ["b"], "b": ["c"]}},
     {"type": "object", "dependentRequired": {"a": ["c"]}}, "<"),
    ("dependence with its trigger required", {"type": "object", **needs("a"), "dependentRequired": {"a": ["b"]}},
     {"type": "object", **needs("a", "b")}, "="),
    ("a dependent schema", {"type": "object", "dependentSchemas": {"a": obj(b=I)}},
     any_of({"type": "object", "not": needs("a")}, obj(b=I)), "="),
    ("dependence says nothing of strings", {"dependentRequired": {"a": ["b"]}}, {"type": "object", "dependentRequired": {"a": ["b"]}}, ">"),
    ("additional looks at its own neighbours only", {**all_of({"properties": {"a": S}}), "additionalProperties": False},
     {"type": "object", "maxProperties": 0}, ">"),
    ("two closed objects meet in nothing but the common", all_of(closed(a=S), closed(b=S)), {"const": {}}, "="),
    ("two closed objects share a name", all_of(closed(a=S, b=S), closed(b={"maxLength": 3}, c=S)), closed(b={**S, "maxLength": 3}), "="),
    ("the denied property has to be there", {"type": "object", "not": obj(a=S)}, {**obj(a=no(S)), **needs("a")}, "="),
    ("a denied map", {"type": "object", "not": {"additionalProperties": S}}, {"type": "object", "minProperties": 1}, "<"),
    ("strange names are names", obj(**{"__proto__": S, "": I, "/": B, "~": NULL}), obj(**{"": I, "~": NULL, "/": B, "__proto__": S}), "="),
    ("a strange name narrowed", obj(__proto__={"type": ["string", "null"]}), obj(__proto__=S), ">"),
    ("a name past the basic plane", {"type": "object", **needs("\U0001f600")}, {"type": "object", "minProperties": 1}, "<"),
    ("an empty name is matched by no letter", {"type": "object", "patternProperties": {".": False}}, closed(**{"": True}), ">"),
    ("objects against a union of fields", {**obj(a={"type": ["integer", "string"]}), **needs("a")},
     any_of(obj(a=I), obj(a=S)), "<"),
    ("an uninhabited optional field is absent", closed(a=all_of(S, I)), {"const": {}}, "="),
    ("an uninhabited required field empties the object", {**obj(a=all_of(S, I)), **needs("a")}, False, "="),
    ("overlapping patterns", {"type": "object", "patternProperties": {"a": {"minimum": 2}, "b": {"maximum": 1}}},
     {"type": "object", "patternProperties": {"a.*b": no(N)}}, "<"),
    ("counts and rest", {**obj(a=True), "additionalProperties": False, **needs("a")}, {"type": "object", "minProperties": 1, "maxProperties": 1}, "<"),
]  # fmt: skip

ARRAYS: Final[list[Row]] = [
    ("tuple items in another order", arr(S, I), arr(I, S), "x"),
    ("a tuple within a list", arr(I, I, items=False), arr(items=I), "<"),
    ("items after a prefix", arr(S, items=I), arr(S, I, items=I), "="),
    ("a false item shortens", arr(S, False), arr(S, maxItems=1), "="),
    ("minimum length against a false item", arr(S, items=False, minItems=2), False, "="),
    ("no items at all", arr(items=False), {"const": []}, "="),
    ("contains implies a length", arr(contains=S), arr(minItems=1), "<"),
    ("contains counted against a length", arr(contains=True, minContains=2), arr(minItems=2), "="),
    ("contains at most", arr(contains=True, maxContains=2), arr(minItems=1, maxItems=2), "="),
    ("contains none", arr(contains=S, minContains=0, maxContains=0), arr(items=no(S)), "="),
    ("minContains zero asks nothing", arr(contains=S, minContains=0), arr(), "="),
    ("counts without contains say nothing", arr(minContains=3), arr(), "="),
    ("contains met by the prefix", arr({"const": 1}, minItems=1), arr(contains=I), "<"),
    ("contains that items rule out", arr(items=S, contains=I), False, "="),
    ("two contained that exclude each other", {**arr(), **all_of({"contains": S}, {"contains": I})}, arr(minItems=2), "<"),
    ("two contained met by one item", {**arr(), **all_of({"contains": S}, {"contains": {"maxLength": 3}})}, arr(minItems=2), "x"),
    ("uniqueness over a finite domain", arr(items=B, uniqueItems=True), arr(items=B, maxItems=2), "<"),
    ("more unique items than values", arr(items={"enum": [1, 2]}, uniqueItems=True, minItems=3), False, "="),
    ("one and one point zero are not unique", arr({"const": 1}, {"const": 1.0}, minItems=2, uniqueItems=True), False, "="),
    ("false and zero are unique", arr({"const": 0}, {"const": False}, minItems=2, uniqueItems=True), False, ">"),
    ("uniqueness over structured values", arr(items={**closed(a=B), **needs("a")}, uniqueItems=True), arr(maxItems=2), "<"),
    ("unique and repeated", all_of(arr(uniqueItems=True), no(arr(uniqueItems=True))), False, "="),
    ("one item is always unique", arr(maxItems=1), arr(uniqueItems=True), "<"),
    ("a denied list has a wrong item", all_of(arr(), no({"items": S})), arr(contains=no(S)), "="),
    ("counts of a denied contains", all_of(arr(), no({"contains": S, "minContains": 2})), arr(contains=S, minContains=0, maxContains=1), "="),
    ("unevaluated items after a prefix", arr(S, unevaluatedItems=False), arr(S, items=False), "="),
    ("unevaluated items look into branches", {**arr(), **all_of({"prefixItems": [S]}), "unevaluatedItems": False}, arr(S, items=False), "="),
    ("contains evaluates what it matches", arr(contains=S, unevaluatedItems=False), arr(items=S, minItems=1), "="),
    ("items evaluate all", arr(items=S, unevaluatedItems=False), arr(items=S), "="),
    ("unevaluated items by schema", arr(S, unevaluatedItems=I), arr(S, items=I), "="),
    ("nested lists", arr(items=arr(items=I)), arr(items=arr(items=N)), "<"),
    ("an uninhabited item leaves the empty list", arr(items=all_of(S, I)), {"const": []}, "="),
    ("lengths of lists together", arr(), any_of(arr(maxItems=2), arr(minItems=3)), "="),
    ("a list against a union of lists", arr(items={"type": ["string", "integer"]}), any_of(arr(items=S), arr(items=I)), ">"),
    ("one item against a union of lists", arr(items={"type": ["string", "integer"]}, maxItems=1), any_of(arr(items=S), arr(items=I)), "<"),
    ("three in two holes", arr(items={"enum": [1, 2]}, minItems=3), all_of(arr(), no({"uniqueItems": True})), "<"),
]  # fmt: skip

TREE: Final = {"type": "object", "properties": {"v": I, "next": {"$ref": "#"}}}
UNEVALUATED: Final[list[Row]] = [
    ("unevaluated looks into a conjunction", {**all_of({"properties": {"a": S}}), "unevaluatedProperties": False}, closed(a=S), ">"),
    ("unevaluated, objects only", {"type": "object", **all_of(obj(a=S)), "unevaluatedProperties": False}, closed(a=S), "="),
    ("unevaluated looks into the branch that passes",
     {"type": "object", **any_of({**obj(a=S), **needs("a")}, {**obj(b=S), **needs("b")}), "unevaluatedProperties": False},
     closed(a=S, b=S), "<"),
    ("unevaluated through a reference",
     {"type": "object", "$ref": "#/$defs/t", "unevaluatedProperties": False, "$defs": {"t": {"properties": {"a": S}}}}, closed(a=S), "="),
    ("a not evaluates nothing", {"type": "object", "not": {"not": obj(a=S)}, "unevaluatedProperties": False}, {"const": {}}, "="),
    ("a condition evaluates", {"type": "object", "if": {"properties": {"a": S}, **needs("a")}, "unevaluatedProperties": False}, closed(a=S), "="),
    ("a dependent schema evaluates", {**obj(a=S), "dependentSchemas": {"a": {"properties": {"b": I}}}, "unevaluatedProperties": False},
     any_of({**closed(a=S, b=I), **needs("a")}, {"const": {}}), "="),
    ("additional evaluates all", {"type": "object", "additionalProperties": I, "unevaluatedProperties": False}, {"type": "object", "additionalProperties": I}, "="),
    ("an inner unevaluated evaluates all", {"type": "object", **all_of({"unevaluatedProperties": I}), "unevaluatedProperties": False},
     {"type": "object", "additionalProperties": I}, "="),
    ("unevaluated does not look sideways", all_of({"properties": {"a": S}}, {"type": "object", "unevaluatedProperties": False}), {"const": {}}, "="),
    ("a failed branch evaluates nothing", {"type": "object", **any_of(obj(a=I), True), "unevaluatedProperties": False}, closed(a=I), "="),
]  # fmt: skip

REFERENCES: Final[list[Row]] = [
    ("definitions renamed", {"$ref": "#/$defs/a", "$defs": {"a": S}}, {"$ref": "#/$defs/b", "$defs": {"b": S}}, "="),
    ("a definition inlined", obj(a={"$ref": "#/$defs/t"}) | {"$defs": {"t": I}}, obj(a=I), "="),
    ("siblings of a reference count", {"$ref": "#/$defs/a", "minLength": 2, "$defs": {"a": S}}, {**S, "minLength": 2}, "="),
    ("siblings of a reference were ignored", draft(7, {"$ref": "#/definitions/a", "minLength": 2, "definitions": {"a": S}}), S, "="),
    ("an anchor", {"$ref": "#t", "$defs": {"x": {"$anchor": "t", **S}}}, S, "="),
    ("an identifier", {"$ref": "other", "$id": "https://example.com/root", "$defs": {"x": {"$id": "other", **S}}}, S, "="),
    ("a pointer within an identified resource", {"$id": "https://example.com/r", "$ref": "o#/$defs/t",
     "$defs": {"x": {"$id": "o", "$defs": {"t": S}}}}, S, "="),
    ("an identifier of draft 4", draft(4, {"id": "http://example.com/r", "$ref": "#t", "definitions": {"x": {"id": "#t", **S}}}), S, "="),
    ("a dynamic reference with one anchor", {"$dynamicRef": "#t", "$defs": {"x": {"$dynamicAnchor": "t", **S}}}, S, "="),
    ("a recursive reference", d2019({"type": "object", "properties": {"n": {"$recursiveRef": "#"}}}),
     {"type": "object", "properties": {"n": {"$ref": "#"}}}, "="),
    ("recursion unrolled once", TREE, obj(v=I, next=TREE | {"properties": {"v": I, "next": {"$ref": "#/properties/next"}}}), "="),
    ("recursion narrowed one level down", {**TREE, "$defs": {}}, obj(v=I, next=obj(v={**I, "minimum": 0}, next={"$ref": "#"})), ">"),
    ("recursion through a union", {"anyOf": [NULL, obj(n={"$ref": "#"})]}, {"anyOf": [obj(n={"$ref": "#"}), NULL, S]}, "<"),
    ("recursion without an end has no value", {**obj(n={"$ref": "#"}), **needs("n")}, False, "="),
    ("recursion in lists may end empty", {"type": "array", "items": {"$ref": "#"}}, {"type": "array", "items": {"type": "array"}}, "<"),
    ("mutual recursion", {"$ref": "#/$defs/a", "$defs": {"a": obj(b={"$ref": "#/$defs/b"}), "b": obj(a={"$ref": "#/$defs/a"})}},
     {"$ref": "#/$defs/b", "$defs": {"b": obj(b={"$ref": "#/$defs/a"}), "a": obj(a={"$ref": "#/$defs/b"})}}, "="),
    ("a reference through a pointer with escapes", {"$ref": "#/$defs/a~1b%25", "$defs": {"a/b%": S}}, S, "="),
    ("a reference to the metaschema", {"$ref": "https://json-schema.org/draft/2020-12/schema"}, {"type": ["object", "boolean"]}, "<"),
]  # fmt: skip

DIALECTS: Final[list[Row]] = [
    ("boolean bounds of draft 4", draft(4, {**N, "minimum": 0, "exclusiveMinimum": True}), {**N, "exclusiveMinimum": 0}, "="),
    ("a false boolean bound", draft(4, {**N, "minimum": 0, "exclusiveMinimum": False}), {**N, "minimum": 0}, "="),
    ("draft 4 and 6", draft(4, {**I, "maximum": 3, "exclusiveMaximum": True}), draft(6, {**I, "maximum": 2}), "="),
    ("draft 4 knows no constant", draft(4, {"const": 1}), True, "="),
    ("draft 6 knows no condition", draft(6, {"if": S, "then": False}), True, "="),
    ("draft 7 knows conditions", draft(7, {"if": S, "then": False}), no(S), "="),
    ("draft 7 knows no dependentRequired", draft(7, {"dependentRequired": {"a": ["b"]}}), True, "="),
    ("draft 7 knows no unevaluated", draft(7, {"type": "object", "unevaluatedProperties": False}), {"type": "object"}, "="),
    ("tuples of draft 7", draft(7, {"type": "array", "items": [S], "additionalItems": I}), arr(S, items=I), "="),
    ("additionalItems beside a list is nothing", draft(7, {"type": "array", "items": S, "additionalItems": False}), arr(items=S), "="),
    ("tuples of 2019-09", d2019({"type": "array", "items": [S], "additionalItems": False}), arr(S, items=False), "="),
    ("prefixItems are nothing to draft 7", draft(7, {"type": "array", "prefixItems": [S]}), arr(), "="),
    ("contains does not evaluate in 2019-09", d2019({"type": "array", "contains": S, "unevaluatedItems": False}), False, "="),
    ("counts of contains are nothing to draft 7", draft(7, {"type": "array", "contains": S, "minContains": 2}), arr(contains=S), "="),
    ("dependencies of draft 7 by names", draft(7, {"type": "object", "dependencies": {"a": ["b"]}}), {"type": "object", "dependentRequired": {"a": ["b"]}}, "="),
    ("dependencies of draft 4 by schema", draft(4, {"type": "object", "dependencies": {"a": obj(b=I)}}), {"type": "object", "dependentSchemas": {"a": obj(b=I)}}, "="),
    ("propertyNames are nothing to draft 4", draft(4, {"type": "object", "propertyNames": {"maxLength": 1}}), {"type": "object"}, "="),
    ("definitions of draft 7 and $defs", draft(7, {"$ref": "#/definitions/t", "definitions": {"t": S}}), {"$ref": "#/$defs/t", "$defs": {"t": S}}, "="),
    ("a closed object in all dialects", draft(4, closed(a=S)), d2019(closed(a=S)), "="),
    ("one as a float in draft 6", draft(6, {"const": 1.0}), draft(7, I), "<"),
]  # fmt: skip

ALL: Final = [*NUMBERS, *STRINGS, *FINITE, *UNIONS, *OBJECTS, *ARRAYS, *UNEVALUATED, *REFERENCES, *DIALECTS]
