"""What drives every agent: ask, dispatch, append, repeat, within turns and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from unacked.agents import BudgetSpentError, Call, Reply, Session
from unacked.canonical import JSON, dumps, loads
from unacked.case import Limits
from unacked.clock import VirtualClock
from unacked.contract import Operation
from unacked.errors import HarnessError
from unacked.event import Emit
from unacked.fault import Point
from unacked.outcome import CATEGORIES, Envelope, OutcomeClass, Retry
from unacked.tools.endpoint import argument_problem
from unacked.tools.toolbox import refused_locally
from unacked.trial.desk import CLAIMS, Desk
from unacked.trial.world import CorrelationIds, World
from unacked.wire.connection import land

__all__ = ["Conversation", "Dispatcher", "Ending"]

Ending = tuple[str, str | None]
"""Why a trial ended (finished, budget, cut or crash), and what went wrong with the agent, if anything did."""


class Dispatcher:
    """Takes the agent's calls to the tool or to the desk, and puts call and result on the record."""

    def __init__(self, world: World, desk: Desk, ids: CorrelationIds, emit: Emit) -> None:
        self._world = world
        self._desk = desk
        self._ids = ids
        self._emit = emit
        self._unsettled: dict[str, list[str]] = {}

    def call(self, call: Call, turn: int, offered: Mapping[str, Operation]) -> dict[str, JSON]:
        """Make one call of an agent that is offered these operations; returns the result as the agent sees it."""
        correlation_id, said = self._ids.next(), call
        call = self._as_it_comes(said)
        detail: dict[str, JSON] = {"turn": turn, "arguments": call.arguments}
        if call.problem is not None:
            detail["problem"] = call.problem
        self._emit("agent_next_call", id=correlation_id, operation=call.operation, detail=detail)
        if call is not said:
            self._land(call.operation, correlation_id)
        refusal = _refusal(call, offered, correlation_id)
        if refusal is not None:
            self._world.toolbox.answer(refusal, rejected=True)
            return refusal.as_json()
        if self._world.toolbox.tools[call.operation].local:
            return self._at_the_desk(call, correlation_id).as_json()
        return self._on_the_wire(call, correlation_id).as_json()

    def _as_it_comes(self, call: Call) -> Call:
        """A call as it comes to the tool: a fault may let its arguments end too soon."""
        fault = self._world.plan.on_the_way(call.operation)
        if fault is None or len(dumps(dict(call.arguments))) <= fault.action.parameters["characters"]:
            return call
        told = f"the arguments are not JSON: they end after {fault.action.parameters['characters']} characters"
        return Call(call.operation, {}, told)

    def _land(self, operation: str, correlation_id: str) -> None:
        """Write the receipt of the fault that kept a call back."""
        plan = self._world.plan
        plan.begin_call(operation, correlation_id)
        if (fault := plan.at(Point.AS_SAID)) is not None:
            land(plan, self._emit, fault)
        plan.end_call()

    def _at_the_desk(self, call: Call, correlation_id: str) -> Envelope:
        envelope = self._desk.call(call.operation, call.arguments, correlation_id)
        self._world.toolbox.answer(envelope)
        return envelope

    def _on_the_wire(self, call: Call, correlation_id: str) -> Envelope:
        unsettled = self._unsettled.pop(call.operation, None)
        if unsettled:
            self._emit(
                "reconciliation_attempted", id=correlation_id, operation=call.operation, detail={"of": unsettled}
            )
        self._world.plan.begin_call(call.operation, correlation_id)
        try:
            envelope = self._world.toolbox.call(call.operation, call.arguments, correlation_id)
        finally:
            self._world.plan.end_call()
        if CATEGORIES[envelope.category].outcome_class is OutcomeClass.UNCERTAIN and envelope.reconcile:
            self._unsettled.setdefault(envelope.reconcile, []).append(correlation_id)
        return envelope


def _refusal(call: Call, offered: Mapping[str, Operation], correlation_id: str) -> Envelope | None:
    """The answer to a call that is none: no such tool, or arguments that break its contract."""
    operation = offered.get(call.operation)
    if operation is None:
        return _no_such_tool(call.operation, correlation_id)
    problem = call.problem or argument_problem(operation, call.arguments)
    if problem is None:
        return None
    # What could not be read can be said again; what was read and is wrong stays wrong.
    retry = Retry.NEVER if call.problem is None else Retry.WITHIN_BUDGET
    return replace(refused_locally(operation, problem, correlation_id), retry=retry)


class Conversation:
    """One agent at work. Its turns are asked for one by one, so that several can work side by side.

    ``said`` are the arguments of the call by which it ended its part, once there is one.
    """

    def __init__(
        self,
        session: Session,
        offered: Mapping[str, Operation],
        dispatcher: Dispatcher,
        *,
        limits: Limits,
        emit: Emit,
    ) -> None:
        self.said: Mapping[str, JSON] | None = None
        self._session = session
        self._offered = offered
        self._dispatcher = dispatcher
        self._limits = limits
        self._emit = emit
        self._turn = 0
        self._results: Sequence[Mapping[str, JSON]] = ()

    def turn(self, clock: VirtualClock) -> Ending | None:
        """Let the agent make one turn; returns how it ended, where this was its last one."""
        self._turn += 1
        reply, ending = _next(self._session, self._results)
        self._results = ()
        if reply is None:
            return ending
        if reply.text:
            self._emit("agent_message", detail={"turn": self._turn, "text": reply.text})
        if not reply.calls:
            return "finished", None
        self._results = [self._dispatcher.call(call, self._turn, self._offered) for call in reply.calls]
        for call, result in zip(reply.calls, self._results, strict=True):
            self.said = call.arguments if call.operation in CLAIMS and result["ok"] else self.said
        if self.said is not None:
            return "finished", None
        if clock.now() > self._limits.deadline_s:
            return "cut", None
        return ("budget", None) if self._turn == self._limits.turns else None

    def close(self) -> None:
        """Let go of the agent; it is told what came of its last calls."""
        self._session.close(self._results)


def _next(session: Session, results: Sequence[Mapping[str, JSON]]) -> tuple[Reply | None, Ending]:
    """The agent's next turn, with calls that are its own no more; or how the trial ends without one."""
    try:
        reply = session.next(results)
        reply = Reply([_copied(call) for call in reply.calls], reply.text)
    except KeyboardInterrupt:
        raise
    except BudgetSpentError as spent:
        return None, ("cut", str(spent))
    except HarnessError as error:
        return None, ("crash", str(error))
    except BaseException as error:  # noqa: BLE001 - whatever an agent raises, it has stopped by its own doing
        return None, ("finished", _told(error))
    return reply, ("finished", None)


def _told(error: BaseException) -> str:
    """An exception in words, with those that it came from: none of them may hold a secret."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return " <- ".join(f"{type(link).__name__}: {_words(link)}" for link in chain)


def _words(error: BaseException) -> str:
    """What an agent's exception says, if it can say anything."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - it is the agent's class, and may do anything
        return "(it cannot be put into words)"


def _copied(call: object) -> Call:
    """Return a call with arguments of its own: the record must not change when the agent works on with its objects.

    Raises TypeError or ValueError where it is no call, or its arguments are not JSON.
    """
    if not isinstance(call, Call):
        raise TypeError(f"an agent makes calls, not {call!r}")
    if not isinstance(call.operation, str):
        raise TypeError(f"an operation is named by a text, not by {call.operation!r}")
    return Call(call.operation, loads(dumps(dict(call.arguments))), call.problem)


def _no_such_tool(name: str, correlation_id: str) -> Envelope:
    return Envelope(
        category="invalid_request",
        operation=name,
        retry=Retry.NEVER,
        correlation_id=correlation_id,
        message=f"There is no tool {name!r}. Nothing was sent.",
    )
