"""A policy that reads the graph: it takes the shortest allowed way, and asks the judge before every call.

It proves that the graph of a case can be walked at all: where even this agent is caught, the case is a
trap without a way out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping

import networkx as nx  # type: ignore[import-untyped]

from unacked.agents.protocol import Call, Step, Task
from unacked.canonical import JSON
from unacked.contract import Operation
from unacked.graph import BoundGraph, End, EndReason, Finality, Judgement, Result, judge_events
from unacked.graph import Call as CallMove
from unacked.graph import Event as Move

__all__ = ["walk_graph"]

_STATUSES = ("success", "unknown", "declined", "failed", "refused")
_ATTEMPTS = 3


def walk_graph(task: Task) -> Generator[Call, Mapping[str, JSON], None]:
    """Walk the graphs of the case until every thread rests, then make the first claim that is allowed."""
    walk = _Walk(task)
    while True:
        call = walk.next_call()
        walk.heard(call, (yield call))
        if call.operation == "finish":
            return


class _Walk:
    def __init__(self, task: Task) -> None:
        self._task = task
        self._moves: list[Move] = []
        self._known: dict[str, JSON] = {}
        self._tried: Counter[tuple[str, str, str]] = Counter()
        self._wait_s: float | None = None
        self._now = 0.0

    def next_call(self) -> Call:
        """The next call of the shortest allowed way; a wait first where the last result asked for one."""
        if self._wait_s is not None and "wait" in self._task.tools:
            return Call("wait", {"seconds": self._wait_s})
        finishes = (Call("finish", {"status": status, "summary": f"walked: {status}"}) for status in _STATUSES)
        for call in (*self._ways_on(), *finishes):
            if self._allowed(call):
                return call
        return Call("finish", {"status": "unknown", "summary": "no allowed call is left"})

    def heard(self, call: Call, result: Mapping[str, JSON]) -> None:
        """Take a call and its result into account."""
        name, fields = f"c{len(self._moves)}", result.get("result", {})
        self._moves.append(self._move(call, name))
        if call.operation == "wait":
            self._now += float(call.arguments["seconds"])
        self._wait_s = result.get("retry_after_s")
        self._moves.append(
            Result(call=name, category=result["category"], fields=fields, at=self._now, retry_after_s=self._wait_s)
        )
        if result["ok"]:
            self._known.update(fields)

    def _move(self, call: Call, name: str) -> CallMove:
        return CallMove(id=name, operation=call.operation, args=call.arguments, turn=len(self._moves), at=self._now)

    def _judged(self, *more: Move) -> Judgement:
        events = (*self._moves, *more, End(reason=EndReason.CUT, at=self._now))
        return judge_events(events, self._task.graphs, self._task.effects, tools=self._task.tools)

    def _allowed(self, call: Call) -> bool:
        return len(self._judged(self._move(call, "next")).violations) == len(self._judged().violations)

    def _ways_on(self) -> Iterator[Call]:
        """The first calls of the ways out of every thread that is not at rest, the shortest way first."""
        judged = self._judged()
        for graph in self._task.graphs:
            for index, thread in enumerate(judged.per_graph[graph.name].threads):
                if _rests(graph, thread.state):
                    continue
                for operation in _first_operations(graph, thread.state):
                    key = thread.name, thread.state, operation
                    if self._tried[key] < _ATTEMPTS:
                        self._tried[key] += 1
                        yield from self._calls(graph, self._task.tools[operation], index)

    def _calls(self, graph: BoundGraph, operation: Operation, thread: int) -> Iterator[Call]:
        """The ways to fill in an operation's arguments: from the script, and from what the thread has sent."""
        steps = [(number, step) for number, step in enumerate(self._task.script) if step.operation == operation.name]
        writes = [
            (number, step)
            for number, step in enumerate(self._task.script)
            if self._task.tools[step.operation].writes and step.operation in graph.alphabet
        ]
        for number, step in steps[thread:] + steps[:thread]:
            yield Call(operation.name, {**self._ids(number, step), **step.resolved(self._known)})
        for number, step in writes[thread:] + writes[:thread]:
            ids = {**self._ids(number, step), **step.resolved(self._known), **self._known}
            arguments = {item.name: ids[item.name] for item in operation.arguments if item.name in ids}
            if all(item.name in arguments for item in operation.arguments if item.required):
                yield Call(operation.name, arguments)
        if operation.name == "ask_human":
            yield Call("ask_human", {"question": "May I go on?", "reasons": [], "proposed_action": "go on"})

    def _ids(self, number: int, step: Step) -> dict[str, JSON]:
        operation = self._task.tools[step.operation]
        names = ((operation.request, f"req-{number}"), (operation.idempotency, f"key-{number}"))
        return {name: value for name, value in names if name is not None}


def _rests(graph: BoundGraph, state: str) -> bool:
    """Whether a thread has done its work; a resting start has not begun it."""
    end = graph.graph.states[state].end
    return end is Finality.FINAL or (end is Finality.OK and state != graph.graph.start)


def _first_operations(graph: BoundGraph, state: str) -> list[str]:
    """The operations that lead from ``state`` to work that is done, the shortest way first."""
    network = nx.MultiDiGraph()
    for here, there, move in graph.network().edges(data=True):
        if not move["forbid"] and move["call"] != "finish" and here != there:
            network.add_edge(there, here, weight=1.0 if move["category"] == "ok" else 1.5)
    goals = {name for name, found in graph.graph.states.items() if found.end is Finality.OK}
    goals -= {graph.graph.start}
    distances = nx.multi_source_dijkstra_path_length(network, goals & set(network)) if goals & set(network) else {}
    best: dict[str, float] = {}
    for _, there, move in graph.network().out_edges(state, data=True):
        if move["forbid"] or move["call"] in ("finish", "wait"):
            continue
        weight = (1.0 if move["category"] == "ok" else 1.5) + distances.get(there, 100.0)
        best[move["call"]] = min(weight, best.get(move["call"], weight))
    return [name for name in sorted(best, key=best.__getitem__) if best[name] < 100.0]
