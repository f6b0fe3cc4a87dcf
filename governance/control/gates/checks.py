"""Checks: the gate's decision on candidates that nobody publishes, kept under a permanent address."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlmodel import Session

from governance.control.audit.service import Attempt, append, decision_summary
from governance.control.auth.roles import Caller, Right
from governance.control.catalogues import service as catalogues
from governance.control.database import Database, time_of
from governance.control.gates.tables import CheckRow
from governance.control.settings import Settings
from governance.control.skills.judging import Judge, Terms
from governance.control.skills.reading import Found, history
from governance.control.skills.service import check_sizes, load_replacement
from governance.control.skills.surroundings import surroundings_of
from governance.core.compat.model import Bump, Verdict
from governance.core.contract import SkillManifest, manifest_from_document
from governance.core.gate import REASONS, GateDecision, Outcome, Reason, ReplacementFacts, Surroundings
from governance.core.names import check_name, is_name
from governance.core.versioning import Version
from governance.errors import DocumentTooLarge, Forbidden, GovernanceError, NotFound
from governance.wire import CatalogueCandidate, CheckRequest, write_json

_WORST_FIRST: Final = (Outcome.BLOCK, Outcome.WARN, Outcome.ALLOW)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One candidate as sent: its manifest, or why it is none."""

    document: Any
    manifest: SkillManifest | None = None
    error: GovernanceError | None = None


def attempt_to_check(reason: str | None) -> Attempt:
    return Attempt(action="check.run", subject="candidates", namespace="", reason=reason)


def read_candidates(request: CheckRequest, *, by: Caller, settings: Settings) -> list[Candidate]:
    """The candidates, valid or not.

    Raises DocumentTooLarge for too many, Forbidden where the caller may not have one of them judged.
    """
    if len(request.candidates) > settings.max_batch:
        raise DocumentTooLarge(
            f"{len(request.candidates)} candidates are more than {settings.max_batch}.",
            fix="Send fewer at a time, or raise GOVCTL_MAX_BATCH.",
        )
    if not by.reach(Right.CHECK):
        by.need(Right.CHECK, _namespace_of(request.candidates[0]))
    candidates = []
    for document in request.candidates:
        if is_name(document.get("name")):
            by.need(Right.CHECK, _namespace_of(document))
        try:
            manifest = manifest_from_document(document)
            check_sizes(manifest, settings)
            candidates.append(Candidate(document=document, manifest=manifest))
        except Forbidden:
            raise
        except GovernanceError as error:
            candidates.append(Candidate(document=document, error=error))
    return candidates


def _namespace_of(document: dict[str, Any]) -> str:
    name = document.get("name")
    return name.rpartition(".")[0] if isinstance(name, str) and is_name(name) else ""


def decide(
    candidates: Iterable[Candidate],
    histories: Mapping[str, list[Found]],
    successors: Mapping[str, ReplacementFacts | None],
    around: Mapping[str, Surroundings],
    terms: Terms,
    *,
    judge: Judge,
) -> list[dict[str, Any]]:
    """Decision documents in the order of the candidates.

    ``histories`` are the published versions by skill, ``successors`` what is known of declared replacements,
    ``around`` what surrounds each skill.
    """
    decisions = []
    for candidate in candidates:
        if candidate.manifest is None:
            assert candidate.error is not None
            decisions.append(invalid_decision(candidate.document, candidate.error))
        else:
            name = candidate.manifest.name
            decision = judge.decide(
                candidate.manifest, histories.get(name, []), terms, successors.get(name), around[name]
            )
            decisions.append(decision.to_document())
    return decisions


def invalid_decision(document: Any, error: GovernanceError) -> dict[str, Any]:
    """The decision on what is no contract: blocked, with a reason and a fault for each thing wrong."""
    named = {key: document[key] if isinstance(document.get(key), str) else "" for key in ("name", "version")}
    decision = GateDecision(
        skill=named["name"],
        version=named["version"],
        outcome=Outcome.BLOCK,
        reasons=(Reason(code="invalid", outcome=Outcome.BLOCK, message=error.message, fix=REASONS["invalid"].fix),),
        verdict=Verdict.INVALID.value,
        declared=None,
        computed=None,
        level=None,
        bump=Bump.NONE,
        smallest_version=None,
        baseline=None,
        opens_line=False,
        line=named["version"],
    )
    return decision.to_document() | {"faults": [fault.to_document() for fault in error.faults]}


@dataclass(frozen=True, kw_only=True)
class Decided:
    """What a check found: decision documents, and the release where the candidates were judged as one."""

    decisions: Sequence[dict[str, Any]]
    release: dict[str, Any] | None = None

    @property
    def outcomes(self) -> list[str]:
        """Of the candidates, or of the release they make."""
        if self.release is not None:
            return [self.release["decision"]["decision"]]
        return [decision["decision"] for decision in self.decisions]


def decide_all(request: CheckRequest, database: Database, *, by: Caller, settings: Settings, judge: Judge) -> Decided:
    """Judge the candidates of a request; no connection is held meanwhile.

    Raises what :func:`read_candidates` does, and for a release InvalidName, InvalidVersion, InvalidRequest.
    """
    terms = Terms(fail_on=request.fail_on, transitive=request.transitive)
    if request.catalogue is not None:
        return _as_release(request, request.catalogue, database, terms, by=by, settings=settings, judge=judge)
    candidates = read_candidates(request, by=by, settings=settings)
    manifests = {candidate.manifest.name: candidate.manifest for candidate in candidates if candidate.manifest}
    with database.transaction() as current:
        histories = {skill: history(current, skill) for skill in sorted(manifests)}
        successors = {skill: load_replacement(current, manifest, by=by) for skill, manifest in manifests.items()}
        around = surroundings_of(current, manifests)
    return Decided(decisions=decide(candidates, histories, successors, around, terms, judge=judge))


def _as_release(
    request: CheckRequest,
    wanted: CatalogueCandidate,
    database: Database,
    terms: Terms,
    *,
    by: Caller,
    settings: Settings,
    judge: Judge,
) -> Decided:
    by.need(Right.CHECK, check_name(wanted.name))
    proposal, unreadable = catalogues.propose(
        request.candidates,
        catalogue=wanted.name,
        version=None if wanted.version is None else Version.parse(wanted.version),
        version_by=wanted.version_by,
        renamed=wanted.renamed,
        settings=settings,
    )
    release, decisions = catalogues.check(database, proposal, unreadable, invalid_decision, terms, by=by, judge=judge)
    return Decided(decisions=decisions, release=release)


def store(session: Session, request: CheckRequest, decided: Decided, *, by: Caller) -> tuple[str, bytes]:
    """Keep a check: its id, and its ``CheckResult`` as JSON."""
    now = time_of(session)
    check_id = "chk_" + secrets.token_hex(12)
    decisions, release = decided.decisions, decided.release
    outcomes = {*decided.outcomes, *(decision["decision"] for decision in decisions)}
    provenance = request.provenance.model_dump() if request.provenance else {}
    if request.catalogue is not None:
        namespaces = [request.catalogue.name]
    else:
        named = [candidate for candidate in request.candidates if is_name(candidate.get("name"))]
        # What has no name lies in no namespace: it is its sender's.
        namespaces = sorted({_namespace_of(candidate) for candidate in named} or by.reach(Right.CHECK))
    result = write_json(
        {
            "id": check_id,
            "decision": next(outcome for outcome in _WORST_FIRST if outcome in outcomes),
            "decisions": list(decisions),
            "release": release,
            "created_at": now,
            "created_by": by.label,
            "reason": request.reason,
            "provenance": provenance,
        }
    )
    session.add(CheckRow(id=check_id, namespaces=namespaces, result=result, created_at=now))
    attempt = Attempt(
        action="check.run",
        subject=check_id,
        namespace=namespaces[0] if len(namespaces) == 1 else "*",
        reason=request.reason,
    )
    after: dict[str, Any] = {
        "candidates": [
            {"skill": decision["skill"], "version": decision["version"]} | decision_summary(decision)
            for decision in decisions
        ]
    }
    if release is not None:
        told = release["decision"]
        after["release"] = {"catalogue": told["catalogue"], "version": told["version"]} | decision_summary(told)
    append(session, attempt, by=by, after=after, at=now)
    return check_id, result


def load(session: Session, check_id: str, *, by: Caller) -> bytes:
    """A stored check. Raises NotFound, also where the caller may not read one of its skills."""
    row = session.get(CheckRow, check_id)
    if row is None or not all(by.may(Right.READ, namespace) for namespace in row.namespaces):
        raise NotFound("There is no such check that this token may see.", fix="Run it again with `govctl check`.")
    return row.result
