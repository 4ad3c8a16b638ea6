"""A graph as the lints see it: what its file says, and what happens in every way that it is bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from unacked.contract import Operation, Registry
from unacked.graph.explore import Alphabet, Space, Survey, variants
from unacked.graph.lint.finding import Finding
from unacked.graph.model import BoundGraph, Edge, Graph, State

__all__ = ["Subject"]


@dataclass(eq=False)
class Subject:
    """One graph with its bindings: the variants that its guards ask about, and those that cases use."""

    graph: Graph
    registry: Registry
    used: Sequence[BoundGraph] = ()

    @cached_property
    def bindings(self) -> Sequence[BoundGraph]:
        """Every binding once, the plain one first."""
        bound = [variant.bind(self.graph, self.registry) for variant in variants(self.graph)]
        return tuple(dict.fromkeys([*bound, *self.used]))

    @cached_property
    def surveys(self) -> Sequence[Survey]:
        """What happens in each binding."""
        operations = list(self.registry.values())
        return tuple(Survey(Space([graph], Alphabet([graph], operations))) for graph in self.bindings)

    @cached_property
    def operations(self) -> dict[str, dict[str, Operation]]:
        """By edge, the operations that it concerns in any binding."""
        found: dict[str, dict[str, Operation]] = {edge.id: {} for edge in self.graph.edges()}
        for graph in self.bindings:
            for rows in graph.table.values():
                for name, row in rows.items():
                    for edge in (*row.always, *(step.edge for step in row.allow), *row.forbid):
                        found[edge.id][name] = self.registry[name]
        return found

    @cached_property
    def home(self) -> dict[str, State | None]:
        """By edge, the state that it stands in; None for those of ``always``."""
        found: dict[str, State | None] = {edge.id: None for edge in self.graph.edges()}
        for state in self.graph.states.values():
            found.update({edge.id: state for edge in (*state.allow, *state.forbid)})
        return found

    def inert(self, edge: Edge) -> bool:
        """Whether an allowed read changes nothing: it tells the reader what is meant, for no read is ever refused."""
        state = self.home[edge.id]
        writes = any(operation.writes or operation.broadcast for operation in self.operations[edge.id].values())
        changes = edge.bind or edge.count
        targets = [target for alternatives in edge.then.values() for target in alternatives]
        return not (edge.forbid or writes or changes) and all(
            state is not None
            and target.to == state.name
            and not (target.bind or target.collect or target.forget or target.reset)
            for target in targets
        )

    def at_edge(self, id_: str, edge: Edge, message: str, way: tuple[str, ...] | None = None) -> Finding:
        """Return a finding at an edge."""
        state = self.home.get(edge.id)
        return Finding(
            id=id_,
            place=edge.place,
            graph=self.graph.name,
            message=message,
            edge=edge.id,
            state=state.name if state else None,
            way=way,
        )

    def at_state(self, id_: str, state: State, message: str, way: tuple[str, ...] | None = None) -> Finding:
        """Return a finding at a state."""
        return Finding(id=id_, place=state.place, graph=self.graph.name, message=message, state=state.name, way=way)

    def edges(self) -> Iterator[Edge]:
        """Yield every edge."""
        return self.graph.edges()
