"""A graph as the lints see it: what its file says, and what happens in every way that it is bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from unacked.contract import Operation, Registry
from unacked.graph.explore import Alphabet, Space, Survey, variants
from unacked.graph.explore.edges import edge_operations, home, inert
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
        return tuple(dict.fromkeys([*self._variants, *self.used]))

    @cached_property
    def _variants(self) -> Sequence[BoundGraph]:
        return tuple(variant.bind(self.graph, self.registry) for variant in variants(self.graph))

    @cached_property
    def surveys(self) -> Sequence[Survey]:
        """What happens in each variant; where that leaves an edge undecided, in the bindings of cases too."""
        surveys = [self._survey(graph) for graph in self._variants]
        for graph in self.bindings[len(self._variants) :]:
            if all(any(edge.id in survey.decided for survey in surveys) for edge in self.edges()):
                break
            surveys.append(self._survey(graph))
        return tuple(surveys)

    def _survey(self, graph: BoundGraph) -> Survey:
        return Survey(Space([graph], Alphabet([graph], self.registry.values())))

    @cached_property
    def operations(self) -> dict[str, dict[str, Operation]]:
        """By edge, the operations that it concerns in any binding."""
        found: dict[str, dict[str, Operation]] = {edge.id: {} for edge in self.graph.edges()}
        for graph in self.bindings:
            for id_, (_, names) in edge_operations(graph).items():
                found[id_].update({name: self.registry[name] for name in names})
        return found

    @cached_property
    def home(self) -> dict[str, State | None]:
        """By edge, the state that it stands in; None for those of ``always``."""
        return home(self.graph)

    def inert(self, edge: Edge) -> bool:
        """Whether an edge is a read that changes nothing."""
        return inert(edge, self.home[edge.id], self.operations[edge.id].values())

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
