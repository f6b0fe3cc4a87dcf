"""Deployments: what `can-i-deploy` says decides, where the environment is protected, and is told everywhere."""

from __future__ import annotations

from sqlmodel import Session

from governance.control.auth.roles import Caller
from governance.control.consumers import environments
from governance.control.exceptions import service as exceptions
from governance.control.skills import asking
from governance.control.skills.judging import Judge
from governance.control.skills.service import lock
from governance.core.gate import Outcome
from governance.core.versioning import Version
from governance.errors import GateRefused
from governance.wire import Deployed, DeploymentRequest


def deploy(
    session: Session, environment: str, skill: str, request: DeploymentRequest, *, by: Caller, judge: Judge
) -> Deployed:
    """Put on record that a version runs in an environment. Safe to repeat.

    The skill is held meanwhile, so that what was judged is what is put on record. What a protected environment takes
    by an exception is a use of it.

    Raises:
        GateRefused: the environment is protected; ``details["judgement"]`` says why not.
        Conflict: an exception that it needs ended meanwhile.
        NotFound, Forbidden, InvalidVersion.
    """
    environments.need_to_deploy(skill, by=by)
    version = Version.parse(request.version)
    lock(session, [skill])
    where = environments.load(session, environment)
    judged = asking.deployment(session, skill, version, environment, beside=request.beside, by=by, judge=judge)()
    if where.protected and judged.outcome is Outcome.BLOCK:
        first = judged.reasons[0]
        raise GateRefused(
            f"{environment} is protected, and {skill} {version} may not run there: {first.message.rstrip('.')}.",
            fix=first.fix,
            details={"judgement": judged.to_document()},
        )
    created, deployment, ended = environments.record(session, environment, skill, str(judged.version), request, by=by)
    if where.protected and (created or ended):
        subject = f"{skill}@{version} in {environment}"
        exceptions.use(session, judged.exceptions_used, subject=subject, by=by, at=deployment.deployed_at)
    return Deployed(created=created, deployment=deployment, ended=ended, judgement=judged.to_document())
