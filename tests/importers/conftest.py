"""Judging a schema raises Python's recursion limit for good; it happens here, before hypothesis watches it."""

from governance.core.schema.load import accepts_only_objects

accepts_only_objects({"type": "object"})
