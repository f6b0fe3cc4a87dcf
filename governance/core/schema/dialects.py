"""The five dialects and where they differ. Everything else in this folder is free of dialects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import jsonschema_rs
from referencing import Specification
from referencing.jsonschema import DRAFT4, DRAFT6, DRAFT7, DRAFT201909, DRAFT202012


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """One dialect: its metaschema's URI, its rules as flags, and the validator that speaks it."""

    name: str
    uri: str
    draft: int
    """4, 6, 7, 2019 or 2020: they compare in time order."""
    specification: Specification[Any]
    validator: type[Any]

    @property
    def ref_hides_siblings(self) -> bool:
        return self.draft <= 7

    @property
    def id_keyword(self) -> str:
        return "id" if self.draft == 4 else "$id"

    @property
    def tuple_keyword(self) -> str:
        """The keyword that holds positional item schemas."""
        return "prefixItems" if self.draft >= 2020 else "items"


def _dialect(name: str, draft: int, uri: str, specification: Specification[Any], validator: type[Any]) -> Dialect:
    return Dialect(name=name, uri=uri, draft=draft, specification=specification, validator=validator)


DIALECTS: Final[dict[str, Dialect]] = {
    dialect.uri: dialect
    for dialect in (
        _dialect("draft4", 4, "http://json-schema.org/draft-04/schema", DRAFT4, jsonschema_rs.Draft4Validator),
        _dialect("draft6", 6, "http://json-schema.org/draft-06/schema", DRAFT6, jsonschema_rs.Draft6Validator),
        _dialect("draft7", 7, "http://json-schema.org/draft-07/schema", DRAFT7, jsonschema_rs.Draft7Validator),
        _dialect(
            "2019-09",
            2019,
            "https://json-schema.org/draft/2019-09/schema",
            DRAFT201909,
            jsonschema_rs.Draft201909Validator,
        ),
        _dialect(
            "2020-12",
            2020,
            "https://json-schema.org/draft/2020-12/schema",
            DRAFT202012,
            jsonschema_rs.Draft202012Validator,
        ),
    )
}

DEFAULT_DIALECT: Final = DIALECTS["https://json-schema.org/draft/2020-12/schema"]


def dialect_of(schema: Any, default: Dialect = DEFAULT_DIALECT) -> Dialect | None:
    """The dialect ``$schema`` names, ``default`` when it names none, None when nobody knows it."""
    if not isinstance(schema, dict) or "$schema" not in schema:
        return default
    named = schema["$schema"]
    return DIALECTS.get(named.rstrip("#").rstrip("/")) if isinstance(named, str) else None
