"""What every message is built on, and the one shape of every error."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

JSONObject: TypeAlias = dict[str, Any]

PROBLEM_MEDIA_TYPE = "application/problem+json"
PROBLEM_TYPE_PREFIX = "urn:skill-governance:problem:"

MAX_PAGE = 200
"""Entries one page of a list may hold."""

Text = Annotated[str, Field(max_length=2_000, pattern=r"^[^\x00]*$")]
Label = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$")]
"""A name that stands in lists and logs: one line, nothing invisible that moves a terminal."""
ConsumerName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$")]
EnvironmentName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
ShortText = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]
"""An integer, as JSON Schema has it: ``90.0`` is ``90``."""


Why = Annotated[str, Field(min_length=1, max_length=2_000, pattern=r"^[^\x00]*[^\x00\s][^\x00]*$")]
"""A reason that goes on record: more than blanks."""


class Request(BaseModel):
    """What callers send: a field nobody knows is an error, and nothing is taken for what it is not."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, strict=True)


class Answer(BaseModel):
    """What the service answers."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class ProblemFault(Answer):
    """One located fault of the request: a JSON Pointer (``""`` is the root), a sentence and a code."""

    pointer: str
    message: str
    code: str = "invalid"


class Problem(Answer):
    """RFC 9457, for every error of every route. ``code`` is permanent, ``fix`` says what to do next."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    fix: str = ""
    errors: list[ProblemFault] = Field(default_factory=list)
    details: JSONObject = Field(default_factory=dict)
    """What the error knows beyond that: the gate's whole decision, the ways to accept a break."""
    request_id: str = ""
    trace_id: str = ""


class Health(Answer):
    """``/livez`` and ``/readyz``: a word, and what was looked at."""

    status: str
    checks: dict[str, str] = Field(default_factory=dict)
