"""What lies before the next call: turns with their results as an agent saw them, and the same as moves of a graph."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from unacked.agents import Call, HandedOver, PastTurn, Task
from unacked.canonical import JSON
from unacked.claims import Brief, moves
from unacked.contract import Effect, Operation
from unacked.engine import StoredPath
from unacked.errors import Place, Problem, SpecificationError, nearest
from unacked.event import Event, History, call_of
from unacked.graph import HAND_OVER, BoundGraph, End, Graph, Result, Team, Trace, bind_trace
from unacked.graph import Call as CallMove
from unacked.graph import Event as Move
from unacked.graph.monitor import Effects
from unacked.outcome import CATEGORIES, Envelope
from unacked.suite import LoadedCase, Suite
from unacked.tools import REGISTRY
from unacked.trial import Bench, TrialPlan

__all__ = ["Prefix", "of_case", "of_trace", "of_trial"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """The way to where the next call is asked for. ``case`` is None where the way came from somebody's trace.

    ``member`` is whose next call it is, where several share the work; its turns alone lie before it.
    """

    name: str
    task: Task
    past: Sequence[PastTurn]
    moves: Sequence[Move]
    case: LoadedCase | None = None
    member: str = ""
    team: Team = field(default_factory=dict)

    @property
    def graphs(self) -> Sequence[BoundGraph]:
        """The graphs that judge what comes next."""
        return self.task.graphs

    @property
    def effects(self) -> Effects:
        """What the task asks for, of all members together."""
        return self.task.effects if self.case is None else self.case.file.effects

    @property
    def answered(self) -> str:
        """The last results in words: ``create_record -> outcome_unknown``; empty where there are none."""
        if not self.past:
            return ""
        turn = self.past[-1]
        pairs = zip(turn.calls, turn.results, strict=True)
        return ", ".join(f"{call.operation} -> {result['category']}" for call, result in pairs)

    @property
    def sources(self) -> list[JSON]:
        """Everything that a value of the next call may have come from."""
        known: list[JSON] = [self.task.text]
        for turn in self.past:
            known += [dict(call.arguments) for call in turn.calls]
            known += [dict(result) for result in turn.results]
        return known


# -- from a case, and from a stored trial --------------------------------------------------------------------


def of_case(
    suite: Suite, name: str, *, by: str, seed: str = "0", after: int | None = None, member: str | None = None
) -> Prefix:
    """Run a side of a case (``E01``, ``E01.twin``) with the agent ``by`` in a world of its own, up to its first fault.

    ``after`` is the number of turns to keep instead. ``member`` is whose next call it is where the case has a team
    (default: whoever met the fault); one that met none is asked at its beginning. Raises SpecificationError where
    there is no such side, agent or member, and where no fault was met.
    """
    case, side = _side(suite, name)
    suite.agent(by)
    plan = TrialPlan(0, case.name, side.twin, by, 1, seed, "probe", side.place)
    with tempfile.TemporaryDirectory(prefix="unacked-probe-") as folder:
        history = Bench(suite).run(plan, Path(folder) / "events.jsonl").history
    return _cut(f"{side.name}, by {by}", case, side, history, after, member)


def _side(suite: Suite, name: str) -> tuple[LoadedCase, Brief]:
    case = suite.select([name.partition(".")[0]])[0]
    for side in case.sides:
        if side.name == name:
            return case, side
    raise _usage(name, "is no side of a case", nearest(name, [side.name for side in case.sides]))


def of_trial(suite: Suite, stored: StoredPath, *, after: int | None = None, member: str | None = None) -> Prefix:
    """Take what happened in a stored trial up to its first fault; ``suite`` is the one that its run holds."""
    case = suite.cases[stored.brief.case.case]
    return _cut(stored.trial, case, stored.brief, stored.history, after, member)


def _cut(name: str, case: LoadedCase, side: Brief, history: History, after: int | None, member: str | None) -> Prefix:
    if member is not None and member not in side.team:
        raise _usage(name, f"has no member {member!r}", nearest(member, side.team))
    faulted = _faulted_turn(history, member)
    if member is None and side.team:
        member = faulted[0] if faulted else None
    if faulted is None and after is None and member is None:
        raise _usage(name, "meets no fault on its way", "say with --after how many turns lie before the next call")
    past = _turns(history, member)
    last = after if after is not None else (faulted[1] if faulted else 0)
    if last > len(past):
        raise _usage(name, f"has {len(past)} turns, and {last} were asked for", "give --after a smaller number")
    kept: list[Move] = []
    for move in moves(side, history):
        if isinstance(move, End):
            break
        if isinstance(move, CallMove) and move.agent == (member or move.agent) and (move.turn or 0) > last:
            break
        kept.append(move)
    task = case.task() if member is None else _part(case, member, history)
    return Prefix(name=name, task=task, past=past[:last], moves=kept, case=case, member=member or "", team=side.team)


def _turns(history: History, member: str | None) -> list[PastTurn]:
    """The turns of a trial that were answered; a trial that was cut may end with one that was not."""
    answers = {event.id: event.detail["envelope"] for event in history.named("result")}
    texts = {event.detail["turn"]: event.detail["text"] for event in _of(member, history, "agent_message")}
    turns: dict[int, tuple[list[Call], list[Mapping[str, JSON]]]] = {}
    for event in _of(member, history, "agent_next_call"):
        if event.id in answers:
            calls, results = turns.setdefault(event.detail["turn"], ([], []))
            calls.append(Call(event.operation or "", event.detail["arguments"]))
            results.append(answers[event.id])
    return [PastTurn(calls, results, texts.get(turn, "")) for turn, (calls, results) in sorted(turns.items())]


def _faulted_turn(history: History, member: str | None) -> tuple[str | None, int] | None:
    """Who met the first fault, and in which of its turns; None where nobody did."""
    faulted = {call_of(event.id) for event in history.named("fault_fired") if event.id is not None}
    for event in _of(member, history, "agent_next_call"):
        if event.id in faulted:
            return event.actor, event.detail["turn"]
    return None


def _of(member: str | None, history: History, name: str) -> Iterator[Event]:
    """Events of one name; of one member only, where one is named."""
    return (event for event in history.named(name) if member is None or event.actor == member)


def _part(case: LoadedCase, member: str, history: History) -> Task:
    """A member's part as it was given it, with what those before it had handed over."""
    part = next(each for each in case.file.team if each.member == member)
    if not any(_of(member, history, "member_begin")):
        raise _usage(
            case.name, f"goes another way here: {member} does not begin at all", "choose another side or agent"
        )
    worked = {event.actor for event in history.named("member_end") if event.detail["reason"] != "skipped"}
    said = {
        event.actor: event.detail["arguments"]
        for event in history.named("agent_next_call")
        if event.operation == HAND_OVER and event.id not in _rejected(history)
    }
    return case.part(part, [HandedOver.told(name, said.get(name)) for name in part.waits_for if name in worked])


def _rejected(history: History) -> set[str | None]:
    return {event.id for event in history.named("result") if event.detail.get("rejected")}


# -- from a neutral trace ------------------------------------------------------------------------------------


def of_trace(trace: Trace, graphs: Mapping[str, Graph], *, task: str, after: int | None = None) -> Prefix:
    """Take a trace up to its first result that is no success.

    The trace says nothing of the task's words and of the tools: ``task`` gives the words, and the tools are those of
    its graphs. Raises SpecificationError where a graph is unknown, and where nothing went wrong.
    """
    if trace.begin.team:
        raise _usage(trace.name, "is of several agents, and does not tell what each was asked to do", "probe a case")
    bound = bind_trace(trace, graphs, REGISTRY)
    tools = {name: REGISTRY[name] for graph in bound for name in sorted(graph.alphabet) if name in REGISTRY}
    tools |= {name: tool for name, tool in REGISTRY.items() if tool.effect is Effect.CONTROL and name in _ALWAYS}
    steps = list(_steps(trace.events, tools))
    last = after if after is not None else _first_trouble(trace.name, steps)
    if not 0 < last <= len(steps):
        raise _usage(trace.name, f"has {len(steps)} answered turns, and {last} were asked for", "change --after")
    kept = trace.events[: steps[last - 1][0] + 1]
    whole = Task(task, tools, graphs=bound, effects=trace.begin.asked)
    return Prefix(name=trace.name, task=whole, past=[turn for _, turn in steps[:last]], moves=kept)


_ALWAYS = ("finish", "ask_human", "wait")


def _steps(events: Sequence[Move], tools: Mapping[str, Operation]) -> Iterator[tuple[int, PastTurn]]:
    """Each answered call as a turn, with the place of its answer."""
    called: dict[str, CallMove] = {}
    for index, event in enumerate(events):
        if isinstance(event, CallMove):
            called[event.id] = event
        elif isinstance(event, Result) and event.call in called and called[event.call].operation in tools:
            call = called.pop(event.call)
            yield index, PastTurn([Call(call.operation, call.args)], [_envelope(tools[call.operation], event)])


def _envelope(operation: Operation, result: Result) -> dict[str, JSON]:
    """A result of a trace as the tools of this harness would tell it."""
    row = CATEGORIES[result.category]
    return Envelope(
        category=row.name,
        operation=operation.name,
        retry=row.retry_write if operation.writes else row.retry_read,
        correlation_id=result.call,
        message=row.message,
        result=result.fields,
        retry_after_s=result.retry_after_s,
        reconcile=None if row.effect_known else operation.reconcile or "none",
    ).as_json()


def _first_trouble(name: str, steps: Sequence[tuple[int, PastTurn]]) -> int:
    for number, (_, turn) in enumerate(steps, start=1):
        if not all(result["ok"] for result in turn.results):
            return number
    raise _usage(name, "holds no result that is not a success", "say with --after how many calls lie before the next")


def _usage(name: str, told: str, hint: str) -> SpecificationError:
    return SpecificationError([Problem(Place(name), told, hint)])
