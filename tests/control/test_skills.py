"""Publishing, reading, listing: the registry over HTTP."""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import replace
from typing import Any

import httpx
import psycopg
import pytest
from registry import Manifest, Service

from governance.client import ControlPlane
from governance.control.serving import serving
from governance.control.settings import Settings
from governance.core.canonical import canonical_bytes
from governance.errors import (
    AmbiguousName,
    Forbidden,
    GateRefused,
    GovernanceError,
    InvalidContract,
    InvalidVersion,
    NotFound,
    ServiceUnavailable,
    VersionExists,
)
from governance.wire import Role


def with_input(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}} | fields


BROKEN_INPUT = with_input(required=["city", "days"])
WIDER_INPUT = with_input(required=[])


# ── who may, and whose it is ──


def test_a_publisher_publishes_in_its_namespace_and_nowhere_else(service: Service, manifest: Manifest) -> None:
    with service.client(Role.PUBLISHER, "weather") as client:
        assert client.put_version(manifest()).created
        for foreign in ("maps.route", "weatherman.now", "weather"):
            with pytest.raises(Forbidden):
                client.put_version(manifest(foreign))
    assert [card.name for card in service.admin.list_skills().items] == ["weather.current"]


def test_other_peoples_skills_cannot_be_seen_by_any_way(service: Service, manifest: Manifest) -> None:
    published = service.admin.put_version(manifest("maps.route", timeout_sec=7)).version
    service.admin.put_version(manifest("weather.current"))
    with service.client(Role.VIEWER, "weather") as viewer:
        assert [card.name for card in viewer.list_skills().items] == ["weather.current"]
        assert list(viewer.search("route")) == []
        for look in (
            lambda: viewer.get_skill("maps.route"),
            lambda: viewer.get_version("maps.route", "1.0.0"),
            lambda: viewer.versions("maps.route"),
            lambda: viewer.diff("maps.route", "1.0.0", "1.0.0"),
            lambda: viewer.resolve("maps.route", "^1"),
        ):
            with pytest.raises(Forbidden):
                look()
        for hidden in (
            lambda: viewer.get_skill("route"),
            lambda: viewer.blob(published.manifest_digest),
            lambda: viewer.blob(published.contract_digest),
        ):
            with pytest.raises(NotFound):
                hidden()


# ── publish ──


def test_a_version_is_published_once_and_the_same_manifest_again_changes_nothing(
    service: Service, manifest: Manifest
) -> None:
    with service.http(service.serving.token) as http:
        url = "/v1/skills/weather.current/versions/1.0.0"
        first = http.put(url, json=manifest(), params={"reason": "first", "commit": "abc"})
        again = http.put(url, json=dict(reversed(manifest().items())))
    assert (first.status_code, again.status_code) == (201, 200)
    assert (first.json()["created"], again.json()["created"]) == (True, False)
    assert first.json()["version"] == again.json()["version"]
    assert first.json()["version"]["reason"] == "first"
    assert first.json()["version"]["provenance"]["commit"] == "abc"
    (entry,) = service.entries("skill.publish")
    assert entry["outcome"] == "done"
    assert entry["reason"] == "first"
    assert entry["subject"] == "weather.current@1.0.0"
    assert entry["actor"]["name"] == "local admin"
    assert entry["request_id"] == first.headers["x-request-id"]
    assert entry["trace_id"] == first.headers["x-trace-id"]
    assert entry["after"]["manifest_digest"] == first.json()["version"]["manifest_digest"]


def test_a_version_taken_by_other_bytes_is_a_conflict_that_says_whose(service: Service, manifest: Manifest) -> None:
    service.admin.put_version(manifest())
    with pytest.raises(VersionExists, match="local admin") as caught:
        service.admin.put_version(manifest(tags=["new"]))
    assert caught.value.details["manifest_digest"] != caught.value.details["your_manifest_digest"]
    assert "never changes" in caught.value.fix
    assert [entry["outcome"] for entry in service.entries("skill.publish")] == ["done", "refused"]


def test_build_metadata_makes_no_other_version(service: Service, manifest: Manifest) -> None:
    service.admin.put_version(manifest(version="1.0.0+a"))
    with pytest.raises(VersionExists):
        service.admin.put_version(manifest(version="1.0.0+b"))
    assert service.admin.get_version("weather.current", "1.0.0").version == "1.0.0+a"


def test_the_gate_refuses_a_break_with_the_whole_decision_and_the_payload(service: Service, manifest: Manifest) -> None:
    service.admin.put_version(manifest())
    with pytest.raises(GateRefused) as caught:
        service.admin.put_version(manifest(version="1.0.1", input_schema=BROKEN_INPUT), reason="try")
    decision = caught.value.details["decision"]
    assert decision["decision"] == "block"
    assert decision["baseline"] == "1.0.0"
    assert decision["smallest_version"] == "2.0.0"
    witness = decision["compared"][0]["witness"]
    assert witness["accepted_by"] == "old"
    assert "days" not in witness["payload"]
    assert caught.value.fix
    refused = service.entries("skill.publish")[-1]
    assert (refused["outcome"], refused["reason"]) == ("refused", "try")
    assert refused["after"]["decision"] == "block"
    assert "payload" not in json.dumps(refused)
    with pytest.raises(NotFound):
        service.admin.get_version("weather.current", "1.0.1")


def test_a_declared_break_opens_a_line_and_a_compatible_version_does_not(service: Service, manifest: Manifest) -> None:
    service.admin.put_version(manifest())
    wider = service.admin.put_version(
        manifest(version="1.1.0", input_schema=WIDER_INPUT, compatibility="input_compatible")
    ).version
    broken = service.admin.put_version(
        manifest(version="2.0.0", input_schema=BROKEN_INPUT, compatibility="breaking_change")
    ).version
    assert (wider.opens_line, wider.baseline) == (False, "1.0.0")
    assert (broken.opens_line, broken.baseline) == (True, "1.1.0")
    skill = service.admin.get_skill("weather.current")
    assert [(line.opened_at, line.latest) for line in skill.lines] == [("2.0.0", "2.0.0"), ("1.0.0", "1.1.0")]
    assert (skill.latest, skill.versions) == ("2.0.0", 3)


def test_risky_blocks_when_asked_to(service: Service, manifest: Manifest) -> None:
    service.admin.put_version(manifest())
    slower = manifest(version="1.1.0", timeout_sec=5, compatibility="input_compatible")
    with pytest.raises(GateRefused):
        service.admin.put_version(slower, fail_on="risky")
    assert service.admin.put_version(slower).version.decision["decision"] == "warn"


def test_an_invalid_contract_is_refused_and_the_refusal_is_on_record(service: Service, manifest: Manifest) -> None:
    with pytest.raises(InvalidContract) as caught:
        service.admin.put_version(manifest(timeout_sec=-1))
    assert caught.value.faults[0].pointer == "/timeout_sec"
    (entry,) = service.entries("skill.publish")
    assert (entry["outcome"], entry["after"]["code"]) == ("refused", "invalid-contract")


def test_a_version_that_is_none_is_refused(service: Service, manifest: Manifest) -> None:
    with pytest.raises(InvalidVersion):
        service.admin.put_version(manifest(version="v1"))


def test_of_many_publishers_of_one_version_one_wins_and_the_others_are_told_why(
    service: Service, manifest: Manifest
) -> None:
    outcomes: list[str] = []
    start = threading.Barrier(8)

    def publish(number: int) -> None:
        with ControlPlane(service.serving.address, service.serving.token) as client:
            start.wait()
            try:
                created = client.put_version(manifest(tags=[f"t{number % 4}"])).created
                outcomes.append("created" if created else "same")
            except VersionExists as error:
                outcomes.append("taken" if "published by" in error.message else error.message)

    threads = [threading.Thread(target=publish, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["created", "same", *["taken"] * 6]
    assert len(service.admin.versions("weather.current")) == 1
    assert [entry["outcome"] for entry in service.entries("skill.publish")].count("done") == 1


def test_far_more_publishers_than_connections_all_come_through(service: Service, manifest: Manifest) -> None:
    created: list[bool] = []

    def publish(number: int) -> None:
        with ControlPlane(service.serving.address, service.serving.token) as client:
            created.append(client.put_version(manifest(f"many.s{number}")).created)

    threads = [threading.Thread(target=publish, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert created == [True] * 40


def test_one_skills_lock_holds_up_nobody_else_and_is_not_waited_for_without_end(
    settings: Settings, manifest: Manifest
) -> None:
    with (
        serving(replace(settings, statement_timeout_sec=1)) as running,
        ControlPlane(running.address, running.token) as client,
        psycopg.connect(settings.database_url or "") as other,
    ):
        other.execute("SELECT pg_advisory_xact_lock(hashtextextended('skill:team.locked', 0))")
        assert client.put_version(manifest("team.free")).created
        with pytest.raises(ServiceUnavailable, match="Another request holds"):
            client.put_version(manifest("team.locked"))
        other.rollback()
        assert client.put_version(manifest("team.locked")).created


def test_a_commit_that_fails_is_an_answer_that_fails(service: Service, manifest: Manifest, owner_url: str) -> None:
    with psycopg.connect(owner_url) as owner:
        owner.execute(
            """
            CREATE FUNCTION fail_late() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'the disk is full' USING ERRCODE = 'disk_full'; END $$;
            CREATE CONSTRAINT TRIGGER late AFTER INSERT ON skill_version DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION fail_late();
            """
        )
    with service.http(service.serving.token) as http:
        answer = http.put("/v1/skills/weather.current/versions/1.0.0", json=manifest())
    assert answer.status_code == 503
    assert answer.json()["code"] == "service-unavailable"
    assert service.admin.list_skills().items == []
    assert service.entries("skill.publish") == []
    with psycopg.connect(owner_url) as owner:
        owner.execute("DROP TRIGGER late ON skill_version")
    assert service.admin.put_version(manifest()).created


def test_nobody_changes_a_version_in_the_database(service: Service, manifest: Manifest, owner_url: str) -> None:
    service.admin.put_version(manifest())
    statements = (
        "UPDATE skill_version SET version = '2.0.0'",
        "DELETE FROM skill_version",
        "TRUNCATE skill_version CASCADE",
    )
    for url in (service.database_url, owner_url):
        for statement in statements:
            with psycopg.connect(url) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)


# ── read ──


def test_a_version_reads_back_as_it_was_published_with_its_state(service: Service, manifest: Manifest) -> None:
    document = manifest(description="Météo 天气 😀", examples=[{"input": {"city": "Zürich"}}])
    published = service.admin.put_version(document).version
    read = service.admin.get_version("weather.current", "1.0.0")
    assert read == published
    assert {key: read.manifest[key] for key in document} == document
    assert read.state == "active"


def test_a_blob_is_what_its_digest_says(service: Service, manifest: Manifest) -> None:
    published = service.admin.put_version(manifest(owner="team")).version
    for digest in (published.manifest_digest, published.contract_digest):
        content = service.admin.blob(digest)
        assert "sha256:" + hashlib.sha256(content).hexdigest() == digest
        assert canonical_bytes(json.loads(content)) == content
    with pytest.raises(NotFound):
        service.admin.blob("sha256:" + "0" * 64)


def test_what_never_changes_is_not_sent_twice(service: Service, manifest: Manifest, owner_url: str) -> None:
    published = service.admin.put_version(manifest()).version
    with service.http(service.serving.token) as http:
        for path in (
            f"/v1/blobs/{published.manifest_digest}",
            "/v1/skills/weather.current/versions/1.0.0",
        ):
            answer = http.get(path)
            again = http.get(path, headers={"If-None-Match": f'"x", {answer.headers["etag"]}'})
            assert (again.status_code, again.content) == (304, b"")
        assert "immutable" in http.get(f"/v1/blobs/{published.manifest_digest}").headers["cache-control"]
        before = http.get("/v1/skills/weather.current/versions/1.0.0")
        with psycopg.connect(owner_url) as owner:
            owner.execute("UPDATE skill_version_state SET yanked = 'leaks', revision = revision + 1")
        after = http.get("/v1/skills/weather.current/versions/1.0.0", headers={"If-None-Match": before.headers["etag"]})
    assert after.status_code == 200
    assert after.json()["yanked"] == "leaks"


def test_versions_come_highest_first_by_semver_and_ranges_choose(service: Service, manifest: Manifest) -> None:
    numbers = ["1.0.0", "1.2.0", "1.10.0", "1.10.1-rc.1", f"1.{2**70}.0", "2.0.0-alpha.2", "2.0.0-alpha.10"]
    for number in numbers:
        service.admin.put_version(manifest(version=number))
    assert [version.version for version in service.admin.versions("weather.current")] == numbers[::-1]
    chosen = service.admin.versions("weather.current", range=">=1.2.0 <1.11")
    assert [version.version for version in chosen] == ["1.10.0", "1.2.0"]
    seen: list[str] = []
    with service.http(service.serving.token) as http:
        cursor: str | None = None
        while cursor is not None or not seen:
            query = {"limit": 2} | ({"cursor": cursor} if cursor else {})
            page = http.get("/v1/skills/weather.current/versions", params=query).json()
            seen += [version["version"] for version in page["items"]]
            cursor = page["next"]
            if cursor is None:
                break
    assert seen == numbers[::-1]
    assert service.admin.get_skill("weather.current").latest == f"1.{2**70}.0"


def test_a_diff_shows_the_break_with_its_payload(service: Service, manifest: Manifest) -> None:
    service.admin.put_version(manifest())
    service.admin.put_version(manifest(version="2.0.0", input_schema=BROKEN_INPUT, compatibility="breaking_change"))
    there = service.admin.diff("weather.current", "1.0.0", "2.0.0").comparison
    back = service.admin.diff("weather.current", "2.0.0", "1.0.0").comparison
    assert there["verdict"] == "breaking"
    assert there["witness"]["accepted_by"] == "old"
    assert back["verdict"] in {"compatible", "risky"}


def test_a_bare_name_stands_for_the_one_skill_of_that_name(service: Service, manifest: Manifest) -> None:
    service.admin.put_version(manifest("weather.current"))
    assert service.admin.get_skill("current").name == "weather.current"
    service.admin.put_version(manifest("river.current"))
    with pytest.raises(AmbiguousName) as caught:
        service.admin.get_version("current", "1.0.0")
    assert caught.value.details["names"] == ["river.current", "weather.current"]
    with service.client(Role.VIEWER, "river") as viewer:
        assert viewer.get_skill("current").name == "river.current"
    service.admin.put_version(manifest("current"))
    assert service.admin.get_skill("current").name == "current"


def test_what_is_not_there_is_told_with_what_is(service: Service, manifest: Manifest) -> None:
    service.admin.put_version(manifest())
    with pytest.raises(NotFound) as caught:
        service.admin.get_version("weather.current", "3.0.0")
    assert caught.value.details["versions"] == ["1.0.0"]
    with pytest.raises(NotFound):
        service.admin.get_skill("weather.tomorrow")


# ── search ──


@pytest.fixture(scope="module")
def library(empty_service: Service, manifest: Manifest) -> ControlPlane:
    def schema(*names: str) -> dict[str, Any]:
        return {"type": "object", "properties": {name: {"type": "string"} for name in names}}

    publish = empty_service.admin.put_version
    publish(manifest("knowledge.extract", description="从文档中提取知识点并生成摘要。", tags=["nlp", "zh"], owner="cn"))
    publish(
        manifest(
            "meteo.previsions",
            description="À utiliser pour les prévisions météo d'une cœur de ville ; déjà testé.",
            tags=["météo"],
            owner="fr",
            input_schema=schema("Ville", "jours"),
        )
    )
    publish(manifest("orders.find_order", title="Find 100% of an order", input_schema=schema("order_id")))
    nested = {"type": "object", "properties": {"box": {"type": "array", "items": schema("colorName")}}}
    publish(manifest("paint.mix", input_schema=nested, output_schema=schema("hex_code")))
    return empty_service.admin


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"text": "知识"}, ["knowledge.extract"]),
        ({"text": "摘要 文档"}, ["knowledge.extract"]),
        ({"text": "PREVISIONS"}, ["meteo.previsions"]),
        ({"text": "prévisions déjà"}, ["meteo.previsions"]),
        ({"text": "coeur"}, ["meteo.previsions"]),
        ({"text": "find order"}, ["orders.find_order"]),
        ({"text": "100%"}, ["orders.find_order"]),
        ({"text": "10_%"}, []),
        ({"text": "ＰＡＩＮＴ"}, ["paint.mix"]),
        ({"text": "hex_code"}, ["paint.mix"]),
        ({"text": "nothing like it"}, []),
        ({"text": "  "}, ["knowledge.extract", "meteo.previsions", "orders.find_order", "paint.mix"]),
        ({"tag": "météo"}, ["meteo.previsions"]),
        ({"tag": "meteo"}, []),
        ({"owner": "cn"}, ["knowledge.extract"]),
        ({"field": "ville"}, ["meteo.previsions"]),
        ({"field": "colorname"}, ["paint.mix"]),
        ({"field": "hex_code"}, ["paint.mix"]),
        ({"state": "active", "text": "mix"}, ["paint.mix"]),
        ({"state": "retired"}, []),
        ({"tag": "nlp", "owner": "fr"}, []),
    ],
)
def test_search(library: ControlPlane, query: dict[str, str], found: list[str]) -> None:
    assert [card.name for card in library.list_skills(**query).items] == found


def test_pages_of_a_search_have_no_gap_though_skills_are_added(service: Service, manifest: Manifest) -> None:
    names = [f"many.s{number:02}" for number in range(11)]
    for name in names:
        service.admin.put_version(manifest(name))
    first = service.admin.list_skills(text="many", limit=4)
    service.admin.put_version(manifest("many.a_newcomer"))
    seen = [card.name for card in first.items]
    cursor = first.next
    while cursor is not None:
        page = service.admin.list_skills(text="many", limit=4, cursor=cursor)
        seen += [card.name for card in page.items]
        cursor = page.next
    assert seen == names


def test_what_a_list_shows_follows_the_highest_version_that_is_served(service: Service, manifest: Manifest) -> None:
    service.admin.put_version(manifest(version="2.0.0", description="Use for the newest weather.", tags=["new"]))
    service.admin.put_version(manifest(version="1.0.0", description="Use for old weather.", tags=["old"]))
    (card,) = service.admin.list_skills().items
    assert (card.latest, card.tags, card.versions) == ("2.0.0", ["new"], 2)
    service.admin.put_version(manifest(version="3.0.0-rc.1", description="Use for future weather."))
    (card,) = service.admin.list_skills().items
    assert card.latest == "2.0.0"


def test_every_answer_is_what_the_client_reads(service: Service, manifest: Manifest) -> None:
    """The client ignores nothing it is sent: a field the service adds must be in the messages."""
    service.admin.put_version(manifest())
    with service.http(service.serving.token) as http:
        raw: httpx.Response = http.get("/v1/skills/weather.current/versions/1.0.0")
        listed = http.get("/v1/skills/weather.current/versions").json()["items"][0]
        card = http.get("/v1/skills/weather.current").json()
    from governance.wire import Skill, SkillVersion, VersionSummary

    assert set(raw.json()) == set(SkillVersion.model_fields)
    assert set(listed) == set(VersionSummary.model_fields)
    assert set(card) == set(Skill.model_fields)


def test_monstrous_names_are_stored_whole_and_indexed_cut(service: Service, manifest: Manifest) -> None:
    long = "\u5b57" * 2_000
    schema = {"type": "object", "properties": {long: {"type": "string"}, "": {}, "~/": {}}}
    document = manifest(input_schema=schema, tags=[long], extensions={"mcp": {"x": long * 50}})
    service.admin.put_version(document)
    read = service.admin.get_version("weather.current", "1.0.0").manifest
    assert {key: read[key] for key in document} == document
    for filters in ({"field": long[:200]}, {"tag": long[:200]}, {"text": long[:150]}):
        assert [card.name for card in service.admin.list_skills(**filters).items] == ["weather.current"]


@pytest.mark.parametrize(
    "fields",
    [
        {"title": "a\x00title"},
        {"migration_guide": "https://example.org/a\x00b"},
        {"extensions": {"mcp": {"x\x00": 1}}},
        {"output_schema": {"type": "object", "properties": {"a\x00b": {}}}},
    ],
)
def test_a_nul_is_refused_with_what_to_do(service: Service, manifest: Manifest, fields: dict[str, Any]) -> None:
    with pytest.raises((InvalidContract, GateRefused)) as caught:
        service.admin.put_version(manifest(**fields))
    assert caught.value.fix


def test_a_server_error_is_no_success(service: Service, manifest: Manifest, owner_url: str) -> None:
    with psycopg.connect(owner_url) as owner:
        owner.execute("ALTER TABLE skill RENAME TO elsewhere")
    with pytest.raises(GovernanceError) as caught:
        service.admin.put_version(manifest())
    assert caught.value.code == "internal"
    assert "elsewhere" not in caught.value.message


def test_a_replacement_tells_nothing_of_skills_that_the_caller_may_not_read(
    service: Service, manifest: Manifest
) -> None:
    service.admin.put_version(manifest("sec.hidden"))
    service.admin.put_version(manifest("sec.last", replacement="sec.hidden@^1", deprecated_since="1.0.0"))

    def reasons(stranger: ControlPlane, replacement: str) -> list[tuple[str, str]]:
        candidate = manifest("zz.b", replacement=replacement)
        (decision,) = stranger.check([candidate]).decisions
        with pytest.raises(GateRefused):
            stranger.put_version(candidate)
        return [(one["code"], one["message"].replace(replacement, "?")) for one in decision["reasons"]]

    with service.client(Role.PUBLISHER, "zz") as stranger:
        missing = reasons(stranger, "sec.nothing@^1")
        assert missing[0][0] == "replacement-missing"
        for replacement in ("sec.hidden@^1", "sec.hidden@^2", "sec.last@^1"):
            assert reasons(stranger, replacement) == missing
    (decision,) = service.admin.check([manifest("zz.b", replacement="sec.hidden@^1")]).decisions
    assert decision["decision"] != "block"


def test_a_circle_through_skills_that_the_caller_may_not_read_is_not_spelled_out(
    service: Service, manifest: Manifest
) -> None:
    service.admin.put_version(manifest("zz.b"))
    service.admin.put_version(manifest("sec.secret_name", replacement="zz.b@*"))
    service.admin.put_version(manifest("zz.a", replacement="sec.secret_name@*"))
    candidate = manifest("zz.b", "1.0.1", replacement="zz.a@*")
    with service.client(Role.PUBLISHER, "zz") as publisher:
        (decision,) = publisher.check([candidate]).decisions
    assert "secret_name" not in str(decision)
    (decision,) = service.admin.check([candidate]).decisions
    assert "replacement-circular" in {one["code"] for one in decision["reasons"]}
