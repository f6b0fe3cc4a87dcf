"""The policies that hold, for hot reads over the read pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import psycopg

from governance.core.policy import Policy, Scope, ScopeKind, effective

_IN_FORCE: Final = """
SELECT DISTINCT ON (p.scope, p.name) p.scope, p.name, p.settings
FROM unnest(%(scopes)s::text[], %(names)s::text[]) AS asked (scope, name)
JOIN policy_revision p USING (scope, name)
ORDER BY p.scope, p.name, p.revision DESC
"""


async def policies_of(
    connection: psycopg.AsyncConnection[tuple[Any, ...]], skills: Sequence[str]
) -> Mapping[str, Policy]:
    """What holds for each of some skills, in one query however many there are."""
    scopes = sorted({scope for skill in skills for scope in Scope.of(skill)})
    cursor = await connection.execute(
        _IN_FORCE, {"scopes": [scope.kind.value for scope in scopes], "names": [scope.name for scope in scopes]}
    )
    settings = {Scope(kind=ScopeKind(kind), name=name): held for kind, name, held in await cursor.fetchall()}
    return {skill: effective(skill, settings) for skill in skills}
