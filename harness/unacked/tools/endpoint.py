"""How an operation reaches its service over HTTP, and what a usable answer looks like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from unacked.canonical import JSON, dumps
from unacked.contract import Argument, Operation

__all__ = ["Endpoint", "Tool", "argument_problem"]

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One HTTP request form.

    ``path`` names arguments in braces; ``query`` and ``body`` list the arguments that travel there.
    ``success`` is the only status that means done; ``lookup`` says that the answer is a collection
    (``items`` and ``complete``) of at most one match.
    """

    service: str
    method: str
    path: str
    query: tuple[str, ...] = ()
    body: tuple[str, ...] = ()
    success: int = 200
    lookup: bool = False

    @property
    def host(self) -> str:
        """The host name that the service answers to."""
        return f"{self.service}.test"

    def url(self, arguments: Mapping[str, JSON]) -> str:
        """Return the absolute URL of one call; arguments are quoted, never interpreted."""
        path = self.path
        if "{" in path:
            path = path.format_map({name: quote(str(value), safe="") for name, value in arguments.items()})
        query = {name: arguments[name] for name in self.query if arguments.get(name) is not None}
        return f"https://{self.host}{path}?{urlencode(query)}" if query else f"https://{self.host}{path}"

    def content(self, arguments: Mapping[str, JSON]) -> bytes:
        """Return the JSON body of one call, empty where the operation sends none."""
        if not self.body:
            return b""
        return dumps({name: arguments[name] for name in self.body if arguments.get(name) is not None}).encode()


@dataclass(frozen=True, slots=True)
class Tool:
    """An operation and, where it leaves this process, its endpoint."""

    operation: Operation
    endpoint: Endpoint | None = None


def argument_problem(operation: Operation, arguments: Mapping[str, JSON]) -> str | None:
    """Return what is wrong with a call's arguments in words fit for the agent, or None.

    An empty identifier is refused here: in a path it would turn one object into its whole collection.
    """
    declared = {argument.name: argument for argument in operation.arguments}
    for name in arguments:
        if name not in declared:
            return f"{operation.name} takes no argument {name!r}"
    for argument in operation.arguments:
        value = arguments.get(argument.name)
        if value is None:
            if argument.required:
                return f"argument {argument.name!r} is missing"
            continue
        if not has_type(value, argument.json_type):
            return f"argument {argument.name!r} must be of type {argument.json_type}"
        if argument.required and value == "":
            return f"argument {argument.name!r} must not be empty"
        if argument.choices and value not in argument.choices:
            return f"argument {argument.name!r} must be one of: {', '.join(argument.choices)}"
    return None


def has_type(value: JSON, json_type: str) -> bool:
    """Return whether a JSON value is of a JSON type; true and false are not numbers."""
    return isinstance(value, _TYPES[json_type]) and (json_type == "boolean" or not isinstance(value, bool))


def field_problem(field: Argument, body: Mapping[str, JSON]) -> str | None:
    """Return what a result field must be, where it is not that; None where it is fine."""
    value = body.get(field.name)
    if value is None:
        return f"a {field.json_type}" if field.required else None
    if not has_type(value, field.json_type):
        return f"a {field.json_type}"
    if field.choices and value not in field.choices:
        return f"one of {', '.join(field.choices)}"
    return None
