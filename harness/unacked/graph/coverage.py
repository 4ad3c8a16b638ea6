"""How much of the graphs a run has shown: three numbers, and never one.

*Environment*: which (operation, category) pairs that a graph models were produced, and by which fixture; it
describes the fixtures. *Profile*: which allowed edges an agent took; it describes the agent. *Forbids*: which named
rules were violated; it describes the planted agents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import networkx as nx

from unacked.canonical import JSON
from unacked.graph.judgement import Judgement
from unacked.graph.model import BoundGraph
from unacked.graph.moves import Call, Event, Result

__all__ = ["Coverage", "Observation", "Share", "comparable", "cover", "differing_rates", "profile_difference"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One judged trial. ``fixture`` names the side of the case; ``tools`` are the operations that it offers."""

    case: str
    fixture: str
    agent: str
    graphs: Sequence[BoundGraph]
    tools: Collection[str]
    events: Sequence[Event]
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many."""

    seen: int
    of: int

    def __str__(self) -> str:
        percent = 100 * self.seen / self.of if self.of else 100.0
        return f"{self.seen} of {self.of} ({percent:.0f} %)"


Pair = tuple[str, str]
"""(operation, category), (graph, edge) or (graph, rule)."""


@dataclass(slots=True)
class Coverage:
    """What was seen of the graphs that are concerned."""

    trials: Counter[str] = field(default_factory=Counter)
    """By agent."""
    modelled: dict[str, set[Pair]] = field(default_factory=dict)
    """By graph, the (operation, category) pairs that it leads on from."""
    produced: dict[str, dict[Pair, set[str]]] = field(default_factory=dict)
    """By graph and pair, the fixtures that produced it."""
    edges: set[Pair] = field(default_factory=set)
    taken: dict[str, Counter[Pair]] = field(default_factory=dict)
    """By agent, how often each allowed edge was taken."""
    rules: set[Pair] = field(default_factory=set)
    fired: dict[Pair, Counter[str]] = field(default_factory=dict)
    """By rule, how often each agent violated it."""

    @property
    def environment(self) -> Share:
        """Pairs that were produced, of those that are modelled."""
        return Share(sum(map(len, self.produced.values())), sum(map(len, self.modelled.values())))

    def profile(self, agent: str) -> Share:
        """Allowed edges that an agent took, of all."""
        return Share(len(self.taken.get(agent, ())), len(self.edges))

    @property
    def forbids(self) -> Share:
        """Named rules that were violated, of all."""
        return Share(len(self.fired), len(self.rules))

    def missing_pairs(self) -> dict[str, list[Pair]]:
        """Return by graph the pairs that no fixture produced."""
        left = {graph: sorted(pairs - self.produced.get(graph, {}).keys()) for graph, pairs in self.modelled.items()}
        return {graph: pairs for graph, pairs in sorted(left.items()) if pairs}

    def missing_rules(self) -> list[Pair]:
        """Return the rules that nobody violated."""
        return sorted(self.rules - self.fired.keys())

    def add(self, seen: Observation) -> None:
        """Take a trial into account."""
        self.trials[seen.agent] += 1
        counter = self.taken.setdefault(seen.agent, Counter())
        answered = _answered(seen.events)
        for graph in seen.graphs:
            self._concern(graph, seen.tools)
            produced = self.produced.setdefault(graph.name, {})
            for pair in answered & self.modelled[graph.name]:
                produced.setdefault(pair, set()).add(seen.fixture)
            judged = seen.judgement.per_graph[graph.name]
            counter.update((graph.name, step.edge) for step in judged.walked)
        for violation in seen.judgement.violations:
            rule = (violation.graph, violation.rule)
            if rule in self.rules:
                self.fired.setdefault(rule, Counter())[seen.agent] += 1

    def _concern(self, graph: BoundGraph, tools: Collection[str]) -> None:
        rows = [row for state in _reachable(graph, tools) for row in graph.table[state].items() if row[0] in tools]
        self.modelled.setdefault(graph.name, set()).update(
            (name, category) for name, row in rows for step in row.allow for category in step.then
        )
        self.edges.update((graph.name, step.edge.id) for _, row in rows for step in row.allow)
        self.rules.update((graph.name, edge.id) for _, row in rows for edge in (*row.always, *row.forbid))

    def as_json(self) -> dict[str, JSON]:
        """Return everything as a JSON object."""
        return {
            "environment": {
                **_share(self.environment),
                "graphs": {
                    graph: {
                        "produced": [
                            [*pair, sorted(fixtures)] for pair, fixtures in sorted(self.produced.get(graph, {}).items())
                        ],
                        "missing": [list(pair) for pair in self.missing_pairs().get(graph, ())],
                    }
                    for graph in sorted(self.modelled)
                },
            },
            "agents": {
                agent: {
                    "trials": trials,
                    **_share(self.profile(agent)),
                    "edges": {"/".join(edge): times for edge, times in sorted(self.taken[agent].items())},
                }
                for agent, trials in sorted(self.trials.items())
            },
            "forbids": {
                **_share(self.forbids),
                "fired": {"/".join(rule): dict(sorted(by.items())) for rule, by in sorted(self.fired.items())},
                "missing": ["/".join(rule) for rule in self.missing_rules()],
            },
        }


def _reachable(graph: BoundGraph, tools: Collection[str]) -> set[str]:
    """The states that can be entered with the operations that there are."""
    network: nx.DiGraph[str] = nx.DiGraph()
    network.add_nodes_from(graph.graph.states)
    network.add_edges_from(
        (here, there)
        for here, there, move in graph.network().edges(data=True)
        if move["call"] in tools and not move["forbid"]
    )
    return {graph.graph.start, *nx.descendants(network, graph.graph.start)}


def _share(share: Share) -> dict[str, JSON]:
    return {"seen": share.seen, "of": share.of}


def _answered(events: Iterable[Event]) -> set[Pair]:
    """The (operation, category) pairs that the environment produced."""
    operations: dict[str, str] = {}
    pairs = set()
    for event in events:
        if isinstance(event, Call):
            operations[event.id] = event.operation
        elif isinstance(event, Result) and event.call in operations:
            pairs.add((operations[event.call], event.category))
    return pairs


def cover(observations: Iterable[Observation]) -> tuple[Coverage, Mapping[str, Coverage]]:
    """Return the coverage of all trials together, and that of each case by itself."""
    together = Coverage()
    cases: dict[str, Coverage] = {}
    for seen in observations:
        together.add(seen)
        cases.setdefault(seen.case, Coverage()).add(seen)
    return together, dict(sorted(cases.items()))


def comparable(first: Coverage, second: Coverage) -> list[tuple[str, str]]:
    """Return which agents of two runs to compare: each with its namesake, or the only one with the only other."""
    pairs = [(agent, agent) for agent in sorted(first.trials.keys() & second.trials.keys())]
    if not pairs and len(first.trials) == len(second.trials) == 1:
        pairs = [(next(iter(first.trials)), next(iter(second.trials)))]
    return pairs


def profile_difference(first: Coverage, second: Coverage, agents: tuple[str, str]) -> dict[Pair, tuple[float, float]]:
    """Return how often per trial two agents took each edge, for the edges where that differs."""
    rates = differing_rates(list(zip((first, second), agents, strict=True)))
    return {edge: (one, two) for edge, (one, two) in rates.items()}


def differing_rates(sides: Sequence[tuple[Coverage, str]]) -> dict[Pair, tuple[float, ...]]:
    """Return how often per trial each of several agents took each edge, for the edges where that differs.

    They come in the order in which they were first taken: where an agent goes another way, before what follows from it.
    """
    every = []
    for coverage, agent in sides:
        trials = coverage.trials[agent] or 1
        every.append({edge: times / trials for edge, times in coverage.taken.get(agent, Counter()).items()})
    rates = {edge: tuple(taken.get(edge, 0.0) for taken in every) for edge in dict.fromkeys(chain(*every))}
    return {edge: told for edge, told in rates.items() if len(set(told)) > 1}
