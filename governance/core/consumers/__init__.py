"""Consumers: who is hit by a change, told for each by name."""

from governance.core.consumers.needs import Need, Source

__all__ = ["Need", "Source"]
