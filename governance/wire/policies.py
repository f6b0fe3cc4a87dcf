"""Policies: what a scope sets, and what holds."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from governance.core.policy import POLICY_KEYS
from governance.wire.base import Answer, JSONObject, Request, Text


def _keys(schema: dict[str, Any]) -> None:
    schema["properties"] = {
        key: {**row.values, "default": row.default, "description": row.meaning} for key, row in POLICY_KEYS.items()
    }
    schema["additionalProperties"] = False


class PolicyRequest(Request):
    """Everything one scope sets from now on; what it leaves out is as the scopes above have it."""

    settings: JSONObject = Field(json_schema_extra=_keys)
    reason: Text | None = None


class PolicyRevision(Answer):
    """What one scope set, from one revision to the next."""

    scope: str
    """``global``, ``namespace:NAME`` or ``skill:NAME``."""
    revision: int
    """0: the scope never set anything."""
    settings: JSONObject
    reason: str | None = None
    set_at: datetime | None = None
    set_by: str | None = None


class PolicyPage(Answer):
    items: list[PolicyRevision]
    next: str | None = None


class PolicyValue(Answer):
    """One value that holds, and where it was set: a scope, or ``default``."""

    value: str | bool | int
    origin: str


class EffectivePolicy(Answer):
    """What holds for one skill, or for all of a namespace that sets nothing of its own."""

    scope: str
    values: dict[str, PolicyValue]
    """By key, every key there is."""
