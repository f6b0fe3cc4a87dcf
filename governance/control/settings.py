"""What an operator may set, in one table: variable, default, meaning. The documentation derives from it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from governance.errors import UsageError

CLIENT_VARIABLES = frozenset({"GOVCTL_SERVER", "GOVCTL_TOKEN", "GOVCTL_CONFIG", "GOVCTL_OIDC_TOKEN"})
"""Variables of the same family that the command line reads for itself."""

_KIB, _MIB = 1024, 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One row of the table: the field it fills, the variable, how it is read, what it does."""

    field: str
    variable: str
    read: Callable[[str], Any]
    default: Any
    shown_default: str
    meaning: str


def _number(*, at_least: int, at_most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= 12):
            raise ValueError(f"is no whole number from {at_least} to {at_most}")
        value = int(text)
        if not at_least <= value <= at_most:
            raise ValueError(f"lies outside {at_least} to {at_most}")
        return value

    return read


def _text(text: str) -> str:
    if "\x00" in text or any(character.isspace() for character in text):
        raise ValueError("holds white space or a NUL")
    return text


def _folder(text: str) -> Path:
    if "\x00" in text:
        raise ValueError("holds a NUL")
    path = Path(text).expanduser()
    if not path.is_absolute():
        raise ValueError("is no absolute path")
    return path


def _database_url(text: str) -> str:
    for driver in ("postgresql+psycopg://", "postgres://", "postgresql://"):
        if text.startswith(driver):
            return "postgresql://" + text.removeprefix(driver)
    raise ValueError("does not begin with postgresql://")


def _switch(text: str) -> bool:
    """Raises ValueError."""
    if text.lower() not in ("true", "false"):
        raise ValueError("is neither true nor false")
    return text.lower() == "true"


SETTINGS: tuple[Setting, ...] = (
    Setting(
        field="database_url",
        variable="DATABASE_URL",
        read=_database_url,
        default=None,
        shown_default="embedded server",
        meaning="The Postgres (15 to 18) to work on. Unset: a real server is started below GOVCTL_HOME.",
    ),
    Setting(
        field="database_owner_url",
        variable="DATABASE_OWNER_URL",
        read=_database_url,
        default=None,
        shown_default="DATABASE_URL",
        meaning="The role that owns the tables and migrates; the service's own role needs to own none.",
    ),
    Setting(
        field="home",
        variable="GOVCTL_HOME",
        read=_folder,
        default=None,
        shown_default="the user's data folder; as root /var/lib/govctl",
        meaning="Where the embedded server's data and server.json live.",
    ),
    Setting(
        field="host",
        variable="GOVCTL_HOST",
        read=_text,
        default="127.0.0.1",
        shown_default="127.0.0.1",
        meaning="The address to listen on.",
    ),
    Setting(
        field="port",
        variable="GOVCTL_PORT",
        read=_number(at_least=0, at_most=65535),
        default=8470,
        shown_default="8470",
        meaning="The port to listen on; 0 takes a free one and prints it.",
    ),
    Setting(
        field="session_pool_size",
        variable="GOVCTL_SESSION_POOL_SIZE",
        read=_number(at_least=1, at_most=500),
        default=10,
        shown_default="10",
        meaning="Most database connections held for writes and administration.",
    ),
    Setting(
        field="read_pool_size",
        variable="GOVCTL_READ_POOL_SIZE",
        read=_number(at_least=1, at_most=500),
        default=10,
        shown_default="10",
        meaning="Most database connections held for hot reads (resolve, versions, blobs).",
    ),
    Setting(
        field="statement_timeout_sec",
        variable="GOVCTL_STATEMENT_TIMEOUT_SEC",
        read=_number(at_least=1, at_most=3600),
        default=30,
        shown_default="30",
        meaning="Seconds after which the database gives up a statement.",
    ),
    Setting(
        field="max_body_bytes",
        variable="GOVCTL_MAX_BODY_BYTES",
        read=_number(at_least=_KIB, at_most=1024 * _MIB),
        default=16 * _MIB,
        shown_default="16777216",
        meaning="Largest request body.",
    ),
    Setting(
        field="max_schema_bytes",
        variable="GOVCTL_MAX_SCHEMA_BYTES",
        read=_number(at_least=_KIB, at_most=64 * _MIB),
        default=1 * _MIB,
        shown_default="1048576",
        meaning="Largest single schema, as canonical JSON.",
    ),
    Setting(
        field="max_depth",
        variable="GOVCTL_MAX_DEPTH",
        read=_number(at_least=16, at_most=500),
        default=128,
        shown_default="128",
        meaning="Deepest nesting of a document.",
    ),
    Setting(
        field="max_batch",
        variable="GOVCTL_MAX_BATCH",
        read=_number(at_least=1, at_most=100_000),
        default=1000,
        shown_default="1000",
        meaning="Most members of one batch (candidates of a check, questions of a resolve).",
    ),
    Setting(
        field="ceiling_ms",
        variable="GOVCTL_CEILING_MS",
        read=_number(at_least=0, at_most=600_000),
        default=250,
        shown_default="250",
        meaning="Milliseconds of reasoning after which a comparison stays undecided; 0: the step budget alone.",
    ),
    Setting(
        field="drain_sec",
        variable="GOVCTL_DRAIN_SEC",
        read=_number(at_least=0, at_most=600),
        default=0,
        shown_default="0",
        meaning="Seconds that it serves on after SIGTERM while /readyz answers 503, for load balancers to turn away.",
    ),
    Setting(
        field="max_event_streams",
        variable="GOVCTL_MAX_EVENT_STREAMS",
        read=_number(at_least=1, at_most=10_000),
        default=100,
        shown_default="100",
        meaning="Most streams of events that this replica keeps open at a time.",
    ),
    Setting(
        field="webhook_private",
        variable="GOVCTL_WEBHOOK_PRIVATE",
        read=_switch,
        default=False,
        shown_default="false",
        meaning="Whether webhooks may go to addresses inside this network, and without TLS.",
    ),
    Setting(
        field="oidc_audience",
        variable="GOVCTL_OIDC_AUDIENCE",
        read=_text,
        default="skill-governance",
        shown_default="skill-governance",
        meaning="Whom assertions of CI jobs must be made for; give each service its own.",
    ),
    Setting(
        field="oidc_private",
        variable="GOVCTL_OIDC_PRIVATE",
        read=_switch,
        default=False,
        shown_default="false",
        meaning="Whether issuers of assertions may lie inside this network, and be asked without TLS.",
    ),
    Setting(
        field="otlp_endpoint",
        variable="OTEL_EXPORTER_OTLP_ENDPOINT",
        read=_text,
        default=None,
        shown_default="off",
        meaning="Where traces go by OTLP over HTTP; the other OTEL_* variables keep their standard meaning.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The service's settings, read once. URLs are kept out of ``repr``: they may hold a password.

    ``unknown`` names the GOVCTL_* variables that nobody reads; the service says so when it starts.
    """

    home: Path
    database_url: str | None = field(default=None, repr=False)
    database_owner_url: str | None = field(default=None, repr=False)
    host: str = "127.0.0.1"
    port: int = 8470
    session_pool_size: int = 10
    read_pool_size: int = 10
    statement_timeout_sec: int = 30
    max_body_bytes: int = 16 * _MIB
    max_schema_bytes: int = 1 * _MIB
    max_depth: int = 128
    max_batch: int = 1000
    ceiling_ms: int = 250
    drain_sec: int = 0
    max_event_streams: int = 100
    webhook_private: bool = False
    oidc_audience: str = "skill-governance"
    oidc_private: bool = False
    otlp_endpoint: str | None = None
    unknown: tuple[str, ...] = ()

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], *, root: bool | None = None) -> Settings:
        """Read ``environment``; an empty variable counts as unset. ``root`` picks the default home.

        Raises UsageError for a value that cannot be read; the value itself is never repeated.
        """
        found: dict[str, Any] = {}
        for setting in SETTINGS:
            text = environment.get(setting.variable, "")
            if not text:
                continue
            try:
                found[setting.field] = setting.read(text)
            except ValueError as error:
                raise UsageError(
                    f"{setting.variable} {error}.",
                    fix=f"Unset it (default: {setting.shown_default}) or correct it. {setting.meaning}",
                ) from None
        if "home" not in found:
            found["home"] = default_home(environment, root=root)
        if "database_owner_url" in found and "database_url" not in found:
            raise UsageError(
                "DATABASE_OWNER_URL is set and DATABASE_URL is not.",
                fix="Set DATABASE_URL to the same database with the service's role, or unset both.",
            )
        known = {setting.variable for setting in SETTINGS} | CLIENT_VARIABLES
        unknown = sorted(name for name in environment if name.startswith("GOVCTL_") and name not in known)
        return cls(**found, unknown=tuple(unknown))


def default_home(environment: Mapping[str, str], *, root: bool | None = None) -> Path:
    """Where state lives unless GOVCTL_HOME says otherwise. Raises UsageError where no home can be told."""
    if root is None:
        root = os.geteuid() == 0
    if root:
        return Path("/var/lib/govctl")
    data = environment.get("XDG_DATA_HOME", "")
    if data.startswith("/"):
        return Path(data) / "govctl"
    user = environment.get("HOME", "")
    if not user.startswith("/"):
        raise UsageError("No home folder is known: HOME is not set.", fix="Set GOVCTL_HOME to a folder of yours.")
    if sys.platform == "darwin":
        return Path(user) / "Library" / "Application Support" / "govctl"
    return Path(user) / ".local" / "share" / "govctl"
