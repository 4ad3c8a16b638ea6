"""The OpenAPI document of one service, read off its routes and the contracts of its tools."""

from __future__ import annotations

import re
from collections.abc import Mapping

from unacked import __version__
from unacked.canonical import JSON
from unacked.contract import Argument
from unacked.rpc import Meant
from unacked.services import Field, Route, Service
from unacked.tools import WIRED, Tool

__all__ = ["openapi"]

_TYPES: Mapping[type, str] = {str: "string", int: "integer", dict: "object", list: "array"}
_FORM = "application/x-www-form-urlencoded"
_ERROR: JSON = {"$ref": "#/components/schemas/Error"}
_CORRELATION: JSON = {
    "name": "X-Correlation-Id",
    "in": "header",
    "required": False,
    "description": "Comes back in the answer's header and, in a success, in its body.",
    "schema": {"type": "string"},
}
_KEY: JSON = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Names the logical request.",
    "schema": {"type": "string"},
}
_REFUSALS: Mapping[str, str] = {
    "400": "The body or the query cannot be read.",
    "401": "The credential is not known, or has expired.",
    "403": "This identity may not do that.",
    "404": "There is no such object.",
    "409": "Another request with this key is in flight, or the object is in the way.",
    "422": "A field is missing or wrong, or the key was used for another request.",
    "429": "Too many requests; Retry-After says when to come again.",
}


def openapi(service: Service, url: str) -> dict[str, JSON]:
    """Return the OpenAPI 3.1 document of a service that is reached at ``url``."""
    paths: dict[str, dict[str, JSON]] = {}
    for route in service.operations.values():
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, WIRED.get(route.operation))
    error = {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": service.name, "version": __version__, "description": (type(service).__doc__ or "").strip()},
        "servers": [{"url": url}],
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": error},
        },
    }


def _operation(route: Route, tool: Tool | None) -> dict[str, JSON]:
    described = {argument.name: argument for argument in tool.operation.arguments} if tool else {}
    summary = tool.operation.description if tool else (route.action.__doc__ or route.operation).strip()
    document: dict[str, JSON] = {
        "operationId": route.operation,
        "summary": summary,
        "parameters": _parameters(route, described),
        "responses": {
            _success(tool): {"description": "Done.", "content": _json(_result(tool))},
            **{status: {"description": text, "content": _json(_ERROR)} for status, text in _REFUSALS.items()},
        },
    }
    if route.public:
        document["security"] = []
    if "#" in route.path:
        document["requestBody"] = {"required": True, "content": _json(_message(route, described))}
    elif route.fields and route.method != "GET":
        body = _fields(route, described)
        content = {_FORM: {"schema": body}} if route.form else _json(body)
        document["requestBody"] = {"required": bool(body["required"]), "content": content}
    return document


def _fields(route: Route, described: Mapping[str, Argument]) -> dict[str, JSON]:
    return {
        "type": "object",
        "properties": {name: _schema(field, described.get(name)) for name, field in route.fields.items()},
        "required": [name for name, field in route.fields.items() if field.required],
        "additionalProperties": False,
    }


def _message(route: Route, described: Mapping[str, Argument]) -> dict[str, JSON]:
    """The JSON-RPC message that asks for the operation; what it means stands in the head again."""
    meant = Meant.of(route.path)
    assert meant is not None  # noqa: S101 - the path says so
    params = {"type": "object", "properties": {"arguments": _fields(route, described)}}
    if meant.name is not None:
        params = {**params, "required": ["name"]}
    names = {"jsonrpc": {"const": "2.0"}, "id": {"type": ["string", "integer"]}, "method": {"const": meant.method}}
    return {"type": "object", "properties": {**names, "params": params}, "required": [*names, "params"]}


def _parameters(route: Route, described: Mapping[str, Argument]) -> list[JSON]:
    parameters: list[JSON] = [
        {"name": name, "in": "path", "required": True, "schema": _schema(Field(), described.get(name))}
        for name in re.findall(r"\{(\w+)\}", route.path)
    ]
    if route.method == "GET":
        parameters += [
            {"name": name, "in": "query", "required": field.required, "schema": _schema(field, described.get(name))}
            for name, field in route.fields.items()
        ]
    return [*parameters, *([_KEY] if route.keyed else []), _CORRELATION]


def _success(tool: Tool | None) -> str:
    return str(tool.endpoint.success) if tool and tool.endpoint else "200"


def _json(schema: JSON) -> dict[str, JSON]:
    return {"application/json": {"schema": schema}}


def _schema(field: Field, described: Argument | None) -> dict[str, JSON]:
    names = [_TYPES.get(item, "number") for item in field.types]
    schema: dict[str, JSON] = {"type": names[0] if len(names) == 1 else names}
    if "string" in names:
        schema["minLength"] = 1
    if described and described.description:
        schema["description"] = described.description
    return schema


def _result(tool: Tool | None) -> JSON:
    """The body of a success: the fields of the contract, or a collection of objects that have them."""
    if tool is None or tool.endpoint is None:
        return {"type": "object"}
    fields = [field for field in tool.operation.result if field.name != "complete"]
    schema = {
        "type": "object",
        "properties": {field.name: {"type": field.json_type} for field in fields},
        "required": [field.name for field in fields if field.required],
    }
    if not tool.endpoint.lookup:
        return schema
    collection = {"items": {"type": "array", "items": schema}, "complete": {"type": "boolean"}}
    return {"type": "object", "properties": collection, "required": ["items", "complete"]}
