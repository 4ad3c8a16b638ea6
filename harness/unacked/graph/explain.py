"""Why a move was refused, as a value and as text.

The text is what people see in the terminal, in pytest and in reports. Values in it come from a model: they are
escaped, cut and, where a redactor is given, redacted before anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import networkx as nx

from unacked.canonical import JSON
from unacked.graph.expression import Conjunct, Path, Scope, Undefined
from unacked.graph.model import SUCCESS, BoundGraph, Edge, Finality, Row
from unacked.graph.verdict import Verdict

__all__ = [
    "ConjunctValue",
    "Explanation",
    "Operand",
    "Prospects",
    "RefusedEdge",
    "prospects",
    "refused_edges",
    "render",
    "shortest_way",
]

Redact = Callable[[str], str]

_LONGEST_VALUE = 80
_LONGEST_NAME = 60
_LONGEST_REASON = 400


class Operand(NamedTuple):
    """One name that a conjunct reads, with its value; ``bound_by`` is the event that bound a ``$`` name."""

    name: str
    value: JSON | Undefined
    bound_by: int | None = None


class ConjunctValue(NamedTuple):
    """One line of a guard with its value: ``true``, ``false`` or ``undefined (reason)``."""

    text: str
    value: str
    operands: tuple[Operand, ...]


class RefusedEdge(NamedTuple):
    """An edge for this operation that did not hold, with the conjuncts that were not true."""

    edge: str
    conjuncts: tuple[ConjunctValue, ...]


class Explanation(NamedTuple):
    """Everything that is known about one refusal. Events are indexes into the sequence that was judged."""

    rule: str
    severity: Verdict
    graph: str
    thread: str
    event: int
    operation: str
    state: str
    why: str
    entered_by: int | None = None
    entered_how: str = ""
    refused: tuple[RefusedEdge, ...] = ()
    expected: tuple[str, ...] = ()
    finish_the_task: tuple[str, ...] | None = None
    """Calls and categories, ``lookup/ok``; None where there is no way, empty where nothing is left to do."""
    stop_honestly: tuple[str, ...] | None = None
    blame: str = "agent"
    """``agent``, who of a team, or how the hand-off lost the information."""
    member: str = ""
    """The member of a team that is to blame, by name."""
    reproduce: str = ""

    def with_reproduction(self, command: str) -> Explanation:
        """Return the explanation with the command line that reproduces it."""
        return self._replace(reproduce=command)


def render(explanation: Explanation, redact: Redact | None = None) -> str:
    """Return the explanation as text of several lines, without a final newline."""

    def name(text: str) -> str:
        return _escaped(text, redact)[:_LONGEST_NAME]

    state = explanation.state
    lines = [
        f"{explanation.severity} {explanation.rule} in thread {name(explanation.thread)}"
        f" at event #{explanation.event}: {name(explanation.operation)}" + (f" from state '{state}'" if state else ""),
        f"  why: {_escaped(explanation.why, redact)[:_LONGEST_REASON]}",
    ]
    if explanation.entered_by is not None:
        lines.append(f"  state '{state}' was entered by event #{explanation.entered_by} ({explanation.entered_how})")
    for edge in explanation.refused:
        lines.append(f"  edge {edge.edge} refused because:")
        lines += [f"     {_conjunct(conjunct, redact)}" for conjunct in edge.conjuncts]
    if explanation.expected:
        lines.append(f"  expected one of: {'; '.join(explanation.expected)}")
    ways = (("finish the task", explanation.finish_the_task), ("stop honestly", explanation.stop_honestly))
    lines += [f"  shortest allowed way to {aim}: {_way(way)}" for aim, way in ways if explanation.expected]
    if explanation.blame != "agent":
        lines.append(f"  blame: {_escaped(explanation.blame, redact)}")
    if explanation.reproduce:
        lines.append(f"  reproduce: {_escaped(explanation.reproduce, redact)}")
    return "\n".join(lines)


def _way(way: tuple[str, ...] | None) -> str:
    if way is None:
        return "there is none from here"
    return " -> ".join(way) or "nothing is left to do"


def _conjunct(conjunct: ConjunctValue, redact: Redact | None) -> str:
    operands = ", ".join(
        f"{operand.name}={_shown(operand.value, redact)}"
        + (f" (bound by event #{operand.bound_by})" if operand.bound_by is not None else "")
        for operand in conjunct.operands
    )
    return f"{conjunct.text}  -> {conjunct.value}" + (f"; {operands}" if operands else "")


def _shown(value: Any, redact: Redact | None) -> str:
    if isinstance(value, Undefined):
        return f"<{value.reason}>"
    text = repr(redact(value) if redact and isinstance(value, str) else value)
    if redact and not isinstance(value, str):
        text = redact(text)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


def _escaped(text: str, redact: Redact | None) -> str:
    """Escape whatever a terminal would act on: controls, newlines, direction marks."""
    shown = redact(text) if redact else text
    if shown.isprintable():
        return shown
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in shown)


def refused_edges(row: Row | None, scope: Scope, bound_by: Callable[[str], int | None]) -> tuple[RefusedEdge, ...]:
    """Return the allowed edges of a row that did not hold, with the conjuncts to blame."""
    refused = []
    for step in row.allow if row else ():
        values = [(conjunct, conjunct.evaluate(scope)) for conjunct in step.edge.when.conjuncts]
        blamed = [_valued(conjunct, value, scope, bound_by) for conjunct, value in values if value is not True]
        if blamed:
            refused.append(RefusedEdge(step.edge.id, tuple(blamed)))
    return tuple(refused)


def _valued(conjunct: Conjunct, value: Any, scope: Scope, bound_by: Callable[[str], int | None]) -> ConjunctValue:
    if isinstance(value, Undefined):
        text = f"undefined ({value.reason})"
    elif isinstance(value, bool):
        text = "true" if value else "false"
    else:
        text = "undefined (not a truth value)"
    return ConjunctValue(conjunct.text, text, tuple(_operand(path, scope, bound_by) for path in conjunct.reads))


def _operand(path: Path, scope: Scope, bound_by: Callable[[str], int | None]) -> Operand:
    event = bound_by(path.root[1:]) if path.root.startswith("$") else None
    return Operand(path.text, path.get(scope), event)


class Prospects(NamedTuple):
    """What a state still allows: its calls as texts in the order of the graph, and the two shortest ways out."""

    expected: tuple[str, ...]
    finish_the_task: tuple[str, ...] | None
    stop_honestly: tuple[str, ...] | None


def prospects(graph: BoundGraph, state: str, scope: Scope) -> Prospects:
    """Return what is still allowed in a state, given what its thread remembers; a question always is."""
    shut, dishonest = _shut(graph, scope), _unsuccessful(graph, scope)
    key = (state, shut, dishonest)
    if key not in graph.prospects:
        graph.prospects[key] = Prospects(
            _expected_calls(graph, state, shut),
            _shortest_way(graph, state, shut | dishonest, {Finality.OK, Finality.FINAL}),
            _shortest_way(graph, state, shut, {Finality.FINAL}),
        )
    known: Prospects = graph.prospects[key]
    return known


def _expected_calls(graph: BoundGraph, state: str, shut: Collection[str]) -> tuple[str, ...]:
    edges = (*graph.graph.states[state].allow, *graph.graph.always_allow)
    texts = [_expected(graph, edge) for edge in edges if edge.id not in shut]
    if _ASK in graph.registry and _ASK not in graph.table[state]:
        texts.append(_ASK)
    return tuple(text for text in dict.fromkeys(texts) if text)


_ASK = "ask_human"


def _shut(graph: BoundGraph, scope: Scope) -> frozenset[str]:
    """Return the edges that are already known not to hold, whatever the agent sends."""
    return frozenset([edge for edge, conjunct in graph.settled if conjunct.evaluate(scope) is False])


def _unsuccessful(graph: BoundGraph, scope: Scope) -> frozenset[str]:
    """Return the edges by which no ``finish`` may say success."""
    if not graph.finishing:
        return graph.unsuccessful
    success = replace(scope, args=SUCCESS.args)
    return graph.unsuccessful | {edge.id for edge in graph.finishing if not edge.when.holds(success)}


def _expected(graph: BoundGraph, edge: Edge) -> str:
    calls = " or ".join(graph.calls(edge))
    return f"{calls} when {edge.when}" if calls and edge.when.conjuncts else calls


def shortest_way(graph: BoundGraph, state: str, scope: Scope, goal: Finality) -> tuple[str, ...] | None:
    """Return the shortest allowed way from a state to the end of the task (OK) or to any stop (FINAL).

    The task ends in a resting state, or by a ``finish`` that may say success. Reads are preferred to writes
    and success to other answers, and edges that are already known not to hold (a spent budget, a promise that
    the contract does not make) are left out. None where there is no way.
    """
    found = prospects(graph, state, scope)
    return found.stop_honestly if goal is Finality.FINAL else found.finish_the_task


def _shortest_way(graph: BoundGraph, state: str, shut: Collection[str], goals: set[Finality]) -> tuple[str, ...] | None:
    network = graph.network()
    reached = {name for name, found in graph.graph.states.items() if found.end in goals}
    if state in reached:
        return ()

    def cost(_from: str, _to: str, moves: dict[Any, dict[str, Any]]) -> float | None:
        return min((_cost(graph, move) for move in moves.values() if _open(move, shut)), default=None)

    found: tuple[dict[str, float], dict[str, list[str]]] = nx.single_source_dijkstra(network, state, weight=cost)  # type: ignore[assignment]
    distances, ways = found
    ends = sorted(reached & distances.keys(), key=lambda name: (distances[name], name))
    if not ends:
        return None
    return tuple(_cheapest(graph, network[here][there].values(), shut) for here, there in pairwise(ways[ends[0]]))


def _open(move: dict[str, Any], shut: Collection[str]) -> bool:
    return not move["forbid"] and move["edge"] not in shut


def _cost(graph: BoundGraph, move: dict[str, Any]) -> float:
    write = 0.125 if graph.registry[move["call"]].writes else 0.0
    return 1.0 + write + (0.0 if move["category"] == "ok" else 0.5)


def _cheapest(graph: BoundGraph, moves: Iterable[dict[str, Any]], shut: Collection[str]) -> str:
    move = min((move for move in moves if _open(move, shut)), key=lambda candidate: _cost(graph, candidate))
    return f"{move['call']}/{move['category']}"
