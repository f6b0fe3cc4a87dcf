"""From manifests to the tool lists of the model APIs. The tools say what the client takes; what they cannot say
stands beside them, so that importing the whole gives every contract again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from governance.core.compat.model import JSON
from governance.core.contract import SkillManifest
from governance.core.names import shown
from governance.errors import InvalidRequest
from governance.importers.anthropic import ANTHROPIC
from governance.importers.functions import KEPT, Dialect, kept_of, tell_function
from governance.importers.openai import OPENAI


@dataclass(frozen=True, kw_only=True)
class Exported:
    """A document in a foreign dialect, and what its readers are not shown."""

    document: JSON
    losses: tuple[str, ...] = ()
    """``skill name: sentence``, without a full stop."""


def export_openai(manifests: Sequence[SkillManifest], *, flat: bool = False) -> Exported:
    """``{"tools": [{type: function, function: {…}}, …]}``, or with ``flat`` the form of the newer API.

    Promises a tool has no words for stand beside ``tools`` under KEPT, by tool name.

    Raises:
        InvalidRequest: a skill without an input schema is no tool; two skills fall on one tool name.
    """
    return _export(OPENAI, manifests, nested=not flat)


def export_anthropic(manifests: Sequence[SkillManifest]) -> Exported:
    """``{"tools": [{name, description, input_schema}, …]}``; otherwise as :func:`export_openai`."""
    return _export(ANTHROPIC, manifests, nested=False)


def _export(dialect: Dialect, manifests: Sequence[SkillManifest], *, nested: bool) -> Exported:
    tools: list[JSON] = []
    kept: dict[str, JSON] = {}
    losses: list[str] = []
    owners: dict[str, str] = {}
    for manifest in manifests:
        document = manifest.to_document()
        if "input_schema" not in document:
            raise InvalidRequest(
                f"{manifest.name} has no input schema, so it is no tool.", fix="Export it as native, skill-md or a2a."
            )
        told = tell_function(dialect, document, nested=nested)
        name = str(dialect.inner(told.tool)["name"])
        if name in owners:
            raise InvalidRequest(
                f"{owners[name]} and {manifest.name} both become the tool {shown(name)}.",
                fix="Export them apart, or rename one.",
            )
        owners[name] = manifest.name
        tools.append(told.tool)
        losses += [f"{manifest.name}: {loss}" for loss in told.losses]
        if beyond := kept_of(dialect, told.tool, document):
            kept[name] = beyond
    return Exported(document={"tools": tools, **({KEPT: kept} if kept else {})}, losses=tuple(losses))
