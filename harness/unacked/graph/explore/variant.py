"""The ways to bind a graph that make a difference to its guards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from unacked.contract import Registry
from unacked.graph.model import BoundGraph, Graph

__all__ = ["Variant", "variants"]


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to bind a graph; ``idempotent`` says whether the services keep the promise of every key."""

    name: str
    roles: Mapping[str, str | None] = field(default_factory=dict)
    idempotent: bool = True

    def bind(self, graph: Graph, registry: Registry) -> BoundGraph:
        """Return the graph bound in this way."""
        return graph.bind(self.roles, registry, dict.fromkeys(registry, self.idempotent))


def variants(graph: Graph) -> Iterator[Variant]:
    """Yield the graph as it is, without honoured keys, and without each role whose absence a guard asks about."""
    yield Variant("")
    asked = _asked(graph)
    if any(function == "idempotent" for function, _ in asked):
        yield Variant("no honoured key", idempotent=False)
    for role in sorted({role for function, role in asked if function == "bound"}):
        if graph.roles.get(role) is not None:
            yield Variant(f"no {role}", {role: None})


def _asked(graph: Graph) -> set[tuple[str, str]]:
    """The roles that guards ask about, with the function that asks."""
    guards = [edge.when for edge in graph.edges()]
    guards += [target.when for edge in graph.edges() for targets in edge.then.values() for target in targets]
    conjuncts = [conjunct for guard in guards for conjunct in guard.conjuncts]
    return {
        (function, role)
        for conjunct in conjuncts
        for role, _ in conjunct.roles
        for function in ("bound", "idempotent")
        if f"{function}('{role}')" in conjunct.text or f'{function}("{role}")' in conjunct.text
    }
