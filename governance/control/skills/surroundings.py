"""What the registry knows around some skills, read together: four queries however many skills there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from sqlmodel import Session

from governance.control.attestations.service import tested
from governance.control.consumers.service import needs_of
from governance.control.exceptions.service import in_force
from governance.control.policies.service import policies_of
from governance.core.gate import Surroundings

NOTHING: Final[Mapping[str, Surroundings]] = {}


def surroundings_of(session: Session, skills: Iterable[str]) -> Mapping[str, Surroundings]:
    """The surroundings of each of some skills, published or not."""
    skills = sorted(set(skills))
    policies, exceptions, needs = policies_of(session, skills), in_force(session, skills), needs_of(session, skills)
    passed = tested(session, skills)
    return {
        skill: Surroundings(
            policy=policies[skill],
            exceptions=exceptions.get(skill, ()),
            needs=needs.get(skill, ()),
            tested=passed.get(skill, frozenset()),
        )
        for skill in skills
    }
