"""Who may do what where."""

from __future__ import annotations

import threading
from collections import Counter

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from registry import Manifest, Service
from test_refused_callers import NAMES

from governance.client import ControlPlane
from governance.control.auth.roles import ROLES, Caller, Right, within
from governance.control.auth.service import hash_of
from governance.errors import Forbidden, NotFound, Unauthenticated
from governance.wire import Grant, Role

OPEN = {"/v1/auth/oidc/exchange"}
"""For those who have no token yet: what they bring is checked by tests of its own."""


def test_every_route_but_the_operational_ones_wants_a_token(empty_service: Service) -> None:
    with empty_service.http(None) as http:
        described = http.get("/openapi.json").json()["paths"]
        tried = 0
        for path, methods in described.items():
            if not path.startswith("/v1") or path in OPEN:
                continue
            for method in methods:
                answer = http.request(method.upper(), path.format_map(_Names()), json={})
                assert answer.status_code == 401, (method, path)
                assert answer.json()["code"] == "unauthenticated"
                assert answer.headers["www-authenticate"].startswith("Bearer")
                tried += 1
        assert tried > 60
        for path in ("/livez", "/readyz", "/metrics", "/openapi.json"):
            assert http.get(path).status_code == 200, path


class _Names(dict[str, str]):
    """A name for every parameter of a path."""

    def __missing__(self, key: str) -> str:
        return NAMES.get(key, "sha256:" + "0" * 64)


@pytest.mark.parametrize(
    ("header", "cause"),
    [
        (None, "missing"),
        ("Basic dXNlcjpwdw==", "malformed"),
        ("Bearer", "malformed"),
        ("Bearer hunter2", "malformed"),
        ("Bearer govctl_" + "x" * 500, "malformed"),
        ("Bearer govctl_" + "x" * 43, "unknown"),
    ],
)
def test_what_is_no_token_says_so(empty_service: Service, header: str | None, cause: str) -> None:
    with empty_service.http(None) as http:
        headers = {} if header is None else {"Authorization": header}
        answer = http.get("/v1/skills", headers=headers)
    assert answer.status_code == 401
    assert answer.json()["details"]["cause"] == cause


def test_a_revoked_token_stops_at_once_and_revoking_again_changes_nothing(service: Service) -> None:
    created = service.admin.create_token("ci", [Grant(role=Role.VIEWER)])
    with ControlPlane(service.serving.address, created.token) as client:
        client.list_skills()
        first = service.admin.revoke_token(created.id)
        again = service.admin.revoke_token(created.id)
        with pytest.raises(Unauthenticated, match="revoked"):
            client.list_skills()
    assert first.revoked_at == again.revoked_at
    assert len(service.entries("token.revoke")) == 1


def test_an_expired_token_is_refused(service: Service, owner_url: str) -> None:
    created = service.admin.create_token("ci", [Grant(role=Role.VIEWER)], expires_in_days=1)
    with psycopg.connect(owner_url) as owner:
        owner.execute("UPDATE token SET expires_at = now() - interval '1 second' WHERE id = %s", (created.id,))
    with (
        ControlPlane(service.serving.address, created.token) as client,
        pytest.raises(Unauthenticated, match="expired"),
    ):
        client.list_skills()


def test_a_token_without_an_end_cannot_be_had(empty_service: Service) -> None:
    for days in (0, 367, None):
        with empty_service.http(empty_service.serving.token) as http:
            body = {"name": "x", "grants": [{"role": "viewer"}], "expires_in_days": days}
            assert http.post("/v1/tokens", json=body).status_code == 422


def test_the_secret_is_shown_once_and_stored_as_a_hash_alone(service: Service, owner_url: str) -> None:
    created = service.admin.create_token("ci", [Grant(role=Role.VIEWER)])
    listed = next(token for token in service.admin.tokens() if token.id == created.id)
    assert created.token not in listed.model_dump_json()
    assert created.token.startswith(listed.prefix)
    with psycopg.connect(owner_url) as owner:
        row = owner.execute("SELECT secret_hash, token::text FROM token WHERE id = %s", (created.id,)).fetchone()
    assert row is not None
    assert bytes(row[0]) == hash_of(created.token)
    assert created.token not in row[1]
    assert created.token not in str(service.entries())


def test_last_use_is_on_record(empty_service: Service) -> None:
    created = empty_service.admin.create_token("ci", [Grant(role=Role.VIEWER)])
    assert created.last_used_at is None
    with ControlPlane(empty_service.serving.address, created.token) as client:
        client.list_skills()
    listed = next(token for token in empty_service.admin.tokens() if token.id == created.id)
    assert listed.last_used_at is not None


def test_nobody_gives_away_more_than_they_administer(service: Service) -> None:
    with service.client(Role.ADMIN, "team") as team:
        team.create_token("mine", [Grant(role=Role.PUBLISHER, namespace="team.sub")])
        with pytest.raises(Forbidden):
            team.create_token("theirs", [Grant(role=Role.VIEWER, namespace="other")])
        with pytest.raises(Forbidden):
            team.create_token("everywhere", [Grant(role=Role.VIEWER, namespace="*")])
        local = next(token.id for token in service.admin.tokens() if token.name == "local admin")
        with pytest.raises(NotFound):
            team.revoke_token(local)
        names = {token.name for token in team.tokens()}
    assert names == {"admin of team", "mine"}
    refusals = [entry for entry in service.entries("token.create") if entry["outcome"] == "refused"]
    assert [entry["subject"] for entry in refusals] == ["theirs", "everywhere"]
    assert all(entry["after"]["code"] == "forbidden" for entry in refusals)


def test_only_an_admin_makes_lists_and_revokes_tokens(empty_service: Service) -> None:
    for role in set(Role) - {Role.ADMIN}:
        with empty_service.client(role) as client:
            with pytest.raises(Forbidden):
                client.tokens()
            with pytest.raises(Forbidden):
                client.create_token("x", [Grant(role=Role.VIEWER, namespace="a")])
            with pytest.raises(Forbidden):
                client.revoke_token("tok_0")


def test_a_token_list_is_paged_without_gaps(empty_service: Service) -> None:
    made = {empty_service.admin.create_token(f"t{n}", [Grant(role=Role.VIEWER)]).id for n in range(7)}
    seen: list[str] = []
    cursor = None
    with empty_service.http(empty_service.serving.token) as http:
        while True:
            query = {"limit": 3} | ({"cursor": cursor} if cursor else {})
            page = http.get("/v1/tokens", params=query).json()
            seen += [token["id"] for token in page["items"]]
            cursor = page["next"]
            if cursor is None:
                break
    assert seen == sorted(set(seen))
    assert made <= set(seen)


def test_a_token_needs_a_known_role_and_a_namespace_that_is_one(empty_service: Service) -> None:
    with empty_service.http(empty_service.serving.token) as http:
        for grant in ({"role": "root"}, {"role": "viewer", "namespace": "A B"}, {"role": "viewer", "to": "x"}):
            answer = http.post("/v1/tokens", json={"name": "x", "grants": [grant]})
            assert answer.status_code == 422
            assert answer.json()["errors"][0]["pointer"].startswith("/grants/0/")


def test_each_role_publishes_only_where_the_table_says(service: Service, manifest: Manifest) -> None:
    for role, rights in ROLES.items():
        if Right.PUBLISH in rights:
            continue
        with service.client(role) as client, pytest.raises(Forbidden, match="may not publish"):
            client.put_version(manifest())
    refused = service.entries("skill.publish")
    assert {entry["outcome"] for entry in refused} == {"refused"}
    assert len(refused) == sum(Right.PUBLISH not in rights for rights in ROLES.values())


def test_unauthenticated_requests_become_one_entry_with_counts(service: Service) -> None:
    from governance.control.app import flush_unauthenticated

    with service.http(None) as http:
        for _ in range(20):
            http.get("/v1/skills")
        http.get("/v1/skills", headers={"Authorization": "Bearer nonsense"})
    flushing = [threading.Thread(target=flush_unauthenticated, args=(service.serving.app,)) for _ in range(4)]
    for thread in flushing:
        thread.start()
    for thread in flushing:
        thread.join()
    entries = service.entries("auth.unauthenticated")
    assert len(entries) <= 2, "one flush by the test, at most one by the clock"
    assert {entry["outcome"] for entry in entries} == {"refused"}
    assert sum((Counter(entry["after"]["causes"]) for entry in entries), Counter()) == {"missing": 20, "malformed": 1}


namespaces = st.lists(st.sampled_from(["a", "b", "a_b", "team"]), min_size=0, max_size=4).map(".".join)


@given(namespaces, namespaces)
def test_a_grant_reaches_its_namespace_and_all_below_and_nothing_else(namespace: str, granted: str) -> None:
    expected = namespace.split(".")[: len(granted.split("."))] == granted.split(".") or namespace == granted
    assert within(namespace, granted or "none") == (expected if granted else False)
    assert within(namespace, "*")


@given(st.sampled_from(Role), namespaces.filter(bool), namespaces, st.sampled_from(Right))
def test_may_need_and_reach_agree(role: Role, granted: str, namespace: str, right: Right) -> None:
    caller = Caller(id="x", name="x", grants=(Grant(role=role, namespace=granted),))
    allowed = caller.may(right, namespace)
    assert allowed == (any(within(namespace, one) for one in caller.reach(right)))
    if allowed:
        caller.need(right, namespace)
    else:
        with pytest.raises(Forbidden):
            caller.need(right, namespace)


def test_the_services_role_cannot_give_a_token_other_rights_or_another_secret(service: Service) -> None:
    service.admin.create_token("ci", [Grant(role=Role.VIEWER, namespace="a")])
    with psycopg.connect(service.database_url, autocommit=True) as connection:
        for change in ("grants = '[]'", "secret_hash = sha256('x')", "expires_at = now()", "id = 'x'"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"UPDATE token SET {change}")
        connection.execute("UPDATE token SET last_used_at = now() WHERE false")


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("/v1/tokens", {"name": "n", "grants": [{"role": "viewer"}], "expires_in_days": True}, "/expires_in_days"),
        ("/v1/tokens", {"name": "n", "grants": [{"role": "viewer"}], "expires_in_days": "30"}, "/expires_in_days"),
        ("/v1/resolve", {"questions": [{"skill": "a.b", "accept_breaking_change": "yes"}]},
         "/questions/0/accept_breaking_change"),
        ("/v1/resolve", {"questions": [{"skill": "a.b", "accept_breaking_change": 1}]},
         "/questions/0/accept_breaking_change"),
        ("/v1/checks", {"candidates": [{}], "transitive": "no"}, "/transitive"),
    ],
)  # fmt: skip
def test_nothing_in_a_body_is_taken_for_what_it_is_not(
    service: Service, path: str, body: dict[str, object], pointer: str
) -> None:
    with service.http(service.serving.token) as http:
        answer = http.post(path, json=body)
    assert answer.status_code == 422
    assert [fault["pointer"] for fault in answer.json()["errors"]] == [pointer]
