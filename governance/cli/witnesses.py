"""Payloads that separate two contracts, each with the finding it proves: from a comparison or from a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from governance.cli.exact import dumps
from governance.cli.pairing import Pair, by_name
from governance.cli.present import TONES
from governance.cli.report import Change, Fact
from governance.core.canonical import digest
from governance.core.compat.model import ABSENT, JSON, Side, Verdict
from governance.core.schema.marks import HIDDEN, holds_hidden
from governance.core.skill import SkillManifest
from governance.errors import InvalidContract, NotFound
from governance.importers import ImportResult

_HIDES = f"a value marked x-sensitive stands as {HIDDEN}; with the value itself the two disagree"


@dataclass(frozen=True, kw_only=True)
class Shown:
    """One payload. ``finding`` is the document of the finding that it proves; the schemas are those of its side.

    From a report the schemas are ABSENT: it does not hold them.
    """

    skill: str
    finding: Mapping[str, Any]
    old: JSON = ABSENT
    new: JSON = ABSENT
    against: str | None = None
    """The published version that the candidate was held against, where several were."""

    @property
    def side(self) -> Side:
        return Side(self.finding["witness"]["side"])

    @property
    def witness(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.finding["witness"]
        return found

    @property
    def hides(self) -> bool:
        """Is a value in the payload hidden? Then what is shown separates nothing."""
        return holds_hidden(self.witness["payload"])

    @property
    def has_schemas(self) -> bool:
        return self.old is not ABSENT and self.new is not ABSENT

    def to_document(self) -> dict[str, JSON]:
        """One line of the export: the finding's name, the payload, who takes it and who does not."""
        finding, witness = self.finding, self.witness
        document: dict[str, JSON] = {
            "skill": self.skill or None,
            "side": self.side.value,
            "code": finding["code"],
            "level": finding["level"],
            "reading": finding["reading"],
            "fingerprint": finding["fingerprint"],
            "message": finding["message"],
            "old_pointer": finding["old_pointer"],
            "new_pointer": finding["new_pointer"],
            "payload": witness["payload"],
            "accepted_by": witness["accepted_by"],
            "refused_by": witness["refused_by"],
            "errors": list(witness["errors"]),
        }
        if self.against is not None:
            document["against"] = self.against
        if self.has_schemas:
            document["schemas"] = {"old": _digest(self.old), "new": _digest(self.new)}
        return document

    def change(self) -> Change:
        """The payload for people: who accepts it, who refuses it, and every complaint."""
        finding, witness, side = self.finding, self.witness, self.side.value
        complaints = (f"{error['message']} (at {error['pointer'] or '/'})" for error in witness["errors"])
        against = [Fact(label="against", value=self.against)] if self.against else []
        pointers = [one for one in (finding["old_pointer"], finding["new_pointer"]) if one is not None]
        return Change(
            code=finding["code"],
            place=" ".join(part for part in (self.skill, side, " → ".join(p or "/" for p in dict.fromkeys(pointers)))),
            tone=TONES[finding["level"]],
            message=finding["message"],
            facts=(
                *against,
                Fact(label="payload", value=dumps(witness["payload"]), verbatim=True),
                *([Fact(label="hidden", value=_HIDES)] if self.hides else []),
                Fact(label="accepted", value=f"by the {witness['accepted_by']} {side}"),
                Fact(label="refused", value=f"by the {witness['refused_by']} {side}"),
                *(Fact(label="because", value=complaint) for complaint in complaints),
                Fact(label="fingerprint", value=finding["fingerprint"]),
            ),
        )


def from_pairs(pairs: Sequence[Pair], old: ImportResult, new: ImportResult) -> list[Shown]:
    """Every payload of these comparisons, with the schemas it was found for, in the order of the findings."""
    before, after = by_name(old.accepted), by_name(new.accepted)
    shown: list[Shown] = []
    for pair in pairs:
        one, other = before.get(pair.name), after.get(pair.successor or pair.name)
        if len(before) == len(after) == 1:  # one skill on each side is a pair whatever the names
            (one,), (other,) = before.values(), after.values()
        for finding in pair.comparison.findings:
            if finding.witness is not None and one is not None and other is not None:
                side = finding.witness.side
                schemas = {"old": _schema(one, side), "new": _schema(other, side)}
                shown.append(Shown(skill=pair.name, finding=finding.to_document(), **schemas))
    return shown


def _schema(manifest: SkillManifest, side: Side) -> JSON:
    schema = manifest.input_schema if side is Side.INPUT else manifest.output_schema
    return True if schema is None else schema


def from_report(document: JSON) -> list[Shown]:
    """Every payload in a report of ``diff`` or ``check``, in a stored check, or in a list of such; each once."""
    found: dict[tuple[str, str], Shown] = {}
    for shown in _in(document, skill="", against=None):
        found.setdefault((shown.finding["fingerprint"], dumps(shown.witness["payload"])), shown)
    return list(found.values())


def _in(node: JSON, *, skill: str, against: str | None) -> Iterator[Shown]:
    if isinstance(node, list):
        for child in node:
            yield from _in(child, skill=skill, against=against)
    elif isinstance(node, dict):
        if _is_finding(node):
            yield Shown(skill=skill, finding=node, against=against)
            return
        named = next((node[key] for key in ("skill", "name") if isinstance(node.get(key), str)), skill)
        if isinstance(node.get("role"), str) and isinstance(node.get("version"), str):
            against = node["version"]
        for child in node.values():
            yield from _in(child, skill=named, against=against)


_FINDING = {"code": str, "level": str, "message": str, "fingerprint": str, "reading": str}
_WITNESS = {"side": str, "accepted_by": str, "refused_by": str, "errors": list}


def _is_finding(node: Mapping[str, Any]) -> bool:
    """Has it the shape of a finding with a payload? A report is foreign until it was checked."""
    witness = node.get("witness")
    return (
        isinstance(witness, dict)
        and "payload" in witness
        and all(isinstance(node.get(key), kind) for key, kind in _FINDING.items())
        and all(isinstance(witness.get(key), kind) for key, kind in _WITNESS.items())
        and all(isinstance(node.get(key, ""), str | None) for key in ("old_pointer", "new_pointer"))
        and {"old_pointer", "new_pointer"} <= node.keys()
        and node["level"] in TONES
        and witness["side"] in (Side.INPUT.value, Side.OUTPUT.value)
        and all(
            isinstance(error, dict) and isinstance(error.get("message"), str) and isinstance(error.get("pointer"), str)
            for error in witness["errors"]
        )
    )


def named(shown: Sequence[Shown], fingerprint: str) -> list[Shown]:
    """Those of one finding; a beginning of its fingerprint will do where it is unique.

    Raises:
        NotFound: there is none, or the beginning fits several findings.
    """
    fitting = {one.finding["fingerprint"] for one in shown if one.finding["fingerprint"].startswith(fingerprint)}
    if len(fitting) == 1:
        return [one for one in shown if one.finding["fingerprint"] in fitting]
    if fitting:
        raise NotFound(f"{fingerprint} begins {len(fitting)} fingerprints.", fix="Give more of it.")
    known = ", ".join(sorted({one.finding["fingerprint"] for one in shown})[:8])
    raise NotFound(
        f"No payload belongs to a finding {fingerprint}.",
        fix=f"There are payloads for: {known}." if known else "There are no payloads at all; leave the name out.",
    )


def undecided_without(pairs: Sequence[Pair]) -> int:
    """How many comparisons stay undecided: there no payload says anything."""
    return sum(pair.comparison.verdict is Verdict.UNDECIDED for pair in pairs)


def _digest(schema: JSON) -> str | None:
    try:
        return digest(schema)
    except InvalidContract:
        return None  # a number in it has no canonical form
