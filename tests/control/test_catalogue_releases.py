"""Whole tool lists, released as one over HTTP."""

from __future__ import annotations

import json
import threading
from typing import Any

import psycopg
import pytest
from registry import Manifest, Service

from governance.core.releases import VersionBy
from governance.errors import (
    DocumentTooLarge,
    Forbidden,
    GateRefused,
    GovernanceError,
    InvalidContract,
    InvalidRequest,
    NotFound,
    VersionExists,
)
from governance.wire import CatalogueCandidate, Role

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
WIDER = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
NARROWER = SCHEMA | {"required": ["city"]}


@pytest.fixture
def tool(manifest: Manifest) -> Any:
    """A member that leaves its number and its level to the registry."""

    def build(name: str, schema: dict[str, Any] = SCHEMA, **fields: Any) -> dict[str, Any]:
        given = {"version": None, "compatibility": None, "input_schema": schema, "defaulted": ["compatibility"]}
        return manifest(f"shop.{name}", **given | fields)

    return build


def codes(error: GateRefused) -> set[str]:
    decision = error.details["decision"]
    told = [*decision["reasons"], *(reason for one in decision["decisions"] for reason in one["reasons"])]
    return {reason["code"] for reason in told if reason["outcome"] == "block"}


# ── who may, and whose it is ──


def test_a_publisher_releases_in_its_namespace_and_nowhere_else(service: Service, tool: Any) -> None:
    with service.client(Role.PUBLISHER, "maps") as client, pytest.raises(Forbidden):
        client.put_release("shop", "1.0.0", [tool("find")])
    with service.client(Role.VIEWER, "shop") as client:
        with pytest.raises(Forbidden):
            client.put_release("shop", "1.0.0", [tool("find")])
        with pytest.raises(Forbidden):
            client.check([tool("find")], catalogue=CatalogueCandidate(name="shop"))
    with service.client(Role.PUBLISHER, "shop") as client:
        assert client.put_release("shop", "1.0.0", [tool("find")]).created
        with pytest.raises(InvalidContract, match="does not live in the namespace"):
            client.put_release("shop", "2.0.0", [tool("find") | {"name": "maps.route"}])
    refused = [entry for entry in service.entries("catalogue.release") if entry["outcome"] == "refused"]
    assert [entry["after"]["code"] for entry in refused] == ["forbidden", "forbidden", "invalid-contract"]


def test_other_peoples_catalogues_cannot_be_seen(service: Service, tool: Any) -> None:
    service.admin.put_release("shop", "1.0.0", [tool("find")])
    with service.client(Role.VIEWER, "maps") as viewer:
        assert list(viewer.catalogues()) == []
        for look in (
            lambda: viewer.get_catalogue("shop"),
            lambda: viewer.releases("shop"),
            lambda: viewer.get_release("shop", "1.0.0"),
            lambda: viewer.diff_releases("shop", "1.0.0", "1.0.0"),
        ):
            with pytest.raises(Forbidden):
                look()
    with service.client(Role.VIEWER, "shop") as viewer:
        assert [one.name for one in viewer.catalogues()] == ["shop"]
        with pytest.raises(NotFound, match=r"no release 9\.0\.0"):
            viewer.get_release("shop", "9.0.0")
        with pytest.raises(NotFound):
            viewer.get_catalogue("shop.nothing")


# ── one release ──


def test_every_member_carries_the_releases_number_and_the_unchanged_open_no_line(service: Service, tool: Any) -> None:
    first = service.admin.put_release("shop", "1.0.0", [tool("find"), tool("pay"), tool("orders.list")])
    assert [(one.name, one.version, one.change) for one in first.release.members] == [
        ("shop.find", "1.0.0", "added"),
        ("shop.orders.list", "1.0.0", "added"),
        ("shop.pay", "1.0.0", "added"),
    ]
    members = [tool("find", WIDER), tool("pay"), tool("orders.list")]
    second = service.admin.put_release("shop", "1.1.0", members).release
    assert {one.name: one.change for one in second.members} == {
        "shop.find": "changed",
        "shop.orders.list": "unchanged",
        "shop.pay": "unchanged",
    }
    assert second.decision["bump"] == "minor"
    pay = service.admin.get_version("shop.pay", "1.1.0")
    assert pay.contract_digest == service.admin.get_version("shop.pay", "1.0.0").contract_digest
    assert not pay.opens_line
    assert [one.version for one in service.admin.releases("shop")] == ["1.1.0", "1.0.0"]
    assert service.admin.get_release("shop", "1.1.0") == second
    card = service.admin.get_catalogue("shop")
    assert (card.latest, card.members, card.releases) == ("1.1.0", 3, 2)


def test_a_release_and_each_version_of_it_have_an_entry(service: Service, tool: Any) -> None:
    service.admin.put_release("shop", "1.0.0", [tool("find"), tool("pay")], reason="the first", commit="abc")
    (entry,) = service.entries("catalogue.release")
    assert (entry["subject"], entry["namespace"], entry["reason"]) == ("shop@1.0.0", "shop", "the first")
    assert entry["after"]["members"] == {"shop.find": "1.0.0", "shop.pay": "1.0.0"}
    assert entry["after"]["provenance"]["commit"] == "abc"
    versions = service.entries("skill.publish")
    assert sorted(one["subject"] for one in versions) == ["shop.find@1.0.0", "shop.pay@1.0.0"]
    assert {one["request_id"] for one in versions} == {entry["request_id"]}


def test_the_same_release_again_changes_nothing_and_another_is_a_conflict(service: Service, tool: Any) -> None:
    members = [tool("find"), tool("pay")]
    first = service.admin.put_release("shop", "1.0.0", members)
    again = service.admin.put_release("shop", "1.0.0", members[::-1])
    assert (first.created, again.created) == (True, False)
    assert again.release == first.release
    assert len(service.entries("catalogue.release")) == 1
    with pytest.raises(VersionExists, match="local admin") as caught:
        service.admin.put_release("shop", "1.0.0", [tool("find", WIDER), tool("pay")])
    assert caught.value.details["differs"] == ["shop.find"]
    with service.http(None) as http:
        metrics = http.get("/metrics").text
    for result in ("created", "unchanged", "version-exists"):
        assert f'governance_releases_total{{result="{result}"}} 1.0' in metrics


def test_one_refusal_refuses_the_release_and_every_reason_is_told(service: Service, tool: Any) -> None:
    service.admin.put_release("shop", "1.0.0", [tool("find"), tool("pay"), tool("list")])
    members = [tool("find", NARROWER), tool("pay", NARROWER), tool("list", WIDER), tool("new")]
    with pytest.raises(GateRefused, match=r"shop\.find") as caught:
        service.admin.put_release("shop", "1.1.0", members)
    decision = caught.value.details["decision"]
    assert {one["skill"] for one in decision["decisions"]} == {"shop.find", "shop.pay"}
    assert (decision["bump"], decision["smallest_version"]) == ("major", "2.0.0")
    assert codes(caught.value) == {"member-refused", "bump-too-small"}
    assert "2.0.0" in caught.value.fix
    assert {one.version for name in ("list", "find") for one in service.admin.versions(f"shop.{name}")} == {"1.0.0"}
    with pytest.raises(NotFound):
        service.admin.get_skill("shop.new")
    (refusal,) = (one for one in service.entries("catalogue.release") if one["outcome"] == "refused")
    assert [one["skill"] for one in refusal["after"]["refused"]] == ["shop.find", "shop.pay"]
    assert service.admin.put_release("shop", "2.0.0", members).created


def test_what_is_no_contract_is_told_for_every_member_with_its_place(service: Service, tool: Any) -> None:
    members = [tool("good"), tool("bad", {"type": "array"}), tool("worse", timeout_sec=-1), tool("good")]
    with pytest.raises(InvalidContract) as caught:
        service.admin.put_release("shop", "1.0.0", members)
    assert {fault.pointer for fault in caught.value.faults} == {
        "/members/1/input_schema",
        "/members/2/timeout_sec",
        "/members/3/name",
    }
    assert list(service.admin.search()) == []


def test_a_member_with_another_number_does_not_fit(service: Service, tool: Any) -> None:
    with pytest.raises(InvalidContract, match=r"1\.0\.0") as caught:
        service.admin.put_release("shop", "2.0.0", [tool("find", version="1.0.0")])
    assert [fault.pointer for fault in caught.value.faults] == ["/members/0/version"]
    assert service.admin.put_release("shop", "1.0.0", [tool("find", version="1.0.0")]).created


def test_a_version_that_was_published_before_joins_the_release(service: Service, tool: Any) -> None:
    service.admin.put_version(tool("find", version="1.0.0"))
    service.admin.put_release("shop", "1.0.0", [tool("find"), tool("pay")])
    assert len(service.entries("skill.publish")) == 2
    service.admin.put_version(tool("pay", WIDER, version="1.1.0"))
    with pytest.raises(GateRefused) as caught:
        service.admin.put_release("shop", "1.1.0", [tool("find"), tool("pay", WIDER | {"title": "other"})])
    assert "version-taken" in codes(caught.value)


# ── withdrawn and renamed ──


def test_a_tool_that_is_missing_is_withdrawn_and_needs_a_major(service: Service, tool: Any) -> None:
    service.admin.put_release("shop", "1.0.0", [tool("find"), tool("pay", WIDER)])
    with pytest.raises(GateRefused, match=r"shop\.pay") as caught:
        service.admin.put_release("shop", "1.1.0", [tool("find")])
    assert codes(caught.value) == {"bump-too-small"}
    release = service.admin.put_release("shop", "2.0.0", [tool("find")]).release
    assert [(one["name"], one["change"]) for one in release.withdrawn] == [("shop.pay", "removed")]
    assert release.decision["decision"] == "warn"
    assert service.admin.resolve("shop.pay", "^1").version == "1.0.0"
    again = service.admin.put_release("shop", "2.1.0", [tool("find"), tool("pay", WIDER)]).release
    assert {one.name: one.change for one in again.members}["shop.pay"] == "added"


def test_a_successor_is_named_if_it_is_declared_or_looks_like_one(service: Service, tool: Any) -> None:
    service.admin.put_release("shop", "1.0.0", [tool("find_orders", WIDER), tool("pay", NARROWER)])
    members = [tool("search_orders", WIDER), tool("settle")]
    release = service.admin.put_release("shop", "2.0.0", members, renamed={"shop.pay": "shop.settle"}).release
    assert {one["name"]: (one["change"], one["successor"]) for one in release.withdrawn} == {
        "shop.find_orders": ("renamed", "shop.search_orders"),
        "shop.pay": ("renamed", "shop.settle"),
    }
    diff = service.admin.diff_releases("shop", "1.0.0", "2.0.0")
    assert diff.comparison["bump"] == "major"
    assert "shop.find_orders" in {one["name"] for one in diff.comparison["members"]}


@pytest.mark.parametrize(
    "renamed", [{"shop.find": "shop.pay"}, {"shop.old": "shop.nowhere"}, {"shop.never_was": "shop.pay"}]
)
def test_a_rename_that_does_not_fit_is_refused(service: Service, tool: Any, renamed: dict[str, str]) -> None:
    service.admin.put_release("shop", "1.0.0", [tool("find"), tool("old")])
    with pytest.raises(InvalidRequest) as caught:
        service.admin.put_release("shop", "2.0.0", [tool("find"), tool("pay")], renamed=renamed)
    assert [fault.pointer for fault in caught.value.faults] == [f"/renamed/{next(iter(renamed))}"]


def test_a_member_may_be_replaced_by_one_of_the_same_release(service: Service, tool: Any) -> None:
    members = [tool("find", replacement="shop.search@^1"), tool("search")]
    assert service.admin.put_release("shop", "1.0.0", members).created
    circle = [tool("find", replacement="shop.search@^1"), tool("search", replacement="shop.find@^1")]
    with pytest.raises(GateRefused) as caught:
        service.admin.put_release("shop", "1.1.0", circle)
    assert "replacement-circular" in codes(caught.value)


# ── by content ──


def test_by_content_each_member_has_its_own_number(service: Service, tool: Any) -> None:
    def release(version: str, *members: dict[str, Any]) -> dict[str, str]:
        released = service.admin.put_release("shop", version, members, version_by=VersionBy.CONTENT)
        assert released.created
        assert not service.admin.put_release("shop", version, members, version_by=VersionBy.CONTENT).created
        return {one.name.removeprefix("shop."): one.version for one in released.release.members}

    assert release("1.0.0", tool("find"), tool("pay")) == {"find": "1.0.0", "pay": "1.0.0"}
    assert release("1.1.0", tool("find", WIDER), tool("pay")) == {"find": "1.1.0", "pay": "1.0.0"}
    assert release("2.0.0", tool("find", WIDER), tool("pay", NARROWER)) == {"find": "1.1.0", "pay": "2.0.0"}
    assert release("2.0.1", tool("find", WIDER, owner="team"), tool("pay", NARROWER)) == {
        "find": "1.1.0",
        "pay": "2.0.0",
    }
    assert len(service.entries("skill.publish")) == 4
    with pytest.raises(GateRefused) as caught:
        service.admin.put_release("shop", "2.0.2", [tool("find", WIDER)], version_by=VersionBy.CONTENT)
    assert codes(caught.value) == {"bump-too-small"}


# ── checks ──


def test_a_check_decides_as_the_release_would_and_releases_nothing(service: Service, tool: Any) -> None:
    service.admin.put_release("shop", "1.0.0", [tool("find"), tool("pay")])
    checked = service.admin.check(
        [tool("find", NARROWER), tool("new")], catalogue=CatalogueCandidate(name="shop", version="1.1.0")
    )
    assert checked.decision == "block"
    assert checked.release is not None
    told = checked.release["decision"]
    assert (told["bump"], told["smallest_version"]) == ("major", "2.0.0")
    assert {reason["code"] for reason in told["reasons"]} == {"member-refused", "bump-too-small", "member-withdrawn"}
    assert [one["skill"] for one in checked.decisions] == ["shop.find", "shop.new"]
    assert service.admin.get_check(checked.id) == checked
    assert [one.version for one in service.admin.releases("shop")] == ["1.0.0"]
    with service.client(Role.VIEWER, "maps") as other, pytest.raises(NotFound):
        other.get_check(checked.id)


def test_a_check_without_a_number_tells_the_smallest_honest_one(service: Service, tool: Any) -> None:
    def number(*members: dict[str, Any]) -> str:
        checked = service.admin.check(members, catalogue=CatalogueCandidate(name="shop"))
        assert checked.release is not None
        return str(checked.release["decision"]["version"])

    assert number(tool("find")) == "1.0.0"
    service.admin.put_release("shop", "1.0.0", [tool("find")])
    assert number(tool("find", title="Find")) == "1.0.1"
    assert number(tool("find"), tool("pay")) == "1.1.0"
    assert number(tool("pay", WIDER)) == "2.0.0"
    service.admin.put_version(tool("pay", version="3.0.0"))
    assert number(tool("find"), tool("pay", NARROWER)) == "4.0.0"


def test_a_check_says_what_is_no_contract_and_counts_nothing_as_withdrawn_that_may_be_it(
    service: Service, tool: Any
) -> None:
    service.admin.put_release("shop", "1.0.0", [tool("find"), tool("pay")])
    checked = service.admin.check(
        [tool("find"), tool("pay", {"type": "array"})], catalogue=CatalogueCandidate(name="shop", version="1.0.1")
    )
    assert checked.release is not None
    assert checked.decision == "block"
    assert checked.release["withdrawn"] == []
    assert [one["verdict"] for one in checked.decisions if one["skill"] == "shop.pay"] == ["invalid"]


def test_a_check_of_nothing_that_could_be_read_says_so(service: Service) -> None:
    asked = CatalogueCandidate(name="shop")
    result = service.admin.check([{}], catalogue=asked)
    assert result.decision == "block"


def test_a_check_of_a_number_that_is_there_says_whether_it_is_this_release(service: Service, tool: Any) -> None:
    service.admin.put_release("shop", "1.0.0", [tool("find")])
    candidate = CatalogueCandidate(name="shop", version="1.0.0")
    assert service.admin.check([tool("find")], catalogue=candidate).decision == "allow"
    other = service.admin.check([tool("find"), tool("pay")], catalogue=candidate)
    assert other.release is not None
    assert {reason["code"] for reason in other.release["decision"]["reasons"]} >= {"version-taken"}


def test_the_number_named_where_one_is_taken_does_for_every_member(service: Service, tool: Any) -> None:
    service.admin.put_release("shop", "1.0.0", [tool("find")])
    service.admin.put_release("shop", "2.0.0", [tool("find", NARROWER)])
    other = [tool("find", WIDER | {"required": ["city"]})]
    checked = service.admin.check(other, catalogue=CatalogueCandidate(name="shop", version="2.0.0"))
    assert checked.release is not None
    named = checked.release["decision"]["smallest_version"]
    assert named == "2.1.0"
    assert service.admin.check(other, catalogue=CatalogueCandidate(name="shop", version=named)).decision != "block"


def test_344_tools_of_3_megabytes_go_in_with_one_request(service: Service, tool: Any) -> None:
    """Synthetic: one schema of many fields over and over, padded to the size of the largest real list."""
    fields = {f"field_{number}": {"type": "string", "description": "x" * 200} for number in range(36)}
    schema = {"type": "object", "properties": fields}
    members = [tool(f"t{number}", schema) for number in range(344)]
    assert len(json.dumps(members)) > 3_000_000
    release = service.admin.put_release("shop", "1.0.0", members).release
    assert len(release.members) == 344
    members[0] = tool("t0", schema | {"required": ["field_0"]})
    checked = service.admin.check(members, catalogue=CatalogueCandidate(name="shop", version="1.0.1"))
    assert checked.decision == "block"
    assert service.admin.put_release("shop", "2.0.0", members).created


def test_too_many_members_are_refused(service: Service, tool: Any) -> None:
    members = [{"name": f"shop.t{number}"} for number in range(1_001)]
    with pytest.raises(DocumentTooLarge, match="1001"):
        service.admin.put_release("shop", "1.0.0", members)


# ── many at once, and a database that goes away ──


def test_overlapping_releases_at_once_never_wait_in_a_circle(service: Service, tool: Any) -> None:
    """Members in opposite orders, catalogues one within the other: all come through, each as a whole."""
    names = [f"orders.t{number}" for number in range(12)]
    results: list[Any] = []
    start = threading.Barrier(6)

    def work(catalogue: str, version: str, order: list[str]) -> None:
        with service.client(Role.PUBLISHER, "shop") as client:
            start.wait()
            try:
                results.append(client.put_release(catalogue, version, [tool(name) for name in order]))
            except GovernanceError as error:
                results.append(error)

    asked = [("shop", "1.0.0"), ("shop.orders", "1.0.0"), ("shop", "1.1.0"), ("shop.orders", "1.1.0")]
    asked += [("shop", "1.0.0"), ("shop.orders", "1.0.0")]
    threads = [
        threading.Thread(target=work, args=(catalogue, version, names[:: -1 if index % 2 else 1]))
        for index, (catalogue, version) in enumerate(asked)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [one for one in results if isinstance(one, Exception)] == []
    created = sorted((one.release.catalogue, one.release.version) for one in results if one.created)
    assert created == sorted(set(asked))
    assert len(service.entries("skill.publish")) == 2 * len(names)


def test_what_was_published_while_a_release_was_compared_is_judged_again(
    service: Service, tool: Any, database_url: str
) -> None:
    """A lock held from outside keeps the release waiting; meanwhile its member moves."""
    service.admin.put_release("shop", "1.0.0", [tool("find"), tool("pay")])
    done: list[Any] = []

    def work() -> None:
        try:
            done.append(service.admin.put_release("shop", "1.0.1", [tool("find", title="Find"), tool("pay")]))
        except GovernanceError as error:
            done.append(error)

    with psycopg.connect(database_url) as connection:
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('catalogue:shop', 0))")
        thread = threading.Thread(target=work)
        thread.start()
        with psycopg.connect(database_url, autocommit=True) as watching:
            while watching.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone() == (0,):
                pass
        service.admin.put_version(tool("find", title="Other", version="1.0.1"))
    thread.join(30)
    assert isinstance(done[0], GateRefused)
    assert "version-taken" in codes(done[0])


def test_nobody_changes_a_release_in_the_database(service: Service, tool: Any, owner_url: str) -> None:
    service.admin.put_release("shop", "1.0.0", [tool("find")])
    for url in (owner_url, service.database_url):
        with psycopg.connect(url, autocommit=True) as connection:
            for statement in ("UPDATE catalogue_release SET version = '2.0.0'", "DELETE FROM catalogue_member"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement)
