"""The plan of a rollout: in which steps it grows, and what must be seen before it goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from governance.errors import Fault, InvalidRequest

MOST_STEPS: Final = 20
MOST_CALLS: Final = 10_000_000
MOST_SECONDS: Final = 30 * 86_400


@dataclass(frozen=True, kw_only=True)
class Margin:
    """How much higher a rate of the candidate may be: ``incumbent × (1 + relative) + absolute``, both 0 to 1."""

    absolute: float
    relative: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Plan:
    """``weights`` are the shares of named consumers in per cent, ascending, the last one 100.

    A step is left for the next once it stood ``dwell_sec`` seconds and the candidate took ``min_calls`` calls in
    it, the newest at most ``max_silence_sec`` ago, and both rates are shown to lie within their margins.
    """

    weights: tuple[int, ...] = (1, 5, 25, 50, 100)
    min_calls: int = 200
    dwell_sec: int = 600
    max_silence_sec: int = 600
    failures: Margin = field(default_factory=lambda: Margin(absolute=0.02, relative=0.1))
    violations: Margin = field(default_factory=lambda: Margin(absolute=0.01))

    def __post_init__(self) -> None:
        """Raises InvalidRequest with a fault for each field that cannot be."""
        faults = [Fault(pointer=f"/plan/{name}", message=said) for name, said in self._flaws()]
        if faults:
            raise InvalidRequest(
                "The plan of the rollout cannot be followed.", fix=f"{faults[0].message}.", faults=faults
            )

    def _flaws(self) -> list[tuple[str, str]]:
        found = []
        if not _ascends(self.weights):
            found.append(("weights", f"up to {MOST_STEPS} whole per cents, ascending, the last one 100"))
        for name, most, least in (
            ("min_calls", MOST_CALLS, 1), ("dwell_sec", MOST_SECONDS, 0), ("max_silence_sec", MOST_SECONDS, 60),
        ):  # fmt: skip
            if not least <= getattr(self, name) <= most:
                found.append((name, f"{least} to {most}"))
        for name in ("failures", "violations"):
            margin: Margin = getattr(self, name)
            # not a number compares with nothing
            found.extend(
                (f"{name}/{part}", "0 to 1") for part in ("absolute", "relative") if not 0 <= getattr(margin, part) <= 1
            )
        return found

    @property
    def last(self) -> int:
        """The index of the last step."""
        return len(self.weights) - 1

    def to_document(self) -> dict[str, Any]:
        return {
            "weights": list(self.weights),
            **{name: getattr(self, name) for name in ("min_calls", "dwell_sec", "max_silence_sec")},
            **{
                name: {"absolute": margin.absolute, "relative": margin.relative}
                for name, margin in (("failures", self.failures), ("violations", self.violations))
            },
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Plan:
        """The plan that ``to_document`` told."""
        margins = {name: Margin(**document[name]) for name in ("failures", "violations")}
        return cls(**{**document, **margins, "weights": tuple(document["weights"])})


def _ascends(weights: Sequence[int]) -> bool:
    if not 0 < len(weights) <= MOST_STEPS:
        return False
    steps = zip((0, *weights), weights, strict=False)
    return weights[-1] == 100 and all(before < after for before, after in steps)


DEFAULT_PLAN: Final = Plan()
AT_ONCE: Final = Plan(weights=(100,))
