"""The service's domains, one line each. Importing this module registers their tables."""

from __future__ import annotations

from fastapi import APIRouter

ROUTERS: tuple[APIRouter, ...] = ()
