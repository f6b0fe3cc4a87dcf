"""METRICS, SPANS and EVENTS: each declared once, in one table; documentation and dashboards derive from it.

Labels are bounded: a name, a user, a path or an id is never a label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from opentelemetry import trace
from opentelemetry.propagate import extract
from opentelemetry.trace import Span, SpanKind, Tracer
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from governance import __version__

METRICS_MEDIA_TYPE: Final = CONTENT_TYPE_LATEST


class MetricType(StrEnum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One metric; ``buckets`` are upper bounds in the metric's unit, for histograms only."""

    name: str
    type: MetricType
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


def _table(*metrics: Metric) -> dict[str, Metric]:
    return {metric.name: metric for metric in metrics}


METRICS: Final = _table(
    Metric(
        name="http_server_request_duration_seconds",
        type=MetricType.HISTOGRAM,
        labels=("method", "route", "status"),
        buckets=_SECONDS,
        help="Seconds from a request's first byte to the answer's last, by route template.",
    ),
    Metric(
        name="governance_publishes_total",
        type=MetricType.COUNTER,
        labels=("result",),
        help="Publishes by result: created, unchanged, or the code of the refusal.",
    ),
    Metric(
        name="governance_releases_total",
        type=MetricType.COUNTER,
        labels=("result",),
        help="Releases of catalogues by result: created, unchanged, or the code of the refusal.",
    ),
    Metric(
        name="governance_checks_total",
        type=MetricType.COUNTER,
        labels=("decision",),
        help="Candidates that checks decided on, by decision.",
    ),
    Metric(
        name="governance_decision_duration_seconds",
        type=MetricType.HISTOGRAM,
        buckets=_SECONDS,
        help="Seconds to decide on one candidate, comparisons included.",
    ),
    Metric(
        name="governance_comparisons_total",
        type=MetricType.COUNTER,
        labels=("source",),
        help="Comparisons asked for, by where the answer came from: computed, memory, stored.",
    ),
    Metric(
        name="governance_comparisons_interrupted_total",
        type=MetricType.COUNTER,
        help="Comparisons that the ceiling ended before they were complete.",
    ),
    Metric(
        name="governance_opinion_disagreements_total",
        type=MetricType.COUNTER,
        help="Sides that the engine proved and the second opinion denied; any is a bug of one of the two.",
    ),
    Metric(
        name="governance_resolves_total",
        type=MetricType.COUNTER,
        labels=("result",),
        help="Questions resolved, by result: served, held_back, or the code of the refusal.",
    ),
    Metric(
        name="governance_deprecated_resolves_total",
        type=MetricType.COUNTER,
        labels=("state", "named"),
        help="Questions answered with a version whose end is announced, by state and whether the caller has a name.",
    ),
    Metric(
        name="governance_refusals_total",
        type=MetricType.COUNTER,
        labels=("action", "code"),
        help="Refusals put on record, by action and error code.",
    ),
    Metric(
        name="governance_webhook_attempts_total",
        type=MetricType.COUNTER,
        labels=("result",),
        help="Attempts to deliver to webhooks, by result: delivered, refused, no_answer.",
    ),
    Metric(
        name="governance_rollout_steps_total",
        type=MetricType.COUNTER,
        labels=("kind",),
        help="Steps of rollouts, by kind: hold, resume, advance, complete, fall_back, cancel.",
    ),
    Metric(
        name="governance_job_runs_total",
        type=MetricType.COUNTER,
        labels=("job", "result"),
        help="Runs of the service's own jobs: done, idle (nothing was due) or failed.",
    ),
    Metric(
        name="governance_unauthenticated_total",
        type=MetricType.COUNTER,
        labels=("cause",),
        help="Requests refused because nobody could tell who sent them, by cause.",
    ),
    Metric(
        name="governance_db_pool_connections",
        type=MetricType.GAUGE,
        labels=("pool", "state"),
        help="Database connections by pool (session, read) and state (used, idle).",
    ),
    Metric(
        name="governance_build_info",
        type=MetricType.GAUGE,
        labels=("version",),
        help="Always 1; the version that runs.",
    ),
)

SPANS: Final[dict[str, str]] = {
    "http.server": "One request to the control plane; named by method and route template.",
    "governance.publish": "One publish: lock, comparisons, decision, rows.",
    "governance.release": "One release of a catalogue: comparisons, locks, decision, rows.",
    "governance.decide": "One candidate decided on in a check.",
    "governance.job": "One run of one of the service's own jobs.",
}


EVENTS: Final[dict[str, str]] = {
    "governance.deprecated_use": "A version whose end is announced served a caller; names caller, skill and version.",
}
"""What is noted on a span as it happens."""


class Telemetry:
    """The counters of one application. ``registry`` is its own, so two applications in one process never mix."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, Gauge] = {}
        self._histograms: dict[str, Histogram] = {}
        for metric in METRICS.values():
            match metric.type:
                case MetricType.COUNTER:
                    name = metric.name.removesuffix("_total")
                    self._counters[metric.name] = Counter(name, metric.help, metric.labels, registry=self.registry)
                case MetricType.GAUGE:
                    self._gauges[metric.name] = Gauge(metric.name, metric.help, metric.labels, registry=self.registry)
                case MetricType.HISTOGRAM:
                    self._histograms[metric.name] = Histogram(
                        metric.name,
                        metric.help,
                        metric.labels,
                        buckets=metric.buckets,
                        registry=self.registry,
                    )
        self.set("governance_build_info", 1, version=__version__)

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        counter = self._counters[name]
        (counter.labels(**labels) if labels else counter).inc(amount)

    def set(self, name: str, value: float, **labels: str) -> None:
        gauge = self._gauges[name]
        (gauge.labels(**labels) if labels else gauge).set(value)

    def observe(self, name: str, value: float, **labels: str) -> None:
        histogram = self._histograms[name]
        (histogram.labels(**labels) if labels else histogram).observe(value)

    def render(self) -> bytes:
        """All samples in the Prometheus text format."""
        return generate_latest(self.registry)


def tracer() -> Tracer:
    return trace.get_tracer("governance", __version__)


@contextmanager
def server_span(name: str, headers: Mapping[str, str]) -> Iterator[Span]:
    """A span for one request, child of the caller's ``traceparent`` where there is one."""
    with tracer().start_as_current_span(name, context=extract(headers), kind=SpanKind.SERVER) as span:
        yield span


@contextmanager
def span(name: str, **attributes: str | int | float | bool) -> Iterator[Span]:
    """A span inside the current one; ``name`` is a row of SPANS."""
    assert name in SPANS, name
    with tracer().start_as_current_span(name, attributes=attributes) as current:
        yield current


def event(name: str, **attributes: str) -> None:
    """Note something on the current span; ``name`` is a row of EVENTS."""
    assert name in EVENTS, name
    trace.get_current_span().add_event(name, {f"governance.{key}": value for key, value in attributes.items()})


def export_traces(endpoint: str | None) -> None:
    """Send spans by OTLP over HTTP when an endpoint is set; without one nothing is exported and nothing kept.

    ``endpoint`` only decides whether; where and how the exporter reads from the standard OTEL_* variables.
    """
    if endpoint is None:
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create({"service.name": "skill-governance", "service.version": __version__})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
