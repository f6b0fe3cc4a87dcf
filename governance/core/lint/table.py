"""LINTS: every lint, one row each. Ids are permanent; ``govctl explain`` and the documentation derive from here.

A new rule is one row in the file of its kind, with an example that it finds and a near miss that it leaves alone:
a test tries both, and every other row on them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from governance.core.lint.model import Lint
from governance.core.lint.rules_client import CLIENT_RULES, COMMENT_RULES
from governance.core.lint.rules_quality import QUALITY_RULES
from governance.core.lint.rules_text import TEXT_RULES


def _table(rows: Iterable[Lint]) -> dict[str, Lint]:
    table: dict[str, Lint] = {}
    for row in rows:
        if row.id in table:
            raise ValueError(f"lint id {row.id} is taken")
        table[row.id] = row
    return table


LINTS: Final[dict[str, Lint]] = _table((*TEXT_RULES, *QUALITY_RULES, *CLIENT_RULES, *COMMENT_RULES))
