"""What one consumer needs of one skill."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from governance.core.versioning import Range, Version


class Source(StrEnum):
    """Who says so; the two stand side by side, neither overrides the other."""

    DECLARED = "declared"
    OBSERVED = "observed"


@dataclass(frozen=True, kw_only=True)
class Need:
    """A range a consumer asks for, the fields it uses where it says so, and what it has accepted so far."""

    consumer: str
    environment: str | None = None
    """None: in all of them."""
    range: str | None = None
    """In npm's grammar; None: by bare name."""
    reads: tuple[str, ...] | None = None
    """JSON Pointers of output fields, ``*`` for every item; None: not said, so any field may be read."""
    sends: tuple[str, ...] | None = None
    """JSON Pointers of input fields; None: not said, so any field may be sent."""
    source: Source = Source.DECLARED
    owner: str | None = None
    on_record: bool = False
    """The consumer has been served this skill before."""
    accepted: tuple[Version, ...] = ()
    """A version of each line it has accepted."""

    def to_document(self) -> dict[str, str | None]:
        """Whose need it is and what it asks for: how every answer about it begins."""
        return {
            "consumer": self.consumer,
            "owner": self.owner,
            "environment": self.environment,
            "source": self.source.value,
            "range": self.range,
        }

    def admitting(self) -> Range:
        """What it asks for, read; the bare name admits all. Raises InvalidRange."""
        return _read(self.range or "*")


@lru_cache(maxsize=1_024)
def _read(text: str) -> Range:
    """Hundreds of consumers ask for the same few ranges."""
    return Range.parse(text)
