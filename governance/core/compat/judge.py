"""The independent validator: no payload is called a witness before it has judged it.

It is given each schema as written, but for patterns that it would refuse or misread, which it gets in its own
spelling of what ECMA-262 means, and for ``contentEncoding`` and ``contentMediaType``, which are annotations.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

import jsonschema_rs

from governance.core.canonical import escape
from governance.core.compat.model import JSON, Side, Witness, WitnessError
from governance.core.schema.budget import READING_STEPS, Budget, BudgetExceeded
from governance.core.schema.dialects import dialect_of
from governance.core.schema.effort import MAX_VISITS, Effort, values_in
from governance.core.schema.references import References
from governance.core.schema.regex_portable import spoken

MAX_ERRORS = 5
_MAX_VISITS_FOR_ALL: Final = 20_000
_TEXT_LIMIT = 240
_DOES_NOT_MATCH: Final = ' does not match "'
_GAVE_UP: Final = "Error executing regex"
_ANNOTATIONS: Final = frozenset({"contentEncoding", "contentMediaType"})
"""Keywords that constrain nothing here, and to the validator do in drafts 6 and 7."""
_DATA: Final = frozenset({"const", "default", "enum", "example", "examples"})
_MAPS: Final = frozenset({"properties", "$defs", "definitions", "dependentSchemas", "dependencies"})


class Judge:
    """One schema as jsonschema-rs reads it, offline. ``None`` answers mean that it cannot read the schema.

    What it has to count and copy before it can judge draws on the budget of ``references``; where that does not last,
    BudgetExceeded is raised.
    """

    def __init__(self, schema: JSON, *, assert_formats: bool, references: References | None = None) -> None:
        self._schema = schema
        self._assert_formats = assert_formats
        self._validator: Any = None
        self._respelled: dict[str, str] = {}
        """Patterns as the validator was given them, and as they were written."""
        self._unreadable = False
        self._references = references
        self._effort: Effort | None = None

    def accepts(self, payload: JSON) -> bool | None:
        validator = self._compiled()
        if validator is None or self._visits(payload) > MAX_VISITS:
            return None
        try:
            return bool(validator.is_valid(payload))
        except (ValueError, TypeError, RecursionError, OverflowError):
            return None

    def complaints(self, payload: JSON) -> tuple[WitnessError, ...]:
        """Why the payload is refused: at most five complaints, longest place last."""
        validator = self._compiled()
        if validator is None:
            return ()
        found = [
            WitnessError(
                pointer="".join(f"/{escape(str(token))}" for token in error.instance_path),
                keyword=str(error.kind.name),
                message=_short(self._as_written(str(error.message))),
            )
            for error in self._errors(validator, payload)
        ]
        found.sort(key=lambda error: (error.pointer.count("/"), error.pointer, error.keyword))
        return tuple(found[:MAX_ERRORS])

    def _errors(self, validator: Any, payload: JSON) -> list[Any]:
        """The first fifty; only the first where the validator, which gathers all of them, would take long."""
        if self._visits(payload) <= _MAX_VISITS_FOR_ALL:
            return list(islice(validator.iter_errors(payload), 50))
        try:
            validator.validate(payload)
        except jsonschema_rs.ValidationError as error:
            return [error]
        return []

    def steps(self, payload: JSON) -> int:
        """What judging costs, in steps of the engine's budget."""
        effort = self._known_effort()
        return min(2 * (effort.unfolded + values_in(payload)), MAX_VISITS)

    def _visits(self, payload: JSON) -> int:
        return self._known_effort().visits(payload)

    def _known_effort(self) -> Effort:
        if self._effort is None:
            if self._references is None:
                dialect = dialect_of(self._schema)
                assert dialect is not None, "a schema without faults has a dialect"
                self._references = References(self._schema, dialect)
            self._effort = Effort(self._references)
        return self._effort

    def _compiled(self) -> Any:
        if self._validator is None and not self._unreadable:
            dialect = dialect_of(self._schema)
            budget = self._known_effort().references.budget
            budget.look_up()
            try:
                assert dialect is not None
                schema = _Speller(self._schema, self._respelled, budget).schema(self._schema)
                self._validator = dialect.validator(schema, validate_formats=self._assert_formats, offline=True)
            except BudgetExceeded:
                raise
            except Exception:  # the validator raises its own classes for a pattern it cannot compile, say
                self._unreadable = True
        return self._validator

    def _as_written(self, message: str) -> str:
        said, does_not_match, given = message.rpartition(_DOES_NOT_MATCH)
        written = self._respelled.get(given.removesuffix('"')) if does_not_match else None
        return message if written is None else f'{said}{_DOES_NOT_MATCH}{written}"'


def spoken_schema(schema: JSON) -> JSON:
    """The schema as the validator is given it: what it would misread in its own spelling, or not at all."""
    return _Speller(schema, {}, Budget(READING_STEPS)).schema(schema)


class _Speller:
    """Copies a schema where a pattern must be spelled otherwise; where none must, the schema is its own copy."""

    def __init__(self, document: JSON, respelled: dict[str, str], budget: Budget) -> None:
        self._document = document
        self._budget = budget
        self._respelled = respelled
        self._names_may_change: bool | None = None

    def schema(self, schema: JSON) -> JSON:
        self._budget.spend()
        if isinstance(schema, list):
            return self._copied(schema, [self.schema(item) for item in schema])
        if not isinstance(schema, dict):
            return schema
        said = {
            keyword: self._under(keyword, value) for keyword, value in schema.items() if keyword not in _ANNOTATIONS
        }
        return self._copied(schema, said)

    def _under(self, keyword: str, value: JSON) -> JSON:
        if keyword in _DATA:
            return value
        if keyword == "pattern" and isinstance(value, str):
            return self._spoken(value)
        if not isinstance(value, dict):
            return self.schema(value) if isinstance(value, list) else value
        if keyword == "patternProperties":
            return self._by_pattern(value)
        if keyword in _MAPS:
            return self._copied(value, {name: self.schema(child) for name, child in value.items()})
        return self.schema(value)

    def _by_pattern(self, children: dict[str, JSON]) -> JSON:
        spelled: dict[str, JSON] = {}
        for pattern, child in children.items():
            name = self._spoken(pattern)
            if name != pattern and not self._free_to_rename():
                name = pattern
            while name in spelled or (name != pattern and name in children):
                name = f"(?:{name})"  # two spellings of one pattern, each with a schema of its own
            spelled[name] = self.schema(child)
        return self._copied(children, spelled)

    def _spoken(self, pattern: str) -> str:
        given = spoken(pattern)
        if given != pattern:
            self._respelled[given] = pattern
        return given

    def _free_to_rename(self) -> bool:
        """No reference leads through a pattern's name."""
        if self._names_may_change is None:
            self._names_may_change = not any("patternProperties" in ref for ref in _references(self._document))
        return self._names_may_change

    def _copied(self, old: JSON, new: JSON) -> JSON:
        if isinstance(old, dict):
            same = list(old) == list(new) and all(new[key] is value for key, value in old.items())
        else:
            same = all(one is other for one, other in zip(old, new, strict=True))
        return old if same else new


def _references(document: JSON) -> list[str]:
    found, stack = [], [document]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            if isinstance(reference := node.get("$ref"), str):
                found.append(reference)
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    return found


def confirmed(side: Side, payload: JSON, *, sender: Judge, receiver: Judge) -> Witness | None:
    """The payload as a witness if the sender's schema accepts and the receiver's refuses it, else None."""
    if sender.accepts(payload) is not True or receiver.accepts(payload) is not False:
        return None
    errors = receiver.complaints(payload)
    if all(error.message.startswith(_GAVE_UP) for error in errors):
        return None  # a pattern that the validator gave up on refuses nothing
    return Witness(side=side, payload=payload, accepted_by="old" if side is Side.INPUT else "new", errors=errors)


def _short(text: str) -> str:
    return text if len(text) <= _TEXT_LIMIT else text[: _TEXT_LIMIT - 1] + "…"
