"""Run the control plane: the service on Postgres, embedded unless DATABASE_URL names one. Ctrl-C stops it."""

from __future__ import annotations

import argparse

from governance.cli import door
from governance.cli.run import Call


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", help="the address to listen on (else GOVCTL_HOST, else 127.0.0.1)")
    parser.add_argument("--port", type=_port, help="the port; 0 takes a free one (else GOVCTL_PORT, else 8470)")


def _port(text: str) -> int:
    value = int(text) if text.isascii() and text.isdecimal() and len(text) <= 5 else -1
    if not 0 <= value <= 65_535:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no port from 0 to 65535")
    return value


def run(call: Call) -> int:
    door.serve(call.environment, host=call.arguments.host, port=call.arguments.port)
    return 0
