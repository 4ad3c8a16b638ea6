"""Where edges stand, and which operations they concern."""

from __future__ import annotations

from collections.abc import Collection

from unacked.contract import Operation
from unacked.graph.model import BoundGraph, Edge, Graph, State

__all__ = ["edge_operations", "home", "inert"]


def edge_operations(graph: BoundGraph) -> dict[str, tuple[Edge, set[str]]]:
    """Return every edge of a bound graph by its id, with the operations that it concerns."""
    found: dict[str, tuple[Edge, set[str]]] = {}
    for rows in graph.table.values():
        for name, row in rows.items():
            for edge in (*row.always, *(step.edge for step in row.allow), *row.forbid):
                found.setdefault(edge.id, (edge, set()))[1].add(name)
    return found


def home(graph: Graph) -> dict[str, State | None]:
    """Return by edge the state that it stands in; None for those of ``always``."""
    found: dict[str, State | None] = {edge.id: None for edge in graph.edges()}
    for state in graph.states.values():
        found.update({edge.id: state for edge in (*state.allow, *state.forbid)})
    return found


def inert(edge: Edge, state: State | None, operations: Collection[Operation]) -> bool:
    """Return whether an edge is a read that changes nothing.

    Such an edge tells the reader what to do; its guard decides nothing, for no extra read is ever refused.
    """
    if edge.forbid or state is None or edge.bind or edge.count:
        return False
    if any(operation.writes or operation.broadcast for operation in operations):
        return False
    targets = (target for alternatives in edge.then.values() for target in alternatives)
    return all(
        target.to == state.name and not (target.bind or target.collect or target.forget or target.reset)
        for target in targets
    )
