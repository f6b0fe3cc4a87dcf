"""Lints: what is wrong with a skill, or risky, beyond the rules of its contract.

``LINTS`` is the table of them, by permanent id. Errors block a publish, warnings never do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from governance.core.lint.clients import CLIENTS
from governance.core.lint.model import Client, Lint, LintFinding, Severity, Spot
from governance.core.lint.table import LINTS
from governance.core.skill import SkillManifest
from governance.errors import InvalidContract, InvalidRequest

__all__ = [
    "CLIENTS",
    "LINTS",
    "Client",
    "Lint",
    "LintFinding",
    "Severity",
    "findings_of",
    "lint",
    "lint_catalogue",
]

MAX_PER_LINT: Final = 50
"""Findings of one lint in one skill; a schema of a thousand unexplained fields is told in fifty."""


def lint(manifest: SkillManifest, *, profiles: Sequence[str] = ()) -> tuple[LintFinding, ...]:
    """What one skill's own lints find, errors first.

    Args:
        manifest: the skill.
        profiles: ids of CLIENTS whose limits count too.

    Raises:
        InvalidRequest: nobody knows a profile.
    """
    chosen = [_client(profile) for profile in profiles]
    findings: list[LintFinding] = []
    for row in LINTS.values():
        if row.check is not None:
            findings += _told(row, manifest.name, row.check(manifest))
        if row.check_client is not None:
            for client in chosen:
                findings += _told(row, manifest.name, row.check_client(manifest, client), client=client.id)
    return _errors_first(findings)


def lint_catalogue(manifests: Sequence[SkillManifest], *, profiles: Sequence[str] = ()) -> tuple[LintFinding, ...]:
    """What all lints find in skills that are offered together, errors first. Raises as :func:`lint`."""
    findings = [finding for manifest in manifests for finding in lint(manifest, profiles=profiles)]
    for row in LINTS.values():
        if row.check_catalogue is not None:
            for name, spot in row.check_catalogue(manifests):
                findings += _told(row, name, [spot])
    return _errors_first(findings)


def findings_of(error: InvalidContract, *, skill: str = "") -> tuple[LintFinding, ...]:
    """The faults of a contract that never became a manifest, as findings of ``contract.invalid``."""
    row = LINTS["contract.invalid"]
    spots = [Spot(fault.pointer, fault.message) for fault in error.faults]
    return tuple(_told(row, skill, spots or [Spot("", error.message)]))


def _told(row: Lint, skill: str, spots: Iterable[Spot], *, client: str | None = None) -> list[LintFinding]:
    found: list[LintFinding] = []
    for spot in spots:
        if len(found) == MAX_PER_LINT:
            break
        found.append(
            LintFinding(
                id=row.id,
                severity=row.severity,
                pointer=spot.pointer,
                message=spot.message,
                fix=row.fix,
                skill=skill,
                client=client,
            )
        )
    return found


def _errors_first(findings: Sequence[LintFinding]) -> tuple[LintFinding, ...]:
    return tuple(sorted(findings, key=lambda finding: finding.severity is not Severity.ERROR))


def _client(profile: str) -> Client:
    if profile in CLIENTS:
        return CLIENTS[profile]
    raise InvalidRequest(f"Nobody knows the profile {profile[:60]!r}.", fix=f"Choose of {', '.join(CLIENTS)}.")
