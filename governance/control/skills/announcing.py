"""What HTTP says of an announced end: ``Deprecation`` (RFC 9745), ``Sunset`` (RFC 8594), and what comes instead."""

from __future__ import annotations

from datetime import UTC, date, datetime
from email.utils import format_datetime
from typing import Final
from urllib.parse import quote

from governance.core.skill import NO_REPLACEMENT

_IN_A_URL: Final = ":/?#[]@!$&'()*+,;=%-._~"


def deprecation_headers(
    *, deprecated_on: date | None, sunset: date | None, replacement: str | None, migration_guide: str | None
) -> dict[str, str]:
    """The headers of an answer about a version whose end was announced; none for another."""
    if deprecated_on is None:
        return {}
    headers = {"Deprecation": f"@{int(_midnight(deprecated_on).timestamp())}"}
    if sunset is not None:
        headers["Sunset"] = format_datetime(_midnight(max(sunset, deprecated_on)), usegmt=True)
    links = []
    if replacement is not None and replacement != NO_REPLACEMENT:
        name, _, wanted = replacement.partition("@")
        links.append(f'</v1/skills/{name}/versions?range={quote(wanted, safe="")}>; rel="successor-version"')
    if migration_guide is not None:
        # a URL is its author's text: whatever could end the link or the header is escaped
        links.append(f'<{quote(migration_guide, safe=_IN_A_URL)}>; rel="deprecation"')
    return headers | ({"Link": ", ".join(links)} if links else {})


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
