"""Retire a version: it serves nobody any more, for good. It is past its sunset, and nothing live depends on it.

What depends on it is listed by name: consumers and what would be left to them, deployments, open rollouts, replacements
and fallbacks of other skills. An admin overrides that with --force and a reason, which go on record; nothing overrides
the sunset. What must stop now is switched off: `govctl disable`.
"""

from __future__ import annotations

import argparse

from governance.cli.lives import add_change_arguments, change_one, needs_reason
from governance.cli.run import Call


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("skill", metavar="NAME@VERSION", help="the version")
    parser.add_argument("--force", action="store_true", help="although something live depends on it; for admins")
    add_change_arguments(parser, reason="why; it goes on record; --force needs one")


def run(call: Call) -> int:
    """0 done, 1 something live depends on it, 6 it is not past its sunset."""
    wanted = call.arguments
    if wanted.force:
        needs_reason(wanted, "retire --force")
    return change_one(
        call,
        "retired",
        lambda plane, name, version, match: plane.retire(
            name, version, force=wanted.force, reason=wanted.reason, match=match, dry_run=wanted.dry_run
        ),
    )
