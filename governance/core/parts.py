"""Reading the compound parts of a contract: rules, errors, examples, fallback, requirements, objectives."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Final

from governance.core.compat.model import JSON
from governance.core.fields import Fields, repeated
from governance.core.names import is_name, shown
from governance.core.skill import BusinessError, BusinessRule, Example, FallbackStep, RuntimeRequirements, Slo
from governance.core.versioning import Range
from governance.errors import Fault, InvalidRange

TOKEN: Final = re.compile(r"[^\s\x00-\x1f]([^\x00-\x1f]*[^\s\x00-\x1f])?")
"""A short text without control characters and without blanks at its ends."""
_ENVIRONMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ENDPOINT: Final = re.compile(r"[^\s\x00]+")
_LONG_EXAMPLE: Final = frozenset({"input", "output", "error", "when"})


def read_reference(fields: Fields, name: str) -> str | None:
    """A ``name@range``: a skill name and an npm range."""
    value = fields.text(name, limit=400)
    if value is None:
        return None
    skill, at, versions = value.partition("@")
    if not at or not is_name(skill) or not versions.strip():
        fields.fault(name, f"{shown(value)} is not name@range, such as knowledge.extract@^2")
        return None
    try:
        Range.parse(versions)
    except InvalidRange as error:
        fields.fault(name, error.message.removesuffix("."), code="range")
        return None
    return value


def read_rules(fields: Fields) -> tuple[BusinessRule, ...]:
    def read(value: JSON, pointer: str) -> BusinessRule | None:
        inside = Fields(value, pointer=pointer, faults=fields.faults)
        rule_id = inside.matching("id", TOKEN, "an id", limit=200)
        text = inside.text("text")
        pattern, expression = inside.text("pattern"), inside.text("expression")
        _demand(inside, value, id=rule_id, text=text)
        return BusinessRule(id=rule_id, text=text, pattern=pattern, expression=expression) if rule_id and text else None

    rules = fields.each("business_rules", read)
    _refuse_repeated(fields, "business_rules", [rule.id for rule in rules])
    return rules


def read_errors(fields: Fields) -> tuple[BusinessError, ...]:
    def read(value: JSON, pointer: str) -> BusinessError | None:
        inside = Fields(value, pointer=pointer, faults=fields.faults)
        code = inside.matching("code", TOKEN, "an error code", limit=200)
        meaning = inside.text("meaning")
        retryable = inside.flag("retryable") or False
        _demand(inside, value, code=code, meaning=meaning)
        return BusinessError(code=code, meaning=meaning, retryable=retryable) if code and meaning else None

    errors = fields.each("errors", read)
    _refuse_repeated(fields, "errors", [error.code for error in errors])
    return errors


def read_examples(fields: Fields) -> tuple[Example, ...]:
    """A bare payload, or the long form ``{input, output?, error?, when?}``, which wins where both do."""

    def read(value: JSON, pointer: str) -> Example | None:
        if not isinstance(value, Mapping) or "input" not in value or not _LONG_EXAMPLE.issuperset(value):
            return Example(input=deepcopy(value))
        inside = Fields(value, pointer=pointer, faults=fields.faults)
        return Example(
            input=deepcopy(inside.take("input")),
            has_output="output" in value,
            output=deepcopy(inside.take("output")),
            error=inside.text("error", limit=200),
            when=inside.text("when"),
        )

    return fields.each("examples", read)


def read_fallback(fields: Fields) -> tuple[FallbackStep, ...]:
    def read(value: JSON, pointer: str) -> FallbackStep | None:
        before = len(fields.faults)
        inside = Fields(value, pointer=pointer, faults=fields.faults)
        skill = read_reference(inside, "skill")
        age = inside.number("cached_max_age_sec", lambda n: n > 0, "more than 0 seconds")
        has_static = isinstance(value, Mapping) and "static" in value
        static = deepcopy(inside.take("static"))
        inside.close()
        if len(fields.faults) == before and (skill is not None) + (age is not None) + has_static != 1:
            message = "a step is exactly one of skill, cached_max_age_sec and static"
            fields.faults.append(Fault(pointer=pointer, message=message))
        return FallbackStep(skill=skill, cached_max_age_sec=age, static=static, has_static=has_static)

    return fields.each("fallback", read)


def _demand(inside: Fields, value: JSON, **found: str | None) -> None:
    """Close an object whose named texts must all be there and not be empty."""
    inside.close()
    for name, text in found.items():
        given = isinstance(value, Mapping) and value.get(name)
        if text is None and not given and isinstance(value, Mapping) and not isinstance(given, str):
            inside.fault(name, "this field is missing", code="missing")
        elif text == "":
            inside.fault(name, "this field is empty", code="missing")


def _refuse_repeated(fields: Fields, name: str, keys: Sequence[str]) -> None:
    for index in repeated(keys):
        fields.faults.append(Fault(pointer=f"{fields.at(name)}/{index}", message=f"{shown(keys[index])} stands twice"))


def read_runtime(fields: Fields) -> RuntimeRequirements:
    inside = fields.inside("runtime_requirements")
    if inside is None:
        return RuntimeRequirements()
    found = RuntimeRequirements(
        network=inside.texts("network", pattern=_ENDPOINT, meaning="a network endpoint"),
        environment=inside.texts("environment", pattern=_ENVIRONMENT, meaning="the name of an environment variable"),
        disk_mb=inside.number("disk_mb", lambda n: n >= 0, "0 MB or more"),
    )
    inside.close()
    return found


def read_slo(fields: Fields) -> Slo | None:
    inside = fields.inside("slo")
    if inside is None:
        return None
    ratio = inside.number("success_ratio", lambda n: 0 < n <= 1, "above 0 and at most 1")
    latency = inside.number("latency_sec", lambda n: n > 0, "more than 0 seconds")
    inside.close()
    return Slo(success_ratio=ratio, latency_sec=latency) if ratio or latency else None
