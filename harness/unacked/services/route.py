"""Routes as data: which request means which operation, and which fields it must bring."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

from unacked.canonical import JSON, dumps, loads
from unacked.rpc import Meant
from unacked.wire.message import Request

__all__ = ["Call", "Field", "RefusedError", "Result", "Route", "RouteTable"]


class Result(NamedTuple):
    """What a service does with one request: the answer, and whether durable state changed."""

    status: int
    body: Mapping[str, JSON]
    headers: tuple[tuple[str, str], ...] = ()
    committed: bool = False


class RefusedError(Exception):
    """The service refuses a request and changes nothing; the answer is ``{"error": code}``."""

    def __init__(
        self,
        status: int,
        code: str,
        *,
        field: str | None = None,
        headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(code)
        body = {"error": code} if field is None else {"error": code, "field": field}
        self.result = Result(status, body, headers)


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a request body, a query or a seed; null counts as absent, an empty string as wrong."""

    types: tuple[type, ...] = (str,)
    required: bool = True

    def accepts(self, value: JSON) -> bool:
        """Whether ``value`` can stand in this field."""
        if isinstance(value, str):
            return value != "" and str in self.types
        return isinstance(value, self.types) and not isinstance(value, bool) and _writable(value)

    def __str__(self) -> str:
        names = {str: "a non-empty string", dict: "an object", list: "a list", int: "an integer"}
        return " or ".join(names.get(item, item.__name__) for item in self.types)


class Call(NamedTuple):
    """A request that was accepted for execution; every declared field is present, absent ones are None."""

    path: Mapping[str, str]
    fields: Mapping[str, JSON]
    identity: str
    correlation_id: str | None
    request_id: str | None
    """The body's ``request_id``, else the X-Request-Id header."""


@dataclass(frozen=True, slots=True)
class Route:
    """One operation of a service.

    ``path`` may hold names in braces: ``/v1/records/{record_id}``. ``action`` is a method of the
    service; it returns a Result or raises RefusedError. ``fields`` are read from the query of a GET and
    from the body of any other request, which is JSON unless ``form`` says that it is a web form. ``keyed``
    says that the operation takes an Idempotency-Key, ``public`` that it asks for no bearer credential. A path with a
    ``#`` is a place of JSON-RPC: ``/mcp#tools/call/{tool}``.
    """

    operation: str
    method: str
    path: str
    action: Callable[[Any, Call], Result]
    fields: Mapping[str, Field] = field(default_factory=dict)
    keyed: bool = False
    form: bool = False
    public: bool = False

    def read(self, request: Request, path: Mapping[str, str]) -> dict[str, JSON]:
        """Return the declared fields; raises RefusedError, 400 or 422 (a form: always 400)."""
        given = self._given(request, self.meant(path))
        fields: dict[str, JSON] = {}
        for name, declared in self.fields.items():
            value = fields[name] = given.get(name)
            if declared.required if value is None else not declared.accepts(value):
                raise RefusedError(self._unfit, "invalid_request", field=name)
        if not given.keys() <= fields.keys():
            raise RefusedError(self._unfit, "invalid_request", field=min(given.keys() - fields.keys()))
        return fields

    def meant(self, path: Mapping[str, str]) -> Meant | None:
        """Return what a JSON-RPC message must mean that comes here, ``path`` being the names in the request's place."""
        return Meant.of(self.path.format_map(path)) if "#" in self.path else None

    def _given(self, request: Request, meant: Meant | None) -> Mapping[str, JSON]:
        if meant is not None:
            return _arguments(meant, request.body)
        if self.method == "GET":
            return _query(request.query)
        return _query(request.body.decode("latin-1"), unfit=400) if self.form else _body(request.body)

    @property
    def _unfit(self) -> int:
        """The status for a wrong field: OAuth 2.0, where forms come from, knows no 422."""
        return 400 if self.form else 422


class RouteTable:
    """Finds the route of a request; refuses two routes for one request or for one operation."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.routes: dict[str, Route] = {}
        self._exact: dict[tuple[str, str], Route] = {}
        self._patterns: list[tuple[str, re.Pattern[str], Route]] = []
        for route in routes:
            if route.operation in self.routes:
                raise ValueError(f"operation {route.operation!r} has two routes")
            self.routes[route.operation] = route
            self._add(route)

    def _add(self, route: Route) -> None:
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(route.path))
        known = [(method, other.pattern) for method, other, _ in self._patterns]
        if (route.method, route.path) in self._exact or (route.method, pattern) in known:
            raise ValueError(f"{route.method} {route.path} is routed twice")
        if "{" in route.path:
            self._patterns.append((route.method, re.compile(pattern), route))
        else:
            self._exact[route.method, route.path] = route

    def find(self, method: str, path: str) -> tuple[Route | None, Mapping[str, str]]:
        """Return the route and the values of the names in its path, or None where nothing matches."""
        route = self._exact.get((method, path))
        if route is not None:
            return route, {}
        for wanted, pattern, candidate in self._patterns:
            match = pattern.fullmatch(path) if wanted == method else None
            if match:
                return candidate, {name: unquote(value) for name, value in match.groupdict().items()}
        return None, {}


def _body(body: bytes) -> Mapping[str, JSON]:
    if not body:
        return {}
    value = _read(body)
    if not isinstance(value, dict):
        raise RefusedError(422, "invalid_request", field="body")
    return value


def _read(body: bytes) -> JSON:
    try:
        return loads(body)
    except ValueError:  # besides InvalidJSON, an integer too long for Python
        raise RefusedError(400, "invalid_json") from None


def _arguments(meant: Meant, body: bytes) -> Mapping[str, JSON]:
    """The arguments in a JSON-RPC message, which must mean what its head says."""
    arguments = meant.arguments(_read(body))
    if arguments is None:
        raise RefusedError(400, "invalid_message")
    return arguments


def _query(query: str, *, unfit: int = 422) -> Mapping[str, JSON]:
    if not query:
        return {}
    try:
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict")
    except ValueError:
        raise RefusedError(400, "invalid_query") from None
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise RefusedError(unfit, "invalid_request", field=name)
    return dict(pairs)


def _writable(value: JSON) -> bool:
    """Whether the value can be written again; 1e999 reads as infinity, which no JSON text can hold."""
    try:
        dumps(value)
    except (ValueError, RecursionError):
        return False
    return True
