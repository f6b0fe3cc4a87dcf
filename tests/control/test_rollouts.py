"""Rollouts over HTTP: who gets what, who may steer, and what the job makes of the outcomes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from registry import Manifest, Service, together

from governance.client import ControlPlane
from governance.control.auth.roles import Caller
from governance.control.database import Database
from governance.control.gates import resolving
from governance.control.jobs import Tools, run_job
from governance.control.rollouts.outcomes import MOST_SENDERS
from governance.control.rollouts.running import ROLLOUT_STEPS, move_on
from governance.control.settings import Settings
from governance.errors import (
    Conflict,
    Forbidden,
    IdempotencyKeyReused,
    InvalidRequest,
    NotFound,
    PreconditionFailed,
    StillNeeded,
    TooManyRequests,
)
from governance.telemetry import Telemetry
from governance.wire import (
    Grant,
    MarginRequest,
    OutcomeBucket,
    PlanRequest,
    ResolveQuestion,
    ResolveRequest,
    Role,
    RolloutView,
)

SKILL = "weather.current"
AGENTS = [f"agent-{number}" for number in range(16)]
WIDE = MarginRequest(absolute=0.05)
PLAN = PlanRequest(weights=[10, 50, 100], dwell_sec=0, min_calls=100, failures=WIDE, violations=WIDE)


@pytest.fixture
def weather(service: Service, manifest: Manifest) -> Service:
    """``weather.current`` 1.0.0 and 1.1.0 in one line."""
    for version in ("1.0.0", "1.1.0"):
        service.admin.put_version(manifest(version=version))
    return service


@pytest.fixture
def owner(owner_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(owner_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def tools(service: Service, settings: Settings) -> Iterator[Tools]:
    database = Database(service.database_url, settings)
    yield Tools(database=database, settings=settings, telemetry=Telemetry())
    database.close()


@pytest.fixture
def operator(weather: Service) -> Iterator[ControlPlane]:
    with weather.client(Role.OPERATOR, "weather") as client:
        yield client


def start(service: Service, candidate: str = "1.1.0", **fields: Any) -> RolloutView:
    return service.admin.start_rollout(SKILL, candidate, **({"plan": PLAN} | fields))


def served(service: Service, consumer: str | None, range: str | None = "^1", **fields: Any) -> str:
    return service.admin.resolve(SKILL, range, consumer=consumer, **fields).version


def a_minute() -> datetime:
    """One that begins within any step that stands now."""
    return datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)


def bucket(side: str, calls: int, failures: int = 0, violations: int = 0, at: datetime | None = None) -> OutcomeBucket:
    fields = {"calls": calls, "failures": failures, "violations": violations}
    return OutcomeBucket.model_validate({"side": side, "minute": at or a_minute(), **fields})


def report(service: Service, rollout: RolloutView, *buckets: OutcomeBucket, sender: str = "host-1") -> int:
    return service.admin.report_outcomes(rollout.id, sender, buckets).taken


def an_hour_passes(owner: psycopg.Connection) -> None:
    """What was told becomes an hour old, and so does the rollout."""
    hour = "interval '1 hour'"
    owner.execute(f"UPDATE rollout SET started_at = started_at - {hour}, step_since = step_since - {hour}")
    owner.execute(f"UPDATE rollout SET ended_at = ended_at - {hour}")
    owner.execute(f"UPDATE rollout_outcome SET minute = minute - {hour}")


def traffic(service: Service, rollout: RolloutView, chance: random.Random, failing: dict[str, float]) -> list[str]:
    """Every agent asks what serves it and calls that; what the calls come to is reported. Who got the candidate."""
    counted = {"candidate": [0, 0], "incumbent": [0, 0]}
    inside = []
    for agent in AGENTS:
        found = service.admin.resolve(SKILL, "^1", consumer=agent)
        assert found.rollout is not None
        assert found.rollout.id == rollout.id
        assert found.version == (rollout.candidate if found.rollout.arm == "candidate" else rollout.incumbent)
        inside += [agent] if found.rollout.arm == "candidate" else []
        counted[found.rollout.arm][0] += 900
        counted[found.rollout.arm][1] += sum(chance.random() < failing[found.version] for _ in range(900))
    report(service, rollout, *(bucket(side, calls, failures) for side, (calls, failures) in counted.items()))
    return inside


# ── who may ──


def test_only_operators_of_the_namespace_start_and_steer(weather: Service) -> None:
    for role in (Role.VIEWER, Role.CALLER, Role.PUBLISHER, Role.APPROVER):
        with weather.client(role, "weather") as client, pytest.raises(Forbidden):
            client.start_rollout(SKILL, "1.1.0")
    with weather.client(Role.OPERATOR, "maps") as stranger, pytest.raises(Forbidden):
        stranger.start_rollout(SKILL, "1.1.0")
    rollout = start(weather)
    with weather.client(Role.OPERATOR, "maps") as stranger:
        for act in (stranger.get_rollout, lambda id_: stranger.hold_rollout(id_, "r")):
            with pytest.raises(NotFound):
                act(rollout.id)
        with pytest.raises(NotFound):
            stranger.report_outcomes(rollout.id, "host-1", [bucket("candidate", 1)])
        assert list(stranger.rollouts()) == []
    with weather.client(Role.VIEWER, "weather") as viewer:
        assert viewer.get_rollout(rollout.id) == weather.admin.get_rollout(rollout.id)
        for steer in (viewer.hold_rollout, viewer.advance_rollout, viewer.fall_back, viewer.cancel_rollout):
            with pytest.raises(Forbidden):
                steer(rollout.id, "r")
        with pytest.raises(Forbidden):
            viewer.report_outcomes(rollout.id, "host-1", [bucket("candidate", 1)])
    refused = [one["action"] for one in weather.entries() if one["outcome"] == "refused"]
    assert refused == [
        *["rollout.start"] * 5,
        "rollout.hold",
        "rollout.report",
        "rollout.hold",
        "rollout.advance",
        "rollout.fall_back",
        "rollout.cancel",
        "rollout.report",
    ]


# ── by itself ──


def test_a_healthy_candidate_takes_every_step_by_itself_and_completes(
    weather: Service, operator: ControlPlane, tools: Tools, owner: psycopg.Connection
) -> None:
    chance, usual = random.Random(5), {"1.0.0": 0.01, "1.1.0": 0.01}
    rollout = operator.start_rollout(SKILL, "1.1.0", plan=PLAN, reason="the new model")
    assert (rollout.incumbent, rollout.weight, rollout.withholds) == ("1.0.0", 10, ["1.1.0"])
    owner.execute("UPDATE rollout SET started_at = started_at - interval '1 hour'")
    before: set[str] = set()
    for weight in (10, 50, 100):
        assert weather.admin.get_rollout(rollout.id).weight == weight
        assert move_on(tools) == 0, "nothing was seen yet"
        inside = set(traffic(weather, rollout, chance, usual))
        assert before <= inside, "once in, in"
        before = inside
        assert served(weather, None) == "1.0.0", "anonymous callers get the incumbent"
        assert move_on(tools) == 1
        owner.execute("UPDATE rollout_outcome SET minute = minute - interval '3 minutes'")
    assert before == set(AGENTS)
    done = weather.admin.get_rollout(rollout.id)
    assert (done.state, done.in_force, done.weight) == ("completed", False, 100)
    assert [one.weight for one in done.steps] == [10, 50, 100]
    assert all(one.candidate.calls >= 900 for one in done.steps)
    assert [served(weather, one) for one in (None, "agent-1")] == ["1.1.0"] * 2
    told = [one for one in weather.entries() if one["action"].startswith("rollout.")]
    assert [one["action"] for one in told] == [
        "rollout.start", "rollout.advance", "rollout.advance", "rollout.complete",
    ]  # fmt: skip
    assert [one["actor"]["name"] for one in told] == ["operator of weather", *["system"] * 3]
    assert told[1]["after"]["why"] == "within-margin"
    assert told[1]["after"]["seen"]["candidate"] == done.steps[0].candidate.model_dump()


def test_a_bad_candidate_falls_back_by_itself_and_stays_withheld_until_a_fix_takes_over(
    weather: Service, manifest: Manifest, tools: Tools, owner: psycopg.Connection
) -> None:
    rollout = start(weather)
    inside = traffic(weather, rollout, random.Random(5), {"1.0.0": 0.01, "1.1.0": 0.3})
    assert inside
    assert move_on(tools) == 1
    fallen = weather.admin.get_rollout(rollout.id)
    assert (fallen.state, fallen.weight, fallen.in_force) == ("fallen_back", 0, True)
    assert {served(weather, one) for one in (None, *AGENTS)} == {"1.0.0"}
    assert served(weather, inside[0], "1.1.0") == "1.1.0", "a pin is no rollout's business"
    (entry,) = weather.entries("rollout.fall_back")
    assert (entry["actor"]["name"], entry["after"]["why"]) == ("system", "beyond-margin")
    assert report(weather, rollout, bucket("candidate", 5)) == 0, "it has ended"

    weather.admin.put_environment("test")
    with pytest.raises(Conflict, match=rollout.id):
        start(weather, "1.1.0+the.same", environment="test")

    weather.admin.put_version(manifest(version="1.1.1", status="draft"))
    again = start(weather, "1.1.1")
    assert again.incumbent == "1.0.0", "what is withheld is no incumbent"
    weather.admin.activate(SKILL, "1.1.1")
    assert {served(weather, one) for one in AGENTS} == {"1.0.0", "1.1.1"}
    assert served(weather, None) == "1.0.0"

    weather.admin.cancel_rollout(again.id, "all at once then")
    assert served(weather, None) == "1.1.1"
    weather.admin.cancel_rollout(fallen.id, "it is mended elsewhere")
    assert served(weather, None, "<1.1.1 >=1.0.0") == "1.1.0"
    an_hour_passes(owner)
    assert move_on(tools) == 2, "what ended is cleared"
    assert owner.execute("SELECT count(*) FROM rollout_outcome").fetchone() == (0,)
    assert weather.admin.get_rollout(rollout.id).steps == fallen.steps


def test_missing_and_small_numbers_move_nothing(weather: Service, tools: Tools) -> None:
    rollout = start(weather)

    def told(*buckets: OutcomeBucket) -> str:
        for number, one in enumerate(buckets):
            report(weather, rollout, one, sender=f"{one.side}-{number}")
        assert move_on(tools) == 0
        now = weather.admin.get_rollout(rollout.id)
        assert now.outlook is not None
        assert (now.outlook.verdict, now.weight) == ("wait", 10)
        return now.outlook.code

    assert told() == "few-calls"
    assert told(bucket("candidate", 99)) == "few-calls"
    assert told(bucket("candidate", 120, 3)) == "no-comparison"
    assert told(bucket("incumbent", 99)) == "no-comparison"
    assert told(bucket("incumbent", 900, 9)) == "unsure"
    assert told(bucket("candidate", 140, 10)) == "unsure"


def test_what_stood_long_enough_but_fell_silent_moves_nothing(
    weather: Service, tools: Tools, owner: psycopg.Connection
) -> None:
    rollout = start(weather)
    report(weather, rollout, bucket("candidate", 5_000), bucket("incumbent", 5_000))
    an_hour_passes(owner)
    assert move_on(tools) == 0
    now = weather.admin.get_rollout(rollout.id)
    assert now.outlook is not None
    assert now.outlook.code == "silent"


def test_two_replicas_take_a_step_once(weather: Service, tools: Tools) -> None:
    rollout = start(weather)
    report(weather, rollout, bucket("candidate", 5_000), bucket("incumbent", 5_000))
    together(*[lambda: run_job(ROLLOUT_STEPS, tools)] * 4)
    assert weather.admin.get_rollout(rollout.id).weight in (50, 100)
    advanced = weather.entries("rollout.advance")
    revisions = [one["after"]["revision"] for one in advanced]
    assert revisions == sorted(set(revisions))
    assert [one["before"]["step"] for one in advanced] == list(range(len(advanced)))


def test_an_operator_who_falls_back_while_the_job_advances_is_heard(weather: Service, tools: Tools) -> None:
    rollout = start(weather)
    report(weather, rollout, bucket("candidate", 5_000), bucket("incumbent", 5_000))
    together(lambda: move_on(tools), lambda: weather.admin.fall_back(rollout.id, "stop"))
    assert weather.admin.get_rollout(rollout.id).state == "fallen_back"
    moved = [one for one in weather.entries() if one["action"] in ("rollout.advance", "rollout.fall_back")]
    assert [one["after"]["revision"] for one in moved] == list(range(2, 2 + len(moved)))
    assert moved[-1]["action"] == "rollout.fall_back"


# ── beside other changes ──


def test_a_candidate_that_can_serve_no_more_falls_back(weather: Service, tools: Tools) -> None:
    rollout = start(weather)
    weather.admin.yank(SKILL, "1.1.0", "it lies")
    assert {served(weather, one) for one in AGENTS} == {"1.0.0"}
    assert move_on(tools) == 1
    fallen = weather.admin.get_rollout(rollout.id)
    assert (fallen.state, fallen.reason) == ("fallen_back", "The candidate cannot serve any more.")


def test_where_the_incumbent_goes_nobody_is_left_without_a_version(weather: Service, tools: Tools) -> None:
    rollout = start(weather)
    weather.admin.yank(SKILL, "1.0.0", "it lies")
    assert {served(weather, one) for one in (None, *AGENTS)} == {"1.1.0"}
    assert move_on(tools) == 0
    now = weather.admin.get_rollout(rollout.id)
    assert now.outlook is not None
    assert now.outlook.code == "incumbent-gone"


def test_a_side_of_an_open_rollout_is_not_retired(weather: Service, tools: Tools, owner: psycopg.Connection) -> None:
    rollout = start(weather)
    day = datetime.now(UTC).date() + timedelta(days=400)
    weather.admin.deprecate(SKILL, "1.1.0", sunset=day, replacement="none")
    owner.execute("UPDATE skill_version_state SET sunset = current_date WHERE sunset IS NOT NULL")
    with pytest.raises(StillNeeded) as refused:
        weather.admin.retire(SKILL, "1.1.0")
    assert "still-rolling" in {one["code"] for one in refused.value.details["judgement"]["reasons"]}
    weather.admin.retire(SKILL, "1.1.0", force=True, reason="it must go")
    assert move_on(tools) == 1
    assert weather.admin.get_rollout(rollout.id).state == "fallen_back"


def test_a_draft_is_rolled_out_once_it_is_activated(weather: Service, manifest: Manifest, tools: Tools) -> None:
    weather.admin.put_version(manifest(version="1.2.0", status="draft"))
    rollout = start(weather, "1.2.0")
    assert rollout.incumbent == "1.1.0"
    assert {served(weather, one) for one in AGENTS} == {"1.1.0"}
    assert rollout.outlook is not None
    assert rollout.outlook.code == "candidate-draft"
    weather.admin.activate(SKILL, "1.2.0")
    assert {served(weather, one) for one in AGENTS} == {"1.1.0", "1.2.0"}


def test_there_is_no_way_back_to_a_draft(weather: Service, manifest: Manifest) -> None:
    weather.admin.put_version(manifest(version="1.0.5", status="draft"))
    with pytest.raises(Conflict, match="draft"):
        start(weather, "1.0.5", plan=None)


def test_what_is_published_later_is_kept_from_nobody(weather: Service, manifest: Manifest) -> None:
    start(weather)
    weather.admin.put_version(manifest(version="1.1.1"))
    assert {served(weather, one) for one in (None, *AGENTS)} == {"1.1.1"}


# ── by hand ──


def test_the_way_back_is_gone_at_once_for_everybody_and_lifted_again(weather: Service) -> None:
    assert served(weather, None) == "1.1.0"
    back = start(weather, "1.0.0", plan=None, reason="1.1.0 answers in Fahrenheit")
    assert (back.state, back.incumbent, back.in_force, back.weight) == ("completed", "1.1.0", True, 100)
    assert {served(weather, one) for one in (None, *AGENTS)} == {"1.0.0"}
    assert served(weather, None, ">=1.1.0 <2") == "1.1.0", "consent to one side alone is respected"
    assert [one.id for one in weather.admin.rollouts(in_force=True)] == [back.id]

    out = start(weather, "1.1.0")
    assert weather.admin.get_rollout(back.id).state == "cancelled", "rolled out anew, it is not withheld"
    assert {served(weather, one) for one in AGENTS} == {"1.0.0", "1.1.0"}
    assert weather.admin.get_rollout(out.id).in_force


def test_an_operator_holds_resumes_advances_and_falls_back_each_with_a_reason(
    weather: Service, operator: ControlPlane, tools: Tools
) -> None:
    rollout = start(weather)
    report(weather, rollout, bucket("candidate", 5_000), bucket("incumbent", 5_000))
    operator.hold_rollout(rollout.id, "it is Friday")
    assert move_on(tools) == 0
    operator.resume_rollout(rollout.id, "it is Monday")
    assert operator.advance_rollout(rollout.id, "I saw enough").weight == 50
    fallen = operator.fall_back(rollout.id, "no, I did not")
    assert (fallen.state, fallen.reason) == ("fallen_back", "no, I did not")
    assert operator.fall_back(rollout.id, "again").revision == fallen.revision, "safe to repeat"
    with pytest.raises(Conflict):
        operator.resume_rollout(rollout.id, "no way")
    told = [(one["action"], one["reason"]) for one in weather.entries() if one["action"].startswith("rollout.")]
    assert told[1:5] == [
        ("rollout.hold", "it is Friday"),
        ("rollout.resume", "it is Monday"),
        ("rollout.advance", "I saw enough"),
        ("rollout.fall_back", "no, I did not"),
    ]


def test_a_rollout_of_one_environment_holds_for_its_callers_alone(weather: Service) -> None:
    with pytest.raises(NotFound):
        start(weather, environment="staging")
    weather.admin.put_environment("staging")
    rollout = start(weather, "1.0.0", plan=None, environment="staging")
    assert rollout.environment == "staging"
    found = [served(weather, None, environment=one) for one in ("staging", "prod", None)]
    assert found == ["1.0.0", "1.1.0", "1.1.0"]


def test_what_cannot_be_rolled_out_is_refused(weather: Service, manifest: Manifest) -> None:
    narrower = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city", "days"]}
    weather.admin.put_version(manifest(version="2.0.0", compatibility="breaking_change", input_schema=narrower))
    with pytest.raises(Conflict, match="the line that opened at"):
        start(weather, "2.0.0")
    with pytest.raises(Conflict):
        start(weather, "2.0.0", incumbent="1.1.0")
    with pytest.raises(Conflict):
        start(weather, "1.1.0", incumbent="1.1.0")
    with pytest.raises(NotFound):
        start(weather, "1.9.0")
    with pytest.raises(NotFound):
        weather.admin.start_rollout("weather.none", "1.0.0")
    with pytest.raises(InvalidRequest) as refused:
        start(weather, plan=PlanRequest(weights=[50, 20, 100]))
    assert refused.value.faults[0].pointer == "/plan/weights"
    weather.admin.yank(SKILL, "1.1.0", "it lies")
    with pytest.raises(Conflict, match="yanked"):
        start(weather, "1.1.0")


def test_one_rollout_of_a_skill_is_open_in_an_environment_however_many_start_at_once(weather: Service) -> None:
    made = together(*[lambda: start(weather)] * 3)
    assert sorted(type(one).__name__ for one in made) == ["Conflict", "Conflict", "RolloutView"]
    assert len(list(weather.admin.rollouts(state="running"))) == 1  # type: ignore[arg-type]


def test_a_state_that_changed_meanwhile_is_not_changed_again(weather: Service) -> None:
    rollout = start(weather)
    with weather.http(weather.serving.token) as http:
        path = f"/v1/rollouts/{rollout.id}"
        tag = http.get(path).headers["etag"]
        assert http.post(f"{path}/hold", json={"reason": "r"}).status_code == 428
        first = http.post(f"{path}/hold", json={"reason": "r"}, headers={"If-Match": tag})
        assert first.status_code == 200
        assert first.headers["etag"] != tag
    with pytest.raises(PreconditionFailed):
        weather.admin.advance_rollout(rollout.id, "r", match=tag)


def test_a_start_that_is_sent_again_under_its_key_starts_once(weather: Service) -> None:
    first, again = (start(weather, idempotency_key="k") for _ in range(2))
    assert again.id == first.id
    with pytest.raises(IdempotencyKeyReused):
        start(weather, "1.0.0", idempotency_key="k")


def test_lists_are_paged_and_filtered(weather: Service) -> None:
    ids = []
    for _ in range(3):
        ids.append(start(weather).id)
        weather.admin.cancel_rollout(ids[-1], "r")
    assert [one.id for one in weather.admin.rollouts(skill=SKILL)] == ids[::-1]
    assert list(weather.admin.rollouts(skill="weather.none")) == []
    with weather.http(weather.serving.token) as http:
        first = http.get("/v1/rollouts", params={"limit": 2}).json()
        second = http.get("/v1/rollouts", params={"limit": 2, "cursor": first["next"]}).json()
        assert [one["id"] for one in first["items"] + second["items"]] == ids[::-1]
        assert http.get("/v1/rollouts", params={"cursor": "Z2l0"}).json()["code"] == "usage"


class Counting(psycopg.AsyncConnection[Any]):
    """Counts the statements that go over it."""

    statements = 0

    async def execute(self, *args: Any, **fields: Any) -> Any:
        self.statements += 1
        return await super().execute(*args, **fields)


def statements(service: Service, consumer: str | None, skills: list[str]) -> int:
    """How many statements one batch of questions costs."""
    asked = ResolveRequest(questions=[ResolveQuestion(skill=one, range="^1") for one in skills], consumer=consumer)
    caller = Caller(id="tok_1", name="admin", grants=[Grant(role=Role.ADMIN, namespace="*")])

    async def ask() -> int:
        async with await Counting.connect(service.database_url, autocommit=True) as connection:
            answered = await resolving.answer(connection, asked, caller, service.serving.app.state.judge)
            assert all(one.resolution is not None for one in answered)
            return connection.statements

    return asyncio.run(ask())


def test_resolve_costs_no_statement_more_however_many_rollouts_are_in_force(
    weather: Service, manifest: Manifest
) -> None:
    skills = [SKILL, *(f"weather.more_{number}" for number in range(4))]
    for name in skills[1:]:
        for version in ("1.0.0", "1.1.0"):
            weather.admin.put_version(manifest(name, version))
    before = [statements(weather, consumer, skills) for consumer in (None, "agent-1")]
    for name in skills:
        weather.admin.start_rollout(name, "1.1.0")
    assert [statements(weather, consumer, skills) for consumer in (None, "agent-1")] == before
    assert statements(weather, None, skills[:1]) == before[0]


# ── outcomes ──


def calls(service: Service, rollout: RolloutView, side: str = "candidate") -> int:
    return int(getattr(service.admin.get_rollout(rollout.id).steps[-1], side).calls)


def test_a_sender_s_word_on_a_minute_counts_once_and_the_later_one_stands(weather: Service) -> None:
    rollout = start(weather)
    for count in (40, 40, 70, 40):
        report(weather, rollout, bucket("candidate", count, 3))
    assert calls(weather, rollout) == 70
    report(weather, rollout, bucket("candidate", 5), sender="host-2")
    assert calls(weather, rollout) == 75
    with weather.client(Role.CALLER, "weather") as other:
        other.report_outcomes(rollout.id, "host-1", [bucket("candidate", 6)])
    assert calls(weather, rollout) == 81, "two tokens never speak for each other"
    at = a_minute()
    twice = [bucket("incumbent", 3, at=at), bucket("incumbent", 4, at=at), bucket("incumbent", 2, at=at)]
    assert report(weather, rollout, *twice) == 1
    assert calls(weather, rollout, "incumbent") == 4


def test_senders_that_report_at_once_are_all_counted(weather: Service) -> None:
    rollout = start(weather)
    made = together(
        *(lambda host=host: report(weather, rollout, bucket("candidate", 10), sender=host) for host in "abcdefgh")
    )
    assert made == [1] * 8
    assert calls(weather, rollout) == 80


def test_a_minute_outside_the_rollout_is_refused_and_no_entry(weather: Service) -> None:
    rollout = start(weather)
    before = len(weather.entries())
    for minutes in (-3, 5):
        at = datetime.now(UTC) + timedelta(minutes=minutes)
        with pytest.raises(InvalidRequest) as refused:
            report(weather, rollout, bucket("candidate", 1), bucket("candidate", 1, at=at))
        assert refused.value.faults[0].pointer == "/buckets/1/minute"
    assert len(weather.entries()) == before
    assert calls(weather, rollout) == 0


IMPOSSIBLE: list[dict[str, Any]] = [
    {"calls": 1, "failures": 2},
    {"calls": 2, "failures": 1, "violations": 2},
    {"calls": -1},
    {"calls": 10**12},
    {"calls": "1"},
    {"calls": 1, "minute": "2026-11-30T12:00:00"},
    {"calls": 1, "minute": "0001-01-01T00:00:00+14:00"},
    {"calls": 1, "minute": 5},
    {"calls": 1, "side": "both"},
    {"calls": 1, "more": 1},
]


def test_counts_that_cannot_be_are_refused(weather: Service) -> None:
    rollout = start(weather)
    with weather.http(weather.serving.token) as http:
        for fields in IMPOSSIBLE:
            body = {"sender": "host-1", "buckets": [{"side": "candidate", "minute": a_minute().isoformat()} | fields]}
            answer = http.post(f"/v1/rollouts/{rollout.id}/outcomes", json=body)
            assert (answer.status_code, answer.json()["code"]) == (422, "invalid-request"), fields


def test_the_senders_of_a_minute_are_bounded(weather: Service, owner: psycopg.Connection) -> None:
    rollout = start(weather)
    owner.execute(
        "INSERT INTO rollout_outcome (rollout, minute, side, sender, calls, failures, violations)"
        " SELECT %s, %s, 'candidate', 'sender ' || n, 1, 0, 0 FROM generate_series(1, %s) n",
        (rollout.id, a_minute(), MOST_SENDERS),
    )
    with pytest.raises(TooManyRequests):
        report(weather, rollout, bucket("candidate", 1))
    assert calls(weather, rollout) == MOST_SENDERS
