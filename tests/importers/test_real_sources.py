"""Everything that real projects published comes in with every refusal explained, and comes back unchanged."""

from __future__ import annotations

import pytest

from governance.core.lint import LINTS, Severity
from tests.importers.real_sources import FORMS, PAGE, SOURCES, lost, outcome, page


@pytest.mark.parametrize("file", SOURCES.values(), ids=SOURCES)
def test_a_real_source_comes_in_and_no_lint_blocks_it(file: str) -> None:
    one = outcome(file)
    assert one.skills
    assert all(fault.place and fault.place.line for result in one.results for fault in result.warnings)
    for result in one.results:
        for refused in result.refused:
            assert refused.error.fix
            assert refused.origin.line
    assert not {lint for lint in one.lints if LINTS[lint].severity is Severity.ERROR}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("file", SOURCES.values(), ids=SOURCES)
def test_every_contract_comes_back_from_every_dialect_that_can_hold_it(file: str, form: str) -> None:
    assert lost(file, form) == ()


def test_the_page_says_what_is_counted() -> None:
    hint = "run: python -m tests.importers.real_sources (docs/sources.md is behind)"
    assert PAGE.read_text(encoding="utf-8") == page(), hint
