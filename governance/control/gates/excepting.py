"""Asking for an exception: its findings are copied from stored decisions, so that nobody excepts what was not found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy.exc import NoResultFound
from sqlmodel import Session

from governance.control.auth.roles import Caller, Right
from governance.control.consumers import environments
from governance.control.exceptions import service as exceptions
from governance.control.gates import checks
from governance.control.policies.service import policies_of
from governance.control.skills.ordering import sort_key
from governance.control.skills.reading import STORED, stored_version
from governance.core.document import read_json
from governance.core.names import check_name
from governance.core.versioning import Version
from governance.errors import Fault, InvalidRequest, NotFound
from governance.wire import ExceptedFinding, ExceptionRequest, ExceptionView


def ask(session: Session, request: ExceptionRequest, *, by: Caller) -> ExceptionView:
    """Propose an exception for findings of a stored check, or of the decision that let a version in.

    Raises NotFound, Forbidden, InvalidRequest with a pointer to each fingerprint that cannot stand.
    """
    told: dict[str, list[tuple[str, ExceptedFinding]]] = {}
    for decision in _decisions(session, request, by):
        for finding in _findings(decision):
            told.setdefault(finding.fingerprint, []).append((decision["skill"], finding))
    faults = [
        Fault(pointer=f"/fingerprints/{index}", message="no such break or risk was found", code="unknown")
        for index, fingerprint in enumerate(request.fingerprints)
        if fingerprint not in told
    ]
    if faults:
        known = ", ".join(list(told)[:20]) or "none"
        raise InvalidRequest(
            f"{request.check or request.version} does not tell of every finding named.",
            fix=f"It tells of {known}.",
            faults=faults,
        )
    chosen = [found for fingerprint in dict.fromkeys(request.fingerprints) for found in told[fingerprint]]
    skill = chosen[0][0]
    others = [name for name, _ in chosen if name != skill]
    if others:
        raise InvalidRequest(
            f"The findings are of {skill} and of {others[0]}.", fix="Ask for one exception for each skill."
        )
    if request.environment is not None:
        environments.load(session, request.environment)
    most_days = int(policies_of(session, [skill])[skill].values["exception_days"])
    return exceptions.ask(session, skill, [one for _, one in chosen], request, most_days=most_days, by=by)


def _decisions(session: Session, request: ExceptionRequest, by: Caller) -> Sequence[dict[str, Any]]:
    if (request.check is None) == (request.version is None):
        raise InvalidRequest(
            "An exception is asked for from one place.", fix="Give `check`, or `version` as NAME@VERSION."
        )
    if request.check is not None:
        check = read_json(checks.load(session, request.check, by=by), limits=STORED)
        return list(check["decisions"])
    name, _, version = str(request.version).partition("@")
    by.need(Right.READ, check_name(name).rpartition(".")[0])
    try:
        row = stored_version(session, name, sort_key(Version.parse(version)))
    except NoResultFound:
        raise NotFound(
            f"There is no {request.version}.", fix=f"`govctl versions {name}` lists those there are."
        ) from None
    return [read_json(row["decision"], limits=STORED)]


def _findings(decision: dict[str, Any]) -> Iterator[ExceptedFinding]:
    """Each finding that may be excepted, in each of its surroundings."""
    holders = (*decision.get("consumers", {}).get("impacts", ()), *decision["compared"])
    told = {finding["fingerprint"]: finding for holder in holders for finding in holder["findings"]}
    for fingerprint, surroundings in decision.get("surroundings", {}).items():
        if fingerprint in told:
            finding = told[fingerprint]
            for around in surroundings:
                yield ExceptedFinding(
                    fingerprint=fingerprint,
                    surroundings=around,
                    code=finding["code"],
                    message=finding["message"][:500],
                )
