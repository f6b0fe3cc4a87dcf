"""How strict the gate is, by namespace and skill: show what holds and where it was set, set it, its history.

show takes a skill's name, namespace:NAME or nothing; set and history take a SCOPE: global, namespace:NAME or
skill:NAME. set changes the keys it names and leaves the others as they are.
"""

from __future__ import annotations

import argparse
from typing import Any

from governance.cli.cards import document, well_formed
from governance.cli.config import require_connection
from governance.cli.exact import dumps
from governance.cli.report import Block, Report, Table, Verdict
from governance.cli.run import Call
from governance.cli.terminal import counted
from governance.client import ControlPlane
from governance.core.policy import POLICY_KEYS, Scope, ScopeKind, check_settings, effective
from governance.errors import NotFound, UsageError
from governance.wire import EffectivePolicy


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("show", "set", "history"), help="what to do")
    parser.add_argument("subject", nargs="?", metavar="NAME|SCOPE", help="whose policy (show: default global)")
    parser.add_argument(
        "settings", nargs="*", default=[], metavar="KEY=VALUE", help="set: what to set; KEY= unsets it there"
    )
    parser.add_argument("--reason", help="why, for the audit log")


def run(call: Call) -> int:
    """0 shown or set, 2 no such key or value, 6 somebody else set it meanwhile."""
    wanted = call.arguments
    if wanted.action != "set" and wanted.settings:
        raise UsageError(f"policy {wanted.action} sets nothing.", fix="govctl policy set SCOPE KEY=VALUE…")
    if wanted.action == "set" and not (wanted.subject and wanted.settings):
        raise UsageError("policy set needs a scope and what to set.", fix="govctl policy set namespace:NAME mode=warn")
    scope = _scope(wanted.subject or "global", of_skill=wanted.action == "show")
    changes = dict(map(_change, wanted.settings))
    check_settings({key: value for key, value in changes.items() if value is not None})
    with well_formed(), require_connection(wanted, call.environment).open() as plane:
        act = {"show": _show, "history": _history}.get(wanted.action)
        report = act(plane, scope) if act else _set(plane, scope, changes, wanted.reason)
        return call.output.emit(report)


def _scope(text: str, *, of_skill: bool) -> Scope:
    bare = of_skill and ":" not in text and text != ScopeKind.GLOBAL.value
    return Scope.parse(f"skill:{text}" if bare else text)


def _change(word: str) -> tuple[str, object]:
    key, equals, value = word.partition("=")
    if not equals or key not in POLICY_KEYS:
        raise UsageError(f"{word!r} sets nothing.", fix=f"Write KEY=VALUE with a key of {', '.join(POLICY_KEYS)}.")
    return key, POLICY_KEYS[key].read(value) if value else None


def _show(plane: ControlPlane, scope: Scope) -> Report:
    held = _effective(plane, scope)
    rows = tuple(
        (key, dumps(value.value).strip('"'), value.origin, POLICY_KEYS[key].shown, POLICY_KEYS[key].meaning)
        if key in POLICY_KEYS
        else (key, dumps(value.value).strip('"'), value.origin, "", "")
        for key, value in held.values.items()
    )
    blocks: tuple[Block, ...] = (
        Verdict(word="policy", sentence=f"what holds for {held.scope}."),
        Table(columns=("key", "value", "set by", "takes", "means"), rows=rows),
    )
    return Report(document=document(held), blocks=blocks)


def _effective(plane: ControlPlane, scope: Scope) -> EffectivePolicy:
    if scope.kind is ScopeKind.SKILL:
        return plane.effective_policy(skill=_whole_name(plane, scope.name))
    if scope.kind is ScopeKind.NAMESPACE:
        return plane.effective_policy(namespace=scope.name)
    values = effective(scope, {scope: plane.get_policy(str(scope)).settings}).to_document()
    return EffectivePolicy.model_validate({"scope": str(scope), "values": values})


def _whole_name(plane: ControlPlane, name: str) -> str:
    """A bare name stands for the one skill of that name, if there is one; what is not published yet for itself."""
    try:
        return name if "." in name else plane.get_skill(name).name
    except NotFound:
        return name


def _set(plane: ControlPlane, scope: Scope, changes: dict[str, Any], reason: str | None) -> Report:
    before = plane.get_policy(str(scope))
    merged = {key: value for key, value in {**before.settings, **changes}.items() if value is not None}
    now = plane.put_policy(str(scope), merged, revision=before.revision, reason=reason)
    moved = now.revision != before.revision
    sentence = f"{scope} is at revision {now.revision}{'' if moved else ', as it was'}: {_told(now.settings)}."
    return Report(
        document=document(now), blocks=(Verdict(word="set" if moved else "unchanged", sentence=sentence, tone="good"),)
    )


def _history(plane: ControlPlane, scope: Scope) -> Report:
    found = plane.policy_revisions(str(scope))
    documents = [document(one) for one in found]
    blocks: list[Block] = [Verdict(word="policy", sentence=f"{scope}: {counted(len(found), 'revision')}.")]
    if found:
        rows = tuple(
            (
                str(one.revision),
                f"{one.set_at:%Y-%m-%d %H:%M}" if one.set_at else "-",
                one.set_by or "-",
                _told(one.settings),
                one.reason or "",
            )
            for one in found
        )
        blocks.append(Table(columns=("revision", "set at", "by", "settings", "why"), rows=rows))
    return Report(document={"revisions": documents}, blocks=tuple(blocks), records=documents)


def _told(settings: dict[str, Any]) -> str:
    parts = [f"{key}={dumps(value).strip(chr(34))}" for key, value in settings.items()]
    return " ".join(parts) or "nothing is set here"
