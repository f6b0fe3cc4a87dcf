"""SemVer 2.0.0 order, npm ranges, required bumps and lines."""

from __future__ import annotations
