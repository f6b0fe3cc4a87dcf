"""What the service's page tells in tables is what the code says."""

from __future__ import annotations

from pathlib import Path

import pytest

from governance.control.audit.service import AUDIT_ACTIONS
from governance.control.auth.roles import ROLES, Right
from governance.telemetry import EVENTS, METRICS, SPANS, Metric
from governance.wire import Role

PAGE = (Path(__file__).parents[2] / "docs" / "service.md").read_text().splitlines()


@pytest.mark.parametrize("role", Role)
def test_every_role_is_in_the_docs(role: Role) -> None:
    assert f"| {role.value} | {' | '.join('yes' if right in ROLES[role] else '' for right in Right)} |" in PAGE


@pytest.mark.parametrize("action", AUDIT_ACTIONS)
def test_every_audit_action_is_in_the_docs(action: str) -> None:
    assert f"| `{action}` | {AUDIT_ACTIONS[action]} |" in PAGE


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_every_metric_is_in_the_docs(metric: Metric) -> None:
    assert f"| `{metric.name}` | {metric.type.value} | {', '.join(metric.labels)} | {metric.help} |" in PAGE


@pytest.mark.parametrize("name", SPANS)
def test_every_span_is_in_the_docs(name: str) -> None:
    assert f"| `{name}` | {SPANS[name]} |" in PAGE


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_on_a_span_is_in_the_docs(name: str) -> None:
    assert f"| `{name}` | {EVENTS[name]} |" in PAGE
