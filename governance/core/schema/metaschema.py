"""What the metaschema of a dialect says of a schema."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import Any, Final

from governance.core.canonical import escape
from governance.core.schema.dialects import Dialect
from governance.core.schema.marks import HIDDEN, touches_sensitive
from governance.errors import Fault

_MAX_FAULTS: Final = 20
_TEXT_LIMIT: Final = 200


def metaschema_faults(schema: Any, dialect: Dialect) -> list[Fault]:
    """The first twenty complaints, outermost first; pointers are relative to ``schema``."""
    try:
        errors = list(islice(_validator(dialect).iter_errors(schema), _MAX_FAULTS))
    except UnicodeEncodeError:
        return [Fault(pointer="", message="a text in it holds half of a surrogate pair", code="schema-text")]
    faults = [
        Fault(
            pointer="".join(f"/{escape(str(token))}" for token in error.instance_path),
            message=_complaint(schema, error),
            code="schema-metaschema",
        )
        for error in errors
    ]
    return sorted(faults, key=lambda fault: (fault.pointer.count("/"), fault.pointer))


@cache
def _validator(dialect: Dialect) -> Any:
    # Formats stay annotations: whether a pattern is one is asked of the pattern parser, which speaks ECMA-262.
    return dialect.validator({"$ref": dialect.uri + ("#" if dialect.draft <= 7 else "")}, validate_formats=False)


def _complaint(schema: Any, error: Any) -> str:
    """The metaschema's complaint, which quotes what it complains of: nothing that is sensitive."""
    if touches_sensitive(schema, list(error.instance_path)):
        return f"{HIDDEN} does not fit `{error.kind.name}` of the metaschema"
    text = str(error.message)
    return text if len(text) <= _TEXT_LIMIT else text[: _TEXT_LIMIT - 1] + "…"
