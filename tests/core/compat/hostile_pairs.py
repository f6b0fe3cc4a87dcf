# ruff: noqa: E501 - a row reads best as one line
"""Schemas that want the engine to run for ever, recurse too deep or fill the memory; name to (old, new)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

Schema = dict[str, Any]


def flat(count: int, declared: Any = "string", *, required: bool = False) -> Schema:
    schema: Schema = {"type": "object", "properties": {f"p{i}": {"type": declared} for i in range(count)}}
    return {**schema, "required": list(schema["properties"])} if required else schema


def chained(count: int, link: Callable[[Schema], Schema], leaf: Schema) -> Schema:
    """Definitions that each lead to the next."""
    definitions = {f"d{i}": link({"$ref": f"#/$defs/d{i + 1}"}) for i in range(count)}
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{count}": leaf}}


def nested(count: int, layer: Callable[[Schema], Schema], leaf: Schema) -> Schema:
    """One schema within the other."""
    for _ in range(count):
        leaf = layer(leaf)
    return leaf


def mutual(count: int, leaf: Schema) -> Schema:
    """Definitions that each refer to all."""
    everyone = {f"r{j}": {"$ref": f"#/$defs/d{j}"} for j in range(count)}
    definitions = {f"d{i}": {"type": "object", "properties": {**everyone, "v": leaf}} for i in range(count)}
    return {"$ref": "#/$defs/d0", "$defs": definitions}


def tagged(count: int, value: Schema) -> list[Schema]:
    return [
        {"type": "object", "properties": {"k": {"const": f"k{i}"}, "v": value}, "required": ["k"]} for i in range(count)
    ]


def doubled(target: Schema) -> Schema:
    return {"allOf": [target, dict(target)]}


def twins(target: Schema) -> Schema:
    return {"type": "object", "properties": {"a": target, "b": dict(target)}, "required": ["a", "b"]}


def child(target: Schema) -> Schema:
    return {"type": "object", "properties": {"n": target}}


S: Final[Schema] = {"type": "string"}
NULLABLE: Final[Schema] = {"type": ["string", "null"]}
BOOLEANS: Final[Schema] = {
    "type": "object", "properties": {"a": {"type": "boolean"}, "b": {"type": "boolean"}, "c": {"enum": [1, 2, 3, 4]}},
    "required": ["a", "b", "c"], "additionalProperties": False,
}  # fmt: skip
PRIMES: Final = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)


def text(pattern: str) -> Schema:
    return {"type": "string", "pattern": pattern}


def demands(count: int, width: int) -> list[Schema]:
    return [{"anyOf": [{"required": [f"a{i}_{j}"]} for j in range(width)]} for i in range(count)]


def typed(count: int, *names: str) -> Schema:
    return {
        "type": "object",
        "allOf": [{"anyOf": [{"properties": {f"a{i}": {"type": name}}} for name in names]} for i in range(count)],
    }


PAIRS: Final[dict[str, tuple[Any, Any]]] = {
    "eighteen unions in a conjunction": ({"allOf": demands(18, 3)}, {"allOf": [*demands(18, 3), {"required": ["z"]}]}),
    "eighteen unions in another order": ({"allOf": demands(18, 3)}, {"allOf": demands(18, 3)[::-1]}),
    "eighteen typed unions": (typed(18, "string", "integer", "boolean"), typed(18, "string", "integer")),
    "unions of periods and bounds": (
        {"allOf": [{"anyOf": [{"multipleOf": p}, {"minimum": p}, {"type": "string", "minLength": p}]} for p in PRIMES]},
        {"type": "number", "multipleOf": 2},
    ),
    "two hundred patterns for names": (
        {"type": "object", "patternProperties": {f"^x{i}": NULLABLE for i in range(200)}},
        {"type": "object", "patternProperties": {f"^x{i}": S for i in range(200)}},
    ),
    "two hundred overlapping patterns": (
        {"type": "object", "patternProperties": {f"x{i}": NULLABLE for i in range(200)}},
        {"type": "object", "patternProperties": {f"x{i}y?": NULLABLE for i in range(200)}},
    ),
    "forty independent patterns": (
        {"type": "object", "patternProperties": {f"{chr(97 + i % 26)}{i}": {"minimum": i} for i in range(40)}},
        {"type": "object", "patternProperties": {f"{chr(97 + i % 26)}{i}": {"minimum": i, "maximum": 99} for i in range(40)}},
    ),
    "a chain of a thousand references": (chained(1000, dict, S), chained(1001, dict, NULLABLE)),
    "a chain of five hundred fields": (chained(500, child, NULLABLE), chained(500, child, S)),
    "references that double sixty times": (chained(60, doubled, NULLABLE), chained(60, doubled, S)),
    "fields that double forty times": (chained(40, twins, NULLABLE), chained(40, twins, S)),
    "an enum of a hundred thousand": ({"enum": [f"v{i}" for i in range(100_000)]}, {"enum": [f"v{i}" for i in range(99_999)]}),
    "an enum of many objects": ({"enum": [{"a": i} for i in range(12_000)]}, {"enum": [{"a": i} for i in range(11_999)]}),
    "an enum against a pattern": ({"enum": [f"v{i}" for i in range(50_000)]}, text("^v[0-9]{1,5}$")),
    "a union of many constants": ({"anyOf": [{"const": f"v{i}"} for i in range(3000)]}, {"enum": [f"v{i}" for i in range(2999)]}),
    "a choice of many constants": ({"oneOf": [{"const": f"v{i}"} for i in range(500)]}, {"enum": [f"v{i}" for i in range(499)]}),
    "a thousand million items": ({"type": "array", "minItems": 10**9}, {"type": "array", "minItems": 10**9 + 1}),
    "more items than atoms": ({"type": "array", "minItems": 10**400}, {"type": "array", "minItems": 5}),
    "many items of constants": (
        {"type": "array", "minItems": 1500, "items": {"enum": [{"a": 1}, {"b": 2}]}}, {"type": "array", "items": {"enum": [{"a": 1}]}},
    ),
    "many unique objects": ({"type": "array", "minItems": 150, "uniqueItems": True, "items": {"type": "object"}}, {"type": "array", "maxItems": 149}),
    "unique items over a product": (
        {"type": "array", "minItems": 20, "uniqueItems": True, "items": BOOLEANS}, {"type": "array", "maxItems": 16},
    ),
    "unique lists of unique items": (
        {"type": "array", "uniqueItems": True, "items": {"type": "array", "maxItems": 3, "items": {"type": "boolean"}, "uniqueItems": True}},
        {"type": "array", "maxItems": 4},
    ),
    "twenty things to contain": ({"type": "array", "allOf": [{"contains": {"const": i}} for i in range(20)]}, {"type": "array", "minItems": 20}),
    "a million things to contain": ({"type": "array", "contains": {"const": 1}, "minContains": 10**6}, {"type": "array", "minItems": 10**6}),
    "counts of contains": (
        {"type": "array", "contains": {"type": "integer"}, "maxContains": 60, "minItems": 80},
        {"type": "array", "contains": {"type": "integer"}, "maxContains": 59},
    ),
    "a thousand million characters": ({"type": "string", "minLength": 10**9}, {"type": "string", "minLength": 10**9 + 1}),
    "a great maximum length": ({"type": "string", "maxLength": 10**9}, {"type": "string", "maxLength": 10**9 - 1}),
    "a thousand million properties": ({"type": "object", "minProperties": 10**9}, {"type": "object", "minProperties": 10**9 + 1}),
    "three hundred properties with names by pattern": (
        {"type": "object", "minProperties": 300, "propertyNames": {"pattern": "^[a-z]{1,9}$"}}, {"type": "object", "minProperties": 301},
    ),
    "bounds of four hundred digits": ({"type": "number", "minimum": 10**400 - 1}, {"type": "number", "minimum": 10**400}),
    "a constant of twenty thousand digits": ({"const": 10**20_000}, {"const": 10**20_000 + 1}),
    "decimal bounds": ({"type": "number", "maximum": Decimal("1e9999999")}, {"type": "number", "maximum": Decimal("1e9999998")}),
    "a length of ten million digits": ({"type": "string", "minLength": Decimal("1e9999999")}, {"type": "string", "minLength": 1}),
    "a count of ten million digits": (
        {"type": "array", "contains": S, "minContains": Decimal("1e9999999")}, {"type": "array", "contains": S, "maxContains": Decimal("1e9999998")},
    ),
    "tiny periods": ({"type": "number", "multipleOf": Decimal("1e-300")}, {"type": "number", "multipleOf": Decimal("1e-299")}),
    "a sieve": ({"type": "integer", "not": {"anyOf": [{"multipleOf": p} for p in PRIMES]}, "minimum": 2}, {"type": "integer", "minimum": 53}),
    "large primes": ({"type": "integer", "multipleOf": 1_000_003, "minimum": 1}, {"not": {"multipleOf": 1_000_033}}),
    "nested repetition": (text("^(a+)+$"), text("^(a|aa)+$")),
    "ambiguous repetition": (text("^(a|a?)+b"), text("^([a-z]+)*$")),
    "repetition side by side": (text("(x+x+)+y"), text("(x+)y")),
    "a pattern that remembers forty characters": (text("^(a|b)*a(a|b){40}$"), text("^(a|b)*b(a|b){40}$")),
    "counted counts": (text("^((a{1,100}){1,100}){1,100}$"), text("^a{1,1000000}$")),
    "large counts that overlap": (text("^(.{0,500}a.{0,500}b){1,20}$"), text("^(.{0,500}b.{0,500}a){1,20}$")),
    "many look-aheads": (text("^(?=.*a)(?=.*b)(?=.*c)(?=.*d)(?=.*e)(?=.*f)(?=.*g)(?=.*h).{8,64}$"), text("^(?=.*h)(?=.*g)(?=.*f).{8,64}$")),
    "two thousand brackets": (text("(" * 2000 + "a" + ")" * 2000), S),
    "three thousand words": (text("^(" + "|".join(f"w{i}" for i in range(3000)) + ")$"), {"enum": [f"w{i}" for i in range(3000)]}),
    "a long text": ({"const": "x" * 100_000}, text("^x*$")),
    "thirty overlapping branches": (
        {"oneOf": [{"type": "object", "properties": {f"a{i}": S}} for i in range(30)]},
        {"oneOf": [{"type": "object", "properties": {f"a{i}": S}} for i in range(31)]},
    ),
    "thirty branches that demand a field": (
        {"oneOf": [{"type": "object", "required": [f"a{i}"]} for i in range(30)]},
        {"oneOf": [{"type": "object", "required": [f"a{i}"]} for i in range(30)][::-1]},
    ),
    "a hundred tagged branches": ({"oneOf": tagged(100, {"type": "integer"})}, {"oneOf": tagged(100, {"type": "integer", "minimum": 0})}),
    "a tagged branch more": ({"anyOf": tagged(100, S)}, {"oneOf": tagged(101, S)}),
    "sixteen overlapping objects": (
        {"anyOf": [{"type": "object", "properties": {f"a{i}": S}, "required": [f"a{i}"]} for i in range(16)]},
        {"anyOf": [{"type": "object", "properties": {f"a{i}": {**S, "minLength": 1}}, "required": [f"a{i}"]} for i in range(16)]},
    ),
    "thirty definitions that know each other": (mutual(30, NULLABLE), mutual(30, S)),
    "a thousand fields against a union": (flat(1000), {"anyOf": [flat(1000), flat(1000, "integer"), {"type": "object", "required": ["p0"]}]}),
    "a thousand fields, all narrowed": (flat(1000, ["string", "null"]), flat(1000)),
    "a thousand fields, one required": (flat(1000), {**flat(1001), "required": ["p1000"]}),
    "two thousand required fields": (
        {"type": "object", "required": [f"r{i}" for i in range(2000)]},
        {"type": "object", "required": [f"r{i}" for i in range(1999)], "minProperties": 2000},
    ),
    "pigeons in holes": (
        {"type": "object", "properties": {f"p{i}": {"enum": list(range(7))} for i in range(8)}, "required": [f"p{i}" for i in range(8)]},
        {"anyOf": [{"properties": {f"p{i}": {"const": v}, f"p{j}": {"const": v}}} for i in range(8) for j in range(i) for v in range(7)]},
    ),
    "a formula in three literals a clause": (
        flat(30, "boolean", required=True),
        {"anyOf": [{"properties": {f"p{(a * 7 + k) % 30}": {"const": bool(k & 1)}, f"p{(a * 11 + 3) % 30}": {"const": bool(a & 1)},
                                   f"p{(a * 13 + k * 5) % 30}": {"const": bool(a & 2)}}} for a in range(60) for k in range(3)]},
    ),
    "names that trip others": (
        {"type": "object", "properties": dict.fromkeys(("__proto__", "", "/", "~", "~1", "日本", "\x00", "😀", "constructor", "$ref"), NULLABLE)},
        {"type": "object", "properties": dict.fromkeys(("__proto__", "", "/", "~", "~1", "日本", "\x00", "😀", "constructor", "$ref"), S)},
    ),
    "half a surrogate pair": ({"type": "object", "properties": {"\ud83d": S}}, {"type": "object"}),
    "forty objects within each other": (nested(40, child, S), nested(40, child, {"type": "integer"})),
    "eighty negations": (nested(80, lambda schema: {"not": schema}, S), S),
    "eighty lists within each other": (
        nested(80, lambda schema: {"type": "array", "items": schema, "minItems": 1}, S),
        nested(80, lambda schema: {"type": "array", "items": schema, "minItems": 1}, {"type": "integer"}),
    ),
    "choices within choices": (
        nested(16, lambda schema: {"oneOf": [schema, {"type": "array", "items": schema}]}, S),
        nested(16, lambda schema: {"oneOf": [schema, {"type": "array", "items": schema}]}, NULLABLE),
    ),
    "conditions within conditions": (
        nested(11, lambda schema: {"if": {"required": [f"a{len(str(schema)) % 97}"]}, "then": schema, "else": schema}, {"type": "object"}),
        {"type": "object", "required": ["q"]},
    ),
    "twelve ways to evaluate": (
        {"anyOf": [{"properties": {f"a{i}": True}} for i in range(12)], "unevaluatedProperties": False},
        {"anyOf": [{"properties": {f"a{i}": True}} for i in range(13)], "unevaluatedProperties": False},
    ),
    "sixty dependences in a row": (
        {"type": "object", "dependentRequired": {f"a{i}": [f"a{i + 1}"] for i in range(60)}},
        {"type": "object", "dependentRequired": {"a0": ["a60"]}},
    ),
    "sixty dependences in a ring": (
        {"type": "object", "dependentRequired": {f"a{i}": [f"a{(i + 1) % 60}"] for i in range(60)}},
        {"anyOf": [{"required": [f"a{i}" for i in range(60)]}, {"properties": {f"a{i}": False for i in range(60)}}]},
    ),
    "a tuple of a thousand": (
        {"type": "array", "prefixItems": [dict(NULLABLE) for _ in range(1000)]}, {"type": "array", "prefixItems": [dict(S) for _ in range(1000)]},
    ),
    "more names than there are": ({"type": "object", "propertyNames": {"pattern": "^[ab]{8}$"}, "minProperties": 257}, {"type": "object", "maxProperties": 0}),
}  # fmt: skip
