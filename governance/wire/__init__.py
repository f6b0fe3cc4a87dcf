"""Messages both planes speak, and the one JSON writer that keeps every number exact.

What a caller sends forbids unknown fields; what the service answers may grow, so readers ignore what they do
not know. Contracts, decisions and payloads travel as plain JSON: their form is ``to_document`` of the core.
"""

from governance.wire.audit import AuditPage
from governance.wire.base import (
    MAX_PAGE,
    PROBLEM_MEDIA_TYPE,
    PROBLEM_TYPE_PREFIX,
    Answer,
    Health,
    JSONObject,
    Problem,
    ProblemFault,
    Request,
    ShortText,
    Text,
)
from governance.wire.catalogues import (
    Catalogue,
    CatalogueCandidate,
    CatalogueDiff,
    CatalogueMember,
    CataloguePage,
    CatalogueRelease,
    Released,
    ReleasePage,
    ReleaseRequest,
    ReleaseSummary,
)
from governance.wire.checks import CheckProvenance, CheckRequest, CheckResult
from governance.wire.exact import write_json
from governance.wire.policies import EffectivePolicy, PolicyPage, PolicyRequest, PolicyRevision, PolicyValue
from governance.wire.questions import Judgement, Matrix
from governance.wire.resolve import (
    HeldBackView,
    Resolution,
    ResolveAnswer,
    Resolved,
    ResolveQuestion,
    ResolveRequest,
)
from governance.wire.skills import (
    Diff,
    LineView,
    Provenance,
    Published,
    Skill,
    SkillCard,
    SkillPage,
    SkillVersion,
    VersionPage,
    VersionSummary,
)
from governance.wire.tokens import Grant, Role, TokenCreated, TokenPage, TokenRequest, TokenView

__all__ = [
    "MAX_PAGE",
    "PROBLEM_MEDIA_TYPE",
    "PROBLEM_TYPE_PREFIX",
    "Answer",
    "AuditPage",
    "Catalogue",
    "CatalogueCandidate",
    "CatalogueDiff",
    "CatalogueMember",
    "CataloguePage",
    "CatalogueRelease",
    "CheckProvenance",
    "CheckRequest",
    "CheckResult",
    "Diff",
    "EffectivePolicy",
    "Grant",
    "Health",
    "HeldBackView",
    "JSONObject",
    "Judgement",
    "LineView",
    "Matrix",
    "PolicyPage",
    "PolicyRequest",
    "PolicyRevision",
    "PolicyValue",
    "Problem",
    "ProblemFault",
    "Provenance",
    "Published",
    "ReleasePage",
    "ReleaseRequest",
    "ReleaseSummary",
    "Released",
    "Request",
    "Resolution",
    "ResolveAnswer",
    "ResolveQuestion",
    "ResolveRequest",
    "Resolved",
    "Role",
    "ShortText",
    "Skill",
    "SkillCard",
    "SkillPage",
    "SkillVersion",
    "Text",
    "TokenCreated",
    "TokenPage",
    "TokenRequest",
    "TokenView",
    "VersionPage",
    "VersionSummary",
    "write_json",
]
