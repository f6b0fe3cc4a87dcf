"""A file of tests for pytest, made of payloads: it needs nothing of ours, passes as it is, and is there to be adapted.

Whatever stands in a contract reaches the file only inside raw strings of ASCII JSON that hold no apostrophe, or as
a quoted Python string: no text can end its string and become code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from governance.cli.exact import dumps
from governance.cli.witnesses import Shown
from governance.core.compat.judge import Judge, spoken_schema
from governance.core.compat.model import JSON
from governance.core.document import exact_number
from governance.core.schema.dialects import dialect_of

_HEAD: Final = '''"""Payloads that one version of a contract accepts and the other refuses.

Written by `govctl witness --export pytest`; needs pytest and jsonschema-rs, nothing else. The file is yours: keep
the payloads that your callers really send, delete the others, and let `accepts` ask the validator you use. Schemas
stand as published, but for patterns that jsonschema-rs would misread, which mean the same in its spelling, and for
contentEncoding and contentMediaType, which only describe.
"""

# ruff: noqa: E501

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import jsonschema_rs


def read(text: str) -> Any:
    """JSON with every digit: a number that no double holds becomes a Decimal."""
    return json.loads(text, parse_float=exactly)


def exactly(literal: str) -> float | Decimal:
    double, exact = float(literal), Decimal(literal)
    return double if double - double == 0 and Decimal(repr(double)) == exact else exact


def accepts(validator: Any, payload: Any) -> bool:
    return bool(validator.is_valid(payload))
'''
_UNSAFE: Final = re.compile("[^ -~\\n]|'")
_MAX_NAME: Final = 60


class _Names:
    """Identifiers, each given out once."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def free(self, wanted: str) -> str:
        count = self._taken[wanted] = self._taken.get(wanted, 0) + 1
        return wanted if count == 1 else self.free(f"{wanted}_{count}")


def pytest_file(shown: Sequence[Shown], *, assert_formats: bool) -> tuple[str, list[Shown]]:
    """The text of the file, and the payloads that it leaves out: they do not survive being written down, or hide a
    sensitive value. Those the file names at its end."""
    kept: list[Shown] = []
    left_out: list[Shown] = []
    for one in shown:
        (kept if not one.hides and _survives(one, assert_formats) else left_out).append(one)
    names = _Names()
    validators: dict[tuple[str, str, str], str] = {}
    parts = [_HEAD]
    for one in kept:
        for version, schema in (("old", one.old), ("new", one.new)):
            key = (one.skill, one.side.value, version)
            if key not in validators:
                name = names.free(_word(f"{version}_{one.side.value}{_of(one.skill)}").upper())
                validators[key] = name
                parts.append(_validator(name, schema, assert_formats))
    tests = _Names()
    for one in kept:
        accepting, refusing = (
            validators[one.skill, one.side.value, one.witness[key]] for key in ("accepted_by", "refused_by")
        )
        parts.append("\n".join(_test(one, tests.free(_sentence(one)), accepting, refusing)))
    if hiding := [one for one in left_out if one.hides]:
        parts.append(
            "\n".join(["# Without a test, for its payload needs a value marked x-sensitive:", *_named(hiding)])
        )
    return "\n\n\n".join(parts) + "\n", left_out


def _named(shown: Sequence[Shown]) -> Iterator[str]:
    for one in shown:
        yield f"# {_line(one.finding['code'], one.finding['message'], one.finding['fingerprint'])!a}"


def _survives(one: Shown, assert_formats: bool) -> bool:
    """Is it, read back as the file will read it, still accepted by the one schema and refused by the other?"""
    try:
        payload, old, new = (_read_back(value) for value in (one.witness["payload"], one.old, one.new))
    except ValueError:  # more digits than Python's own reader takes
        return False
    accepting, refusing = (old, new) if one.witness["accepted_by"] == "old" else (new, old)
    judges = (Judge(schema, assert_formats=assert_formats) for schema in (accepting, refusing))
    return [judge.accepts(payload) for judge in judges] == [True, False]


def _read_back(value: JSON) -> JSON:
    return json.loads(_json(value), parse_float=exact_number)


def _validator(name: str, schema: JSON, assert_formats: bool) -> str:
    dialect = dialect_of(schema)
    assert dialect is not None  # it was compared
    text = _json(spoken_schema(schema))
    options = f"validate_formats={assert_formats}, offline=True"
    return f"{name} = jsonschema_rs.{dialect.validator.__name__}(\n    read(r'''{text}'''), {options}\n)"


def _test(one: Shown, name: str, accepting: str, refusing: str) -> Iterator[str]:
    finding = one.finding
    yield f"def {name}() -> None:"
    yield f"    {_line(finding['code'], finding['message'], finding['fingerprint'])!a}"
    yield f"    payload = read(r'''{_json(one.witness['payload'])}''')"
    yield f"    assert accepts({accepting}, payload)"
    yield f"    assert not accepts({refusing}, payload)"


def _line(code: str, message: str, fingerprint: str) -> str:
    return f"{code}: {' '.join(message.split())} ({fingerprint})"


def _sentence(one: Shown) -> str:
    witness, side = one.witness, one.side.value
    of = _of(one.skill)
    refuses, accepts = (f"the_{witness['refused_by']}_{side}{of}", f"the_{witness['accepted_by']}_one")
    return f"test_{refuses}_refuses_what_{accepts}_accepts_{_word(one.finding['code'].partition('.')[2])}"


def _of(skill: str) -> str:
    return f"_of_{_word(skill)}" if skill else ""


def _word(text: str) -> str:
    """Letters, digits and underscores of ASCII; never empty."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower(), flags=re.ASCII).strip("_")[:_MAX_NAME] or "skill"


def _json(value: JSON) -> str:
    """Exact JSON in ASCII without apostrophes: harmless inside ``r'''…'''``."""
    return _UNSAFE.sub(_escaped, dumps(value, indent=2 if isinstance(value, dict) and value else None))


def _escaped(match: re.Match[str]) -> str:
    char: Any = match[0]
    return "\\u0027" if char == "'" else json.dumps(char)[1:-1] if ord(char) != 0x7F else "\\u007f"
