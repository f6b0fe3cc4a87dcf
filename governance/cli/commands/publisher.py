"""Trusted publishers: CI jobs that publish without a stored secret.

add NAME · list · revoke ID. A publisher pins what the job's host says of the job: --github and --gitlab spell it.
"""

from __future__ import annotations

import argparse
from typing import Final

from governance.cli.cards import document, well_formed
from governance.cli.config import require_connection
from governance.cli.grants import grant_of
from governance.cli.report import Block, Paragraph, Report, Table, Verdict
from governance.cli.run import Call
from governance.cli.terminal import counted
from governance.client import ControlPlane
from governance.errors import UsageError
from governance.wire import Publisher

_GITHUB: Final = "https://token.actions.githubusercontent.com"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("add", "list", "revoke"), help="what to do")
    parser.add_argument("subject", nargs="?", metavar="NAME|ID", help="add: what to call it; revoke: its id")
    parser.add_argument("--github", metavar="OWNER/REPO", help="jobs of this repository on GitHub")
    parser.add_argument("--workflow", metavar="FILE", help="with --github: of this workflow alone, such as publish.yml")
    parser.add_argument("--gitlab", metavar="GROUP/PROJECT", help="jobs of this project on GitLab")
    parser.add_argument("--environment", metavar="NAME", help="jobs that run in this environment of the host alone")
    parser.add_argument("--issuer", metavar="URL", help="another issuer, or your own GitLab")
    parser.add_argument(
        "--claim", action="append", default=[], metavar="NAME=VALUE", help="what else it must say; repeatable"
    )
    parser.add_argument(
        "--grant",
        action="append",
        default=[],
        metavar="ROLE:NAMESPACE",
        help="what such a job may do, such as publisher:billing; repeatable",
    )


def run(call: Call) -> int:
    wanted = call.arguments
    if wanted.action != "list" and not wanted.subject:
        need = "a name" if wanted.action == "add" else "the publisher's id"
        raise UsageError(f"publisher {wanted.action} needs {need}.", fix=f"govctl publisher {wanted.action} NAME")
    with well_formed(), require_connection(wanted, call.environment).open() as plane:
        return call.output.emit(_act(plane, wanted))


def _act(plane: ControlPlane, wanted: argparse.Namespace) -> Report:
    if wanted.action == "add":
        issuer, claims = _trusted(wanted)
        grants = [grant_of(text) for text in wanted.grant]
        made = plane.create_publisher(wanted.subject, issuer=issuer, claims=claims, grants=grants)
        sentence = (
            f"{made.name}, id {made.id}; pending until a job uses it, at the latest {made.pending_until:%Y-%m-%d}."
        )
        pinned = ", ".join(f"{name} = {value}" for name, value in sorted(made.claims.items()))
        blocks = (Verdict(word="trusted", sentence=sentence, tone="good"), Paragraph(text=f"{made.issuer}: {pinned}"))
        return Report(document=document(made), blocks=blocks)
    if wanted.action == "revoke":
        gone = plane.revoke_publisher(wanted.subject)
        verdict = Verdict(word="revoked", sentence=f"{gone.name}, id {gone.id}.", tone="good")
        return Report(document=document(gone), blocks=(verdict,))
    found = plane.publishers()
    documents = [document(one) for one in found]
    blocks_: list[Block] = [Verdict(word="publishers", sentence=f"{counted(len(found), 'publisher')}.")]
    if found:
        columns = ("id", "name", "issuer", "claims", "grants", "state")
        blocks_.append(Table(columns=columns, rows=tuple(map(_row, found))))
    return Report(document={"publishers": documents}, blocks=tuple(blocks_), records=documents)


def _trusted(wanted: argparse.Namespace) -> tuple[str, dict[str, str]]:
    """Issuer and claims, from the spellings for the hosts and from what is said beside them."""
    issuer, claims = wanted.issuer, {}
    if wanted.github:
        _check_path("--github", wanted.github, "OWNER/REPO", deepest=2)
        issuer = issuer or _GITHUB
        claims["repository"] = wanted.github
        if wanted.workflow:
            claims["workflow_ref"] = f"{wanted.github}/.github/workflows/{wanted.workflow}@*"
    elif wanted.workflow:
        raise UsageError("--workflow belongs to --github.", fix="Add --github OWNER/REPO, or use --claim.")
    if wanted.gitlab:
        _check_path("--gitlab", wanted.gitlab, "GROUP/PROJECT", deepest=20)
        issuer = issuer or "https://gitlab.com"
        claims["project_path"] = wanted.gitlab
    if wanted.environment:
        claims["environment"] = wanted.environment
    for text in wanted.claim:
        name, equals, value = text.partition("=")
        if not name or not equals or not value:
            raise UsageError(f"{text!r} is no claim.", fix="Write NAME=VALUE.")
        claims[name] = value
    if not issuer:
        raise UsageError(
            "Nobody is trusted yet.", fix="Give --github OWNER/REPO, --gitlab GROUP/PROJECT or --issuer URL."
        )
    return issuer, claims


def _check_path(flag: str, text: str, form: str, *, deepest: int) -> None:
    """A claim that no job ever makes would trust nobody, and nobody would be told."""
    parts = text.split("/")
    if not 2 <= len(parts) <= deepest or not all(parts) or ":" in text:
        raise UsageError(
            f"{flag} {text!r} names no repository.", fix=f"Write {form}, as in its address after the host."
        )


def _row(one: Publisher) -> tuple[str, ...]:
    claims = ", ".join(f"{name} = {value}" for name, value in sorted(one.claims.items()))
    grants = ", ".join(f"{grant.role.value}:{grant.namespace}" for grant in one.grants)
    return one.id, one.name, one.issuer, claims, grants, one.state
