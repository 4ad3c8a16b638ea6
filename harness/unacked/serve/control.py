"""The control API: arms faults, shows receipts, ledgers and the world. Nothing in it is for the agent."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict

from unacked.canonical import JSON, InvalidJSON, dumps, loads
from unacked.case import FaultFile
from unacked.document import Document, Location, validate
from unacked.errors import Place, Problem, SpecificationError, nearest
from unacked.fault import Action, Fault
from unacked.serve.openapi import openapi
from unacked.services import Service
from unacked.wire.message import Request, Response

__all__ = ["CONTROL", "Control", "Objection"]

CONTROL = "the control API"
"""What the server calls it; no service can have such a name."""

_TYPE = ("content-type", "application/json")
_CHALLENGE = ("www-authenticate", "Bearer")


class Objection(NamedTuple):
    """Why a fault cannot be armed here: the field that says so, what is wrong, and what to do about it."""

    field: str
    message: str
    hint: str


class Stage(Protocol):
    """What the control API acts on."""

    services: Mapping[str, Service]
    receipts: list[dict[str, JSON]]

    @property
    def waiting(self) -> Sequence[Fault]: ...

    @property
    def calls(self) -> Mapping[str, int]: ...

    def url(self, service: str) -> str: ...

    def objection(self, fault: Fault) -> Objection | None: ...

    def arm(self, faults: Sequence[Fault]) -> Sequence[Fault]: ...

    def disarm(self) -> None: ...

    def reset(self) -> None: ...


class Control:
    """The control API, as one more service on the wire; it has no operations, so that no fault can reach it."""

    name = CONTROL
    operations: tuple[str, ...] = ()

    def __init__(self, stage: Stage, token: str) -> None:
        self._stage = stage
        self._authorization = f"Bearer {token}".encode()

    def operation_of(self, method: str, path: str) -> None:
        """Nothing here is an operation."""

    def disturb(self, action: Action, operation: str) -> None:
        """Refuse: nothing here can be disturbed."""
        raise ValueError(f"{self.name} has no operation {operation!r} for {action}")

    def handle(self, request: Request, *, commit: bool = True) -> Response:  # noqa: ARG002 - no fault comes here
        """Answer one request: 401 without the token, 404 for what is not there, 400 with a list of problems."""
        given = request.headers.get("authorization", "").encode("latin-1")
        if not hmac.compare_digest(given, self._authorization):
            return _answer(401, {"error": "unauthorized"}, _CHALLENGE)
        for method, path, action in _ROUTES:
            match = path.fullmatch(request.path) if method == request.method else None
            if match:
                try:
                    return action(self, request, **match.groupdict())
                except SpecificationError as error:
                    status = 404 if isinstance(error, _Absent) else 400
                    return _answer(status, [_problem(problem) for problem in error.problems])
        return _answer(
            404, {"error": "not_found", "paths": [f"{method} {path.pattern}" for method, path, _ in _ROUTES]}
        )

    def _health(self, _: Request) -> Response:
        return _answer(200, {"status": "ok", "services": list(self._stage.services)})

    def _faults(self, _: Request) -> Response:
        armed = [_written(fault) for fault in self._stage.waiting]
        return _answer(200, {"armed": armed, "fired": self._stage.receipts, "calls": self._stage.calls})

    def _arm(self, request: Request) -> Response:
        armed = self._stage.arm(self._read(request.body))
        return _answer(201, {"armed": [_written(fault) for fault in armed]})

    def _disarm(self, request: Request) -> Response:
        self._stage.disarm()
        return self._faults(request)

    def _ledger(self, _: Request, service: str) -> Response:
        entries = [{**entry._asdict(), "moment": entry.moment.value} for entry in self._service(service).ledger]
        return _answer(200, entries)

    def _world(self, _: Request) -> Response:
        return _answer(200, {name: service.summary() for name, service in self._stage.services.items()})

    def _reset(self, _: Request) -> Response:
        self._stage.reset()
        return _answer(200, {"status": "reset"})

    def _openapi(self, _: Request, service: str) -> Response:
        return _answer(200, openapi(self._service(service), self._stage.url(service)))

    def _service(self, name: str) -> Service:
        found = self._stage.services.get(name)
        if found is None:
            hint = nearest(name, self._stage.services)
            raise _Absent([Problem(Place("path"), f"unknown service {name!r}", hint)])
        return found

    def _read(self, body: bytes) -> list[Fault]:
        """Return the faults of a request: one as a case writes it, or a list of them."""
        try:
            given = loads(body)
        except InvalidJSON as error:
            raise SpecificationError([Problem(Place("faults"), f"is not JSON: {error}")]) from None
        document = _document({"faults": given if isinstance(given, list) else [given]})
        faults = [written.value() for written in validate(_Faults, document).faults]
        problems = [
            document.problem(("faults", number, objection.field), objection.message, objection.hint)
            for number, fault in enumerate(faults)
            if (objection := self._stage.objection(fault)) is not None
        ]
        if problems:
            raise SpecificationError(problems)
        return faults


_Route = tuple[str, re.Pattern[str], Callable[..., Response]]

_ROUTES: Sequence[_Route] = (
    ("GET", re.compile("/healthz"), Control._health),  # noqa: SLF001 - the class's own table
    ("GET", re.compile("/faults"), Control._faults),  # noqa: SLF001
    ("POST", re.compile("/faults"), Control._arm),  # noqa: SLF001
    ("DELETE", re.compile("/faults"), Control._disarm),  # noqa: SLF001
    ("GET", re.compile("/ledger/(?P<service>[^/]+)"), Control._ledger),  # noqa: SLF001
    ("GET", re.compile("/world"), Control._world),  # noqa: SLF001
    ("POST", re.compile("/reset"), Control._reset),  # noqa: SLF001
    ("GET", re.compile(r"/openapi/(?P<service>[^/]+)\.json"), Control._openapi),  # noqa: SLF001
)


class _Absent(SpecificationError):
    """The path names something that is not there."""


class _Faults(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    faults: list[FaultFile]


def _answer(status: int, value: JSON, *headers: tuple[str, str]) -> Response:
    return Response(status, dumps(value).encode() + b"\n", (_TYPE, *headers))


def _problem(problem: Problem) -> JSON:
    return {"place": str(problem.place), "message": problem.message, "hint": problem.hint}


def _written(fault: Fault) -> JSON:
    """The fault as a case would write it."""
    parameters = dict(fault.action.parameters)
    return {
        "operation": fault.operation,
        "nth": fault.nth,
        "point": fault.point.value,
        "action": {fault.action.name: parameters} if parameters else fault.action.name,
        "committed": fault.commits,
        "persistent": fault.persistent,
    }


def _document(value: JSON) -> Document:
    """A request's body as a file whose places are ways into it: ``faults[0].operation``."""
    places: dict[Location, Place] = {}

    def note(item: JSON, location: Location, name: str) -> None:
        places[location] = Place(name or "faults")
        if isinstance(item, dict):
            for key, member in item.items():
                note(member, (*location, key), f"{name}.{key}" if name else key)
        elif isinstance(item, list):
            for number, member in enumerate(item):
                note(member, (*location, number), f"{name}[{number}]")

    note(value, (), "")
    return Document("faults", value, places, places)
