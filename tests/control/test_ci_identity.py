"""CI jobs prove who they are to a service that asks a real issuer on loopback; whoever forges is refused, on record."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psycopg
import pytest
from conftest import running_service, service_of_a_module
from joserfc import jwt
from joserfc.jwk import ECKey, Key, OctKey, RSAKey
from registry import Manifest, Service

from governance.cli import main
from governance.client import ControlPlane
from governance.control import embedded
from governance.control.identity.issuers import Issuers
from governance.control.settings import Settings
from governance.errors import (
    Forbidden,
    GovernanceError,
    InvalidRequest,
    NotFound,
    ServiceUnavailable,
    Unauthenticated,
)
from governance.wire import Grant, Role

AUDIENCE = "https://skills.example.com"
CI = Grant(role=Role.PUBLISHER, namespace="weather")
REPOSITORY = {"repository": "team/weather", "environment": "release"}


@dataclass
class Issuer:
    """An issuer with keys of its own, its discovery document and its keys served on loopback."""

    url: str = ""
    keys: list[Key] = field(default_factory=list)
    named: str | None = None
    """What its discovery document calls it, where it lies."""
    asked: list[str] = field(default_factory=list)
    bearers: list[str] = field(default_factory=list)
    """With what its own jobs came to ask for a token."""
    answer: tuple[int, dict[str, str], bytes] | None = None
    """Instead of what it should answer."""

    def token(self, *, key: Key | None = None, header: dict[str, Any] | None = None, **claims: Any) -> str:
        now = int(time.time())
        said = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "repo:team/weather:environment:release",
            "iat": now,
            "exp": now + 300,
            "jti": secrets.token_hex(8),
            **REPOSITORY,
            **claims,
        }
        key = key or self.keys[-1]
        heads = {"alg": "ES256" if key.key_type == "EC" else "RS256", "kid": key.kid, **(header or {})}
        return jwt.encode(
            {name: value for name, value in heads.items() if value is not None},
            {name: value for name, value in said.items() if value is not None},
            key,
            algorithms=["ES256", "RS256", "HS256"],
        )


def ec_key(name: str) -> ECKey:
    return ECKey.generate_key("P-256", {"kid": name, "use": "sig"}, auto_kid=False)


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    found = Issuer(keys=[ec_key("first")])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append(self.path)
            status, headers, body = found.answer or (200, {}, b"")
            if not found.answer:
                told: dict[str, Any] = {"issuer": found.named or found.url, "jwks_uri": found.url + "/keys"}
                if self.path.startswith("/request?"):
                    found.bearers.append(self.headers["Authorization"])
                    told = {"value": found.token()}
                if self.path == "/keys":
                    told = {"keys": [key.as_dict(private=False) for key in found.keys]}
                body = json.dumps(told).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield found
    server.shutdown()
    server.server_close()
    thread.join(10)


@pytest.fixture
def trusting(settings: Settings) -> Iterator[Service]:
    """A service of the test's own."""
    with running_service(replace(settings, oidc_private=True, oidc_audience=AUDIENCE)) as found:
        yield found


@pytest.fixture(scope="module")
def shared(server: embedded.Server, template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One for tests that bring an issuer each, and mind nothing else."""
    chosen = {"oidc_private": True, "oidc_audience": AUDIENCE}
    with service_of_a_module(server, template, tmp_path_factory, **chosen) as found:
        yield found


def trust(service: Service, issuer: Issuer, **claims: str) -> str:
    made = service.admin.create_publisher("ci of weather", issuer=issuer.url, claims=claims or REPOSITORY, grants=[CI])
    return made.id


def stranger(service: Service) -> ControlPlane:
    return ControlPlane(service.serving.address)


# ── the exchange ──


def test_a_job_publishes_in_its_namespace_and_nowhere_else(
    trusting: Service, issuer: Issuer, manifest: Manifest
) -> None:
    trust(trusting, issuer)
    with stranger(trusting) as job:
        exchanged = job.exchange(issuer.token())
    assert exchanged.grants == [CI]
    with ControlPlane(trusting.serving.address, exchanged.token) as ci:
        ci.put_version(manifest())
        with pytest.raises(Forbidden):
            ci.put_version(manifest("maps.route"))
        with pytest.raises(Forbidden):
            ci.create_token("more", [CI])
    [entry] = trusting.entries("publisher.exchange")
    assert entry["actor"]["name"] == "ci repo:team/weather:environment:release"
    assert entry["after"]["claims"] == REPOSITORY
    [published] = [one for one in trusting.entries("skill.publish") if one["outcome"] == "done"]
    assert published["actor"]["name"] == "ci repo:team/weather:environment:release"
    assert exchanged.token not in json.dumps(trusting.entries())


def test_a_token_of_a_job_runs_out_after_a_quarter_of_an_hour(trusting: Service, issuer: Issuer) -> None:
    trust(trusting, issuer)
    with stranger(trusting) as job:
        exchanged = job.exchange(issuer.token())
    with psycopg.connect(trusting.database_url) as connection:
        [life] = connection.execute("SELECT expires_at - created_at FROM token WHERE name LIKE 'ci repo:%'").fetchall()
    assert life[0].total_seconds() == 900
    owner = trusting.serving.app.state.settings.database_owner_url
    with psycopg.connect(owner) as connection:
        connection.execute("UPDATE token SET expires_at = now() WHERE name LIKE 'ci repo:%'")
    with (
        ControlPlane(trusting.serving.address, exchanged.token) as late,
        pytest.raises(Unauthenticated, match="expired"),
    ):
        late.list_skills().__class__  # noqa: B018
        list(late.list_skills())


def test_keys_that_the_issuer_changes_are_asked_for_again(trusting: Service, issuer: Issuer) -> None:
    trusting.serving.app.state.issuers = Issuers(private=True, clock=iter(range(0, 10_000, 100)).__next__)
    trust(trusting, issuer)
    with stranger(trusting) as job:
        job.exchange(issuer.token())
        issuer.keys = [ec_key("second")]
        job.exchange(issuer.token())
        rsa = RSAKey.generate_key(2048, {"kid": "third"}, auto_kid=False)
        issuer.keys.append(rsa)
        job.exchange(issuer.token(key=rsa))


def test_forged_keys_do_not_make_the_service_knock_at_the_issuer_each_time(shared: Service, issuer: Issuer) -> None:
    trust(shared, issuer)
    with stranger(shared) as job:
        job.exchange(issuer.token())
        before = len(issuer.asked)
        for _ in range(5):
            with pytest.raises(Unauthenticated):
                job.exchange(issuer.token(key=ec_key("forged")))
    assert len(issuer.asked) == before


# ── forged, stale, of others ──


def with_header(issuer: Issuer, **said: Any) -> str:
    head, body, signature = issuer.token().split(".")
    changed = {**json.loads(base64.urlsafe_b64decode(head + "==")), **said}
    return base64.urlsafe_b64encode(json.dumps(changed).encode()).decode().rstrip("=") + f".{body}.{signature}"


def none_algorithm(issuer: Issuer) -> str:
    return with_header(issuer, alg="none").rpartition(".")[0] + "."


def signed_with_the_public_key(issuer: Issuer) -> str:
    """HS256 with what everybody knows as the shared secret."""
    known = json.dumps(issuer.keys[0].as_dict(private=False)).encode()
    head, body, _ = issuer.token(key=OctKey.import_key(known), header={"alg": "HS256", "kid": "first"}).split(".")
    signature = hmac.new(known, f"{head}.{body}".encode(), hashlib.sha256).digest()
    return f"{head}.{body}." + base64.urlsafe_b64encode(signature).decode().rstrip("=")


def with_own_key_in_header(issuer: Issuer) -> str:
    own = ec_key("first")
    return issuer.token(key=own, header={"jwk": own.as_dict(private=False)})


FORGED = {
    "wrong issuer": (lambda i: i.token(iss="https://token.actions.githubusercontent.com"), "issuer"),
    "wrong audience": (lambda i: i.token(aud="https://other.example.com"), "audience"),
    "no audience": (lambda i: i.token(aud=None), "audience"),
    "wrong key of the same name": (lambda i: i.token(key=ec_key("first")), "signature"),
    "unknown key": (lambda i: i.token(key=ec_key("elsewhere")), "signature"),
    "its own key": (with_own_key_in_header, "signature"),
    "algorithm none": (none_algorithm, "algorithm"),
    "public key as secret": (signed_with_the_public_key, "algorithm"),
    "expired": (lambda i: i.token(iat=int(time.time()) - 900, exp=int(time.time()) - 600), "expired"),
    "not yet": (lambda i: i.token(nbf=int(time.time()) + 600), "time"),
    "made in the future": (lambda i: i.token(iat=int(time.time()) + 600, exp=int(time.time()) + 900), "time"),
    "for a year": (lambda i: i.token(exp=int(time.time()) + 365 * 86_400), "time"),
    "no end": (lambda i: i.token(exp=None), "time"),
    "an end that is no number": (lambda i: i.token(exp="tomorrow"), "time"),
    "no subject": (lambda i: i.token(sub=None), "subject"),
    "critical extension": (lambda i: with_header(i, crit=["exp"]), "header"),
    "unencoded": (lambda i: with_header(i, b64=False), "header"),
    "tampered": (lambda i: i.token()[:-6] + "AAAAAA", "signature"),
    "no token": (lambda i: "a.b.c", "form"),
    "two parts": (lambda i: ".".join(i.token().split(".")[:2]), "form"),
    "deep": (lambda i: base64.urlsafe_b64encode(b'{"alg":' + b"[" * 5_000).decode() + ".e30.x", "form"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_what_is_forged_or_stale_is_refused_and_counted(name: str, shared: Service, issuer: Issuer) -> None:
    make, cause = FORGED[name]
    trust(shared, issuer)
    shared.serving.app.state.unauthenticated.take()
    with stranger(shared) as job, pytest.raises(Unauthenticated) as refused:
        job.exchange(make(issuer))
    assert refused.value.details["cause"] == f"assertion-{cause}"
    counted = shared.serving.app.state.unauthenticated.take()
    assert counted["causes"] == {f"assertion-{cause}": 1}


@pytest.mark.parametrize(
    "claims",
    [{"repository": "stranger/weather"}, {"environment": "test"}, {"environment": None},
     {"repository": ["team/weather"]}, {"repository": "team/weather-2"}, {"repository": "Team/weather"}],
)  # fmt: skip
def test_a_job_of_another_repository_or_environment_is_refused_on_record(
    claims: dict[str, Any], shared: Service, issuer: Issuer
) -> None:
    trust(shared, issuer)
    with stranger(shared) as job, pytest.raises(Forbidden, match="no publisher here trusts"):
        job.exchange(issuer.token(**claims))
    entry = shared.entries("publisher.exchange")[-1]
    assert (entry["outcome"], entry["after"]["code"]) == ("refused", "forbidden")
    assert entry["actor"]["id"] == f"oidc:{issuer.url}"


def test_an_assertion_is_good_once_though_many_bring_it_at_the_same_time(trusting: Service, issuer: Issuer) -> None:
    trust(trusting, issuer)
    assertion = issuer.token()

    def bring(_: int) -> str:
        with stranger(trusting) as job:
            try:
                return job.exchange(assertion).token
            except Forbidden as error:
                return error.message

    with ThreadPoolExecutor(8) as pool:
        brought = list(pool.map(bring, range(8)))
    assert sum(one.startswith("govctl_") for one in brought) == 1
    assert sum("exchanged before" in one for one in brought) == 7
    assert sum(one["outcome"] == "refused" for one in trusting.entries("publisher.exchange")) == 7


def test_a_revoked_publisher_and_one_that_was_never_used_in_time_trust_nobody(
    trusting: Service, issuer: Issuer
) -> None:
    publisher = trust(trusting, issuer)
    owner = trusting.serving.app.state.settings.database_owner_url
    with psycopg.connect(owner) as connection:
        connection.execute("UPDATE trusted_publisher SET pending_until = now() - interval '1 second'")
    with stranger(trusting) as job:
        with pytest.raises(Unauthenticated):
            job.exchange(issuer.token())
        trust(trusting, issuer)
        job.exchange(issuer.token())
        for one in trusting.admin.publishers():
            trusting.admin.revoke_publisher(one.id)
        with pytest.raises(Unauthenticated):
            job.exchange(issuer.token())
    assert publisher in {one["subject"] for one in trusting.entries("publisher.revoke")}


# ── issuers that misbehave ──


@pytest.mark.parametrize(
    "answer",
    [
        (500, {}, b"down"),
        (302, {"Location": "http://127.0.0.1:1/elsewhere"}, b""),
        (200, {}, b"no json"),
        (200, {}, b'{"issuer": 7}'),
        (200, {}, b" " * 2_000_000),
    ],
    ids=["down", "redirect", "no json", "no keys", "endless"],
)
def test_an_issuer_that_cannot_be_asked_is_told_as_such(
    answer: tuple[int, dict[str, str], bytes], shared: Service, issuer: Issuer
) -> None:
    trust(shared, issuer)
    issuer.answer = answer
    with stranger(shared) as job, pytest.raises(ServiceUnavailable, match="cannot be had"):
        job.exchange(issuer.token())


def test_an_issuer_whose_document_is_of_another_is_not_believed(shared: Service, issuer: Issuer) -> None:
    trust(shared, issuer)
    issuer.named = "https://token.actions.githubusercontent.com"
    with stranger(shared) as job, pytest.raises(ServiceUnavailable, match="another issuer"):
        job.exchange(issuer.token())


def test_an_issuer_nobody_trusts_is_never_asked(shared: Service, issuer: Issuer) -> None:
    with stranger(shared) as job, pytest.raises(Unauthenticated):
        job.exchange(issuer.token())
    assert issuer.asked == []


def test_a_service_that_is_not_told_otherwise_asks_no_issuer_inside(service: Service, issuer: Issuer) -> None:
    with pytest.raises(InvalidRequest):
        service.admin.create_publisher("ci", issuer=issuer.url, claims=REPOSITORY, grants=[CI])


# ── whom to trust ──


def test_only_who_administers_all_that_is_granted_may_trust(trusting: Service, issuer: Issuer) -> None:
    for role in (Role.PUBLISHER, Role.APPROVER, Role.OPERATOR, Role.AUDITOR, Role.VIEWER):
        with trusting.client(role) as client, pytest.raises(Forbidden):
            client.create_publisher("ci", issuer=issuer.url, claims=REPOSITORY, grants=[CI])
    with trusting.client(Role.ADMIN, "maps") as other:
        with pytest.raises(Forbidden):
            other.create_publisher("ci", issuer=issuer.url, claims=REPOSITORY, grants=[CI])
        publisher = trust(trusting, issuer)
        assert other.publishers() == []
        with pytest.raises(NotFound):
            other.revoke_publisher(publisher)
    assert {one["outcome"] for one in trusting.entries("publisher.create")} == {"refused", "done"}


@pytest.mark.parametrize(
    ("claims", "grant", "pointer"),
    [
        ({"environment": "release"}, CI, "/claims"),
        ({"repository": "team/*"}, CI, "/claims/repository"),
        ({"repository": "team/weather", "workflow_ref": "*"}, CI, "/claims/workflow_ref"),
        ({"repository": "team/weather", "aud": "x"}, CI, "/claims/aud"),
        (REPOSITORY, Grant(role=Role.ADMIN, namespace="weather"), "/grants/0/role"),
        (REPOSITORY, Grant(role=Role.APPROVER, namespace="weather"), "/grants/0/role"),
    ],
)
def test_a_publisher_that_would_be_trusted_too_far_is_refused(
    claims: dict[str, str], grant: Grant, pointer: str, shared: Service, issuer: Issuer
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        shared.admin.create_publisher("ci", issuer=issuer.url, claims=claims, grants=[grant])
    assert [fault.pointer for fault in refused.value.faults] == [pointer]


def test_a_claim_may_leave_its_end_open_where_it_does_not_say_whose_job_it_is(shared: Service, issuer: Issuer) -> None:
    workflow = "team/weather/.github/workflows/publish.yml@"
    trust(shared, issuer, repository="team/weather", workflow_ref=workflow + "*")
    with stranger(shared) as job:
        job.exchange(issuer.token(workflow_ref=workflow + "refs/heads/main"))
        with pytest.raises(Forbidden):
            job.exchange(issuer.token(workflow_ref="team/weather/.github/workflows/other.yml@refs/heads/main"))


def test_the_same_key_trusts_once(trusting: Service, issuer: Issuer) -> None:
    given = {"issuer": issuer.url, "claims": REPOSITORY, "grants": [CI]}
    first = trusting.admin.create_publisher("ci", key="one", **given)
    assert trusting.admin.create_publisher("ci", key="one", **given).id == first.id
    assert len(trusting.admin.publishers()) == 1


def test_no_refusal_leaks_what_was_sent(trusting: Service, issuer: Issuer) -> None:
    trust(trusting, issuer)
    secret = issuer.token(repository="team/secret-thing")
    with stranger(trusting) as job, pytest.raises(GovernanceError) as refused:
        job.exchange(secret)
    assert secret not in json.dumps(trusting.entries()) + refused.value.message


# ── from the command line ──


@pytest.fixture
def in_ci(trusting: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """``govctl`` in a job without a token: only the job's host can say who it is."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GOVCTL_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("GOVCTL_SERVER", trusting.serving.address)
    for name in ("GOVCTL_TOKEN", "GOVCTL_OIDC_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: str, **environment: str) -> int:
        with monkeypatch.context() as patched:
            for name, value in environment.items():
                patched.setenv(name, value)
            return main(list(words))

    return run


def test_a_job_publishes_with_the_id_token_that_its_host_put_into_a_variable(
    in_ci: Callable[..., int], trusting: Service, issuer: Issuer, manifest: Manifest, tmp_path: Path
) -> None:
    trust(trusting, issuer)
    skill = tmp_path / "skill.json"
    skill.write_text(json.dumps(manifest()))
    assert in_ci("publish", str(skill)) == 4
    assert in_ci("publish", str(skill), GOVCTL_OIDC_TOKEN=issuer.token()) == 0
    assert in_ci("publish", str(skill), GOVCTL_OIDC_TOKEN=issuer.token(repository="other/one")) == 4
    assert trusting.admin.get_version("weather.current", "1.0.0").version == "1.0.0"


def test_a_job_on_github_asks_for_its_id_token_with_this_service_as_the_audience(
    in_ci: Callable[..., int], trusting: Service, issuer: Issuer, manifest: Manifest, tmp_path: Path
) -> None:
    trust(trusting, issuer)
    skill = tmp_path / "skill.json"
    skill.write_text(json.dumps(manifest()))
    github = {
        "ACTIONS_ID_TOKEN_REQUEST_URL": issuer.url + "/request?api-version=2",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "of-the-job",
        "GOVCTL_OIDC_AUDIENCE": AUDIENCE,
    }
    assert in_ci("publish", str(skill), **github) == 0
    assert issuer.asked[0] == "/request?api-version=2&audience=https%3A%2F%2Fskills.example.com"
    assert issuer.bearers == ["Bearer of-the-job"]


def test_publishers_are_added_listed_and_revoked_by_hand(
    in_ci: Callable[..., int], trusting: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    admin = {"GOVCTL_TOKEN": trusting.serving.token}
    words = ("--github", "team/weather", "--workflow", "publish.yml", "--environment", "release")
    assert in_ci("publisher", "add", "ci", *words, "--grant", "publisher:weather", **admin) == 0
    [made] = trusting.admin.publishers()
    assert made.issuer == "https://token.actions.githubusercontent.com"
    assert made.claims == {
        "repository": "team/weather",
        "workflow_ref": "team/weather/.github/workflows/publish.yml@*",
        "environment": "release",
    }
    assert in_ci("publisher", "list", **admin) == 0
    assert in_ci("publisher", "revoke", made.id, **admin) == 0
    assert in_ci("publisher", "add", "ci", "--grant", "publisher:weather", **admin) == 2
    assert "pending" in capsys.readouterr().out
    assert trusting.admin.publishers()[0].state == "revoked"
