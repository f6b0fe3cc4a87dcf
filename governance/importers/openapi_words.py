"""What an OpenAPI operation says of itself beside its schemas, and what a caller needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from governance.core.compat.model import JSON
from governance.importers.values import at

_SAFE: Final = frozenset({"get", "head", "options", "trace", "query"})
_IDEMPOTENT: Final = _SAFE | {"put", "delete"}


def words_of(operation: Mapping[str, JSON], method: str) -> tuple[dict[str, JSON], set[str]]:
    """What the operation says of itself, and what is filled in."""
    fields: dict[str, JSON] = {}
    defaulted = {"timeout_sec", "compatibility", "description", "output_schema"}
    summary, description = operation.get("summary"), operation.get("description")
    if description not in (None, ""):
        fields["description"] = description
        fields |= {"title": summary} if summary not in (None, "") else {}
    elif summary not in (None, ""):
        fields["description"] = summary
    tags = operation.get("tags")
    if isinstance(tags, list):
        found = [tag.strip() if isinstance(tag, str) else tag for tag in tags]
        fields |= {"tags": [tag for tag in found if tag != ""]} if found else {}
    elif tags is not None:
        fields["tags"] = tags
    if method in _SAFE:
        fields["side_effects"] = "read"
        defaulted.add("side_effects")
    if method in _IDEMPOTENT:
        fields["idempotent"] = True
        defaulted.add("idempotent")
    return fields, defaulted


def needs_of(
    document: Mapping[str, JSON], operation: Mapping[str, JSON], item: Mapping[str, JSON], extension: dict[str, JSON]
) -> dict[str, JSON]:
    """What a caller needs besides arguments, as far as it can be said without alternatives; the rest joins
    ``extension``."""
    fields: dict[str, JSON] = {}
    servers = next((one["servers"] for one in (operation, item, document) if one.get("servers")), None)
    if servers is not None:
        extension["servers"] = servers
        if endpoint := _endpoint(servers):
            fields["runtime_requirements"] = {"network": [endpoint]}
    security = operation.get("security", document.get("security"))
    if security is not None:
        extension["security"] = security
        ways = [way for way in security if isinstance(way, dict)] if isinstance(security, list) else []
        schemes = at(document, "/components/securitySchemes")
        if isinstance(schemes, dict):
            used = {name: schemes[name] for way in ways for name in way if name in schemes}
            extension |= {"securitySchemes": used} if used else {}
        if isinstance(security, list) and len(security) == 1 and ways:
            lists = [scopes for scopes in ways[0].values() if isinstance(scopes, list)]
            scopes = [scope for listed in lists for scope in listed]
            fields |= {"required_permissions": scopes} if scopes else {}
    return fields


def _endpoint(servers: JSON) -> str | None:
    """The one absolute address, without path and credentials; None where there are several, or none to know."""
    url = servers[0].get("url") if isinstance(servers, list) and len(servers) == 1 and _is_object(servers[0]) else None
    if not isinstance(url, str) or "{" in url:
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    host = parts.netloc.rpartition("@")[2]
    usable = parts.scheme in ("http", "https") and host and host.isprintable() and " " not in host
    return f"{parts.scheme}://{host}" if usable else None


def _is_object(value: JSON) -> bool:
    return isinstance(value, dict)
