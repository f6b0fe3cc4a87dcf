"""Metrics and spans are declared once, counted apart by application, and exported only where somebody listens."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from governance.telemetry import METRICS, SPANS, MetricType, Telemetry, span

FORBIDDEN_LABELS = {"skill", "name", "user", "path", "id", "trace_id", "request_id", "token", "digest"}


def test_every_metric_is_named_and_bounded_by_the_rules() -> None:
    for name, metric in METRICS.items():
        assert metric.name == name
        assert name.startswith(("governance_", "http_server_"))
        assert name.endswith("_total") == (metric.type is MetricType.COUNTER)
        assert bool(metric.buckets) == (metric.type is MetricType.HISTOGRAM)
        assert not FORBIDDEN_LABELS & set(metric.labels)
        assert metric.help.endswith(".")


def test_every_metric_that_code_writes_is_declared_and_every_declared_one_is_written() -> None:
    code = "".join(
        path.read_text()
        for path in (Path(__file__).parents[1] / "governance").rglob("*.py")
        if "control" in path.parts or path.name == "telemetry.py"
    )
    for name in METRICS:
        assert code.count(f'"{name}"') >= 2, f"{name} is declared and never written"


def test_two_applications_in_one_process_count_apart() -> None:
    one, other = Telemetry(), Telemetry()
    one.count("governance_checks_total", decision="allow")
    one.observe("governance_decision_duration_seconds", 0.2)
    assert b'governance_checks_total{decision="allow"} 1.0' in one.render()
    assert b'governance_checks_total{decision="allow"}' not in other.render()
    assert b"governance_build_info{version=" in other.render()


def test_an_undeclared_metric_or_span_is_a_mistake_told_at_once() -> None:
    with pytest.raises(KeyError):
        Telemetry().count("governance_surprises_total")
    with pytest.raises(AssertionError), span("surprise"):
        pass
    with span(next(iter(SPANS))):
        pass


def test_spans_leave_by_otlp_only_when_an_endpoint_is_set(tmp_path: Path) -> None:
    """In a process of its own, for the provider of a process is set once."""
    import os
    import subprocess
    import sys

    received: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            return

    code = (
        "import os; from opentelemetry import trace; from governance.telemetry import export_traces, span\n"
        "export_traces(os.environ.get('OTEL_EXPORTER_OTLP_ENDPOINT'))\n"
        "with span('governance.publish', **{'governance.skill': 'weather.current'}): pass\n"
        "getattr(trace.get_tracer_provider(), 'shutdown', lambda: None)()\n"
    )
    with HTTPServer(("127.0.0.1", 0), Collector) as collector:
        thread = threading.Thread(target=collector.serve_forever)
        thread.start()
        try:
            clean = {key: value for key, value in os.environ.items() if not key.startswith("OTEL_")}
            subprocess.run([sys.executable, "-c", code], env=clean, check=True, timeout=60)
            assert received == []
            endpoint = f"http://127.0.0.1:{collector.server_address[1]}"
            there = clean | {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}
            subprocess.run([sys.executable, "-c", code], env=there, check=True, timeout=60)
        finally:
            collector.shutdown()
            thread.join()
    ((path, body),) = received
    assert path == "/v1/traces"
    assert b"governance.publish" in body
    assert b"weather.current" in body
