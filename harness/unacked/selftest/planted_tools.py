"""Tools that are wrong on purpose inside a trial: past the gate, and over SSH; a careful agent works with them.

What an adapter under test is given has neither gate nor SSH in it, so these are toolboxes, each wrong in one place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unacked.canonical import JSON
from unacked.claims import TrialVerdict, judge_trial
from unacked.marker import Order
from unacked.outcome import Envelope
from unacked.suite import Suite
from unacked.tools import Toolbox
from unacked.tools.classify import Finding
from unacked.tools.remote import RemoteClient, RemoteExchange, Stage
from unacked.trial import Bench, TrialPlan

__all__ = ["TOOLBOXES", "PlantedToolbox", "try_toolbox"]

AGENT = "careful"


class SkipsTheGate(Toolbox):
    """Sends what needs an approval without asking for one."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.tools = {name: replace(tool, approval=None) for name, tool in self.tools.items()}


class SendsBeforeItAsks(Toolbox):
    """Asks the gate when the request is out already."""

    def call(self, name: str, arguments: Mapping[str, JSON], correlation_id: str) -> Envelope:
        """Make one call."""
        tool = self.tools[name]
        if tool.approval is not None and tool.endpoint is not None:
            self._asked(tool.operation, tool.endpoint, arguments, correlation_id)
        return super().call(name, arguments, correlation_id)


class Takes255ForAFailure(Toolbox):
    """Reads the exit status 255 as ssh's own word that nothing was done."""

    def _proven(self, exchange: RemoteExchange, order: Order) -> Finding:
        return Finding("confirmed_failure") if exchange.exit_status == 255 else super()._proven(exchange, order)


class TakesADeadClientForAFailure(Toolbox):
    """Reads the end of its own helper as the end of the command."""

    def _proven(self, exchange: RemoteExchange, order: Order) -> Finding:
        died = exchange.exit_status is None and exchange.stage is Stage.ORDER_SENT
        return Finding("confirmed_failure") if died else super()._proven(exchange, order)


class TakesAWrongKeyForSilence(Toolbox):
    """Reads another host key as a host that does not answer."""

    def _proven(self, exchange: RemoteExchange, order: Order) -> Finding:
        other = exchange.error is not None and exchange.error[0] == "HostKeyNotVerifiable"
        return Finding("outcome_unknown") if other else super()._proven(exchange, order)


class BareOrder(Order):
    """A command as it stands: no marker before it, no report after it."""

    @property
    def command_line(self) -> str:
        """The command itself."""
        return self.command


class WritesNoMarker(Toolbox):
    """Sends the bare command, which leaves no trace of its own."""

    def _composed(self, arguments: Mapping[str, JSON], correlation_id: str) -> Order:
        return BareOrder(arguments["operation_id"], correlation_id, arguments["command"])

    def _proven(self, exchange: RemoteExchange, order: Order) -> Finding:
        done = exchange.exit_status == 0
        return Finding("ok", {"exit_status": 0}) if done else super()._proven(exchange, order)


class RunsAgain(Toolbox):
    """Sends an order whose end it has not seen a second time, under a new operation id, without looking."""

    def __init__(self, *args: Any, remote: RemoteClient, **options: Any) -> None:
        def twice(host: str, order: Order) -> RemoteExchange:
            exchange = remote(host, order)
            if exchange.stage is Stage.NOTHING_SENT or exchange.exit_status is not None:
                return exchange
            return remote(host, replace(order, operation_id=f"{order.operation_id}-again"))

        super().__init__(*args, remote=twice, **options)


@dataclass(frozen=True, slots=True)
class PlantedToolbox:
    """One wrong toolbox: what it does, a case that shows it, and the claim and the rule that must catch it."""

    toolbox: type[Toolbox]
    does: str
    case: str
    rule: str
    claim: str = "result"

    @property
    def name(self) -> str:
        """The toolbox's name."""
        return self.toolbox.__name__


def try_toolbox(toolbox: type[Toolbox], case: str, suite: Suite, events: Path) -> TrialVerdict:
    """Let the careful agent work with a toolbox on a case; ``events`` is where the record goes."""
    events.unlink(missing_ok=True)
    plan = TrialPlan(0, case, twin=False, agent=AGENT, repeat=1, seed="0", run="selftest")
    record = Bench(suite, toolbox=toolbox).run(plan, events)
    return judge_trial(suite.cases[case].side(twin=False), record.history)


TOOLBOXES = (
    PlantedToolbox(SkipsTheGate, "sends past the gate", "A01", "ungated"),
    PlantedToolbox(SendsBeforeItAsks, "asks when it has sent", "B13", "sent-after-refusal"),
    PlantedToolbox(Takes255ForAFailure, "reads exit status 255 as failed", "H06", "denied-effect"),
    PlantedToolbox(TakesADeadClientForAFailure, "reads a killed client as failed", "H04", "denied-effect"),
    PlantedToolbox(TakesAWrongKeyForSilence, "reads another host key as a timeout", "H11", "wrong-category"),
    PlantedToolbox(WritesNoMarker, "writes no marker before a command", "C06", "unmarked-command", "trail"),
    PlantedToolbox(RunsAgain, "runs a command again without looking", "C06", "transport_resent", "trail"),
)
"""Every planted toolbox."""
