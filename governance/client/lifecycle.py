"""The life of versions: announcing an end, ending, switching off."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from governance.client.requests import Requests, segment
from governance.wire import (
    DeprecationRequest,
    LifecycleChange,
    RangeDeprecationRequest,
    RetirementRequest,
    SunsetPage,
    SunsetView,
    SwitchRequest,
)

ANY_STATE = "*"


class Lifecycles(Requests):
    """``match`` is the ``etag`` of the version as it was read; with ``*`` whatever stands there is changed.

    ``dry_run`` tells what would become of it and whom it reaches. Every method may raise NotFound, Conflict,
    PreconditionFailed and Forbidden.
    """

    def deprecate(
        self,
        name: str,
        version: str,
        *,
        sunset: date,
        replacement: str,
        migration_guide: str | None = None,
        reason: str | None = None,
        match: str = ANY_STATE,
        dry_run: bool = False,
    ) -> LifecycleChange:
        """Announce the end of one version, or amend that. ``replacement`` is ``name@range`` or ``none``.

        Raises InvalidRequest where the date leaves too little notice or moves earlier.
        """
        body = DeprecationRequest(
            sunset=sunset, replacement=replacement, migration_guide=migration_guide, reason=reason
        )
        return self._change("PUT", name, version, "deprecation", body=body, match=match, dry_run=dry_run)

    def deprecate_range(
        self,
        name: str,
        range: str | None,
        *,
        sunset: date,
        replacement: str,
        migration_guide: str | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> LifecycleChange:
        """The same for every version that ``range`` admits; None is the whole skill. All or none."""
        body = RangeDeprecationRequest(
            range=range, sunset=sunset, replacement=replacement, migration_guide=migration_guide, reason=reason
        )
        path = f"/v1/skills/{segment(name)}/deprecations"
        return self._answer(LifecycleChange, "POST", path, query=_trial(dry_run), body=body)

    def undeprecate(
        self,
        name: str,
        version: str,
        *,
        sunset: date | None = None,
        reason: str | None = None,
        match: str = ANY_STATE,
        dry_run: bool = False,
    ) -> LifecycleChange:
        """Take the announcement back; past its sunset a version needs a new ``sunset``, after today."""
        query = {"sunset": None if sunset is None else sunset.isoformat(), "reason": reason}
        return self._change("DELETE", name, version, "deprecation", query=query, match=match, dry_run=dry_run)

    def retire(
        self,
        name: str,
        version: str,
        *,
        force: bool = False,
        reason: str | None = None,
        match: str = ANY_STATE,
        dry_run: bool = False,
    ) -> LifecycleChange:
        """Serve nobody from a version any more.

        Raises StillNeeded where something live depends on it: ``details["judgement"]`` says what.
        """
        body = RetirementRequest(force=force, reason=reason)
        return self._change("PUT", name, version, "retirement", body=body, match=match, dry_run=dry_run)

    def yank(
        self, name: str, version: str, reason: str, *, match: str = ANY_STATE, dry_run: bool = False
    ) -> LifecycleChange:
        """Have ranges pass the version over."""
        body = SwitchRequest(reason=reason)
        return self._change("PUT", name, version, "yank", body=body, match=match, dry_run=dry_run)

    def unyank(
        self, name: str, version: str, *, reason: str | None = None, match: str = ANY_STATE, dry_run: bool = False
    ) -> LifecycleChange:
        return self._change("DELETE", name, version, "yank", query={"reason": reason}, match=match, dry_run=dry_run)

    def disable(
        self, name: str, version: str, reason: str, *, match: str = ANY_STATE, dry_run: bool = False
    ) -> LifecycleChange:
        """Switch the version off for everybody."""
        body = SwitchRequest(reason=reason)
        return self._change("PUT", name, version, "disablement", body=body, match=match, dry_run=dry_run)

    def enable(
        self, name: str, version: str, *, reason: str | None = None, match: str = ANY_STATE, dry_run: bool = False
    ) -> LifecycleChange:
        query = {"reason": reason}
        return self._change("DELETE", name, version, "disablement", query=query, match=match, dry_run=dry_run)

    def activate(
        self, name: str, version: str, *, reason: str | None = None, match: str = ANY_STATE, dry_run: bool = False
    ) -> LifecycleChange:
        """Let a draft serve. Raises GateRefused."""
        query = {"reason": reason}
        return self._change("PUT", name, version, "activation", query=query, match=match, dry_run=dry_run)

    def draft_again(
        self, name: str, version: str, *, reason: str | None = None, match: str = ANY_STATE, dry_run: bool = False
    ) -> LifecycleChange:
        """Make an active version a draft again. Raises StillNeeded."""
        query = {"reason": reason}
        return self._change("DELETE", name, version, "activation", query=query, match=match, dry_run=dry_run)

    def sunsets(self, *, within_days: int | None = None) -> Iterator[SunsetView]:
        """Every version whose end is announced, the next one first."""
        for page in self._pages(SunsetPage, "/v1/sunsets", {"within_days": within_days}):
            yield from page.items

    def _change(
        self,
        method: str,
        name: str,
        version: str,
        what: str,
        *,
        query: dict[str, str | None] | None = None,
        body: object = None,
        match: str,
        dry_run: bool,
    ) -> LifecycleChange:
        path = f"/v1/skills/{segment(name)}/versions/{segment(version)}/{what}"
        return self._answer(
            LifecycleChange, method, path, query={**(query or {}), **_trial(dry_run)}, body=body, match=match
        )


def _trial(dry_run: bool) -> dict[str, str | None]:
    return {"dry_run": "true" if dry_run else None}
