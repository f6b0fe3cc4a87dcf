"""Releasing: compared before anybody is held up, decided and written under the locks of all members at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from sqlalchemy import text
from sqlmodel import Session

from governance.control.audit.service import Attempt
from governance.control.auth.roles import Caller
from governance.control.catalogues import reading
from governance.control.catalogues.judging import Comparisons, judge_release
from governance.control.catalogues.proposing import Proposal, Unreadable, all_readable, propose
from governance.control.catalogues.storing import content_of, store
from governance.control.database import Database
from governance.control.skills.judging import Judge, Terms
from governance.control.skills.service import Publish, load_replacement, lock
from governance.control.skills.surroundings import surroundings_of
from governance.core.catalogues import compare_catalogues
from governance.core.contract import SkillManifest
from governance.core.gate import Outcome, ReplacementFacts
from governance.core.releases import ReleaseDecision
from governance.core.versioning import Version
from governance.errors import Fault, GateRefused, InvalidRequest, VersionExists
from governance.telemetry import span

__all__ = ["Publish", "all_readable", "attempt_to_release", "check", "diff", "propose", "release"]

_LOCK: Final = text("SELECT pg_advisory_xact_lock(hashtextextended('catalogue:' || :name, 0))")


def attempt_to_release(name: str, version: Version, reason: str | None) -> Attempt:
    return Attempt(action="catalogue.release", subject=f"{name}@{version}", namespace=name, reason=reason)


def release(database: Database, proposal: Proposal, order: Publish, *, by: Caller, judge: Judge) -> tuple[bool, bytes]:
    """Publish a release and every version it needs, or nothing: whether it is new, and the release as JSON.

    The comparisons are made before anything is locked; what has changed since is judged again under the locks.
    ``proposal`` has a version.

    Raises:
        VersionExists: the number is taken by another release.
        GateRefused: ``details["decision"]`` is the decision document, with the decisions on the members.
        InvalidRequest: a rename names a tool that the release before did not hold.
    """
    version = proposal.version
    assert version is not None
    terms = Terms(fail_on=order.fail_on, transitive=order.transitive)
    compare = Comparisons(judge)
    with span("governance.release", **{"governance.catalogue": proposal.catalogue}):
        with database.transaction() as current:
            beside = reading.look(current, proposal.catalogue, version, proposal.names)
            if version in beside.releases:
                return False, _standing(current, proposal, version, beside.releases[version])
        _renames_fit(proposal, beside)
        asked = _Successors(database.transaction, by)
        decision = judge_release(proposal, beside, asked, terms, compare=compare)
        _refuse_blocked(decision)
        with database.transaction() as current:
            current.execute(_LOCK, {"name": proposal.catalogue})
            lock(current, proposal.names)
            there = reading.releases(current, proposal.catalogue)
            if version in there:
                return False, _standing(current, proposal, version, there[version])
            if not _is_still_so(current, proposal, beside, there, asked):
                beside = reading.look(current, proposal.catalogue, version, proposal.names)
                _renames_fit(proposal, beside)
                decision = judge_release(proposal, beside, _Successors(_same(current), by), terms, compare=compare)
                _refuse_blocked(decision)
            return True, store(current, proposal, decision, beside, order, by=by)


def check(
    database: Database,
    proposal: Proposal,
    unreadable: Sequence[Unreadable],
    invalid: Callable[[Mapping[str, Any], Any], dict[str, Any]],
    terms: Terms,
    *,
    by: Caller,
    judge: Judge,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What :func:`release` would decide: the release's decision, and whole decisions on the members by name.

    ``invalid`` makes the decision document on what is no contract. Raises InvalidRequest as :func:`release`.
    """
    with database.transaction() as current:
        beside = reading.look(current, proposal.catalogue, proposal.version, proposal.names)
    _renames_fit(proposal, beside)
    bad = [invalid(one.document, one.error) for one in unreadable]
    asked = _Successors(database.transaction, by)
    decision = judge_release(proposal, beside, asked, terms, compare=Comparisons(judge), unreadable=bad)
    return content_of(decision), decision.decisions_document()


def diff(database: Database, catalogue: str, old: Version, new: Version, *, judge: Judge) -> dict[str, Any]:
    """What changed between two releases, as a ``CatalogueDiff``. Raises NotFound."""
    with database.transaction() as current:
        rows = [reading.release(current, catalogue, version) for version in (old, new)]
        sides = [reading.members(current, catalogue, version) for version in (old, new)]
    compare = Comparisons(judge)
    before, after = (reading.held(rows, compare.manifest) for rows in sides)
    comparison = compare_catalogues(before, after, compare=compare)
    return {
        "catalogue": catalogue,
        "old": rows[0]["version"],
        "new": rows[1]["version"],
        "comparison": comparison.to_document(),
    }


class _Successors:
    """What is known of declared replacements, and whether it is still so.

    ``transaction`` opens one where there are any; comparisons hold no connection.
    """

    def __init__(self, transaction: Callable[[], AbstractContextManager[Session]], by: Caller) -> None:
        self._transaction = transaction
        self._by = by
        self._manifests: Mapping[str, SkillManifest] = {}
        self._known: Mapping[str, ReplacementFacts | None] = {}

    def __call__(self, manifests: Mapping[str, SkillManifest]) -> Mapping[str, ReplacementFacts | None]:
        self._manifests = manifests
        declaring = {name: one for name, one in manifests.items() if one.replacement is not None}
        if declaring:
            with self._transaction() as current:
                self._known = {
                    name: load_replacement(current, one, manifests, by=self._by) for name, one in declaring.items()
                }
        return self._known

    def still_so(self, session: Session) -> bool:
        return all(
            load_replacement(session, self._manifests[name], self._manifests, by=self._by) == facts
            for name, facts in self._known.items()
        )


def _same(session: Session) -> Callable[[], AbstractContextManager[Session]]:
    """The transaction that is open already."""

    def opened() -> AbstractContextManager[Session]:
        return nullcontext(session)

    return opened


def _is_still_so(
    session: Session,
    proposal: Proposal,
    beside: reading.Beside,
    there: Mapping[Version, str],
    successors: _Successors,
) -> bool:
    same = reading.marks(session, proposal.names) == beside.marks and there == beside.releases
    same = same and surroundings_of(session, proposal.names) == beside.around
    return same and successors.still_so(session)


def _standing(session: Session, proposal: Proposal, version: Version, digest: str) -> bytes:
    """The release that is there, if it is the one that is asked for."""
    row = reading.release(session, proposal.catalogue, version)
    if digest == proposal.digest:
        return reading.whole(row)
    raise VersionExists(
        f"{proposal.catalogue} {row['version']} was released by {row['published_by']} at "
        f"{row['published_at']:%Y-%m-%d %H:%M:%S} UTC with other members or other bytes of them.",
        fix="A release never changes: publish under the next number (`govctl catalogue check` tells the smallest).",
        details={
            "version": row["version"],
            "published_by": row["published_by"],
            "published_at": row["published_at"].isoformat(),
            "digest": digest,
            "your_digest": proposal.digest,
            "differs": _differing(session, proposal, version),
        },
    )


_MOST_NAMED: Final = 100


def _differing(session: Session, proposal: Proposal, version: Version) -> list[str]:
    """Members that only one of the two holds, or that are not of one contract; the first hundred."""
    there = {one["name"]: one["contract_digest"] for one in reading.members(session, proposal.catalogue, version)}
    asked = {name: one.contract_digest for name, one in proposal.members.items()}
    names = sorted(name for name in there.keys() | asked.keys() if there.get(name) != asked.get(name))
    return names[:_MOST_NAMED]


def _renames_fit(proposal: Proposal, beside: reading.Beside) -> None:
    held = {one["name"] for one in beside.before}
    unknown = [old for old in proposal.renamed if old not in held]
    if not unknown:
        return
    against = "there is no release before this one"
    if beside.baseline is not None:
        against = f"{proposal.catalogue} {beside.baseline} does not hold it"
    raise InvalidRequest(
        f"{unknown[0]} cannot have been renamed: {against}.",
        fix="Name only tools that the release before held.",
        faults=[Fault(pointer=f"/renamed/{old}", message=against, code="renamed") for old in unknown],
    )


def _refuse_blocked(decision: ReleaseDecision) -> None:
    if decision.outcome is not Outcome.BLOCK:
        return
    blocks = [reason for reason in decision.reasons if reason.outcome is Outcome.BLOCK]
    more = f" (and {len(blocks) - 1} more)" if len(blocks) > 1 else ""
    document = content_of(decision)
    told = [one for one in decision.decisions_document() if one["decision"] != Outcome.ALLOW.value]
    raise GateRefused(
        f"The gate refused the release {decision.catalogue} {decision.version}: "
        f"{blocks[0].message.rstrip('.')}{more}. Nothing of it was published.",
        fix=blocks[0].fix,
        details={
            "decision": document["decision"] | {"withdrawn": document["withdrawn"], "decisions": told},
            "undecided_alone": decision.undecided_alone,
        },
    )
