"""Lints that the file alone shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import networkx as nx

from unacked.contract import Effect, Operation
from unacked.graph.expression import Path
from unacked.graph.lint.finding import Finding
from unacked.graph.lint.subject import Subject
from unacked.graph.model import Edge, Finality, Target, covering_key
from unacked.outcome import CATEGORIES

__all__ = ["structure_findings"]

_DERIVED = frozenset({"retry_after", "retry_after_s"})
"""Result fields that come from the envelope, not from the contract."""


def structure_findings(subject: Subject) -> Iterator[Finding]:
    """Yield what is wrong with the shape of a graph."""
    yield from _states(subject)
    yield from _key(subject)
    for edge in subject.edges():
        yield from _categories(subject, edge)
        yield from _result_fields(subject, edge)


def _states(subject: Subject) -> Iterator[Finding]:
    graph = subject.graph
    network: nx.DiGraph[str] = nx.DiGraph()
    network.add_nodes_from(graph.states)
    network.add_edges_from(
        (here, there) for here, there, move in graph.network().edges(data=True) if not move["forbid"]
    )
    for state in graph.states.values():
        if state.end is Finality.FINAL:
            continue
        allow = (*state.allow, *graph.always_allow)
        if not allow:
            yield subject.at_state("G10", state, f"state {state.name!r} allows nothing and is not final")
            continue
        reached = {state.name, *nx.descendants(network, state.name)}
        if all(graph.states[name].end is Finality.OPEN for name in reached):
            yield subject.at_state(
                "G11", state, f"from state {state.name!r} no state can be reached where a task may end"
            )
        controls = any(
            operation.effect is Effect.CONTROL for edge in allow for operation in subject.operations[edge.id].values()
        )
        if state.end is Finality.OPEN and not controls:
            yield subject.at_state("G12", state, f"in state {state.name!r} an agent can neither finish nor ask")


def _key(subject: Subject) -> Iterator[Finding]:
    for graph in subject.bindings[:1]:
        for name, path in graph.keys.items():
            token = subject.registry[name].idempotency
            if token is not None and path.text == f"args.{token}":
                yield Finding(
                    id="G14",
                    place=subject.graph.place,
                    graph=subject.graph.name,
                    message=f"the key of {name} is its idempotency key, {path.text}",
                )


def _categories(subject: Subject, edge: Edge) -> Iterator[Finding]:
    operations = subject.operations[edge.id].values()
    for key, targets in edge.then.items():
        if not operations or key == "@any" or any(_answers(operation, key) for operation in operations):
            continue
        names = " and ".join(sorted(subject.operations[edge.id]))
        finding = subject.at_edge("G13", edge, f"edge {edge.id!r}: {names} never answers {key!r}")
        place = targets[0].place if targets and targets[0].place.line else edge.place
        yield Finding(
            id=finding.id, place=place, graph=finding.graph, message=finding.message, edge=edge.id, state=finding.state
        )


def _answers(operation: Operation, key: str) -> bool:
    if key in CATEGORIES:
        return key in operation.categories
    return any(covering_key(category, operation, [key]) == key for category in operation.categories)


def _result_fields(subject: Subject, edge: Edge) -> Iterator[Finding]:
    operations = subject.operations[edge.id].values()
    targets = [target for alternatives in edge.then.values() for target in alternatives]
    heads = {path.head: path for target in targets for path in _reads(target) if path.root == "result"}
    for head, path in sorted(heads.items()):
        if operations and not any(_has_field(operation, head) for operation in operations):
            names = " and ".join(sorted(subject.operations[edge.id]))
            yield subject.at_edge("G16", edge, f"edge {edge.id!r} reads {path.text}, which {names} does not give")


def _has_field(operation: Operation, head: str) -> bool:
    if head == "identity":
        return operation.identity is not None
    return head in _DERIVED or any(item.name == head for item in operation.result)


def _reads(target: Target) -> Iterable[Path]:
    yield from (path for conjunct in target.when.conjuncts for path in conjunct.reads)
    yield from (path for _, path in (*target.bind, *target.collect))
