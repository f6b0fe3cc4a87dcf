"""Changes beside the schemas."""

from __future__ import annotations

from governance.core.compat.model import Finding
from governance.core.contract import SkillManifest


def contract_changes(old: SkillManifest, new: SkillManifest) -> list[Finding]:
    return []
