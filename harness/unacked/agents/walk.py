"""A policy that reads the graph: it takes the shortest allowed way, and asks the judge before every call.

It proves that the graph of a case can be walked at all: where even this agent is caught, the case is a
trap without a way out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import chain

from unacked.agents.protocol import Call, Step, Task
from unacked.canonical import JSON
from unacked.contract import Operation
from unacked.graph import BoundGraph, End, EndReason, Finality, Judgement, Result, judge_events
from unacked.graph import Call as CallMove
from unacked.graph import Event as Move
from unacked.graph.explain import shortest_way
from unacked.graph.expression import Scope

__all__ = ["walk_graph"]

_STATUSES = ("success", "failed", "refused", "declined", "unknown")
_ATTEMPTS = 3


def walk_graph(task: Task) -> Generator[Call, Mapping[str, JSON], None]:
    """Walk the graphs of the case until every thread may claim success, then make the first claim that is allowed."""
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
        self._declined = False
        self._now = 0.0
        self._items: list[JSON] = []
        self._reasons: Sequence[str] = ()

    def next_call(self) -> Call:
        """The next call of the shortest allowed way; a wait first where the last result asked for one."""
        if self._wait_s is not None and "wait" in self._task.tools:
            return Call("wait", {"seconds": self._wait_s})
        # What a person declined is called that, and not a failure.
        statuses = sorted(_STATUSES, key=lambda status: status != "declined") if self._declined else _STATUSES
        told = ", ".join(("walked", *self._reasons))
        claims = (Call("finish", {"status": status, "summary": f"{told}: {status}"}) for status in statuses)
        for call in chain(self._ways_on(), self._undone(), claims):
            if self._allowed(call):
                return call
        return Call("finish", {"status": "unknown", "summary": "no allowed call is left"})

    def heard(self, call: Call, result: Mapping[str, JSON]) -> None:
        """Take a call and its result into account."""
        name, fields = f"c{len(self._moves)}", result.get("result", {})
        self._moves.append(self._move(call, name))
        if call.operation == "wait":
            self._now += float(call.arguments["seconds"])
        self._declined = self._declined or result["category"] == "declined"
        self._wait_s = result.get("retry_after_s")
        self._moves.append(
            Result(call=name, category=result["category"], fields=fields, at=self._now, retry_after_s=self._wait_s)
        )
        if result["ok"]:
            self._known.update(fields)
        if "items" in fields:
            # A page that follows a cursor adds to what there is; any other begins anew.
            self._items = [*(self._items if call.arguments.get("cursor") else ()), *fields["items"]]
            self._known["items"], self._reasons = self._items, fields["reasons"]
            self._wait_s = self._wait_s or (fields["continuation"] or {}).get("seconds")

    def _move(self, call: Call, name: str) -> CallMove:
        return CallMove(id=name, operation=call.operation, args=call.arguments, turn=len(self._moves), at=self._now)

    def _judged(self, *more: Move) -> Judgement:
        events = (*self._moves, *more, End(reason=EndReason.CUT, at=self._now))
        return judge_events(events, self._task.graphs, self._task.effects, tools=self._task.tools)

    def _allowed(self, call: Call) -> bool:
        return len(self._judged(self._move(call, "next")).violations) == len(self._judged().violations)

    def _ways_on(self) -> Iterator[Call]:
        """The first calls of the ways by which unfinished threads can be finished, thread by thread."""
        judged = self._judged()
        for graph in self._task.graphs:
            for index, thread in enumerate(judged.per_graph[graph.name].threads):
                for operation in _first_operations(graph, thread.state):
                    key = thread.name, thread.state, operation
                    if operation not in self._task.tools:
                        continue
                    if self._tried[key] < (1 if operation == "ask_human" else _ATTEMPTS):
                        self._tried[key] += 1
                        yield from self._calls(graph, self._task.tools[operation], index)

    def _undone(self) -> Iterator[Call]:
        """What the script writes and nobody has done: a graph may rest before the work is over."""
        for number, step in enumerate(self._task.script):
            if self._task.tools[step.operation].writes and not self._made(step):
                yield self._scripted(number)

    def _calls(self, graph: BoundGraph, operation: Operation, thread: int) -> Iterator[Call]:
        """The ways to fill in an operation's arguments: from the script, and from what the thread has sent."""
        script = self._task.script
        own = [number for number, step in enumerate(script) if step.operation == operation.name]
        for number in own[thread:] + own[:thread]:
            yield from (self._scripted(earlier) for earlier in range(number) if not self._made(script[earlier]))
            yield from self._onward(operation, self._scripted(number))
            yield self._scripted(number)
        writes = [
            number
            for number, step in enumerate(script)
            if self._task.tools[step.operation].writes and step.operation in graph.alphabet
        ]
        for number in writes[thread:] + writes[:thread]:
            known = {**self._scripted(number).arguments, **self._known}
            arguments = {item.name: known[item.name] for item in operation.arguments if item.name in known}
            if all(item.name in arguments for item in operation.arguments if item.required):
                yield Call(operation.name, arguments)
        if operation.name == "ask_human":
            yield Call("ask_human", {"question": "May I go on?", "reasons": [], "proposed_action": "go on"})

    def _onward(self, operation: Operation, call: Call) -> Iterator[Call]:
        """The same question behind the cursor, or with the deadline, that the last page gave."""
        way = self._known.get("continuation") or {}
        given = {"cursor": way.get("next_cursor"), "deadline_s": way.get("minimum_seconds")}
        more = {item.name: given[item.name] for item in operation.arguments if given.get(item.name) is not None}
        if more:
            yield Call(call.operation, {**call.arguments, **more})

    def _scripted(self, number: int) -> Call:
        """A step of the script as a call, under the same names at every attempt."""
        step = self._task.script[number]
        operation = self._task.tools[step.operation]
        names = ((operation.request, f"req-{number}"), (operation.idempotency, f"key-{number}"))
        ids = {name: value for name, value in names if name is not None}
        return Call(step.operation, {**ids, **step.resolved(self._known)})

    def _made(self, step: Step) -> bool:
        wanted = step.resolved(self._known).items()
        calls = [move for move in self._moves if isinstance(move, CallMove)]
        return any(move.operation == step.operation and wanted <= move.args.items() for move in calls)


def _first_operations(graph: BoundGraph, state: str) -> Sequence[str]:
    """The operations that lead from ``state`` towards the end of the task, the shortest way first."""
    if _is_finished(graph, state):
        return ()
    lengths: dict[str, int] = {}
    for _, there, move in graph.network().out_edges(state, data=True):
        way = None if there == state or move["forbid"] else _way_to_finish(graph, there)
        if way is not None and move["call"] not in ("finish", "wait"):
            lengths[move["call"]] = min(len(way), lengths.get(move["call"], len(way)))
    return sorted(lengths, key=lengths.__getitem__)


def _is_finished(graph: BoundGraph, state: str) -> bool:
    """Whether a thread is closed, or has done its work and may claim it; a resting start has not begun it."""
    if graph.graph.states[state].end is Finality.FINAL:
        return True
    way = _way_to_finish(graph, state)
    return state != graph.graph.start and way is not None and (way == () or way[0].startswith("finish/"))


def _way_to_finish(graph: BoundGraph, state: str) -> tuple[str, ...] | None:
    return shortest_way(graph, state, Scope(args={}, bound=graph.bound, idempotent=graph.idempotent), Finality.OK)
