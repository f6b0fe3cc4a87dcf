"""The versions of one skill, held for a change: their records, today's date, and one step of the life cycle on one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from sqlmodel import Session, col, select

from governance.control.audit.service import SYSTEM, Attempt, append
from governance.control.auth.roles import Caller
from governance.control.database import time_of
from governance.control.skills import reading
from governance.control.skills.cards import refresh_card
from governance.control.skills.reading import Found
from governance.control.skills.service import lock
from governance.control.skills.tables import VersionState
from governance.core.lifecycle import EnterSunset, Event, Lifecycle, NoticePeriod, step
from governance.core.lines import Published
from governance.core.skill import Status
from governance.core.versioning import Version
from governance.errors import NotFound

_RECORD: Final = (
    "state", "disabled", "yanked", "deprecated_on", "sunset", "retired_since", "replacement", "migration_guide",
)  # fmt: skip
_SHOWN = 10


@dataclass(frozen=True, kw_only=True)
class HeldVersion:
    """One version: the row it was published with, and its live record, which a change writes."""

    row: Found
    state: VersionState
    published: Published

    @property
    def version(self) -> Version:
        return self.published.version

    @property
    def lifecycle(self) -> Lifecycle:
        """As it is stored; a sunset whose day has come is stored with the next change, or by the job."""
        values = {name: getattr(self.state, name) for name in _RECORD}
        return Lifecycle(**{**values, "state": Status(self.state.state)})

    @property
    def etag(self) -> str:
        return f"{self.row['manifest_digest']}.{self.state.revision}"


@dataclass(frozen=True, kw_only=True)
class Changed:
    """What became of one version; ``before`` and ``after`` are equal where nothing changed."""

    version: Version
    before: Lifecycle
    after: Lifecycle
    etag: str

    def to_document(self) -> dict[str, Any]:
        return {
            "version": str(self.version),
            "changed": self.before != self.after,
            "before": self.before.to_document(),
            "after": self.after.to_document(),
            "etag": f'"{self.etag}"',
        }


@dataclass(frozen=True, kw_only=True)
class Held:
    """A skill whose lock the transaction has."""

    session: Session
    skill: str
    versions: Mapping[Version, HeldVersion]
    """Lowest first."""
    today: date

    @property
    def published(self) -> list[Published]:
        return [one.published for one in self.versions.values()]

    def version(self, asked: Version) -> HeldVersion:
        """Raises NotFound, naming versions that exist."""
        if asked not in self.versions:
            there = ", ".join(str(version) for version in list(self.versions)[-_SHOWN:])
            raise NotFound(f"{self.skill} has no version {asked}.", fix=f"There are {there}.")
        return self.versions[asked]

    def apply(
        self,
        one: HeldVersion,
        event: Event,
        attempt: Attempt,
        *,
        by: Caller,
        notice: NoticePeriod | None = None,
        beside: Mapping[str, Any] | None = None,
    ) -> Changed:
        """Take one step with its audit entry; ``beside`` goes into the entry too. Raises what ``lifecycle.step`` does.

        A sunset whose day has come is entered first, as a step and an entry of its own.
        """
        before = self._brought_up(one)
        after, transition = step(before, event, today=self.today, version=one.version, notice=notice)
        if transition is not None:
            self._write(one, before, after, attempt, by=by, beside=beside)
        return Changed(version=one.version, before=before, after=after, etag=one.etag)

    def enter_sunset(self, one: HeldVersion) -> bool:
        """Store that the day of a sunset has come; False where it has not, or is stored already."""
        before = one.lifecycle
        return self._brought_up(one) != before

    def _brought_up(self, one: HeldVersion) -> Lifecycle:
        now = one.lifecycle
        if now.state is not Status.DEPRECATED or now.sunset is None or self.today < now.sunset:
            return now
        after, _ = step(now, EnterSunset(), today=self.today, version=one.version)
        self._write(one, now, after, attempt_on("version.sunset", self.skill, one.version), by=SYSTEM)
        return after

    def _write(
        self,
        one: HeldVersion,
        before: Lifecycle,
        after: Lifecycle,
        attempt: Attempt,
        *,
        by: Caller,
        beside: Mapping[str, Any] | None = None,
    ) -> None:
        at = time_of(self.session)
        for name in _RECORD:
            setattr(one.state, name, getattr(after, name))
        one.state.state = after.state.value
        one.state.revision += 1
        one.state.updated_at = at
        self.session.add(one.state)
        each = Attempt(
            action=attempt.action,
            subject=f"{self.skill}@{one.version}",
            namespace=attempt.namespace,
            reason=attempt.reason,
        )
        told = after.to_document() | {"revision": one.state.revision} | dict(beside or {})
        append(self.session, each, by=by, before=before.to_document(), after=told, at=at)

    def done(self) -> None:
        """Bring what lists show in line with what was changed."""
        refresh_card(self.session, self.skill, at=time_of(self.session))


def attempt_on(action: str, skill: str, what: object, reason: str | None = None) -> Attempt:
    """``what``: the version, or the range of several."""
    return Attempt(action=action, subject=f"{skill}@{what}", namespace=skill.rpartition(".")[0], reason=reason)


def hold(session: Session, skill: str, *, beside: Iterable[str] = ()) -> Held:
    """Hold a skill, and the skills ``beside`` it, until the transaction ends.

    Raises NotFound where nothing of that name is published.
    """
    lock(session, [skill, *beside])
    rows = reading.history(session, skill)
    if not rows:
        raise reading.no_such_skill(skill)
    states = session.exec(select(VersionState).where(col(VersionState.skill) == skill)).all()
    by_key = {bytes(state.sort_key): state for state in states}
    held = [
        HeldVersion(row=row, state=by_key[bytes(row["sort_key"])], published=reading.published(row)) for row in rows
    ]
    return Held(
        session=session,
        skill=skill,
        versions={one.version: one for one in held},
        today=todays_date(session),
    )


def todays_date(session: Session) -> date:
    """The database's, which all replicas share; UTC."""
    found: date = session.connection().exec_driver_sql("SELECT current_date").scalar_one()
    return found
