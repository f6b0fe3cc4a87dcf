"""The nearest scope that sets a value wins, and everybody can see which one that was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.policy import POLICY_KEYS, Policy, Scope, ScopeKind, check_settings, effective
from governance.errors import GovernanceError, InvalidRequest

names = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=4).map(".".join)
scopes = st.one_of(
    st.just(Scope(kind=ScopeKind.GLOBAL)),
    st.builds(Scope, kind=st.sampled_from([ScopeKind.NAMESPACE, ScopeKind.SKILL]), name=names),
)
days = st.integers(1, 3_650)


@given(scopes)
def test_a_scope_reads_back_as_it_is_written(scope: Scope) -> None:
    assert Scope.parse(str(scope)) == scope


@pytest.mark.parametrize("text", ["", "team", "global:", "global:x", "namespace:", "skill:Not A Name", "team:a", ":a"])
def test_what_is_no_scope_is_refused(text: str) -> None:
    with pytest.raises(GovernanceError):
        Scope.parse(text)


@given(names, st.dictionaries(scopes, days, max_size=8))
def test_the_nearest_scope_that_sets_a_value_wins(skill: str, setting: dict[Scope, int]) -> None:
    policy = effective(skill, {scope: {"exception_days": value} for scope, value in setting.items()})
    reaching = [scope for scope in Scope.of(skill) if scope in setting]
    if reaching:
        assert policy.values["exception_days"] == setting[reaching[0]]
        assert policy.origin("exception_days") == str(reaching[0])
    else:
        assert policy == Policy()


@given(names, st.dictionaries(scopes, days, max_size=8))
def test_what_holds_in_a_namespace_holds_for_a_skill_there_that_sets_nothing(
    namespace: str, setting: dict[Scope, int]
) -> None:
    settings = {scope: {"exception_days": value} for scope, value in setting.items()}
    scope = Scope(kind=ScopeKind.NAMESPACE, name=namespace)
    assert effective(scope, settings) == effective(f"{namespace}.fresh", settings)


def test_a_key_of_a_later_release_is_passed_over() -> None:
    assert effective("a.b", {Scope(kind=ScopeKind.GLOBAL): {"later": True, "mode": "off"}}).values["mode"] == "off"


@pytest.mark.parametrize("key", POLICY_KEYS)
def test_every_default_may_be_set(key: str) -> None:
    row = POLICY_KEYS[key]
    assert check_settings({key: row.default}) == {key: row.default}
    assert row.read(str(row.default).lower()) == row.default


@pytest.mark.parametrize(
    ("settings", "pointer"),
    [
        ({"mode": "strict"}, "/mode"),
        ({"mode": ["warn"]}, "/mode"),
        ({"blanket_acceptance": 1}, "/blanket_acceptance"),
        ({"exception_days": 0}, "/exception_days"),
        ({"exception_days": True}, "/exception_days"),
        ({"exception_days": 10**400}, "/exception_days"),
        ({"exception_days": 1.5}, "/exception_days"),
        ({"exception_days": None}, "/exception_days"),
        ({"a/b~": 1}, "/a~1b~0"),
    ],
)
def test_what_cannot_stand_is_refused_at_its_place(settings: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        check_settings({"mode": "warn", **settings}, at="/settings")
    assert [fault.pointer for fault in refused.value.faults] == [f"/settings{pointer}"]


def test_a_whole_number_may_be_written_with_a_point() -> None:
    assert check_settings({"exception_days": 90.0}) == {"exception_days": 90}
