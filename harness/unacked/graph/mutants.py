"""Graphs with one plausible slip of the pen each: too lax, too strict, or leading astray.

Each mutant is a whole graph. Whoever judges traces by it and gets the same verdicts as by the original has not seen
the difference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from unacked.contract import Registry
from unacked.graph.explore.edges import edge_operations
from unacked.graph.expression import Guard, compile_guard
from unacked.graph.model import Edge, Finality, Graph, State, Target, covering_key
from unacked.outcome import CATEGORIES

__all__ = ["Mutant", "mutants"]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One slip: its kind, where it is, and the graph with it. ``state`` None: in every state."""

    kind: str
    where: str
    state: str | None
    graph: Graph
    edge: str | None = None

    @property
    def name(self) -> str:
        """What was done, for reports."""
        return f"{self.kind} {self.where}"


def mutants(graph: Graph, registry: Registry) -> Iterator[Mutant]:
    """Yield every mutant of a graph, in the order of the file."""
    for state in graph.states.values():
        yield from _of_state(graph, state)
        yield from _of_holder(graph, state)
        yield from _laxer(graph, state, registry)
    yield from _of_holder(graph, None)
    yield from _of_defaults(graph)
    yield from _of_categories(graph, registry)


def _of_state(graph: Graph, state: State) -> Iterator[Mutant]:
    for finality in Finality:
        if finality is not state.end:
            yield Mutant(
                kind="change-end",
                where=f"{state.name}: {state.end} -> {finality}",
                state=state.name,
                graph=_with_state(graph, replace(state, end=finality)),
            )


def _of_holder(graph: Graph, state: State | None) -> Iterator[Mutant]:
    """What can go wrong in the lists of a state, or of ``always``."""
    allow, forbid = (state.allow, state.forbid) if state else (graph.always_allow, graph.always_forbid)
    name = state.name if state else None
    for edges, kind in ((allow, "allow"), (forbid, "forbid")):

        def put(changed: Sequence[Edge], kind: str = kind) -> Graph:
            return _with_edges(graph, state, kind, tuple(changed))

        for index, edge in enumerate(edges):
            lost = put(_without(edges, index))
            yield Mutant(kind=f"drop-{kind}", where=edge.id, state=name, graph=lost, edge=edge.id)
            for slip, where, changed in _of_edge(graph, edge):
                mutated = put([*edges[:index], changed, *edges[index + 1 :]])
                yield Mutant(kind=slip, where=f"{edge.id}: {where}", state=name, graph=mutated, edge=edge.id)
            if index:
                swapped = [*edges[: index - 1], edge, edges[index - 1], *edges[index + 1 :]]
                where = f"{edges[index - 1].id}, {edge.id}"
                yield Mutant(kind=f"swap-{kind}", where=where, state=name, graph=put(swapped), edge=edge.id)


def _of_edge(graph: Graph, edge: Edge) -> Iterator[tuple[str, str, Edge]]:
    for kind, where, guard in _of_guard(edge.when):
        yield kind, where, replace(edge, when=guard)
    for index, (variable, _) in enumerate(edge.bind):
        yield "drop-bind", f"${variable}", replace(edge, bind=_without(edge.bind, index))
    for index, (counter, amount) in enumerate(edge.count):
        yield "drop-count", counter, replace(edge, count=_without(edge.count, index))
        doubled = (*edge.count[:index], (counter, amount + 1), *edge.count[index + 1 :])
        yield "count-more", counter, replace(edge, count=doubled)
    if edge.forbid:
        yield "change-severity", "unsafe" if not edge.unsafe else "rule", replace(edge, unsafe=not edge.unsafe)
    for word in edge.call if len(edge.call) > 1 else ():
        yield "drop-call", word, replace(edge, call=tuple(other for other in edge.call if other != word))
    for key, targets in edge.then.items():
        for kind, where, changed in _of_targets(graph, targets):
            yield kind, f"{key}, {where}", replace(edge, then={**edge.then, key: changed})


def _of_targets(graph: Graph, targets: Sequence[Target]) -> Iterator[tuple[str, str, tuple[Target, ...]]]:
    for index, target in enumerate(targets):
        for kind, where, changed in _of_target(graph, target):
            yield kind, where, (*targets[:index], changed, *targets[index + 1 :])
        if index:
            swapped = (*targets[: index - 1], target, targets[index - 1], *targets[index + 1 :])
            yield "swap-alternatives", f"{index}, {index + 1}", swapped
        if target.when.conjuncts:
            yield "drop-alternative", target.to, _without(targets, index)


def _of_target(graph: Graph, target: Target) -> Iterator[tuple[str, str, Target]]:
    for name in graph.states:
        if name != target.to:
            yield "redirect", f"{target.to} -> {name}", replace(target, to=name)
    for kind, where, guard in _of_guard(target.when):
        yield kind, where, replace(target, when=guard)
    for index, (variable, _) in enumerate(target.bind):
        yield "drop-bind", f"${variable}", replace(target, bind=_without(target.bind, index))
    for index, (variable, _) in enumerate(target.collect):
        yield "drop-collect", f"${variable}", replace(target, collect=_without(target.collect, index))
    for index, word in enumerate(target.forget):
        yield "drop-forget", word, replace(target, forget=_without(target.forget, index))
    for index, word in enumerate(target.reset):
        yield "drop-reset", word, replace(target, reset=_without(target.reset, index))


_SLIPS: Mapping[str, str] = {" == ": " != ", " != ": " == ", " >= ": " > ", " < ": " <= ", " > ": " >= ", " <= ": " < "}


def _of_guard(guard: Guard) -> Iterator[tuple[str, str, Guard]]:
    conjuncts = guard.conjuncts
    for index, conjunct in enumerate(conjuncts):

        def put(text: str, index: int = index) -> Guard:
            return Guard((*conjuncts[:index], *compile_guard([text]).conjuncts, *conjuncts[index + 1 :]))

        yield "drop-conjunct", conjunct.text, Guard(_without(conjuncts, index))
        yield "negate-conjunct", conjunct.text, put(f"not ({conjunct.text})")
        for operator, other in _SLIPS.items():
            if operator in conjunct.text:
                yield "change-operator", conjunct.text, put(conjunct.text.replace(operator, other, 1))
                break
        number = re.search(r"(?<=[<>=] )\d+$", conjunct.text)
        if number:
            for change in (-1, 1):
                text = f"{conjunct.text[: number.start()]}{int(number.group()) + change}"
                yield "change-limit", f"{conjunct.text} -> {text}", put(text)


def _laxer(graph: Graph, state: State, registry: Registry) -> Iterator[Mutant]:
    """Every write of the graph allowed in a state, whatever it carries."""
    if state.end is Finality.FINAL:
        return
    bound = graph.bind({}, registry, {})
    for name in sorted(bound.alphabet):
        if registry[name].writes:
            edge = Edge(id=f"{state.name}-{name}-slip", call=(name,), then={"@any": (Target(to=state.name),)})
            mutated = _with_edges(graph, state, "allow", (edge, *state.allow))
            yield Mutant(kind="allow-call", where=f"{state.name}: {name}", state=state.name, graph=mutated)


def _of_defaults(graph: Graph) -> Iterator[Mutant]:
    for field in ("op_read", "op_write", "orphan"):
        value = getattr(graph.unlisted, field)
        changed = replace(graph.unlisted, **{field: not value})
        mutated = _fresh(graph, unlisted=changed)
        where = f"{field}: {'allow' if value else 'forbid'}"
        yield Mutant(kind="change-unlisted", where=where, state=None, graph=mutated)
    for word in graph.thread.key:
        key = {other: path for other, path in graph.thread.key.items() if other != word}
        mutated = _fresh(graph, thread=replace(graph.thread, key=key))
        yield Mutant(kind="drop-key", where=word, state=None, graph=mutated)


def _of_categories(graph: Graph, registry: Registry) -> Iterator[Mutant]:
    """One category led elsewhere than its class."""
    concerned = edge_operations(graph.bind({}, registry, {}))
    names = list(graph.states)
    for state in graph.states.values():
        for index, edge in enumerate(state.allow):
            operations = concerned.get(edge.id, (edge, set()))[1]
            answers = {category for name in operations for category in registry[name].categories}
            for category in sorted((answers & set(CATEGORIES)) - edge.then.keys()):
                away = _away(names, state, edge, category, registry, operations)
                changed = replace(edge, then={**edge.then, category: (Target(to=away),)})
                mutated = _with_edges(graph, state, "allow", (*state.allow[:index], changed, *state.allow[index + 1 :]))
                where = f"{edge.id}: {category} -> {away}"
                yield Mutant(kind="change-category", where=where, state=state.name, graph=mutated, edge=edge.id)


def _away(
    names: Sequence[str], state: State, edge: Edge, category: str, registry: Registry, operations: Iterable[str]
) -> str:
    """The next state of the file to which the category does not lead."""
    keys = {covering_key(category, registry[name], edge.then) for name in operations}
    leading = {target.to for key in keys if key is not None for target in edge.then[key]}
    later = [*names[names.index(state.name) + 1 :], *names]
    return next((name for name in later if name not in leading), state.name)


def _without(items: Sequence[_T], index: int) -> tuple[_T, ...]:
    return (*items[:index], *items[index + 1 :])


def _with_edges(graph: Graph, state: State | None, kind: str, edges: tuple[Edge, ...]) -> Graph:
    if state is not None:
        return _with_state(graph, replace(state, allow=edges) if kind == "allow" else replace(state, forbid=edges))
    return _fresh(graph, always_allow=edges) if kind == "allow" else _fresh(graph, always_forbid=edges)


def _with_state(graph: Graph, state: State) -> Graph:
    return _fresh(graph, states={**graph.states, state.name: state})


def _fresh(graph: Graph, **changes: object) -> Graph:
    """A changed graph shares nothing that was derived from the original."""
    rebuilt: Callable[..., Graph] = replace
    return rebuilt(graph, **changes, _bound={}, _network=[])
