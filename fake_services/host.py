"""Hosts that run commands over SSH, and tell over HTTP what their markers hold and how they are doing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from unacked.canonical import JSON
from unacked.clock import Clock
from unacked.marker import Order, State
from unacked.services import (
    Call,
    Field,
    RefusedError,
    Result,
    Route,
    SeedError,
    Service,
    Setting,
    check_seed,
    seed_rows,
)
from unacked.wire.message import Request
from unacked.wire.remote import Output, Program

TEXT = Field()
OPTIONAL = Field(required=False)
SECONDS = Field((int, float), required=False)
CHANGES = ("restart", "revision", "version")
"""What a command can change: a service is restarted, a revision deployed, a version installed."""
RUNNING_SINCE_S = -86_400.0
PART = "part"
"""Of a host whose markers cannot all be read."""


class Hosts(Service):
    """A marker is a row of ``operations``: whoever comes second with the same id is refused."""

    name = "host"
    commands = ("run_command",)

    def __init__(self, setting: Setting, state: dict[str, JSON]) -> None:
        super().__init__(setting, state)
        self._clock: Clock = setting.clock

    # Over SSH

    @property
    def hosts(self) -> Collection[str]:
        """The names of the hosts."""
        return tuple(self.state["hosts"])

    def start(self, host: str, order: Order, *, marker: bool) -> Program | State:
        """Write the start marker and say what will run; a program that is not there is refused before it."""
        parts = [self.state["commands"].get(part.strip()) for part in order.command.split("&&")]
        received = self.ledger.receive(_request(host, order), "run_command")
        refused = self._refusal(order, parts, marker=marker)
        if refused is not None:
            self.ledger.respond(received, 409)
            return refused
        operation = {"host": host, "command": order.command, "exit_status": None, "marked": order.is_marked}
        self.state["operations"][order.operation_id] = operation
        program = parts[0]
        return Program(len(parts), program["seconds"] or 2, Output(program["output"] or "silent"))

    def _refusal(self, order: Order, parts: list[JSON], *, marker: bool) -> State | None:
        if None in parts:
            return State.COMMAND_NOT_FOUND
        if order.operation_id in self.state["operations"]:
            return State.ALREADY_STARTED
        return None if marker or not order.is_marked else State.MARKER_REFUSED

    def perform(self, order: Order, part: int, at_s: float) -> None:
        """Make the change of one part, whether or not it was made before."""
        operation = self.state["operations"][order.operation_id]
        command = self.state["commands"][order.command.split("&&")[part].strip()]
        host = self.state["hosts"][operation["host"]]
        for change in CHANGES:
            if command[change] is not None:
                self.state["made"].append([operation["host"], change, command[change]])
                host[change] = at_s if change == "restart" else command[change]
        self.ledger.commit(self.ledger.receive(_request(operation["host"], order), "run_command"))

    def complete(self, order: Order, exit_status: int) -> None:
        """Write the completion marker."""
        self.state["operations"][order.operation_id]["exit_status"] = exit_status

    # Over HTTP

    def status(self, call: Call) -> Result:
        """List the markers of an operation; where only part of the folder can be read, the list is incomplete."""
        if self._host(call)["markers"] == PART:
            return Result(200, {"items": [], "complete": False})
        operation = self.state["operations"].get(call.fields["operation_id"])
        if operation is None or operation["host"] != call.path["host"] or not operation["marked"]:
            return Result(200, {"items": [], "complete": True})
        status = operation["exit_status"]
        item = {"started": True, "completed": status is not None, "exit_status": status}
        return Result(200, {"items": [item], "complete": True})

    def show(self, call: Call) -> Result:
        """Show how a host is doing: a restart, a deployment and an installation each leave their trace here."""
        host = self._host(call)
        shown = {"host": call.path["host"], "revision": host["revision"], "version": host["version"]}
        return Result(200, {**shown, "uptime_s": int(self._clock.now() - host["restart"])})

    def _host(self, call: Call) -> dict[str, JSON]:
        host: dict[str, JSON] | None = self.state["hosts"].get(call.path["host"])
        if host is None:
            raise RefusedError(404, "no_such_host")
        return host

    def summary(self) -> dict[str, JSON]:
        """Count the markers and what was changed; ``surplus_changes`` makes a command that ran twice visible."""
        made, every = self.state["made"], self.state["operations"].values()
        operations = [operation for operation in every if operation["marked"]]
        kinds = [change for _, change, _ in made]
        distinct = {tuple(change) for change in made}
        return {
            "started": len(operations),
            "completed": sum(operation["exit_status"] is not None for operation in operations),
            "restarts": kinds.count("restart"),
            "deployments": kinds.count("revision"),
            "installations": kinds.count("version"),
            "surplus_changes": len(made) - len(distinct),
        }

    routes = (
        Route("command_status", "GET", "/v1/hosts/{host}/operations", status, {"operation_id": TEXT}),
        Route("read_host", "GET", "/v1/hosts/{host}", show),
    )


def _request(host: str, order: Order) -> Request:
    """An order as the ledger keeps it."""
    headers = {"x-correlation-id": order.correlation_id, "x-request-id": order.operation_id}
    return Request("EXEC", host, "", headers if order.is_marked else {}, order.command.encode())


SEED_HOST = {"host": TEXT, "revision": OPTIONAL, "version": OPTIONAL, "markers": OPTIONAL}
SEED_COMMAND = {"command": TEXT, "seconds": SECONDS, "output": OPTIONAL, **dict.fromkeys(CHANGES, OPTIONAL)}


def build(seed: Mapping[str, JSON], setting: Setting) -> Service:
    """Return the service with the seed's hosts and commands; raises SeedError where the seed does not fit."""
    check_seed(seed, ["hosts", "commands"])
    hosts = seed_rows(seed, "hosts", "host", SEED_HOST)
    commands = seed_rows(seed, "commands", "command", SEED_COMMAND)
    for location, problem in _problems(hosts, commands):
        raise SeedError(location, problem)
    for host in hosts.values():
        host["revision"], host["version"] = host["revision"] or "r1", host["version"] or "1.0"
        host["restart"] = RUNNING_SINCE_S
    return Hosts(setting, {"hosts": hosts, "commands": commands, "operations": {}, "made": []})


def _problems(
    hosts: Mapping[str, Mapping[str, JSON]], commands: Mapping[str, Mapping[str, JSON]]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for number, host in enumerate(hosts.values()):
        if host["markers"] not in (None, PART):
            yield ("hosts", number, "markers"), f"expected {PART!r} or nothing, got {host['markers']!r}"
    outputs = [output.value for output in Output]
    for number, command in enumerate(commands.values()):
        if sum(command[change] is not None for change in CHANGES) != 1:
            yield ("commands", number), f"expected exactly one of {', '.join(CHANGES)}"
        if command["output"] is not None and command["output"] not in outputs:
            yield ("commands", number, "output"), f"expected one of {', '.join(outputs)}, got {command['output']!r}"
        if command["seconds"] is not None and command["seconds"] <= 0:
            yield ("commands", number, "seconds"), f"expected more than 0, got {command['seconds']!r}"
