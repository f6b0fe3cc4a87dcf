"""Lints: what is wrong with a skill, or risky, beyond the rules of its contract.

``LINTS`` is the table of them, by permanent id. Errors block a publish, warnings never do; only warnings can be
silenced, by a comment (``ignoring``) or by a baseline.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from typing import Final

from governance.core.lint.clients import CLIENTS
from governance.core.lint.model import Client, Ignore, Lint, LintFinding, Severity, Spot
from governance.core.lint.table import LINTS
from governance.core.skill import SkillManifest
from governance.errors import InvalidContract, InvalidRequest

__all__ = [
    "CLIENTS",
    "LINTS",
    "Client",
    "Ignore",
    "Lint",
    "LintFinding",
    "Severity",
    "findings_of",
    "lint",
    "lint_catalogue",
    "lint_comments",
]

MAX_PER_LINT: Final = 50
"""Findings of one lint in one skill; a schema of a thousand unexplained fields is told in fifty."""

_MAX_FOUND: Final = 300
"""Characters of what was found that count."""


def lint(
    manifest: SkillManifest,
    *,
    profiles: Sequence[str] = (),
    most: int = MAX_PER_LINT,
    severities: Container[Severity] = frozenset(Severity),
) -> tuple[LintFinding, ...]:
    """What one skill's own lints find, errors first.

    Args:
        manifest: the skill.
        profiles: ids of CLIENTS whose limits count too.
        most: findings of one lint that are told; where there are more, one sentence says so.
        severities: of the lints that look.

    Raises:
        InvalidRequest: nobody knows a profile.
    """
    chosen = [_client(profile) for profile in profiles]
    findings: list[LintFinding] = []
    for row in LINTS.values():
        if row.severity not in severities:
            continue
        if row.check is not None:
            findings += _told(row, manifest, row.check(manifest), most=most)
        if row.check_client is not None:
            for client in chosen:
                findings += _told(row, manifest, row.check_client(manifest, client), most=most, client=client.id)
    return _errors_first(findings)


def lint_catalogue(
    manifests: Sequence[SkillManifest], *, profiles: Sequence[str] = (), most: int = MAX_PER_LINT
) -> tuple[LintFinding, ...]:
    """What all lints find in skills that are offered together, errors first. Arguments and errors as :func:`lint`."""
    findings = [finding for manifest in manifests for finding in lint(manifest, profiles=profiles, most=most)]
    for row in LINTS.values():
        if row.check_catalogue is not None:
            findings += [_finding(row, spot, manifest) for manifest, spot in row.check_catalogue(manifests)]
    return _errors_first(findings)


def lint_comments(ignores: Iterable[Ignore]) -> list[tuple[Ignore, LintFinding]]:
    """What is wrong with comments that silence lints, once they were honoured."""
    rows = [row for row in LINTS.values() if row.check_comment is not None]
    return [
        (ignore, _finding(row, spot, None))
        for ignore in ignores
        for row in rows
        if row.check_comment is not None
        for spot in row.check_comment(ignore, LINTS)
    ]


def findings_of(error: InvalidContract, *, skill: str = "") -> tuple[LintFinding, ...]:
    """The faults of a contract that never became a manifest, as findings of ``contract.invalid``."""
    row = LINTS["contract.invalid"]
    spots = [Spot(fault.pointer, fault.message) for fault in error.faults]
    told = (_finding(row, spot, None) for spot in spots[:MAX_PER_LINT] or [Spot("", error.message)])
    return tuple(replace(finding, skill=skill) for finding in told)


def _told(
    row: Lint, manifest: SkillManifest, spots: Iterable[Spot], *, most: int, client: str | None = None
) -> list[LintFinding]:
    found: list[LintFinding] = []
    for spot in spots:
        if len(found) == most:
            more = Spot("", f"there are more of these; {most} are told", "more")
            return [*found, _finding(row, more, manifest, client)]
        found.append(_finding(row, spot, manifest, client))
    return found


def _finding(row: Lint, spot: Spot, manifest: SkillManifest | None, client: str | None = None) -> LintFinding:
    return LintFinding(
        id=row.id,
        severity=row.severity,
        pointer=spot.pointer,
        message=spot.message,
        fix=row.fix,
        skill=manifest.name if manifest else "",
        version=manifest.version if manifest else "",
        client=client,
        found=" ".join(spot.found.casefold().split())[:_MAX_FOUND],
        line=spot.line,
    )


def _errors_first(findings: Sequence[LintFinding]) -> tuple[LintFinding, ...]:
    return tuple(sorted(findings, key=lambda finding: finding.severity is not Severity.ERROR))


def _client(profile: str) -> Client:
    if profile in CLIENTS:
        return CLIENTS[profile]
    raise InvalidRequest(f"Nobody knows the profile {profile[:60]!r}.", fix=f"Choose of {', '.join(CLIENTS)}.")
