"""The default reading obeys its laws, and an oracle that was written from its definition agrees."""

from __future__ import annotations

import json
from typing import Any

from asking import VALUES, judge, separating, valid
from closedness import Closedness
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import dialects, mixed_pairs, pairs, schemas

from governance.core.compat.engine import Settings, check_schemas
from governance.core.compat.model import Level, Reading, Side, Verdict

sides = st.sampled_from((Side.INPUT, Side.OUTPUT))


@given(dialects.flatmap(pairs) | mixed_pairs(), sides)
def test_a_break_by_default_is_a_break_under_strict_and_its_payload_separates_both(
    pair: tuple[Any, Any], side: Side
) -> None:
    assume(valid(*pair))
    old, new = pair
    answer = separating(old, new, side, Reading.DEFAULT)
    strict = separating(old, new, side, Reading.STRICT)
    sender, receiver = (old, new) if side is Side.INPUT else (new, old)
    if answer.found:
        assert strict.found is not False
        assert judge(sender).is_valid(answer.value)
        assert not judge(receiver).is_valid(answer.value)
    if strict.found is False:
        assert answer.found is not True


@given(dialects.flatmap(schemas), sides, st.sampled_from(list(Reading)))
def test_every_schema_is_compatible_with_itself(schema: Any, side: Side, reading: Reading) -> None:
    assume(valid(schema))
    answer = separating(schema, json.loads(json.dumps(schema)), side, reading)
    # A schema that refers to itself in place means nothing, so nothing can be said of it.
    assert answer.found is False or answer.reason in ("reference-loop", "unevaluated-width")


@given(dialects.flatmap(pairs), sides)
def test_the_levels_follow_from_both_readings(pair: tuple[Any, Any], side: Side) -> None:
    assume(valid(*pair))
    old, new = pair
    by_default = check_schemas(old, new, side=side)
    strict = check_schemas(old, new, side=side, settings=Settings(reading=Reading.STRICT))
    assert Verdict.INVALID not in (by_default.verdict, strict.verdict)
    if by_default.verdict is Verdict.BREAKING:
        assert strict.verdict in (Verdict.BREAKING, Verdict.UNDECIDED)
        assert by_default.witness is not None
    if by_default.level is Level.BACKWARD_COMPATIBLE:
        assert separating(old, new).found is not True
        assert separating(new, old).found is not True
    for finding in (*by_default.findings, *strict.findings):
        assert finding.fingerprint
        assert finding.message


@given(dialects.flatmap(lambda dialect: pairs(dialect, plain=True)))
def test_old_callers_send_only_what_they_were_told_of(pair: tuple[Any, Any]) -> None:
    assume(valid(*pair))
    old, new = pair
    answer, told = separating(old, new, Side.INPUT, Reading.DEFAULT), Closedness(old)
    if answer.found:
        assert told.holds(answer.value, of_input=True) is not False
    elif answer.found is False:
        accepts, refuses = judge(old), judge(new)
        for value in VALUES[::4]:
            if not refuses.is_valid(value) and accepts.is_valid(value):
                assert told.holds(value, of_input=True) is not True, value


@given(dialects.flatmap(lambda dialect: pairs(dialect, plain=True)))
def test_the_new_version_returns_only_what_it_declares(pair: tuple[Any, Any]) -> None:
    assume(valid(*pair))
    old, new = pair
    answer = separating(old, new, Side.OUTPUT, Reading.DEFAULT)
    if answer.found:
        assert Closedness(new).holds(answer.value, of_input=False) is not False
    elif answer.found is False and '"additionalProperties": false' not in json.dumps(old):
        # Nothing in the old schema is lifted, so old readers take it as written.
        accepts, refuses, told = judge(new), judge(old), Closedness(new)
        for value in VALUES[::4]:
            if not refuses.is_valid(value) and accepts.is_valid(value):
                assert told.holds(value, of_input=False) is not True, value
