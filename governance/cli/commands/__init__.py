"""One file a command: ``add_arguments(parser)`` and ``run(call) -> exit code``. None knows another."""

from __future__ import annotations

from typing import Final

COMMANDS: Final[dict[str, str]] = {
    "demo": "the whole thing in ten seconds, on example skills or on yours",
    "serve": "run the control plane",
    "migrate": "bring a database to this version's tables",
    "import": "read skills from files or a running MCP server, and say what is accepted, and why not",
    "lint": "what makes a skill hard to route, to call or to trust",
    "check": "would the gate let these skills in? offline, or as the registry decides",
    "diff": "what changed between two contracts, each break with its payload",
    "witness": "the payloads that separate two contracts, also as JSON Lines or as a test file",
    "publish": "put versions into the registry, through the gate",
    "catalogue": "a whole tool list, released as one: publish, check, diff, list",
    "drift": "is what a server offers now what was registered?",
    "show": "one skill or one version of it",
    "list": "the skills of the registry",
    "search": "find skills by words, tag, owner, state or field",
    "versions": "the versions of a skill, highest first",
    "resolve": "which version serves a caller, and what it is held back from",
    "range": "which of some versions a range admits",
    "export": "write a skill as native manifest, MCP tool or SKILL.md",
    "matrix": "consumers by versions: whom each version serves, and whose calls it would keep",
    "can-i-publish": "may these skills be published, and who would be hit? as the registry decides",
    "can-i-deploy": "may this version run in an environment, and who would be hit?",
    "can-i-retire": "may this version go, and who would be hit?",
    "consumer": "who relies on which skills: register, list, show",
    "environment": "where skills run: set, list, show",
    "deployment": "which version runs where: record, end, list",
    "exception": "findings that may pass for a while: add, approve, list, show, revoke",
    "policy": "how strict the gate is, by namespace and skill: show, set, history",
    "token": "create, list and revoke tokens",
    "events": "what changes, as it changes",
    "webhook": "who is told of changes, and what was sent to them",
    "audit": "who changed what and what was refused: list, export",
    "doctor": "is everything here that govctl needs?",
    "explain": "what a code means: findings, lints, gate reasons, errors",
}
"""Every command and its one line; ``commands/NAME.py`` (``import`` lives in ``import_.py``) holds it."""
