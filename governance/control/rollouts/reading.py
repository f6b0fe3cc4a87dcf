"""Hot reads: what is published with the rollouts in force, in one statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from governance.control.skills import reading
from governance.core.lines import Published
from governance.core.rollout import Steering
from governance.core.versioning import Version

STEERED: Final = f"""
SELECT published.*, steering.rollouts FROM ({reading.PUBLISHED}) AS published
LEFT JOIN (
  SELECT skill, candidate AS version, jsonb_agg(jsonb_build_array(
    id, environment, candidate, incumbent, above,
    CASE state WHEN 'completed' THEN 100 WHEN 'fallen_back' THEN 0 ELSE (plan->'weights'->step)::int END,
    state IN ('running', 'held'))) AS rollouts
  FROM rollout WHERE in_force AND skill = ANY(%s) GROUP BY skill, candidate
) AS steering USING (skill, version)
"""
"""As ``reading.PUBLISHED``, and beside each candidate the rollouts it is in; takes the skills twice."""


def steered_from(
    rows: Iterable[Sequence[Any]], skills: Sequence[str], environment: str | None
) -> tuple[dict[str, list[Published]], Mapping[str, list[Steering]]]:
    """What is published of each skill, and the rollouts that hold for callers of ``environment``, from STEERED's rows.

    A rollout of all environments holds for everybody, one of a single environment for those that name it.
    """
    plain: list[Sequence[Any]] = []
    found: dict[str, list[Steering]] = {}
    for *row, rollouts in rows:
        plain.append(row)
        for id_, where, candidate, incumbent, above, weight, open_ in rollouts or ():
            if where in ("", environment):
                steering = _steering(id_, candidate, incumbent, tuple(above), weight, open_)
                found.setdefault(row[0], []).append(steering)
    return reading.published_rows(plain, skills), found


@lru_cache(maxsize=1024)
def _steering(id_: str, candidate: str, incumbent: str, above: tuple[str, ...], weight: int, open_: bool) -> Steering:
    return Steering(
        id=id_,
        candidate=Version.parse(candidate),
        incumbent=Version.parse(incumbent),
        above=frozenset(map(Version.parse, above)),
        weight=weight,
        open=open_,
    )
