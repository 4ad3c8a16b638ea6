"""What a picture of a graph shows, before anybody has thought of where to put it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from unacked.graph.judgement import Judgement
from unacked.graph.model import FINISH, BoundGraph, Edge, Finality
from unacked.graph.monitor import Violation, Walked

__all__ = ["Arrow", "Label", "Picture", "Refusal", "StateBox", "Walk", "picture", "walk_of"]


@dataclass(frozen=True, slots=True)
class Label:
    """One edge between two states: its call and the categories that lead there, ``ok?`` under a condition.

    ``steps`` are the numbers of the walk's steps along it.
    """

    call: str
    categories: tuple[str, ...]
    steps: tuple[int, ...] = ()
    when: str = ""

    @property
    def text(self) -> str:
        """The label on one line."""
        return f"{self.call}: {', '.join(self.categories)}" if self.categories else self.call


@dataclass(frozen=True, slots=True)
class Arrow:
    """All edges from one state to another."""

    source: str
    target: str
    labels: tuple[Label, ...]

    @property
    def walked(self) -> bool:
        """Whether the walk went along here."""
        return any(label.steps for label in self.labels)


@dataclass(frozen=True, slots=True)
class StateBox:
    """One state; ``stays`` are the edges that lead back to it, ``stops`` those by which the trial ends."""

    name: str
    end: Finality
    why: str
    stays: tuple[Label, ...] = ()
    stops: tuple[Label, ...] = ()
    forbids: tuple[str, ...] = ()
    visited: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """The refused step of a walk."""

    state: str
    rule: str
    call: str
    event: int


@dataclass(frozen=True, slots=True)
class Walk:
    """How one thread of a trial went through the graph."""

    title: str = ""
    steps: Sequence[Walked] = ()
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """States in the order of the file, arrows merged by their ends."""

    title: str
    start: str
    states: tuple[StateBox, ...]
    arrows: tuple[Arrow, ...]
    everywhere: tuple[str, ...]
    """Rules of every state, as texts."""
    refusal: Refusal | None = None
    walked: str = ""
    """What the walk was; empty for a picture of the graph alone."""


@dataclass(slots=True)
class _Edges:
    """The labels between states while they are gathered; calls of one edge share a label."""

    labels: dict[tuple[str, str], list[Label]] = field(default_factory=dict)

    def add(self, source: str, target: str, label: Label) -> None:
        self.labels.setdefault((source, target), []).append(label)


def walk_of(judgement: Judgement, graph: str) -> Walk:
    """Return the walk of the thread that was refused something first, or else of the first thread."""
    judged = judgement.per_graph[graph]
    violations = [item for item in judgement.violations if item.graph == graph]
    first: Violation | None = None
    if violations:
        grave = (item for item in violations if item.severity == judgement.verdict)
        first = next(grave, violations[0])
    names = [thread.name for thread in judged.threads]
    thread = first.thread if first is not None and first.thread in names else names[0]
    refusal = None
    if first is not None:
        where = first.explanation.state or next(item.state for item in judged.threads if item.name == thread)
        refusal = Refusal(where, first.rule, first.explanation.operation, first.event)
    steps = [step for step in judged.walked if step.thread == thread]
    if first is not None:
        steps = [step for step in steps if step.event < first.event]
    return Walk(f"thread {thread}: {judgement.verdict}", steps, refusal)


def picture(graph: BoundGraph, walk: Walk | None = None) -> Picture:
    """Return what there is to draw of a bound graph, with a walk through it where one is given."""
    steps = list(walk.steps) if walk else []
    refusal = walk.refusal if walk else None
    visited = {step.state for step in steps} | {step.to for step in steps} | ({refusal.state} if refusal else set())
    edges = _Edges()
    for state in graph.graph.states.values():
        for edge in (edge for edge in state.allow if graph.calls(edge)):
            for target, label in _labels(graph, state.name, edge, steps):
                edges.add(state.name, target, label)
    ends = {
        target
        for (_, target), labels in edges.labels.items()
        if graph.graph.states[target].end is Finality.FINAL and all(_stops(label) for label in labels)
    } - {target for (_, target), labels in edges.labels.items() if not all(_stops(label) for label in labels)}
    shown = (name for name in graph.graph.states if name not in ends)
    boxes = tuple(_box(graph, name, edges, ends, visited=name in visited) for name in shown)
    arrows = tuple(
        Arrow(source, target, tuple(labels))
        for (source, target), labels in edges.labels.items()
        if source != target and target not in ends
    )
    return Picture(
        title=f"{graph.name} (version {graph.graph.version})",
        start=graph.graph.start,
        states=boxes,
        arrows=arrows,
        everywhere=tuple(_everywhere(graph)),
        refusal=refusal,
        walked=walk.title if walk else "",
    )


def _stops(label: Label) -> bool:
    return label.call == FINISH


def _labels(graph: BoundGraph, state: str, edge: Edge, steps: Sequence[Walked]) -> Iterator[tuple[str, Label]]:
    """One label for each state that the edge leads to, with the keys of ``then`` that lead there."""
    leading: dict[str, list[str]] = {}
    for key, targets in edge.then.items():
        for target in targets:
            keys = leading.setdefault(target.to, [])
            told = f"{key}?" if target.when.conjuncts else key
            if told not in keys:
                keys.append(told)
    call = " or ".join(graph.calls(edge))
    for target_name, keys in leading.items():
        taken = tuple(
            number
            for number, step in enumerate(steps, start=1)
            if (step.edge, step.state, step.to) == (edge.id, state, target_name)
        )
        yield target_name, Label(call, tuple(keys), taken, str(edge.when))


def _box(graph: BoundGraph, name: str, edges: _Edges, ends: Iterable[str], *, visited: bool) -> StateBox:
    state = graph.graph.states[name]
    stops = tuple(label for end in sorted(ends) for label in edges.labels.get((name, end), ()))
    forbids = tuple(edge.id for edge in state.forbid if graph.calls(edge))
    return StateBox(name, state.end, state.why, tuple(edges.labels.get((name, name), ())), stops, forbids, visited)


def _everywhere(graph: BoundGraph) -> Iterator[str]:
    for edge in graph.graph.always_allow:
        if graph.calls(edge):
            yield f"allowed: {' or '.join(graph.calls(edge))}" + (f" when {edge.when}" if edge.when.conjuncts else "")
    for edge in graph.graph.always_forbid:
        if graph.calls(edge):
            yield f"forbidden: {edge.id}: {' or '.join(graph.calls(edge))}" + (
                f" when {edge.when}" if edge.when.conjuncts else ""
            )
