"""The world's spellings of versions become SemVer, or are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.versioning import Version, normalise_version
from governance.errors import InvalidVersion


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("v1.10.0", "1.10.0"),
        ("V2.0.0-rc.1", "2.0.0-rc.1"),
        ("2025.08.21", "2025.8.21"),
        ("2025-08-21", "2025.8.21"),
        ("20250821", "20250821.0.0"),
        ("1.2", "1.2.0"),
        ("1", "1.0.0"),
        ("v0.28", "0.28.0"),
        ("1.2.3.0", "1.2.3"),
        ("1.2rc1", "1.2.0-rc.1"),
        ("1.2.3a4", "1.2.3-alpha.4"),
        ("1.2.0b2", "1.2.0-beta.2"),
        ("1.2.0-beta", "1.2.0-beta"),
        ("1.2.dev7", "1.2.0-0.dev.7"),
        ("1.0.post1", "1.0.0+post.1"),
        ("1.0+ubuntu-1", "1.0.0+ubuntu.1"),
        (" 1.4.0 ", "1.4.0"),
    ],
)
def test_a_known_spelling_is_normalised_and_kept_beside(text: str, version: str) -> None:
    normal, external = normalise_version(text)
    assert normal == version
    assert external == (None if text == version else text)


@pytest.mark.parametrize(
    "text",
    ["latest", "", "main", "1!2.0", "1.2.3.4", "1.2-1", "1.0a1.dev2", "1.0rc1.post1", "v", "1.x", "^1", "9" * 300,
     "1.2.3 beta", "१.२", "1.0+" + "a" * 300],
)  # fmt: skip
def test_what_would_be_an_invention_is_refused(text: str) -> None:
    with pytest.raises(InvalidVersion) as caught:
        normalise_version(text)
    assert "--version" in caught.value.fix


def test_the_order_of_python_releases_is_kept() -> None:
    spellings = ["1.2.dev1", "1.2.dev3", "1.2a1", "1.2a2", "1.2b1", "1.2rc1", "1.2rc2", "1.2", "1.2.1", "1.10"]
    versions = [Version.parse(normalise_version(text)[0]) for text in spellings]
    assert versions == sorted(set(versions))


@given(st.text(alphabet="0123456789.-+vabrcdepost!_ ", max_size=30))
def test_whatever_comes_out_is_semver_and_its_own_fixed_point(text: str) -> None:
    try:
        normal, external = normalise_version(text)
    except InvalidVersion:
        return
    assert str(Version.parse(normal)) == normal
    assert normalise_version(normal) == (normal, None)
    assert (external is None) == (text == normal)
