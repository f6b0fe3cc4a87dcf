"""The independent validator: no payload is called a witness before it has judged it."""

from __future__ import annotations

from typing import Any

from governance.core.canonical import escape
from governance.core.compat.model import JSON, Side, Witness, WitnessError
from governance.core.schema.dialects import dialect_of

MAX_ERRORS = 5
_TEXT_LIMIT = 240


class Judge:
    """One schema as jsonschema-rs reads it, offline. ``None`` answers mean that it cannot read the schema."""

    def __init__(self, schema: JSON, *, assert_formats: bool) -> None:
        self._schema = schema
        self._assert_formats = assert_formats
        self._validator: Any = None
        self._unreadable = False

    def accepts(self, payload: JSON) -> bool | None:
        validator = self._compiled()
        if validator is None:
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
                message=_short(str(error.message)),
            )
            for error, _ in zip(validator.iter_errors(payload), range(50), strict=False)
        ]
        found.sort(key=lambda error: (error.pointer.count("/"), error.pointer, error.keyword))
        return tuple(found[:MAX_ERRORS])

    def _compiled(self) -> Any:
        if self._validator is None and not self._unreadable:
            dialect = dialect_of(self._schema)
            try:
                assert dialect is not None
                self._validator = dialect.validator(self._schema, validate_formats=self._assert_formats, offline=True)
            except Exception:  # the validator raises its own classes for a pattern it cannot compile, say
                self._unreadable = True
        return self._validator


def confirmed(side: Side, payload: JSON, *, sender: Judge, receiver: Judge) -> Witness | None:
    """The payload as a witness if the sender's schema accepts and the receiver's refuses it, else None."""
    if sender.accepts(payload) is not True or receiver.accepts(payload) is not False:
        return None
    return Witness(
        side=side,
        payload=payload,
        accepted_by="old" if side is Side.INPUT else "new",
        errors=receiver.complaints(payload),
    )


def _short(text: str) -> str:
    return text if len(text) <= _TEXT_LIMIT else text[: _TEXT_LIMIT - 1] + "…"
