"""Outcomes of both sides: taken minute by minute, counted once however often they are sent."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from sqlalchemy import text
from sqlmodel import Session

from governance.control.audit.service import Attempt
from governance.control.auth.roles import Caller, Right
from governance.control.database import time_of
from governance.control.rollouts.records import found, namespace_of, rollout_of
from governance.control.rollouts.tables import RolloutRow
from governance.core.rollout import Seen, Tally
from governance.errors import Fault, InvalidRequest, TooManyRequests
from governance.wire import OutcomesRequest, OutcomesTaken

MOST_SENDERS: Final = 500
"""Senders of one minute of a rollout."""
_AHEAD: Final = timedelta(minutes=2)
"""How far a sender's clock may be ahead of the database's."""
_COMPARED: Final = timedelta(days=1)
"""How far back the incumbent's calls are looked at where the present step has too few of them."""

_TAKE: Final = text(
    """
    INSERT INTO rollout_outcome AS o (rollout, minute, side, sender, calls, failures, violations)
    SELECT :rollout, t.minute, t.side, :sender, t.calls, t.failures, t.violations
    FROM unnest(
      CAST(:minutes AS timestamptz[]), CAST(:sides AS text[]),
      CAST(:calls AS bigint[]), CAST(:failures AS bigint[]), CAST(:violations AS bigint[])
    ) AS t (minute, side, calls, failures, violations)
    ORDER BY t.minute, t.side
    ON CONFLICT (rollout, minute, side, sender) DO UPDATE SET
      calls = excluded.calls, failures = excluded.failures, violations = excluded.violations
    WHERE excluded.calls > o.calls
    """
)
_SENDERS: Final = text(
    "SELECT minute FROM rollout_outcome WHERE rollout = :rollout AND minute = ANY(:minutes)"
    " GROUP BY minute HAVING count(DISTINCT sender) > :most LIMIT 1"
)
_SEEN: Final = text(
    """
    SELECT side, minute >= :since AS present, sum(calls)::bigint, sum(failures)::bigint, sum(violations)::bigint,
           max(minute) FILTER (WHERE calls > 0)
    FROM rollout_outcome WHERE rollout = :rollout AND minute >= :earliest GROUP BY 1, 2
    """
)


def attempt_to_report(id_: str) -> Attempt:
    return Attempt(action="rollout.report", subject=id_, namespace="")


def reported_to(session: Session, id_: str, *, by: Caller) -> RolloutRow:
    """The rollout of which ``by`` may tell outcomes. Raises NotFound, Forbidden."""
    row = found(session, id_, by=by)
    by.need(Right.RESOLVE, namespace_of(row.skill))
    return row


def take(session: Session, row: RolloutRow, request: OutcomesRequest, *, by: Caller) -> OutcomesTaken:
    """Note a sender's word on some minutes. Sent again it counts once; of two words the one of more calls stands.

    A rollout that has ended takes nothing, which is no error: a sender cannot know.

    Raises InvalidRequest (a minute before the rollout, or to come) and TooManyRequests.
    """
    rollout = rollout_of(row)
    if not rollout.open:
        return OutcomesTaken(rollout=row.id, state=rollout.state, weight=rollout.weight, taken=0)
    _check(session, row, request)
    latest = {(one.minute, one.side): one for one in sorted(request.buckets, key=lambda one: one.calls)}
    buckets = [latest[key] for key in sorted(latest)]
    minutes = [one.minute for one in buckets]
    session.execute(
        _TAKE,
        {
            "rollout": row.id,
            "sender": f"{by.id} {request.sender}",
            "minutes": minutes,
            "sides": [one.side for one in buckets],
            "calls": [one.calls for one in buckets],
            "failures": [one.failures for one in buckets],
            "violations": [one.violations for one in buckets],
        },
    )
    if session.execute(_SENDERS, {"rollout": row.id, "minutes": minutes, "most": MOST_SENDERS}).first() is not None:
        raise TooManyRequests(
            f"More than {MOST_SENDERS} senders tell of one minute.", fix="Add the counts of several processes up first."
        )
    return OutcomesTaken(rollout=row.id, state=rollout.state, weight=rollout.weight, taken=len(buckets))


def _check(session: Session, row: RolloutRow, request: OutcomesRequest) -> None:
    first, last = row.started_at - timedelta(minutes=1), time_of(session) + _AHEAD
    faults = [
        Fault(pointer=f"/buckets/{index}/minute", message="before the rollout began, or still to come")
        for index, one in enumerate(request.buckets)
        if not first <= one.minute <= last
    ]
    if faults:
        raise InvalidRequest(
            "A minute lies outside the rollout.",
            fix=f"Send minutes from {row.started_at:%Y-%m-%dT%H:%MZ} until now; check the sender's clock.",
            faults=faults[:20],
        )


def seen_of(session: Session, row: RolloutRow) -> Seen:
    """What was reported of the minutes that began within the present step, in one query."""
    earliest = min(row.step_since, max(row.started_at, time_of(session) - _COMPARED))
    sums: dict[str, dict[bool, Tally]] = {"candidate": {}, "incumbent": {}}
    newest = None
    for side, present, calls, failures, violations, last in session.execute(
        _SEEN, {"rollout": row.id, "since": row.step_since, "earliest": earliest}
    ):
        sums[side][present] = Tally(calls=calls, failures=failures, violations=violations)
        if side == "candidate" and present:
            newest = last
    present, before = (sums["incumbent"].get(when, Tally()) for when in (True, False))
    return Seen(
        candidate=sums["candidate"].get(True, Tally()),
        incumbent=present,
        incumbent_before=present + before,
        newest=newest,
    )
