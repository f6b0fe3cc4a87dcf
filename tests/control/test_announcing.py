"""What HTTP says of an announced end, whatever its author wrote."""

from __future__ import annotations

from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime

import pytest

from governance.control.skills.announcing import deprecation_headers

DAY = date(2026, 11, 30)


def said(**how: object) -> dict[str, str]:
    given = {"deprecated_on": DAY, "sunset": None, "replacement": None, "migration_guide": None} | how
    return deprecation_headers(**given)  # type: ignore[arg-type]


def test_where_no_end_is_announced_nothing_is_said() -> None:
    assert said(deprecated_on=None, replacement="a.b@^2", sunset=DAY) == {}


def test_the_day_is_a_structured_date_and_the_sunset_an_http_date() -> None:
    headers = said(sunset=date(2027, 11, 30))
    assert headers["Deprecation"] == f"@{int(datetime(2026, 11, 30, tzinfo=UTC).timestamp())}"
    assert headers["Sunset"] == "Tue, 30 Nov 2027 00:00:00 GMT"
    assert set(headers) == {"Deprecation", "Sunset"}


def test_a_sunset_never_comes_before_its_deprecation() -> None:
    assert parsedate_to_datetime(said(sunset=date(2020, 1, 1))["Sunset"]).date() == DAY


@pytest.mark.parametrize(
    ("replacement", "link"),
    [
        ("none", None),
        ("a.b@^2", '</v1/skills/a.b/versions?range=%5E2>; rel="successor-version"'),
        (
            'a.b@>=2 <3 || "x>',
            '</v1/skills/a.b/versions?range=%3E%3D2%20%3C3%20%7C%7C%20%22x%3E>; rel="successor-version"',
        ),
    ],
)
def test_the_successor_is_a_link(replacement: str, link: str | None) -> None:
    assert said(replacement=replacement).get("Link") == link


@pytest.mark.parametrize(
    ("guide", "target"),
    [
        ("https://docs.acme.dev/a?b=c&d=%20e#f", "https://docs.acme.dev/a?b=c&d=%20e#f"),
        ('https://x.dev/>; rel="next"', "https://x.dev/%3E;%20rel=%22next%22"),
        ("https://x.dev/\r\nSet-Cookie: a=b", "https://x.dev/%0D%0ASet-Cookie:%20a=b"),
        ("https://例え.jp/道", "https://%E4%BE%8B%E3%81%88.jp/%E9%81%93"),
    ],
)
def test_a_guide_cannot_leave_its_link(guide: str, target: str) -> None:
    assert said(migration_guide=guide)["Link"] == f'<{target}>; rel="deprecation"'
