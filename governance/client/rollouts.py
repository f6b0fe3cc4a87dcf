"""Rollouts, as typed methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from governance.client.requests import Requests, segment
from governance.core.rollout.stepping import RolloutState
from governance.wire import (
    OutcomeBucket,
    OutcomesRequest,
    OutcomesTaken,
    PlanRequest,
    RolloutPage,
    RolloutRequest,
    RolloutView,
    SteeringRequest,
)


class Rollouts(Requests):
    """``match`` is ``"ID.REVISION"`` in quotes, the ETag as it was read; with ``*`` whatever stands there is changed.

    What changes a rollout may raise NotFound, Forbidden, PreconditionFailed and Conflict.
    """

    def start_rollout(
        self,
        skill: str,
        candidate: str,
        *,
        incumbent: str | None = None,
        environment: str | None = None,
        plan: PlanRequest | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> RolloutView:
        """Roll a version out in steps, or back to an older one, which without a plan is gone at once.

        Raises:
            NotFound: no such skill, version or environment.
            InvalidRequest: the plan cannot be followed.
            Conflict: one is open there, or the two versions stand in different lines.
        """
        body = RolloutRequest(
            skill=skill, candidate=candidate, incumbent=incumbent, environment=environment, plan=plan, reason=reason
        )
        return self._answer(RolloutView, "POST", "/v1/rollouts", body=body, key=idempotency_key)

    def get_rollout(self, rollout_id: str) -> RolloutView:
        """One rollout with the numbers of each step and what it does next. Raises NotFound."""
        return self._answer(RolloutView, "GET", f"/v1/rollouts/{segment(rollout_id)}")

    def rollouts(
        self,
        *,
        skill: str | None = None,
        environment: str | None = None,
        state: RolloutState | None = None,
        in_force: bool | None = None,
    ) -> Iterator[RolloutView]:
        """Every rollout that matches, the newest first."""
        query = {
            "skill": skill,
            "environment": environment,
            "state": state,
            "in_force": None if in_force is None else str(in_force).lower(),
        }
        for page in self._pages(RolloutPage, "/v1/rollouts", query):
            yield from page.items

    def hold_rollout(self, rollout_id: str, reason: str, *, match: str = "*") -> RolloutView:
        """Keep the share as it is; it still falls back by itself."""
        return self._steer(rollout_id, "hold", reason, match)

    def resume_rollout(self, rollout_id: str, reason: str, *, match: str = "*") -> RolloutView:
        """Let a held one go on."""
        return self._steer(rollout_id, "resume", reason, match)

    def advance_rollout(self, rollout_id: str, reason: str, *, match: str = "*") -> RolloutView:
        """Take the next step now, whatever was seen."""
        return self._steer(rollout_id, "advance", reason, match)

    def fall_back(self, rollout_id: str, reason: str, *, match: str = "*") -> RolloutView:
        """Give all callers the incumbent; the candidate stays withheld until this is cancelled."""
        return self._steer(rollout_id, "fall-back", reason, match)

    def cancel_rollout(self, rollout_id: str, reason: str, *, match: str = "*") -> RolloutView:
        """Steer nobody any more: the highest match serves all callers."""
        return self._steer(rollout_id, "cancel", reason, match)

    def report_outcomes(self, rollout_id: str, sender: str, buckets: Sequence[OutcomeBucket]) -> OutcomesTaken:
        """Tell what calls came to by minute, as totals of the minute; sent again they count once.

        ``sender`` names the process that counts.
        """
        body = OutcomesRequest(sender=sender, buckets=list(buckets))
        return self._answer(OutcomesTaken, "POST", f"/v1/rollouts/{segment(rollout_id)}/outcomes", body=body)

    def _steer(self, rollout_id: str, action: str, reason: str, match: str) -> RolloutView:
        path = f"/v1/rollouts/{segment(rollout_id)}/{action}"
        return self._answer(RolloutView, "POST", path, body=SteeringRequest(reason=reason), match=match)
