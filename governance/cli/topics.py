"""What ``govctl explain`` tells beyond codes: the fields of a contract, and the words of resolve."""

from __future__ import annotations

from typing import Final

CONTRACT: Final[dict[str, str]] = {
    "name": "dot.snake_case, at most 128 characters; the part before the last dot is the namespace",
    "version": "SemVer 2.0.0; versions that differ in build metadata alone are the same version",
    "compatibility": "the declared level: backward_compatible, input_compatible or breaking_change",
    "title": "what people call it",
    "description": "when to use the skill; models route by it, so a change in it is reported",
    "input_schema": "JSON Schema (draft 4, 6, 7, 2019-09 or 2020-12; default 2020-12) that accepts only objects",
    "output_schema": "JSON Schema of what it returns; left out, callers may expect nothing",
    "business_rules": "what no schema can say: a list of {id, text, pattern?, expression?}",
    "errors": "business errors it may return: a list of {code, meaning, retryable?}",
    "timeout_sec": "seconds, more than 0, fractions allowed",
    "category": "tool (default), workflow, knowledge (instruction only, may have no schemas) or system",
    "tags": "a set of strings",
    "owner": "the team to ask",
    "side_effects": "none, read, write, external or destructive; left out: undeclared, never guessed",
    "effect_scope": "what its effects reach, in words",
    "rollback": "how its effects are taken back, in words",
    "idempotent": "true when calling it twice does what calling it once does",
    "required_permissions": "a set of strings the caller must hold",
    "allowed_tools": "the tools it may call itself",
    "runtime_requirements": "what the host must provide: {network, environment, disk_mb}",
    "requires_approval": "true when a person must approve each call",
    "dangerous": "true to warn of destruction; independent of approval",
    "slo": "objectives for monitoring: {success_ratio, latency_sec}",
    "entrypoint": "module.submodule:function, or a remote target (mcp:…, http:…)",
    "examples": "payloads, or {input, output?, error?, when?}; checked against the schemas by a lint",
    "fallback": "ordered steps, each {skill: name@range}, {cached_max_age_sec} or {static}",
    "deprecated_since": "the version it is deprecated from; a first value only, the live one is the registry's",
    "sunset": "the day after which only known consumers are served, as 2027-05-31; a first value only",
    "replacement": "name@range of the successor, or none; a first value only",
    "migration_guide": "a URL; a first value only",
    "status": "draft or active (default), deprecated, sunset, retired; a first value only",
    "external_name": "what the source called it, kept by importers",
    "external_version": "how the source spelled its version, kept by importers",
    "extensions": "what an importer did not understand, kept under the source's name",
    "defaulted": "fields the source did not give and the importer filled in",
}
"""Every field of a native manifest and what it may hold."""

RESOLVE: Final[dict[str, tuple[str, str, str]]] = {
    "held-back": (
        "a newer version is there and does not serve this caller",
        "a line opened on the way to it: something in it breaks callers of the version that serves",
        "read the change, then ask for its range, or accept its line with --consumer NAME --accept-line VERSION",
    ),
    "pin": ("served because it was asked for by its exact number", "an exact pin accepts itself", ""),
    "range": (
        "served because the range accepts its line",
        "a range with a floor, or within one major, accepts the line of the lowest published version it admits",
        "",
    ),
    "record": (
        "served because this consumer is on record with its line",
        "it accepted the line before, or was bound to it at first contact",
        "",
    ),
    "first-contact": (
        "served because the skill has a single line",
        "a bare name accepts nothing by itself; a named consumer is bound to that line from now on",
        "give --consumer NAME, so that a later break never reaches you unasked",
    ),
    "named-line": ("served because --accept-line named its line", "it stays on record for this consumer", ""),
    "flag": (
        "served because --accept-breaking-change takes the newest line",
        "it holds for this call alone and is in the audit log",
        "accept the line with --accept-line, or ask for a range, when you have adapted",
    ),
}
"""By word: what it is, why, and what to do."""
