"""What a decision leaves out, a word each: machines read all of them, people those they can act on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

UNCHECKED: Final[dict[str, str]] = {
    "version": "whether the number announces the change, since what stood before has none: --old-version gives it",
    "line": "the versions of the line before the baseline: --no-transitive leaves them out",
    "removed skills": "what is published and missing here: `govctl catalogue` sees tools that went, files and git do",
    "consumers": "who is served the candidate and breaks",
    "policy": "whether the namespace is strict, warns only, or is not judged",
    "exceptions": "whether somebody approved one of the findings",
    "telemetry": "whether a high-risk skill is watched where it runs",
    "replacement": "whether the replacement that a skill names exists and is active",
}
"""In the order they are told."""

_OURS_TO_ASK: Final = ("version", "line", "removed skills")
"""What another command line would check."""


def in_order(words: Iterable[str]) -> tuple[str, ...]:
    """Each once, as the table has them."""
    found = set(words)
    return tuple(word for word in UNCHECKED if word in found) + tuple(sorted(found - UNCHECKED.keys()))


def unchecked_sentences(words: Iterable[str], *, by_registry: bool) -> tuple[str, ...]:
    """For people: what they can have checked, then what this place cannot know."""
    told = in_order(words)
    ours = tuple(f"{word}: {UNCHECKED[word]}." for word in told if word in _OURS_TO_ASK)
    rest = ", ".join(word for word in told if word not in _OURS_TO_ASK)
    beyond = "not decided by the registry yet" if by_registry else "only a registry can know"
    return (*ours, *((f"{beyond}: {rest}.",) if rest else ()))
