"""Create, list and revoke tokens. The secret of a new one is shown this once."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from governance.cli.cards import document, well_formed
from governance.cli.config import require_connection
from governance.cli.grants import grant_of
from governance.cli.report import Block, Paragraph, Report, Table, Verdict
from governance.cli.run import Call
from governance.cli.terminal import counted
from governance.client import ControlPlane
from governance.errors import UsageError
from governance.wire import Grant, Role, TokenView


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("create", "list", "revoke"), help="what to do")
    parser.add_argument("subject", nargs="?", metavar="NAME|ID", help="create: what it is for; revoke: its id")
    parser.add_argument(
        "--grant",
        action="append",
        default=[],
        metavar="ROLE[:NAMESPACE]",
        help=f"{', '.join(Role)}; repeatable; without a namespace everywhere",
    )
    parser.add_argument("--days", type=int, default=90, help="days until it expires (default: 90)")


def run(call: Call) -> int:
    wanted = call.arguments
    if wanted.action != "list" and not wanted.subject:
        need = "a name" if wanted.action == "create" else "the token's id"
        raise UsageError(f"token {wanted.action} needs {need}.", fix=f"govctl token {wanted.action} NAME")
    grants = [grant_of(text) for text in wanted.grant]
    if wanted.action == "create" and not grants:
        raise UsageError("The token may do nothing.", fix="Give --grant, for example --grant publisher:billing.")
    with well_formed(), require_connection(wanted, call.environment).open() as plane:
        return call.output.emit(_act(plane, wanted, grants))


def _act(plane: ControlPlane, wanted: argparse.Namespace, grants: list[Grant]) -> Report:
    if wanted.action == "create":
        created = plane.create_token(wanted.subject, grants, expires_in_days=wanted.days)
        return Report(
            document=document(created),
            blocks=(
                Verdict(word="created", sentence=f"token {created.name}, id {created.id}.", tone="good"),
                Paragraph(text=created.token),
                Paragraph(text=f"It is shown this once and expires on {created.expires_at:%Y-%m-%d}."),
            ),
        )
    if wanted.action == "revoke":
        revoked = plane.revoke_token(wanted.subject)
        verdict = Verdict(word="revoked", sentence=f"token {revoked.name}, id {revoked.id}.", tone="good")
        return Report(document=document(revoked), blocks=(verdict,))
    tokens = plane.tokens()
    documents = [document(token) for token in tokens]
    blocks: list[Block] = [Verdict(word="tokens", sentence=f"{counted(len(tokens), 'token')}.")]
    if tokens:
        columns = ("id", "name", "prefix", "grants", "expires", "state")
        blocks.append(Table(columns=columns, rows=tuple(map(_row, tokens))))
    return Report(document={"tokens": documents}, blocks=tuple(blocks), records=documents)


def _row(token: TokenView) -> tuple[str, ...]:
    grants = ", ".join(
        grant.role.value + (" everywhere" if grant.namespace == "*" else f" in {grant.namespace}")
        for grant in token.grants
    )
    gone = token.expires_at <= datetime.now(UTC)
    state = "revoked" if token.revoked_at else "expired" if gone else "active"
    return token.id, token.name, token.prefix, grants, f"{token.expires_at:%Y-%m-%d}", state
