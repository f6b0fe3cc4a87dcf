"""ROUTERS, one line per domain. Importing this module registers every table with the one metadata."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

import governance.control.attestations.tables
import governance.control.audit.tables
import governance.control.auth.tables
import governance.control.catalogues.tables
import governance.control.consumers.tables
import governance.control.events.tables
import governance.control.exceptions.tables
import governance.control.gates.tables
import governance.control.idempotency.tables
import governance.control.identity.tables
import governance.control.policies.tables
import governance.control.rollouts.tables
import governance.control.skills.tables  # noqa: F401 - tables register when they are imported
from governance.control.attestations.routes import router as attestations
from governance.control.audit.routes import router as audit
from governance.control.catalogues.routes import router as catalogues
from governance.control.consumers.routes import router as consumers
from governance.control.events.delivering import DELIVERIES_MADE, DELIVERIES_PRUNED, DELIVERIES_SENT
from governance.control.events.routes import router as events
from governance.control.events.webhook_routes import router as webhooks
from governance.control.exceptions.ending import EXCEPTION_ENDS
from governance.control.exceptions.routes import router as exceptions
from governance.control.gates.acceptance_routes import router as acceptances
from governance.control.gates.deployment_routes import router as deployments
from governance.control.gates.routes import router as gates
from governance.control.identity.routes import router as identity
from governance.control.jobs import Job
from governance.control.lifecycle.routes import router as lifecycle
from governance.control.lifecycle.sunsets import DUE_SUNSETS
from governance.control.policies.routes import router as policies
from governance.control.rollouts.routes import router as rollouts
from governance.control.rollouts.running import ROLLOUT_STEPS
from governance.control.skills.routes import router as skills
from governance.control.tokens.routes import router as tokens

JOBS: Final[tuple[Job, ...]] = (
    EXCEPTION_ENDS,
    DUE_SUNSETS,
    ROLLOUT_STEPS,
    DELIVERIES_MADE,
    DELIVERIES_SENT,
    DELIVERIES_PRUNED,
)
"""What the service does by itself, one line per job."""

ROUTERS: Final[tuple[APIRouter, ...]] = (
    skills,
    lifecycle,
    rollouts,
    catalogues,
    gates,
    acceptances,
    deployments,
    attestations,
    consumers,
    exceptions,
    policies,
    tokens,
    identity,
    events,
    webhooks,
    audit,
)
