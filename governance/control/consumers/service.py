"""Who needs what: read for the gate, written by those who register."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from sqlalchemy import text
from sqlmodel import Session

from governance.control.consumers.tables import registered_in_time
from governance.core.consumers import Need, Source
from governance.core.versioning import Version

_NEEDS = text(
    f"""
    SELECT n.skill, n.consumer, n.environment, n.range, n.reads, n.sends, n.source, c.owner,
           EXISTS (SELECT FROM consumer_contact k WHERE k.skill = n.skill AND k.consumer = n.consumer)
           OR {registered_in_time("n")},
           ARRAY(SELECT a.line FROM line_acceptance a
                 WHERE a.skill = n.skill AND a.consumer = n.consumer AND a.revoked_at IS NULL
                   AND (a.expires_at IS NULL OR a.expires_at > now()))
    FROM consumer_need n JOIN consumer c ON c.name = n.consumer
    WHERE n.skill = ANY(:skills)
    ORDER BY n.skill, n.consumer, n.environment, n.source
    """
)


def needs_of(session: Session, skills: Iterable[str]) -> Mapping[str, tuple[Need, ...]]:
    """The needs of every consumer of some skills, in one query."""
    found: dict[str, list[Need]] = defaultdict(list)
    for skill, consumer, environment, range_, reads, sends, source, owner, on_record, accepted in session.execute(
        _NEEDS, {"skills": sorted(set(skills))}
    ):
        found[skill].append(
            Need(
                consumer=consumer,
                environment=environment or None,
                range=range_,
                reads=None if reads is None else tuple(reads),
                sends=None if sends is None else tuple(sends),
                source=Source(source),
                owner=owner,
                on_record=on_record,
                accepted=tuple(Version.parse(line) for line in accepted),
            )
        )
    return {skill: tuple(some) for skill, some in found.items()}
