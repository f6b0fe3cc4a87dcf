"""Every row of CODES keeps its word: its example produces the code, its near miss does not."""

from __future__ import annotations

import pytest

from governance.core.compat.codes import CODES, Code
from governance.core.compat.engine import Settings, check_schemas
from governance.core.compat.model import FindingLevel, Side

ROWS = [
    pytest.param(code, side, id=code.id) for code in CODES.values() for side in code.sides if side is not Side.CONTRACT
]


def settings_of(code: Code) -> Settings:
    return Settings(reading=code.reading, assert_formats=code.asserts_formats)


@pytest.mark.parametrize(("code", "side"), ROWS)
def test_the_example_produces_the_code(code: Code, side: Side) -> None:
    found = check_schemas(*code.example, side=side, settings=settings_of(code)).findings
    assert code.id in [finding.code for finding in found]
    finding = next(finding for finding in found if finding.code == code.id)
    assert finding.level is code.level
    if code.level is FindingLevel.BREAKING:
        # One cause, one finding.
        assert [one.code for one in found if one.level is FindingLevel.BREAKING] == [code.id]
        assert finding.witness is not None
        assert finding.witness.errors
        assert finding.old_pointer is not None or finding.new_pointer is not None


@pytest.mark.parametrize(("code", "side"), ROWS)
def test_the_near_miss_does_not(code: Code, side: Side) -> None:
    found = check_schemas(*code.near_miss, side=side, settings=settings_of(code)).findings
    assert code.id not in [finding.code for finding in found]


@pytest.mark.parametrize(("code", "side"), ROWS)
def test_the_fix_and_the_explanation_are_sentences(code: Code, side: Side) -> None:
    for text in (code.means, code.hits, code.fix):
        assert text.endswith(".")
    assert code.id.startswith(f"{side.value}.")
