"""Which control plane, with which token: flags, environment, a config file, else the local server's."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from governance.cli.proving import assertion_of, may_prove
from governance.errors import MalformedDocument, UsageError

if TYPE_CHECKING:
    from governance.client import ControlPlane

_KEYS: dict[str, tuple[type, ...]] = {"server": (str,), "token": (str,), "timeout_sec": (int, float)}


@dataclass(frozen=True, kw_only=True)
class Connection:
    """The control plane this run talks to. ``origin`` says where the address was found."""

    server: str
    token: str | None = field(default=None, repr=False)
    origin: str
    timeout_sec: float | None = None
    proof: Mapping[str, str] | None = field(default=None, repr=False)
    """The variables by which a CI job can say who it is, where it has no token."""
    local: bool = False
    """It was found because this machine's own server wrote it down, not because anybody named it."""

    def open(self) -> ControlPlane:
        from governance.client import DEFAULT_TIMEOUT_SEC, ControlPlane

        timeout = self.timeout_sec or DEFAULT_TIMEOUT_SEC
        token = self.token
        if token is None and self.proof is not None:
            with ControlPlane(self.server, timeout=timeout) as stranger:
                token = stranger.exchange(assertion_of(self.proof)).token
        return ControlPlane(self.server, token, timeout=timeout)


@dataclass(frozen=True, kw_only=True)
class _Layer:
    origin: str
    server: str | None
    token: str | None


def find_connection(arguments: argparse.Namespace, environment: Mapping[str, str]) -> Connection | None:
    """The configured control plane, or None when there is none.

    A token is used only for the server that its own layer, or a layer below it, names: the local server's
    token never travels to another address.

    Raises:
        UsageError, MalformedDocument: a config file that is missing, unreadable or holds an unknown key.
    """
    settings, settings_file = _config(arguments.config, environment)
    layers = [
        _Layer(origin="--server", server=arguments.server, token=arguments.token),
        _Layer(
            origin="GOVCTL_SERVER",
            server=environment.get("GOVCTL_SERVER") or None,
            token=environment.get("GOVCTL_TOKEN") or None,
        ),
        _Layer(origin=str(settings_file), server=settings.get("server"), token=settings.get("token")),
        _local(environment),
    ]
    for index, layer in enumerate(layers):
        if layer.server is not None:
            same = [other for other in layers[index:] if other.server in (layer.server, None)]
            token = next((other.token for other in [*layers[:index], *same] if other.token), None)
            timeout = arguments.timeout or settings.get("timeout_sec")
            return Connection(
                server=layer.server,
                token=token,
                origin=layer.origin,
                timeout_sec=timeout,
                proof=environment if token is None and may_prove(environment) else None,
                local=index == len(layers) - 1,
            )
    return None


def require_connection(arguments: argparse.Namespace, environment: Mapping[str, str]) -> Connection:
    """Raises UsageError when no control plane is configured."""
    found = find_connection(arguments, environment)
    if found is None:
        raise UsageError(
            "No control plane is configured.",
            fix="Start one with `govctl serve`, or name one with --server or GOVCTL_SERVER.",
        )
    return found


def config_file(environment: Mapping[str, str]) -> Path | None:
    """Where the user's config file would be. Never the current folder: a cloned repository is not trusted."""
    if environment.get("XDG_CONFIG_HOME", "").startswith("/"):
        return Path(environment["XDG_CONFIG_HOME"]) / "govctl" / "config.toml"
    home = environment.get("HOME", "")
    return Path(home) / ".config" / "govctl" / "config.toml" if home.startswith("/") else None


def _config(flag: str | None, environment: Mapping[str, str]) -> tuple[dict[str, Any], Path | None]:
    named = flag or environment.get("GOVCTL_CONFIG") or None
    path = Path(named) if named else config_file(environment)
    if path is None or (named is None and not os.access(path, os.R_OK)):
        return {}, path
    import tomllib

    try:
        settings = tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise UsageError(
            f"The config file {path} cannot be read: {(error.strerror or 'it is not there').lower()}.",
            fix="Give --config or GOVCTL_CONFIG a readable TOML file.",
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedDocument(f"The config file {path} is no TOML: {error}.", fix="Correct it.") from None
    for key, value in settings.items():
        if key not in _KEYS:
            raise UsageError(
                f"The config file {path} has a key nobody knows: {key!r}.",
                fix=f"It may hold {', '.join(_KEYS)}.",
            )
        if type(value) not in _KEYS[key]:
            raise UsageError(f"In the config file {path}, {key} has the wrong type.", fix="Correct it.")
    return settings, path


def _local(environment: Mapping[str, str]) -> _Layer:
    from governance.cli.door import local_server

    found = local_server(environment)
    if found is None:
        return _Layer(origin="", server=None, token=None)
    path, server, token = found
    return _Layer(origin=str(path), server=server, token=token)
