"""How an operation reaches its service over HTTP, and what a usable answer looks like."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from urllib.parse import quote, urlencode

from unacked.approval import Lasts
from unacked.canonical import JSON, dumps
from unacked.contract import Argument, Operation
from unacked.marker import SCRIPT
from unacked.rpc import Meant

__all__ = ["NOT_DONE", "Endpoint", "Shell", "Tool", "argument_problem"]

NOT_DONE = (424,)
"""How a service says that it took a request and did not do it, unless its contract has another way (RFC 4918, 11.4)."""

_TYPES: Mapping[str, tuple[str, tuple[type, ...]]] = {
    "string": ("a string", (str,)),
    "integer": ("an integer", (int,)),
    "number": ("a number", (int, float)),
    "boolean": ("a boolean", (bool,)),
    "object": ("an object", (dict,)),
    "array": ("an array", (list,)),
}
_IN_BRACES = re.compile(r"\{(\w+)\}")
_HEADER_VALUE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LARGEST = 1e15
"""Numbers up to here are exact in every JSON reader; no time, count or amount in a task is larger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One HTTP request form.

    ``path`` names arguments in braces; ``query`` and ``body`` list the arguments that travel there. A path with a
    ``#`` is a place of JSON-RPC, as ``unacked.rpc`` has it: what stands behind it travels in the message.
    ``success`` is the only status that means done; ``lookup`` says that the answer is a collection
    (``items`` and ``complete``) of at most one match. ``hides_denial`` is the provider's declaration that
    404 is also the answer to whoever may not do this: it never proves that the object is not there.
    ``failures`` are the statuses by which the service says that it took the request and did not do it.
    ``collection`` says that the answer is one page under the completeness envelope; ``pages`` is how many of them
    the tool follows within one call. ``needs_inventory`` asks for evidence before anything is sent: ``snapshot``
    must be of an inventory that was seen whole, ``ids`` (where there are any) must stand in it.
    """

    service: str
    method: str
    path: str
    query: tuple[str, ...] = ()
    body: tuple[str, ...] = ()
    success: int = 200
    lookup: bool = False
    hides_denial: bool = False
    failures: tuple[int, ...] = ()
    collection: bool = False
    pages: int = 1
    needs_inventory: bool = False

    @property
    def host(self) -> str:
        """The host name that the service answers to."""
        return f"{self.service}.test"

    @property
    def within(self) -> tuple[str, ...]:
        """Where in the body of an answer its fields stand: nowhere deeper, or inside a JSON-RPC reply."""
        meant = Meant.of(self.path)
        return () if meant is None else meant.within

    def meant(self, arguments: Mapping[str, JSON]) -> Meant | None:
        """Return what the JSON-RPC message of one call means; None where it is no such message."""
        path, at, meant = self.path.partition("#")
        return Meant.of(path + at + _IN_BRACES.sub(lambda name: str(arguments[name[1]]), meant))

    def url(self, arguments: Mapping[str, JSON]) -> str:
        """Return the absolute URL of one call; arguments are quoted, never interpreted."""
        path = self.path.partition("#")[0]
        path = _IN_BRACES.sub(lambda name: quote(str(arguments[name[1]]), safe=""), path)
        query = {name: arguments[name] for name in self.query if arguments.get(name) is not None}
        return f"https://{self.host}{path}?{urlencode(query)}" if query else f"https://{self.host}{path}"

    def problem(self, arguments: Mapping[str, JSON]) -> str | None:
        """Return which argument cannot stand in the URL, in words fit for the agent, or None.

        An empty or dotted one would turn one object into another, or into its whole collection.
        """
        in_path = _IN_BRACES.findall(self.path)
        in_message = _IN_BRACES.findall(self.path.partition("#")[2])
        for name in (*in_path, *self.query):
            value = arguments.get(name)
            if name in in_path and value in ("", ".", ".."):
                return f"argument {name!r} must be an identifier"
            if isinstance(value, str) and not value.isascii() and _SURROGATE.search(value):
                return f"argument {name!r} must be whole characters"
            if name in in_message and not _HEADER_VALUE.fullmatch(str(value)):
                return f"argument {name!r} must be printable ASCII"
        return None

    def headers(self, arguments: Mapping[str, JSON]) -> dict[str, str]:
        """Return the headers of one call that belong to its form; none but where it is a JSON-RPC message."""
        meant = self.meant(arguments)
        return {} if meant is None else meant.headers

    def content(self, arguments: Mapping[str, JSON], request_id: str) -> bytes:
        """Return the JSON body of one call, empty where the operation sends nothing in it.

        ``request_id`` is the id of the message, where it is one of JSON-RPC.
        """
        fields = {name: arguments[name] for name in self.body if arguments.get(name) is not None}
        meant = self.meant(arguments)
        if meant is not None:
            return dumps(meant.request(fields, request_id)).encode()
        return dumps(fields).encode() if fields else b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """A shell on the hosts of a service, reached over SSH."""

    service: str


@dataclass(frozen=True, slots=True)
class Tool:
    """An operation and, where it leaves this process, its endpoint or the shell that it uses.

    ``approval`` is the kind of approval that the tool asks the gate for before it sends anything; None where it
    asks nobody. ``at_gate`` says that the operation itself is a question to the gate.
    """

    operation: Operation
    endpoint: Endpoint | None = None
    shell: Shell | None = None
    approval: Lasts | None = None
    at_gate: bool = False

    @property
    def service(self) -> str | None:
        """The service that is reached; None for what the trial itself or the gate answers."""
        way = self.endpoint or self.shell
        return None if way is None else way.service

    @property
    def local(self) -> bool:
        """Whether a call of it never leaves the harness."""
        return self.service is None and not self.at_gate

    def as_json(self) -> dict[str, JSON]:
        """Return contract and way out as a JSON object; its digest is the pin of the tool."""
        endpoint = None if self.endpoint is None else asdict(self.endpoint)
        value: dict[str, JSON] = {"operation": self.operation.as_json(), "endpoint": endpoint}
        if self.approval is not None:
            value["approval"] = self.approval.value
        return value if self.shell is None else {**value, "shell": asdict(self.shell), "script": SCRIPT}


def argument_problem(operation: Operation, arguments: Mapping[str, JSON]) -> str | None:
    """Return what is wrong with a call's arguments in words fit for the agent, or None."""
    declared = {argument.name for argument in operation.arguments}
    for name in arguments:
        if name not in declared:
            return f"{operation.name} takes no argument {name!r}"
    for argument in operation.arguments:
        value = arguments.get(argument.name)
        if value is not None:
            problem = _value_problem(operation, argument, value)
        else:
            problem = "is missing" if argument.required else None
        if problem is not None:
            return f"argument {argument.name!r} {problem}"
    return None


def _value_problem(operation: Operation, argument: Argument, value: JSON) -> str | None:
    if not has_type(value, argument.json_type):
        return f"must be of type {argument.json_type}"
    if argument.json_type in ("number", "integer") and not -_LARGEST <= value <= _LARGEST:
        return "is out of range"
    names_something = argument.name in (operation.target, operation.request, operation.idempotency)
    if value == "" and (argument.required or names_something):
        return "must not be empty"
    if argument.name == operation.idempotency and not _HEADER_VALUE.fullmatch(value):
        return "must be printable ASCII"
    if argument.choices and value not in argument.choices:
        return f"must be one of: {', '.join(argument.choices)}"
    return None


def has_type(value: JSON, json_type: str) -> bool:
    """Return whether a JSON value is of a JSON type; true and false are not numbers."""
    return isinstance(value, _TYPES[json_type][1]) and (json_type == "boolean" or not isinstance(value, bool))


def field_problem(field: Argument, body: Mapping[str, JSON]) -> str | None:
    """Return what a result field must be, where it is not that; None where it is fine."""
    value = body.get(field.name)
    if value is None and not field.required:
        return None
    if not has_type(value, field.json_type):
        return _TYPES[field.json_type][0]
    if field.choices and value not in field.choices:
        return f"one of: {', '.join(field.choices)}"
    return None
