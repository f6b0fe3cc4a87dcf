"""What a question costs in statements does not grow with the registry, the versions or the consumers."""

from __future__ import annotations

import pytest
from registry import Service

from benchmarks import decision
from benchmarks.decision import QUESTIONS, counting, manifest, seed


@pytest.fixture
def by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """No job sends statements between those that are counted."""
    monkeypatch.setattr("governance.control.app.JOBS", ())


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer versions and consumers than the benchmark has, of the same shape."""
    monkeypatch.setattr(decision, "VERSIONS", ["1.0.0", "1.1.0", "2.0.0", "3.0.0", "3.1.0", "3.5.0"])
    monkeypatch.setattr(decision, "CONSUMERS", 12)


def asked(service: Service, number: int) -> dict[str, int]:
    """The statements of every question about a skill of which nothing was asked before."""
    found: dict[str, int] = {}
    with counting(service.serving) as statements:
        for name, ask in QUESTIONS.items():
            before = statements()
            ask(service.admin, number)
            found[name] = statements() - before
    return found


def test_sixty_skills_cost_a_question_as_many_statements_as_ten(
    by_hand: None, small: None, service: Service, owner_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in decision.VERSIONS:
        service.admin.put_version(manifest(0, version))
    seed(owner_url, range(10))
    few = asked(service, 4)
    seed(owner_url, range(10, 60))
    assert asked(service, 44) == few
    monkeypatch.setattr(decision, "CONSUMERS", 60)
    seed(owner_url, range(60, 62))
    assert asked(service, 61) == few, "nor do five times the consumers"
    assert max(few.values()) <= 20, few
