"""``can-i-deploy``, ``can-i-retire`` and the matrix: who is hit, by name."""

from __future__ import annotations

from pydantic import Field

from governance.wire.base import Answer, JSONObject


class Judgement(Answer):
    """May it be done, why not, and who is hit: reasons and impacts as the gate's decisions hold them."""

    question: str
    """``can-i-deploy`` or ``can-i-retire``."""
    skill: str
    version: str
    environment: str | None = None
    decision: str
    """``allow``, ``warn`` or ``block``: the worst of the reasons."""
    reasons: list[JSONObject] = Field(default_factory=list)
    """Worst first; ``code``, ``outcome``, ``message`` and ``fix`` each."""
    consumers: JSONObject = Field(default_factory=dict)
    """``counts`` by impact, and ``impacts`` worst first."""
    policy: JSONObject = Field(default_factory=dict)


class Matrix(Answer):
    """Consumers by versions."""

    skill: str
    versions: list[str]
    """The columns."""
    rows: list[JSONObject]
    """One a need: who, ``now`` (what serves it) and ``cells`` in the order of the columns, with ``serves``,
    ``admitted`` and the ``verdict`` of a move to that version."""
    left_out: int = 0
    """Rows beyond the limit; name a consumer or an environment to see them."""
