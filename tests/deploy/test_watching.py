"""What watches the registry: rules, routes and dashboards use declared metrics, and a real Prometheus runs them."""

from __future__ import annotations

import json
import re
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import yaml
from deployed import DEPLOY, ROOT, composition

from governance.client import ControlPlane
from governance.control import embedded
from governance.control.roles import OWNER_ROLE, SERVICE_ROLE
from governance.control.serving import Serving, serving
from governance.control.settings import Settings
from governance.errors import GovernanceError
from governance.telemetry import METRICS, MetricType

PROMETHEUS = DEPLOY / "prometheus" / "prometheus.yml"
RULES = DEPLOY / "prometheus" / "rules" / "registry.yml"
GROUPS = yaml.safe_load(RULES.read_text())["groups"]
ALERTS = {rule["alert"]: rule for group in GROUPS for rule in group["rules"] if "alert" in rule}
RECORDED = {rule["record"] for group in GROUPS for rule in group["rules"] if "record" in rule}
DASHBOARDS = {path.name: json.loads(path.read_text()) for path in (ROOT / "dashboards").glob("*.json")}
COLLECTOR = yaml.safe_load((DEPLOY / "otel" / "collector.yaml").read_text())
PASSWORDS = ("POSTGRES_PASSWORD", "OWNER_PASSWORD", "SERVICE_PASSWORD", "GRAFANA_PASSWORD")
SERVICES = composition({**dict.fromkeys(PASSWORDS, "x"), "COMPOSE_PROFILES": "observe"})["services"]
MANIFEST = {
    "name": "weather.current",
    "version": "1.0.0",
    "compatibility": "backward_compatible",
    "description": "Use when somebody asks for the weather now at a place.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "output_schema": {"type": "object", "properties": {"celsius": {"type": "number"}}},
    "timeout_sec": 10,
}


def series() -> set[str]:
    """Every name that a scrape of the service can bring."""
    found = {"up"}
    for metric in METRICS.values():
        parts = ("_bucket", "_count", "_sum") if metric.type is MetricType.HISTOGRAM else ("",)
        found |= {metric.name + part for part in parts}
    return found


def names_in(expression: str) -> set[str]:
    """The metrics of an expression: what is neither a label, a string, a number, a function nor a keyword."""
    plain = re.sub(r"\{[^}]*\}|\[[^\]]*\]|\b(by|on|ignoring)\s*\([^)]*\)", " ", expression)
    words = re.findall(r"[a-zA-Z_][\w:]*(?!\w*\s*\()", plain)
    return {word for word in words if not re.fullmatch(r"and|or|unless|by|on|ignoring", word)}


def panels() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, dashboard in DASHBOARDS.items():
        for panel in dashboard["panels"]:
            yield f"{name}: {panel['title']}", panel


def expressions() -> Iterator[tuple[str, str]]:
    for group in GROUPS:
        for rule in group["rules"]:
            yield rule.get("alert") or rule["record"], rule["expr"]
    for where, panel in panels():
        for target in panel["targets"]:
            yield where, target["expr"]


def test_every_expression_uses_metrics_that_are_declared() -> None:
    assert names_in('sum by (job) (rate(x_total{a="b"}[5m])) / y:z > 5 and on (job) up') == {"x_total", "y:z", "up"}
    used = {where: names_in(expression) for where, expression in expressions()}
    assert all(used.values())
    assert {where: names - series() - RECORDED for where, names in used.items() if names - series() - RECORDED} == {}


def test_every_alert_says_how_urgent_it_is_what_happened_and_where_to_read_on() -> None:
    guide = (ROOT / "docs" / "deploy.md").read_text()
    for name, rule in ALERTS.items():
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert rule["annotations"]["summary"].endswith(".")
        assert rule["annotations"]["runbook_url"] == f"docs/deploy.md#{name.lower()}"
        assert f"\n### {name}\n" in guide


def test_every_panel_says_what_it_shows_in_which_unit_and_asks_the_chosen_source() -> None:
    assert DASHBOARDS
    for where, panel in panels():
        assert panel["description"].endswith("."), where
        assert panel["fieldConfig"]["defaults"]["unit"], where
        sources = [panel["datasource"], *(target["datasource"] for target in panel["targets"])]
        assert all(source == {"type": "prometheus", "uid": "${datasource}"} for source in sources), where
    assert len({dashboard["uid"] for dashboard in DASHBOARDS.values()}) == len(DASHBOARDS)


def test_grafana_finds_its_sources_and_the_dashboards_where_the_composition_has_them() -> None:
    provisioning = DEPLOY / "grafana" / "provisioning"
    sources = yaml.safe_load((provisioning / "datasources" / "datasources.yaml").read_text())
    assert sources["apiVersion"] == 1
    assert [source["type"] for source in sources["datasources"]] == ["prometheus", "jaeger", "alertmanager"]
    for source in sources["datasources"]:
        assert source["access"] == "proxy"
        assert httpx.URL(source["url"]).host in SERVICES
    (provider,) = yaml.safe_load((provisioning / "dashboards" / "dashboards.yaml").read_text())["providers"]
    assert f"./dashboards:{provider['options']['path']}:ro" in SERVICES["grafana"]["volumes"]
    assert "./deploy/grafana/provisioning:/etc/grafana/provisioning:ro" in SERVICES["grafana"]["volumes"]


def test_the_collector_takes_what_the_registry_sends_and_gives_it_to_the_trace_store() -> None:
    sent = httpx.URL(SERVICES["registry"]["environment"]["OTEL_EXPORTER_OTLP_ENDPOINT"])
    receiver = COLLECTOR["receivers"]["otlp"]["protocols"]
    assert sent.host in SERVICES
    assert receiver["http"]["endpoint"] == f"0.0.0.0:{sent.port}"
    assert COLLECTOR["exporters"]["otlp"]["endpoint"].partition(":")[0] in SERVICES
    for pipeline in COLLECTOR["service"]["pipelines"].values():
        for kind in ("receivers", "processors", "exporters"):
            assert set(pipeline[kind]) <= set(COLLECTOR[kind])
        assert pipeline["processors"][0] == "memory_limiter"


def test_prometheus_watches_services_that_are_there() -> None:
    document = yaml.safe_load(PROMETHEUS.read_text())
    targets = [
        name for job in document["scrape_configs"] for dns in job.get("dns_sd_configs", ()) for name in dns["names"]
    ]
    told = document["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"]
    scraped = [
        one for job in document["scrape_configs"] for it in job.get("static_configs", ()) for one in it["targets"]
    ]
    hosts = {one.partition(":")[0] for one in [*targets, *told, *scraped]} - {"127.0.0.1"}
    assert hosts == {"registry", "alertmanager", "collector"} <= SERVICES.keys()


def run(*argv: object) -> str:
    """What a tool says. Fails where it fails."""
    done = subprocess.run([str(part) for part in argv], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.needs_prometheus
def test_promtool_and_amtool_accept_the_files() -> None:
    run("promtool", "check", "config", PROMETHEUS)
    run("promtool", "check", "rules", RULES)
    run("amtool", "check-config", DEPLOY / "alertmanager" / "alertmanager.yml")


@pytest.mark.needs_prometheus
def test_every_alert_fires_when_it_should_and_not_else() -> None:
    cases = Path(__file__).with_name("rules_test.yml")
    run("promtool", "test", "rules", cases)
    tried = {
        case["alertname"]
        for test in yaml.safe_load(cases.read_text())["tests"]
        for case in test["alert_rule_test"]
        if case["exp_alerts"]
    }
    assert tried == ALERTS.keys()


@pytest.mark.needs_prometheus
def test_each_severity_has_a_receiver() -> None:
    for severity in {rule["labels"]["severity"] for rule in ALERTS.values()}:
        config = DEPLOY / "alertmanager" / "alertmanager.yml"
        assert (
            run("amtool", "config", "routes", "test", f"--config.file={config}", f"severity={severity}")
            == f"{severity}\n"
        )


@contextmanager
def used_service(server: embedded.Server, template: str, home: Path) -> Iterator[Serving]:
    name = "watched_" + secrets.token_hex(4)
    with psycopg.connect(server.superuser_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} OWNER {OWNER_ROLE}")
    settings = Settings(home=home, database_url=server.url(role=SERVICE_ROLE, database=name), port=0)
    with serving(settings) as running:
        yield running


def use(running: Serving) -> None:
    """One of everything that is counted."""
    with ControlPlane(running.address, running.token) as client:
        client.put_version(MANIFEST)
        client.put_version({**MANIFEST, "version": "1.1.0", "tags": ["new"]})
    with httpx.Client(base_url=running.address, headers={"Authorization": f"Bearer {running.token}"}) as http:
        http.post("/v1/checks", json={"candidates": [{"manifest": {**MANIFEST, "version": "1.2.0"}}]})
        http.post("/v1/resolve", json={"questions": [{"skill": "weather.current", "range": "^1"}]})
        http.put("/v1/catalogues/shop/releases/1.0.0", json={"members": [{**MANIFEST, "name": "shop.weather"}]})
    with ControlPlane(running.address, running.token) as client, pytest.raises(GovernanceError):
        client.put_version({**MANIFEST, "description": "Other bytes under a number that is taken, which is refused."})
    assert httpx.get(f"{running.address}/v1/skills").status_code == 401


@contextmanager
def prometheus(folder: Path, target: str) -> Iterator[httpx.Client]:
    """A real one with the rules of this project and its scrape job, shortened to a second, on ``target``."""
    document = yaml.safe_load(PROMETHEUS.read_text())
    (job,) = (one for one in document["scrape_configs"] if one["job_name"] == "registry")
    del job["dns_sd_configs"]
    document |= {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(RULES)],
        "scrape_configs": [{**job, "static_configs": [{"targets": [target]}]}],
    }
    del document["alerting"]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(document))
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    argv = ["prometheus", f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}"]
    with subprocess.Popen(
        [*argv, f"--web.listen-address={address}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            with httpx.Client(base_url=f"http://{address}/api/v1") as client:
                yield client
        finally:
            process.terminate()


def answer(client: httpx.Client, path: str, **parameters: str) -> Any:
    try:
        return client.get(path, params=parameters).json()["data"]
    except httpx.TransportError:
        return None


def empty(client: httpx.Client, asked: Mapping[str, str]) -> list[str]:
    """Which of the expressions bring nothing yet."""
    found = []
    for expression in asked:
        result = answer(client, "/query", query=expression)
        if not result or not result["result"]:
            found.append(expression)
    return found


@pytest.mark.needs_prometheus
def test_a_real_prometheus_scrapes_the_service_and_evaluates_every_rule_and_panel(
    server: embedded.Server, template: str, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    asked = {
        target["expr"].replace("$__rate_interval", "10s"): where
        for where, panel in panels()
        for target in panel["targets"]
    }
    with (
        used_service(server, template, tmp_path / "home") as running,
        prometheus(tmp_path, running.address.removeprefix("http://")) as client,
    ):
        deadline = time.monotonic() + 60
        use(running)
        while missing := empty(client, asked):
            assert time.monotonic() < deadline, missing
            httpx.get(f"{running.address}/v1/skills")
            time.sleep(0.5)
        rules = [rule for group in answer(client, "/rules")["groups"] for rule in group["rules"]]
        assert {rule["name"] for rule in rules} == ALERTS.keys() | RECORDED
        while any(rule["health"] == "unknown" for rule in rules):
            assert time.monotonic() < deadline
            time.sleep(0.5)
            rules = [rule for group in answer(client, "/rules")["groups"] for rule in group["rules"]]
        assert {rule["name"]: rule.get("lastError") for rule in rules if rule["health"] != "ok"} == {}
        assert [rule["name"] for rule in rules if rule.get("state") == "firing"] == []
