"""Tools of the service ``host``: a command over SSH under a durable id, its markers, and the host's state.

The link says little: an exit status that never comes, 255 for six different troubles, a normal return
although the peer is gone. So the category of a command is decided by how far the order got and by the report
of the wrapper (``unacked.marker``), and by nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from unacked.canonical import JSON
from unacked.contract import Argument, Effect, Operation
from unacked.marker import Order, State, read_report
from unacked.outcome import CATEGORY_SETS, Retry
from unacked.tools.classify import Finding
from unacked.tools.endpoint import Endpoint, Shell, Tool

__all__ = ["TOOLS", "Refused", "RemoteClient", "RemoteExchange", "Stage", "classify_remote", "order_of"]


class Stage(IntEnum):
    """How far one order got, as seen from this side."""

    NOTHING_SENT = 0
    ORDER_SENT = 1
    ENDED = 2


class Refused(IntEnum):
    """Who said no, where somebody did: nothing was run."""

    CREDENTIAL = 1
    ORDER = 2


@dataclass(frozen=True, slots=True)
class RemoteExchange:
    """What this side knows of one order when it is over; times in seconds.

    ``exit_status`` is None where none came: the link ended, a signal ended the command, or the time was up.
    ``output`` is what the wrapper said, ``error`` names the client's exception; none of it reaches the agent.
    """

    stage: Stage
    elapsed_s: float
    refused: Refused | None = None
    exit_status: int | None = None
    exit_signal: str | None = None
    output: str = ""
    timed_out: bool = False
    error: tuple[str, str] | None = None

    def as_json(self) -> dict[str, JSON]:
        """Return the exchange as the diagnostics keep it."""
        return {
            "phase": self.stage.name.lower(),
            "elapsed_s": round(self.elapsed_s, 6),
            "refused": None if self.refused is None else self.refused.name.lower(),
            "exit_status": self.exit_status,
            "exit_signal": self.exit_signal,
            "output": self.output[:4096],
            "error": None if self.error is None else list(self.error),
        }


class RemoteClient(Protocol):
    """Whatever carries an order to a host, once; the credential for it is its own business."""

    def __call__(self, host: str, order: Order, /) -> RemoteExchange:
        """Send ``order`` and return how far it got; never raises for what the network does."""
        ...


def order_of(arguments: Mapping[str, JSON], correlation_id: str) -> Order:
    """Return what a call of ``run_command`` sends."""
    return Order(arguments["operation_id"], correlation_id, arguments["command"])


def classify_remote(exchange: RemoteExchange, order: Order) -> Finding:
    """Return what ``exchange`` proves about the effect of ``order``."""
    if exchange.refused is not None:
        return Finding("authentication_failed" if exchange.refused is Refused.CREDENTIAL else "authorization_denied")
    if exchange.stage is Stage.NOTHING_SENT:
        return Finding("local_failure")
    if exchange.exit_status is None:
        return Finding("outcome_unknown")
    report = read_report(exchange.output)
    if report is None:
        return Finding("malformed_response", failed_field="/", expected="one report of the wrapper")
    if report.correlation_id != order.correlation_id:
        return Finding("malformed_response", failed_field="/correlation_id", expected="the id that was sent")
    if report.operation_id != order.operation_id:
        return Finding("malformed_response", failed_field="/operation_id", expected="the one that was asked for")
    if report.state is not State.COMPLETED:
        return _REFUSALS[report.state]
    if report.exit_status != exchange.exit_status:
        return Finding("malformed_response", failed_field="/exit_status", expected="the status that the link gave")
    if report.exit_status == 0:
        return Finding("ok", {"exit_status": 0})
    return Finding("outcome_unknown", message=_FAILED.format(report.exit_status))


_FAILED = "The command ended with exit status {}; how much of it was done by then is not known."
_REFUSALS: Mapping[State, Finding] = {
    State.COMMAND_NOT_FOUND: Finding(
        "confirmed_failure", message="The host knows no such command; nothing was run, and no marker was written."
    ),
    State.MARKER_REFUSED: Finding(
        "confirmed_failure",
        message="The host cannot write a marker, so the command was not run. Only a person can mend this.",
        retry=Retry.ASK_HUMAN,
    ),
    State.ALREADY_STARTED: Finding(
        "outcome_unknown", message="An earlier attempt under this operation id has started; this one was not run."
    ),
}
"""What the wrapper says where it ran nothing; each is definite but the last, whose earlier attempt is not."""

_HOST = Argument("host", description="The name of the host.")
_OPERATION = Argument(
    "operation_id",
    description="Your own id for this command; a marker under it is written before anything runs, and never twice.",
)

TOOLS = (
    Tool(
        Operation(
            name="run_command",
            effect=Effect.EXEC,
            description="Run one shell command on a host and wait for its end.",
            arguments=(_HOST, Argument("command", description="One line of shell."), _OPERATION),
            result=(Argument("exit_status", "integer"),),
            categories=CATEGORY_SETS["remote"],
            tags=frozenset({"remote"}),
            target_class="host",
            request="operation_id",
            reconcile="command_status",
        ),
        shell=Shell(service="host"),
    ),
    Tool(
        Operation(
            name="command_status",
            effect=Effect.READ,
            description="Read the markers of a command: whether it has started, whether it has ended, and how.",
            arguments=(_HOST, _OPERATION),
            result=(
                Argument("started", "boolean"),
                Argument("completed", "boolean"),
                Argument("exit_status", "integer", required=False),
                Argument("complete", "boolean"),
            ),
            categories=CATEGORY_SETS["http_read"] | {"partial"},
            target_class="host",
            request="operation_id",
        ),
        Endpoint(
            service="host", method="GET", path="/v1/hosts/{host}/operations", query=("operation_id",), lookup=True
        ),
    ),
    Tool(
        Operation(
            name="read_host",
            effect=Effect.READ,
            description="Read how long a host's service has been up, which revision it runs and which version it has.",
            arguments=(_HOST,),
            result=(_HOST, Argument("uptime_s", "integer"), Argument("revision"), Argument("version")),
            categories=CATEGORY_SETS["http_read"],
            target="host",
            target_class="host",
        ),
        Endpoint(service="host", method="GET", path="/v1/hosts/{host}"),
    ),
)
