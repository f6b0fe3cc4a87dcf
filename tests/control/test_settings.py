"""Settings are read once, from one table, and say what is wrong without repeating a secret."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from governance.control.settings import SETTINGS, Settings, default_home
from governance.errors import UsageError

HOME = {"HOME": "/home/ada"}


def test_the_table_and_the_fields_are_the_same() -> None:
    declared = {field.name: field.default for field in fields(Settings) if field.name not in {"home", "unknown"}}
    assert {setting.field: setting.default for setting in SETTINGS if setting.field != "home"} == declared
    assert len({setting.variable for setting in SETTINGS}) == len(SETTINGS)


def test_nothing_set_means_the_defaults_that_the_table_shows() -> None:
    read = Settings.from_environment(HOME, root=False)
    assert read.database_url is None
    for setting in SETTINGS:
        if isinstance(setting.default, int | str):
            assert getattr(read, setting.field) == setting.default
            assert setting.shown_default == str(setting.default).lower()


def test_every_variable_fills_its_field() -> None:
    given = {
        "DATABASE_URL": "postgresql+psycopg://service@db/governance",
        "DATABASE_OWNER_URL": "postgres://owner@db/governance",
        "GOVCTL_HOME": "/srv/govctl",
        "GOVCTL_HOST": "::1",
        "GOVCTL_PORT": "0",
        "GOVCTL_SESSION_POOL_SIZE": "3",
        "GOVCTL_READ_POOL_SIZE": "4",
        "GOVCTL_STATEMENT_TIMEOUT_SEC": "5",
        "GOVCTL_MAX_BODY_BYTES": "4096",
        "GOVCTL_MAX_SCHEMA_BYTES": "2048",
        "GOVCTL_MAX_DEPTH": "64",
        "GOVCTL_MAX_BATCH": "7",
        "GOVCTL_CEILING_MS": "80",
        "GOVCTL_DRAIN_SEC": "5",
        "GOVCTL_MAX_EVENT_STREAMS": "7",
        "GOVCTL_WEBHOOK_PRIVATE": "true",
        "GOVCTL_OIDC_AUDIENCE": "https://skills.example.com",
        "GOVCTL_OIDC_PRIVATE": "true",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318",
    }
    assert set(given) == {setting.variable for setting in SETTINGS}
    assert Settings.from_environment(given) == Settings(
        database_url="postgresql://service@db/governance",
        database_owner_url="postgresql://owner@db/governance",
        home=Path("/srv/govctl"),
        host="::1",
        port=0,
        session_pool_size=3,
        read_pool_size=4,
        statement_timeout_sec=5,
        max_body_bytes=4096,
        max_schema_bytes=2048,
        max_depth=64,
        max_batch=7,
        ceiling_ms=80,
        drain_sec=5,
        max_event_streams=7,
        webhook_private=True,
        oidc_audience="https://skills.example.com",
        oidc_private=True,
        otlp_endpoint="http://collector:4318",
    )


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("GOVCTL_PORT", "tcp://10.0.0.1:8470"),
        ("GOVCTL_PORT", "65536"),
        ("GOVCTL_PORT", "-1"),
        ("GOVCTL_PORT", "٨٤٧٠"),
        ("GOVCTL_PORT", "9" * 5000),
        ("GOVCTL_HOST", "127.0.0.1 evil"),
        ("GOVCTL_HOME", "relative/folder"),
        ("GOVCTL_HOME", "/nul\x00"),
        ("DATABASE_URL", "mysql://root:hunter2@db/x"),
        ("GOVCTL_MAX_DEPTH", "100000"),
    ],
)
def test_a_value_that_cannot_be_read_is_named_and_not_repeated(variable: str, value: str) -> None:
    with pytest.raises(UsageError) as caught:
        Settings.from_environment({**HOME, variable: value})
    assert caught.value.message.startswith(variable)
    assert value not in caught.value.message + caught.value.fix
    assert "default" in caught.value.fix


def test_an_owner_without_a_database_is_refused() -> None:
    with pytest.raises(UsageError, match="DATABASE_URL is not"):
        Settings.from_environment({**HOME, "DATABASE_OWNER_URL": "postgresql://o@db/x"})


def test_passwords_stay_out_of_what_is_printed() -> None:
    url = "postgresql://service:hunter2@db/x"
    assert "hunter2" not in repr(Settings(home=Path("/"), database_url=url, database_owner_url=url))


def test_an_unknown_variable_of_ours_is_reported_and_the_command_lines_own_are_not() -> None:
    environment = {**HOME, "GOVCTL_PROT": "1", "GOVCTL_TOKEN": "t", "GOVCTL_SERVER": "s", "OTHER": "x"}
    assert Settings.from_environment(environment).unknown == ("GOVCTL_PROT",)


def test_an_empty_variable_is_unset() -> None:
    assert Settings.from_environment({**HOME, "DATABASE_URL": "", "GOVCTL_PORT": ""}).port == 8470


@pytest.mark.parametrize(
    ("environment", "root", "home"),
    [
        ({}, True, "/var/lib/govctl"),
        ({"HOME": "/root", "XDG_DATA_HOME": "/x"}, True, "/var/lib/govctl"),
        ({"HOME": "/home/ada", "XDG_DATA_HOME": "/data"}, False, "/data/govctl"),
        ({"HOME": "/home/ada", "XDG_DATA_HOME": "relative"}, False, "/home/ada/.local/share/govctl"),
    ],
)
def test_the_home_is_roots_own_or_the_users_data_folder(
    environment: dict[str, str], root: bool, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert default_home(environment, root=root) == Path(home)


def test_without_any_home_the_setting_is_named() -> None:
    with pytest.raises(UsageError) as caught:
        default_home({}, root=False)
    assert "GOVCTL_HOME" in caught.value.fix
