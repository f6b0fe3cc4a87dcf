"""What a caller may read, as a condition of a query."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, false, or_, true

from governance.control.auth.roles import Caller, Right


def readable(skill: Any, by: Caller) -> ColumnElement[bool]:
    """Is the skill whose whole name is in this column one that ``by`` may read?"""
    reach = by.reach(Right.READ)
    if "*" in reach:
        return true()
    return or_(false(), *(skill.startswith(f"{one}.", autoescape=True) for one in sorted(reach)))
