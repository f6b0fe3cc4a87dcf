"""Checks: the gate's decision on candidates that nobody publishes, kept under a permanent address."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from sqlmodel import Session

from governance.control.audit.service import Attempt, append, decision_summary
from governance.control.auth.roles import Caller, Right
from governance.control.gates.tables import CheckRow
from governance.control.settings import Settings
from governance.control.skills.judging import Judge, Terms
from governance.control.skills.reading import Found
from governance.control.skills.service import check_sizes
from governance.core.compat.model import Bump, Verdict
from governance.core.contract import SkillManifest, manifest_from_document
from governance.core.gate import REASONS, GateDecision, Outcome, Reason, ReplacementFacts
from governance.core.names import is_name
from governance.errors import DocumentTooLarge, Forbidden, GovernanceError, NotFound
from governance.wire import CheckRequest, write_json

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
    terms: Terms,
    *,
    judge: Judge,
) -> list[dict[str, Any]]:
    """Decision documents in the order of the candidates.

    ``histories`` are the published versions by skill, ``successors`` what is known of declared replacements.
    """
    decisions = []
    for candidate in candidates:
        if candidate.manifest is None:
            assert candidate.error is not None
            decisions.append(invalid_decision(candidate.document, candidate.error))
        else:
            name = candidate.manifest.name
            decision = judge.decide(candidate.manifest, histories.get(name, []), terms, successors.get(name))
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


def store(session: Session, request: CheckRequest, decisions: Sequence[dict[str, Any]], *, by: Caller) -> bytes:
    """Keep a check; its ``CheckResult`` as JSON."""
    now = datetime.now(UTC)
    check_id = "chk_" + secrets.token_hex(12)
    outcomes = {decision["decision"] for decision in decisions}
    provenance = request.provenance.model_dump() if request.provenance else {}
    namespaces = sorted({_namespace_of(candidate) for candidate in request.candidates})
    result = write_json(
        {
            "id": check_id,
            "decision": next(outcome for outcome in _WORST_FIRST if outcome in outcomes),
            "decisions": list(decisions),
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
    judged = [
        {"skill": decision["skill"], "version": decision["version"]} | decision_summary(decision)
        for decision in decisions
    ]
    append(session, attempt, by=by, after={"candidates": judged}, at=now)
    return result


def load(session: Session, check_id: str, *, by: Caller) -> bytes:
    """A stored check. Raises NotFound, also where the caller may not read one of its skills."""
    row = session.get(CheckRow, check_id)
    if row is None or not all(by.may(Right.READ, namespace) for namespace in row.namespaces):
        raise NotFound("There is no such check that this token may see.", fix="Run it again with `govctl check`.")
    return row.result
