"""What makes a skill hard to choose, hard to call or hard to trust. Warnings, every one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from governance.core.lint.model import Spot
from governance.core.lint.reading import both_schemas, fields
from governance.core.skill import Category, SkillManifest

_VAGUE: Final = frozenset({"bar", "data", "foo", "info", "misc", "stuff", "temp", "thing", "tmp"})
_VAGUE_NAMES: Final = _VAGUE | {
    "common",
    "default",
    "do",
    "general",
    "handle",
    "handler",
    "helper",
    "helpers",
    "main",
    "manager",
    "miscellaneous",
    "process",
    "test",
    "things",
    "tool",
    "tools",
    "untitled",
    "util",
    "utils",
}
_UNTOLD_FIELDS: Final = frozenset({"obj", "object", "payload"})
"""Field names that say nothing until a description does."""
_NUMBERED_FIELD: Final = re.compile(r"(data|info|payload|param|arg|value|field|item|obj|temp|tmp|input|x)_?\d+")
_VERSIONED: Final = re.compile(r"(?:^|_)v\d+(?:_\d+)*(?:_|$)|(?:^|_)version_?\d+(?:_|$)")
_ANYTHING: Final = re.compile(
    r"\b(anything|everything|whatever|any (?:task|request|question|kind)|all (?:kinds|sorts|tasks|purposes?)|"
    r"general[- ]purpose|various (?:things|tasks))\b|任何(?:事情|任务)|各种(?:事情|任务)",
    re.IGNORECASE,
)
_ABSENCE: Final = re.compile(
    r"option|default|omit|if (?:not|un)|unless|when (?:not|absent|missing|empty)|absent|leave|left out|otherwise|"
    r"without|not (?:set|given|provided|specified)|only (?:if|when|for|used)|"
    r"(?:required|needed|used|applies) (?:for|if|when|by|with|only|to)\b|"
    r"\b(?:if|when) (?:true|set|provided|given|present)\b|"
    r"\b(?:provide|give|use|pass|set) (?:it |this )?(?:if|when)\b|\bset (?:it |this )?to true\b|"
    r"^only\b|\bpage number\b|"
    r"\beither\b|\bat least one of\b|\binstead\b|\bfilter(?:s|ed)?\b|\bnarrows?\b|"
    r"\b(?:only|just) (?:show|return|include|list|fetch|get|consider|match|those|the)\w*\b|"
    r"\blimits? the (?:response|results?)\b|\b(?:previous|last) (?:response|page|call|result|request)\b|"
    r"可选|默认|缺省|省略|不填|facultati|par défaut|sinon",
    re.IGNORECASE,
)
_SENSITIVE: Final = re.compile(
    r"(?:^|_)(?:passwords?|passwd|pwd|passphrase|secrets?|api_?keys?|private_?keys?|access_?tokens?|refresh_?tokens?|"
    r"auth_?tokens?|bearer(?:_token)?|id_?token|credentials?|authorization|cookies?|ssn|social_security(?:_number)?|"
    r"credit_?cards?(?:_number)?|card_?number|cvv|cvc|iban|pin_?code|passport(?:_number)?|tax_?id|"
    r"date_?of_?birth|birth_?date|dob|身份证号?|密码|银行卡号?)(?:_(?:value|text|plain|base64))?$|^token$|^auth$"
)
_PERSONAL: Final = re.compile(
    r"(?:^|_)(?:e_?mails?(?:_address(?:es)?)?|courriels?|(?:mobile|cell)?_?(?:tele)?phones?(?:_numbers?)?|"
    r"mobile(?:_number)?|fax(?:_number)?|(?:debit|payment|bank)_card(?:_number)?|"
    r"(?:bank_)?account_number|street(?:_address)?|"
    r"(?:home|postal|mailing|billing|shipping|delivery|customer|user|personal)_address(?:es)?|"
    r"(?:first|last|full|given|family|maiden)_name|surname|"
    r"手机号?码?|电话(?:号码)?|邮箱(?:地址)?|家庭住址|姓名)$"
)
_PERSONAL_FORMATS: Final = frozenset({"email", "idn-email"})
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-.\s]+")
MIN_DESCRIPTION: Final = 10
"""Characters; CJK characters count double."""
ENOUGH: Final = 40
"""Characters from which on a description is taken to say more than the name does."""
MANY_WORDS: Final = 4
_FILLERS: Final = frozenset(
    {
        "a",
        "an",
        "and",
        "for",
        "from",
        "in",
        "into",
        "is",
        "it",
        "its",
        "new",
        "of",
        "on",
        "one",
        "or",
        "the",
        "this",
        "to",
        "tool",
        "with",
        "your",
    }
)


def vague_name(manifest: SkillManifest) -> Iterator[Spot]:
    last = manifest.name.rpartition(".")[2]
    if last in _VAGUE_NAMES:
        yield Spot("/name", f'the name "{last}" says nothing about what the skill does')


def versioned_name(manifest: SkillManifest) -> Iterator[Spot]:
    match = next(filter(None, map(_VERSIONED.search, manifest.name.split("."))), None)
    if match:
        yield Spot("/name", f'the name carries a version, "{match[0].strip("_")}"; versions have a place of their own')


def vague_field(manifest: SkillManifest) -> Iterator[Spot]:
    for side in ("input_schema", "output_schema"):
        for pointer, name, schema, _ in fields(getattr(manifest, side), f"/{side}"):
            untold = name.lower() in _UNTOLD_FIELDS and not _is_told(schema)
            if untold or name.lower() in _VAGUE or _NUMBERED_FIELD.fullmatch(name.lower()):
                yield Spot(pointer, f'the field name "{name}" says nothing about what it holds')


def empty_description(manifest: SkillManifest) -> Iterator[Spot]:
    if not manifest.description.strip():
        yield Spot("/description", "there is no description, so no model can tell when to use the skill")


def broad_description(manifest: SkillManifest) -> Iterator[Spot]:
    text = manifest.description.strip()
    if not text:
        return
    if len(text) + sum(ord(char) > 0x2E7F for char in text) < MIN_DESCRIPTION:
        yield Spot("/description", f"{len(text)} characters are too few to say when to use the skill", "short")
    elif len(text) < ENOUGH and text.isascii() and _repeats(text, manifest.name.rpartition(".")[2]):
        yield Spot("/description", "the description says no more than the name", "name")
    elif match := _ANYTHING.search(text):
        yield Spot("/description", f"{match[0]!r} claims every task; say which ones, and which not", match[0])


def _repeats(text: str, name: str) -> bool:
    """A long name tells a skill from others by itself."""
    words = _words(name)
    return len(words) < MANY_WORDS and _words(text) <= words


def _words(text: str) -> set[str]:
    """The words that carry meaning, without the endings of plurals and verbs."""
    words = (word.lower() for word in re.findall(r"[A-Za-z0-9]+", _CAMEL.sub(" ", text).replace("_", " ")))
    return {re.sub(r"(?:ies|es|s|y|e)$", "", word) for word in words if word not in _FILLERS}


def missing_output(manifest: SkillManifest) -> Iterator[Spot]:
    if manifest.output_schema is None and manifest.category is not Category.KNOWLEDGE:
        yield Spot("/output_schema", "there is no output schema, so callers may expect nothing")


def unstructured_output(manifest: SkillManifest) -> Iterator[Spot]:
    schema = manifest.output_schema
    if schema is None or schema is False:
        return
    if schema is True or not isinstance(schema, dict):
        yield Spot("/output_schema", "the output may be anything")
        return
    telling = schema.keys() - {"$schema", "$id", "$comment", "title", "description", "$defs", "definitions"}
    kinds = schema.get("type")
    if not telling:
        yield Spot("/output_schema", "the output may be anything")
    elif kinds == "string" and telling.isdisjoint({"enum", "const", "pattern", "format"}):
        yield Spot("/output_schema", "the output is bare text; a reader must guess its parts")
    elif kinds == "object" and telling <= {"type", "additionalProperties"} and not _is_map(schema):
        yield Spot("/output_schema", "the output is an object of which no field is declared")


def _is_map(schema: dict[str, Any]) -> bool:
    values = schema.get("additionalProperties")
    return isinstance(values, dict) and bool(values)


def undeclared_effects(manifest: SkillManifest) -> Iterator[Spot]:
    if manifest.side_effects is not None or manifest.category is Category.KNOWLEDGE:
        return
    hints = manifest.extensions.get("mcp")
    hints = hints.get("annotations") if isinstance(hints, dict) else None
    if isinstance(hints, dict) and hints.get("readOnlyHint") is False:
        yield Spot("/side_effects", "it changes something (readOnlyHint is false), and nothing says how badly")
    else:
        yield Spot("/side_effects", "nothing says whether a call changes anything")


def no_owner(manifest: SkillManifest) -> Iterator[Spot]:
    if not manifest.owner:
        yield Spot("/owner", "nobody is named to ask")


def unexplained_optional(manifest: SkillManifest) -> Iterator[Spot]:
    around: dict[str, Any] | None = None
    required: frozenset[str] = frozenset()
    for pointer, name, schema, parent in fields(manifest.input_schema, "/input_schema"):
        if parent is not around:
            around, listed = parent, parent.get("required")
            required = frozenset(filter(_is_text, listed)) if isinstance(listed, list) else frozenset()
        if name in required or not isinstance(schema, dict):
            continue
        if "default" in schema or _is_constant(schema) or _takes_null(schema):
            continue
        if not any(map(_ABSENCE.search, _told_of(schema))):
            yield Spot(pointer, f'"{name}" is optional, and nothing says what happens without it')


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def unmarked_sensitive(manifest: SkillManifest) -> Iterator[Spot]:
    for side in ("input_schema", "output_schema"):
        for pointer, name, schema, _ in fields(getattr(manifest, side), f"/{side}"):
            snake = _CAMEL.sub("_", name).lower()
            named = _SENSITIVE.search(snake) or _PERSONAL.search(snake)
            told = isinstance(schema, dict) and schema.get("format") in _PERSONAL_FORMATS
            if (named or told) and _may_hold_text(schema) and not _is_marked(schema):
                yield Spot(pointer, f'"{name}" looks like a secret or personal data and is not marked x-sensitive')


def bare_marks(manifest: SkillManifest) -> Iterator[Spot]:
    """``x-sensitive`` that is no boolean marks nothing."""
    for pointer, node in both_schemas(manifest):
        if "x-sensitive" in node and not isinstance(node["x-sensitive"], bool):
            yield Spot(f"{pointer}/x-sensitive", "x-sensitive is true or false; anything else marks nothing")


def _is_told(schema: Any) -> bool:
    return isinstance(schema, dict) and any(_told_of(schema))


def _told_of(schema: dict[str, Any]) -> Iterator[str]:
    """The field's description, and those of the forms it may take."""
    for node in (schema, *_forms(schema)):
        if isinstance(node.get("description"), str):
            yield node["description"]


def _is_constant(schema: dict[str, Any]) -> bool:
    values = schema.get("enum")
    return "const" in schema or (isinstance(values, list) and len(values) == 1)


def _takes_null(schema: dict[str, Any]) -> bool:
    kinds = schema.get("type")
    if kinds == "null" or (isinstance(kinds, list) and "null" in kinds):
        return True
    return any(form.get("type") == "null" for form in _forms(schema))


def _forms(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The forms a value may take, each an object schema."""
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        yield from (branch for branch in branches if isinstance(branch, dict)) if isinstance(branches, list) else ()


def _may_hold_text(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return schema is True
    kinds = schema.get("type")
    return kinds not in ("boolean", "integer", "number", "null")


def _is_marked(schema: Any) -> bool:
    return isinstance(schema, dict) and isinstance(schema.get("x-sensitive"), bool)
