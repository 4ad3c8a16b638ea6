"""Graphs as values, and what becomes of them when a case binds their roles to operations.

A ``Graph`` is what the file says. A ``BoundGraph`` is the form that the monitor walks: edges of unbound roles
are gone, and for each (state, operation) there is one row with the edges that concern it. Both are immutable
and shared between trials.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import networkx as nx

from unacked.canonical import JSON
from unacked.contract import Operation, Registry
from unacked.errors import Place, Problem, SpecificationError, nearest
from unacked.graph.expression import ALWAYS, Conjunct, Guard, Path, Scope
from unacked.outcome import CATEGORIES, OutcomeClass

__all__ = [
    "FINISH",
    "SUCCESS",
    "Allowance",
    "BoundGraph",
    "Edge",
    "Finality",
    "Graph",
    "Row",
    "State",
    "Step",
    "Target",
    "ThreadRule",
    "Unlisted",
    "covering_key",
]

FINISH = "finish"
"""The operation by which an agent stops; refused wherever no edge allows it."""

SUCCESS = Scope({"status": "success"}, FINISH)
"""A final claim of success, as far as nothing else is known."""

Bindings = tuple[tuple[str, Path], ...]

_NOWHERE = Place("")


class Finality(StrEnum):
    """Whether a thread may end in a state."""

    OPEN = "open"
    OK = "ok"
    FINAL = "final"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a result leads. Order of effect: ``forget``, ``bind``, ``collect``, ``reset``."""

    to: str
    when: Guard = ALWAYS
    bind: Bindings = ()
    collect: Bindings = ()
    forget: tuple[str, ...] = ()
    reset: tuple[str, ...] = ()
    place: Place = _NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One allowed or forbidden call. ``call`` holds roles, operations and ``@`` selectors as written."""

    id: str
    call: tuple[str, ...]
    when: Guard = ALWAYS
    bind: Bindings = ()
    count: tuple[tuple[str, int], ...] = ()
    then: Mapping[str, tuple[Target, ...]] = field(default_factory=dict)
    forbid: bool = False
    unsafe: bool = True
    why: str = ""
    place: Place = _NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One situation of the agent, with the calls that it allows and the refusals that it names."""

    name: str
    end: Finality = Finality.OPEN
    why: str = ""
    allow: tuple[Edge, ...] = ()
    forbid: tuple[Edge, ...] = ()
    place: Place = _NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadRule:
    """How calls are told apart: ``key`` by role or operation, ``handles`` by the name of the handle."""

    name: str = "case"
    key: Mapping[str, Path] = field(default_factory=dict)
    handles: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlisted:
    """What is forbidden though no edge says so."""

    tool: bool = True
    op_read: bool = False
    op_write: bool = True
    orphan: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """A finding of the lint ``id`` that the file declares to be as it should be."""

    id: str
    why: str
    edge: str | None = None
    state: str | None = None
    place: Place = _NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Graph:
    """The allowed transitions of one kind of effect, as its file gives them; states begin with the start."""

    name: str
    version: int
    file: str
    states: Mapping[str, State]
    roles: Mapping[str, str | None] = field(default_factory=dict)
    thread: ThreadRule = ThreadRule()
    unlisted: Unlisted = Unlisted()
    always_allow: tuple[Edge, ...] = ()
    always_forbid: tuple[Edge, ...] = ()
    allowances: tuple[Allowance, ...] = ()
    place: Place = _NOWHERE
    _bound: dict[object, BoundGraph] = field(default_factory=dict, repr=False)
    _network: list[nx.MultiDiGraph[str]] = field(default_factory=list, repr=False)

    @property
    def start(self) -> str:
        """Name of the state in which every thread begins."""
        return next(iter(self.states))

    def edges(self) -> Iterator[Edge]:
        """Yield every edge, those of ``always`` first."""
        yield from self.always_allow
        yield from self.always_forbid
        for state in self.states.values():
            yield from state.allow
            yield from state.forbid

    def bind(self, roles: Mapping[str, str | None], registry: Registry, idempotency: Mapping[str, bool]) -> BoundGraph:
        """Return the graph over the operations of one case; equal arguments give the same object.

        ``roles`` overrides the file's own, None unbinds a role. ``idempotency`` says by operation whether
        the same key is safe to send again; an operation that is left out is judged by its contract.
        Raises SpecificationError with everything that does not fit.
        """
        key = (tuple(sorted(roles.items())), id(registry), tuple(sorted(idempotency.items())))
        if key not in self._bound:
            self._bound[key] = _Binder(self, roles, registry, idempotency).bound()
        return self._bound[key]

    def unreachable(self) -> list[str]:
        """Return the states to which no edge leads from the start, in the order of the file."""
        reached = nx.descendants(self.network(), self.start) | {self.start}
        return [name for name in self.states if name not in reached]

    def network(self) -> nx.MultiDiGraph[str]:
        """Return the graph as a networkx MultiDiGraph: states, and one edge per (edge, category, alternative)."""
        if not self._network:
            every = (*self.always_allow, *self.always_forbid)
            moves = [
                (state.name, edge, "|".join(edge.call), edge.then)
                for state in self.states.values()
                for edge in (*state.allow, *state.forbid, *every)
            ]
            self._network.append(_network(self, moves))
        return self._network[0]


class Step(NamedTuple):
    """An edge as it concerns one operation: its categories are all resolved."""

    edge: Edge
    then: Mapping[str, tuple[Target, ...]]


class Row(NamedTuple):
    """The edges that concern one operation in one state, in the order of precedence."""

    always: tuple[Edge, ...]
    allow: tuple[Step, ...]
    forbid: tuple[Edge, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BoundGraph:
    """A graph over the operations of one case, compiled to tables.

    ``table`` has a row per state and operation. ``alphabet`` holds the operations that the graph names by
    role, name or thread key, and always ``finish``; an operation that only a forbid's selector such as
    ``@mutating`` reaches is ``watched``, but no part of the alphabet.
    """

    graph: Graph
    registry: Registry
    roles: Mapping[str, str | None]
    table: Mapping[str, Mapping[str, Row]]
    alphabet: frozenset[str]
    watched: frozenset[str]
    keys: Mapping[str, Path]
    call_handles: tuple[tuple[str, Path], ...]
    result_handles: tuple[tuple[str, Path], ...]
    bound: frozenset[str]
    idempotent: frozenset[str]
    settled: tuple[tuple[str, Conjunct], ...]
    """(edge, conjunct) wherever only counters, variables and the case decide: known before the call."""
    finishing: tuple[Edge, ...]
    """The edges that allow ``finish`` depending on what the thread remembers."""
    unsuccessful: frozenset[str]
    """The edges that never allow ``finish`` to say success."""
    prospects: dict[object, Any] = field(default_factory=dict, repr=False)
    _network: list[nx.MultiDiGraph[str]] = field(default_factory=list, repr=False)

    @property
    def name(self) -> str:
        """Name of the graph."""
        return self.graph.name

    def calls(self, edge: Edge) -> tuple[str, ...]:
        """Return the operations and selectors that an edge stands for, roles resolved."""
        words = (self.roles.get(word, word) for word in edge.call)
        return tuple(word for word in words if word is not None)

    def network(self) -> nx.MultiDiGraph[str]:
        """Return the bound graph as a networkx MultiDiGraph; edge attributes as of ``Graph.network``."""
        if not self._network:
            moves = [
                (state, step.edge, operation, step.then)
                for state, rows in self.table.items()
                for operation, row in rows.items()
                for step in (*row.allow, *(Step(edge, {}) for edge in (*row.always, *row.forbid)))
            ]
            self._network.append(_network(self.graph, moves))
        return self._network[0]


def covering_key(category: str, operation: Operation, then: Container[str]) -> str | None:
    """Return the key of ``then`` that covers a category of an operation: category, then class, then ``@any``."""
    outcome_class = CATEGORIES[category].outcome_class
    if category == "not_found" and not operation.writes:
        outcome_class = OutcomeClass.SUCCESS
    return next((key for key in (category, f"@{outcome_class}", "@any") if key in then), None)


class _Binder:
    """Builds one BoundGraph and collects what does not fit."""

    def __init__(
        self, graph: Graph, roles: Mapping[str, str | None], registry: Registry, idempotency: Mapping[str, bool]
    ) -> None:
        self.graph = graph
        self.registry = registry
        self.roles = {**graph.roles, **roles}
        self.problems: list[Problem] = []
        for role in roles:
            if role not in graph.roles:
                self._problem(f"graph {graph.name!r} has no role {role!r}", nearest(role, graph.roles))
        for role, operation in self.roles.items():
            if operation is not None and operation not in registry:
                self._problem(
                    f"role {role!r} is bound to unknown operation {operation!r}", nearest(operation, registry)
                )
        bound = {role: name for role, name in self.roles.items() if name in registry}
        self.bound_roles = frozenset(bound)
        taken = (edge for edge in graph.edges() if self._operations(edge.call, selectors=True))
        self.read = frozenset(path.root[1:] for edge in taken for path in _reads(edge) if path.root.startswith("$"))
        """The variables that something reads with these roles; what nothing reads need not be bound."""
        self.idempotent = frozenset(
            role
            for role, name in bound.items()
            if name is not None and idempotency.get(name, registry[name].idempotency_mode.honoured)
        )

    def bound(self) -> BoundGraph:
        graph = self.graph
        steps = {id(edge): self._steps(edge) for edge in graph.edges()}
        table = {state.name: self._rows(state, steps) for state in graph.states.values()}
        keys = {
            operation: path
            for word, path in graph.thread.key.items()
            for operation in self._operations((word,), selectors=False)
        }
        named = {name for edge in graph.edges() for name in self._operations(edge.call, selectors=not edge.forbid)}
        finishing = [edge for edge in graph.edges() if not edge.forbid and FINISH in edge.call]
        handles = [(name, path) for name, paths in graph.thread.handles.items() for path in paths]
        if self.problems:
            raise SpecificationError(self.problems)
        return BoundGraph(
            graph=graph,
            registry=self.registry,
            roles=self.roles,
            table=table,
            alphabet=frozenset({FINISH, *named, *keys}),
            watched=frozenset({FINISH, *keys, *(name for rows in table.values() for name in rows)}),
            keys=keys,
            call_handles=tuple((name, path) for name, path in handles if path.root != "result"),
            result_handles=tuple((name, path) for name, path in handles if path.root == "result"),
            bound=self.bound_roles,
            idempotent=self.idempotent,
            settled=tuple(
                (edge.id, conjunct)
                for edge in graph.edges()
                for conjunct in edge.when.conjuncts
                if not edge.forbid and conjunct.settled_early
            ),
            finishing=tuple(edge for edge in finishing if not _asks_status_alone(edge)),
            unsuccessful=frozenset(
                edge.id for edge in finishing if _asks_status_alone(edge) and not edge.when.holds(SUCCESS)
            ),
        )

    def _rows(self, state: State, steps: Mapping[int, Mapping[str, Step]]) -> Mapping[str, Row]:
        always, forbid = self.graph.always_forbid, state.forbid
        allow = (*state.allow, *self.graph.always_allow)
        reached = {name: None for edge in (*always, *allow, *forbid) for name in steps[id(edge)]}
        return {
            name: Row(
                tuple(edge for edge in always if name in steps[id(edge)]),
                tuple(steps[id(edge)][name] for edge in allow if name in steps[id(edge)]),
                tuple(edge for edge in forbid if name in steps[id(edge)]),
            )
            for name in reached
        }

    def _steps(self, edge: Edge) -> Mapping[str, Step]:
        operations = [self.registry[name] for name in sorted(self._operations(edge.call, selectors=True))]
        self._check_arguments(edge, operations)
        steps = {}
        for operation in operations:
            then = {}
            for category in sorted(operation.categories):
                key = covering_key(category, operation, edge.then)
                if key is not None:
                    then[category] = edge.then[key]
                elif not edge.forbid:
                    self._problem(
                        f"edge {edge.id!r} has no way on for {operation.name}/{category}",
                        "name the category, its class or '@any' under 'then'",
                        edge.place,
                    )
            steps[operation.name] = Step(edge, then)
        return steps

    def _check_arguments(self, edge: Edge, operations: list[Operation]) -> None:
        known = {argument.name for operation in operations for argument in operation.arguments}
        paths = [path for conjunct in edge.when.conjuncts for path in conjunct.reads]
        paths += [path for name, path in edge.bind if name in self.read]
        for path in paths:
            if operations and path.root == "args" and path.head not in known:
                names = ", ".join(operation.name for operation in operations)
                self._problem(
                    f"edge {edge.id!r} reads {path.text}, which {names} does not have",
                    nearest(path.head, known),
                    edge.place,
                )

    def _operations(self, words: Iterable[str], *, selectors: bool) -> set[str]:
        names: set[str] = set()
        for word in words:
            if word.startswith("@"):
                names |= self.registry.select(word) if selectors else set()
                continue
            name = self.roles.get(word, word)
            if name is not None and name in self.registry:
                names.add(name)
        return names

    def _problem(self, message: str, hint: str, place: Place | None = None) -> None:
        self.problems.append(Problem(place or Place(self.graph.file), message, hint))


def _reads(edge: Edge) -> Iterator[Path]:
    targets = [target for alternatives in edge.then.values() for target in alternatives]
    for guard in (edge.when, *(target.when for target in targets)):
        for conjunct in guard.conjuncts:
            yield from conjunct.reads
    for bindings in (edge.bind, *(target.bind for target in targets), *(target.collect for target in targets)):
        yield from (path for _, path in bindings)


def _asks_status_alone(edge: Edge) -> bool:
    return all(path.text == "args.status" for conjunct in edge.when.conjuncts for path in conjunct.reads) and not any(
        conjunct.roles for conjunct in edge.when.conjuncts
    )


_Moves = Iterable[tuple[str, Edge, str, Mapping[str, tuple[Target, ...]]]]


def _network(graph: Graph, moves: _Moves) -> nx.MultiDiGraph[str]:
    """Nodes carry ``end``, ``why``, ``start``; edges ``edge``, ``call``, ``category``, ``when``, ``forbid``."""
    network: nx.MultiDiGraph[str] = nx.MultiDiGraph(name=graph.name, version=graph.version)
    for state in graph.states.values():
        network.add_node(state.name, end=state.end.value, why=state.why, start=state.name == graph.start)
    for state_name, edge, call, then in moves:
        attributes: dict[str, JSON] = {"edge": edge.id, "call": call, "when": str(edge.when), "forbid": edge.forbid}
        if edge.forbid:
            network.add_edge(state_name, state_name, key=(edge.id, call, "!", 0), category="!", **attributes)
            continue
        for category, targets in then.items():
            for index, target in enumerate(targets):
                network.add_edge(
                    state_name, target.to, key=(edge.id, call, category, index), category=category, **attributes
                )
    return network
