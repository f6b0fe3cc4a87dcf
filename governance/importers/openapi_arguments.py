"""The arguments of one OpenAPI operation as one object schema.

The rule by which arguments become one object: every parameter stands under its own name, a request body under
``body``. Where one name is used in several locations, the first in the order path, query, header, cookie keeps
it and the others are called ``query_id``, ``header_id``…; a parameter called ``body`` beside a body always takes
that longer form. Headers that the protocol owns (Accept, Content-Type, Authorization) are no arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from governance.core.canonical import escape
from governance.core.compat.model import JSON
from governance.core.fields import kind_of
from governance.core.names import shown
from governance.importers.openapi_parts import Part, Side, Unusable, media_of, resolved
from governance.importers.openapi_schema import Schemas

_LOCATIONS: Final = ("path", "query", "header", "cookie")
_OWNED: Final = frozenset({"accept", "content-type", "authorization"})
_FORMS: Final = ("application/x-www-form-urlencoded", "multipart/form-data")
_TOLD: Final = frozenset(
    {"name", "in", "schema", "content", "description", "required", "example", "examples", "deprecated"}
)


@dataclass(frozen=True, kw_only=True)
class _Parameter:
    name: str
    location: str
    value: Mapping[str, JSON]
    pointer: str


def input_of(
    document: Mapping[str, JSON], schemas: Schemas, item: Mapping[str, JSON], item_pointer: str, method: str
) -> Side:
    """The arguments of the operation ``method`` of a path item."""
    side = Side()
    operation = item[method]
    pointer = f"{item_pointer}/{method}"
    parameters: dict[tuple[str, str], _Parameter] = {}
    for holder, prefix in ((item, item_pointer), (operation, pointer)):
        for parameter in _parameters(document, holder, prefix, side):
            parameters[parameter.location, parameter.name] = parameter
    properties: dict[str, JSON] = {}
    required: list[str] = []
    about: dict[str, JSON] = {}
    body = _body(document, schemas, operation, pointer, side)
    taken = {"body"} if body else set()
    for parameter in sorted(parameters.values(), key=lambda one: _LOCATIONS.index(one.location)):
        if parameter.location == "header" and parameter.name.lower() in _OWNED:
            continue
        name = parameter.name
        while name in taken:
            name = f"{parameter.location}_{name}"
        taken.add(name)
        properties[name] = _argument(document, schemas, parameter, f"/properties/{escape(name)}", side)
        if parameter.location == "path" or parameter.value.get("required") is True:
            required.append(name)
        rest = {key: value for key, value in parameter.value.items() if key not in _TOLD}
        renamed = {"name": parameter.name} if name != parameter.name else {}
        media = None if parameter.value.get("schema") is not None else media_of(parameter.value.get("content"))
        kind = {"content": media[0]} if media else {}
        about[name] = {"in": parameter.location, **renamed, **kind, **rest}
    if about:
        side.about["parameters"] = about
    if body:
        properties["body"], demanded = body
        required += ["body"] if demanded else []
    side.schema = {"type": "object", "properties": properties, **({"required": required} if required else {})}
    return side


def _parameters(
    document: Mapping[str, JSON], holder: Mapping[str, JSON], prefix: str, side: Side
) -> Iterator[_Parameter]:
    listed = holder.get("parameters")
    if listed is None:
        return
    if not isinstance(listed, list):
        side.unusable.append(Unusable(f"{prefix}/parameters", f"a list is expected, not {kind_of(listed)}"))
        return
    for index, item in enumerate(listed):
        try:
            value, pointer = resolved(document, item, f"{prefix}/parameters/{index}")
            name, location = value.get("name"), value.get("in")
            if not isinstance(name, str) or not name:
                raise Unusable(pointer, f"the parameter at {pointer} has no name", "missing")
            if location not in _LOCATIONS:
                known = ", ".join(_LOCATIONS)
                raise Unusable(f"{pointer}/in", f"{shown(location)} is no place for a parameter; {known} are")
            yield _Parameter(name=name, location=location, value=value, pointer=pointer)
        except Unusable as error:
            side.unusable.append(error)


def _argument(document: Mapping[str, JSON], schemas: Schemas, parameter: _Parameter, pointer: str, side: Side) -> JSON:
    value = parameter.value
    source, schema = f"{parameter.pointer}/schema", value.get("schema")
    if schema is None:
        media = media_of(value.get("content"))
        if media is None:
            side.warnings.append((parameter.pointer, f"the parameter {shown(parameter.name)} has no schema"))
            schema = {}
        else:
            source = f"{parameter.pointer}/content/{escape(media[0])}/schema"
            schema = media[1].get("schema", {})
    piece = schemas.translate(schema, "input")
    side.parts.append(Part(piece=piece, source=source, pointer=pointer))
    told: dict[str, JSON] = {}
    if isinstance(value.get("description"), str) and value["description"]:
        told["description"] = value["description"]
    if value.get("deprecated") is True:
        told["deprecated"] = True
    if samples := _samples(document, value, parameter.pointer):
        told["examples"] = samples
    return _with(piece.schema, told, schemas)


def _with(schema: JSON, told: dict[str, JSON], schemas: Schemas) -> JSON:
    """The schema with words beside it, which change nothing."""
    if not told or not isinstance(schema, bool | dict):
        return schema
    if schema is True:
        return told
    if schema is False or ("$ref" in schema and schemas.dialect.ref_hides_siblings):
        return {"allOf": [schema], **told}
    return {**schema, **told}


def _samples(document: Mapping[str, JSON], value: Mapping[str, JSON], pointer: str) -> list[JSON]:
    if "example" in value:
        return [value["example"]]
    named = value.get("examples")
    found: list[JSON] = []
    for name, item in named.items() if isinstance(named, Mapping) else ():
        try:
            example, _ = resolved(document, item, f"{pointer}/examples/{escape(name)}")
        except Unusable:
            continue  # an example is no promise
        if "value" in example:
            found.append(example["value"])
    return found


def _body(
    document: Mapping[str, JSON], schemas: Schemas, operation: Mapping[str, JSON], pointer: str, side: Side
) -> tuple[JSON, bool] | None:
    """The schema of the request body and whether it must be sent."""
    if operation.get("requestBody") is None:
        return None
    try:
        body, where = resolved(document, operation["requestBody"], f"{pointer}/requestBody")
        content = body.get("content")
        if not isinstance(content, Mapping):
            raise Unusable(where, f"the request body at {where} has no content", "missing")
        demanded = body.get("required") is True
        media = media_of(content) or next(((key, content[key]) for key in _FORMS if key in content), None)
        if media is None:
            told = f"the request body at {where} is {', '.join(map(shown, list(content)[:5])) or 'nothing'}, not JSON"
            if demanded:
                raise Unusable(where, f"{told}, and it is required", "media-type")
            side.warnings.append((where, f"{told}; it is left out"))
            return None
    except Unusable as error:
        side.unusable.append(error)
        return None
    kind, details = media
    source = f"{where}/content/{escape(kind)}/schema"
    piece = schemas.translate(details.get("schema", True) if isinstance(details, Mapping) else True, "input")
    side.parts.append(Part(piece=piece, source=source, pointer="/properties/body"))
    others = [key for key in content if key != kind]
    rest = {key: value for key, value in body.items() if key not in {"content", "description", "required"}}
    encoding = details.get("encoding") if isinstance(details, Mapping) else None
    side.about["requestBody"] = {
        "content": kind,
        **({"encoding": encoding} if encoding else {}),
        **({"also": others} if others else {}),
        **rest,
    }
    description = body.get("description")
    told_beside = {"description": description} if isinstance(description, str) and description else {}
    return _with(piece.schema, told_beside, schemas), demanded
