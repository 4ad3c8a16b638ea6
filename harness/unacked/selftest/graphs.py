"""Planted agents of every graph: each named rule and each conjunct is broken once, end to end, and caught by name.

The graph says where a mistake can be made; the agent is led there through the real tools, wire and services, and
makes it. Its twin comes the same way and ends honestly. And every answer that a graph has a way on for is given
once, to an agent that then goes on as it may.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import networkx as nx

from unacked.contract import Registry
from unacked.graph import Call, Event, Graph, Result, Verdict
from unacked.graph.coverage import Coverage
from unacked.graph.explore import Variant, variants
from unacked.graph.explore.edges import edge_operations, home, inert
from unacked.graph.generate import GeneratedTrace, Purpose, generate
from unacked.selftest.enact import Enacted, Stage, Unplayable, Wanted
from unacked.selftest.ground import Ground
from unacked.selftest.provoke import producible, unproducible
from unacked.suite import LoadedCase, Suite
from unacked.tools import REGISTRY, TOOLS

__all__ = ["GraphTest", "Unproduced", "planted_agents", "unproduced_answers"]

_OF_TWO_AGENTS = ("handed-over/", "informed/")
"""Mistakes that take two agents; a trial has one."""

_TRIAL = frozenset(name for name, tool in TOOLS.items() if tool.local)

Roles = Mapping[str, str | None]


@dataclass(slots=True)
class GraphTest:
    """What became of the planted agents of one graph."""

    graph: str
    caught: dict[str, str | None] = field(default_factory=dict)
    """By aim (``forbid/second-create``, ``not/reconcile/1``), the rule under which the agent was caught."""
    escaped: dict[str, str] = field(default_factory=dict)
    """By aim, what was said of a mistake that was made and not caught by its name."""
    unreached: dict[str, str] = field(default_factory=dict)
    """By aim, why the mistake cannot be made through these tools and services."""
    unplayed: dict[str, str] = field(default_factory=dict)
    """By aim or twin, why it was not played, although nothing is known that stands in the way."""
    benign: int = 0
    alarms: dict[str, str] = field(default_factory=dict)
    """By twin or walk, what was said of an agent that did nothing wrong."""


def planted_agents(suite: Suite, scratch: Path, coverage: Coverage) -> Iterator[GraphTest]:
    """Plant agents for every graph of a suite, and count in ``coverage`` what they did."""
    ground = Ground(suite)
    for graph in suite.graphs.values():
        yield _Planter(suite, ground, graph, scratch, coverage).test()


class Unproduced(NamedTuple):
    """An answer that a graph has a way on from and that no trial produced; ``reason`` where one is known."""

    graph: str
    operation: str
    category: str
    reason: str | None


def unproduced_answers(coverage: Coverage) -> list[Unproduced]:
    """Return the answers that no trial produced."""
    missing = coverage.missing_pairs().items()
    return [Unproduced(graph, *pair, _reason(*pair)) for graph, pairs in missing for pair in pairs]


def _reason(operation: str, category: str) -> str | None:
    return None if category in producible(operation) else unproducible(category, operation)


class _Planter:
    def __init__(self, suite: Suite, ground: Ground, graph: Graph, scratch: Path, coverage: Coverage) -> None:
        self._suite = suite
        self._ground = ground
        self._graph = graph
        self._scratch = scratch
        self._coverage = coverage
        self._test = GraphTest(graph.name)
        self._failed: dict[str, Unplayable] = {}
        self._required = set()
        ways = _ways(graph)
        for aim, state in _aims(graph):
            missing = _missing(ways, graph.start, state)
            if missing:
                self._test.unreached[aim] = missing
            else:
                self._required.add(aim)

    def test(self) -> GraphTest:
        for number, (base, roles) in enumerate(self._bases()):
            for variant in variants(self._graph):
                bound = Variant(variant.name, {**roles, **variant.roles}, variant.idempotent)
                if self._left() if variant.name else number == 0 or self._asked(bound):
                    self._play(base, bound)
        for aim in self._left():
            failed = self._failed.get(aim)
            self._test.unplayed[aim] = "no case leads there" if failed is None else failed.reason
        return self._test

    def _left(self) -> list[str]:
        """The mistakes that were not made yet, and that nothing is known to prevent."""
        settled = (self._test.caught, self._test.escaped, self._test.unreached)
        return sorted((self._required | self._failed.keys()).difference(*settled))

    def _asked(self, variant: Variant) -> bool:
        """Whether the graph, bound in this way, has a way on from an answer that was not given yet."""
        table = variant.bind(self._graph, REGISTRY).table.values()
        pairs = {(name, key) for rows in table for name, row in rows.items() for step in row.allow for key in step.then}
        produced = self._coverage.produced.get(self._graph.name, {}).keys()
        return any(category in producible(name) for name, category in pairs - produced)

    def _bases(self) -> Sequence[tuple[LoadedCase, Roles]]:
        """One case for each way in which the suite binds the graph; the one with the most roles comes first."""
        found: dict[object, tuple[LoadedCase, Roles]] = {}
        for case in self._suite.cases.values():
            for bound in case.declared.graphs if case.declared is not None else ():
                if bound.name == self._graph.name:
                    roles = {role: name if name in case.offered else None for role, name in bound.roles.items()}
                    found.setdefault(tuple(sorted(roles.items(), key=str)), (case, roles))
        return sorted(found.values(), key=lambda item: -sum(role is not None for role in item[1].values()))

    def _play(self, base: LoadedCase, variant: Variant) -> None:
        """Make the mistakes that were not made yet, and give the answers that were not given yet."""
        stage = Stage(self._suite, self._ground, base, self._graph.name, variant, self._scratch)
        purposes = [Purpose.WALK, *([Purpose.WITNESS] if self._left() else ())]
        self._play_of(stage, variant, stage.registry, purposes)
        # A walk takes one operation for all that an edge lets through: the others are taken one by one.
        missing = {
            name for name, key in self._coverage.missing_pairs().get(self._graph.name, ()) if key in producible(name)
        }
        fixed = set(variant.roles.values())
        loose = {name for name in stage.registry if not stage.registry[name].writes} - fixed
        for name in sorted(loose & missing):
            kept = Registry(stage.registry[other] for other in stage.registry if other not in loose - {name, *_TRIAL})
            self._play_of(stage, variant, kept, [Purpose.WALK])

    def _play_of(self, stage: Stage, variant: Variant, registry: Registry, purposes: Sequence[Purpose]) -> None:
        made = generate(self._graph, registry, purposes=purposes, ways=[variant])
        tokens = frozenset(made.tokens)
        for trace in made.of(Purpose.WITNESS):
            known = _aim(trace) in self._test.caught or _aim(trace) in self._test.escaped
            if not known and not _aim(trace).startswith(_OF_TWO_AGENTS):
                self._mistake(stage, trace, tokens)
        for trace in made.of(Purpose.WALK):
            if not _answers(trace.events) <= self._coverage.produced.get(self._graph.name, {}).keys():
                self._benign(stage, trace.name, Wanted(trace.events, tokens, trace.effects))

    def _mistake(self, stage: Stage, trace: GeneratedTrace, tokens: frozenset[str]) -> None:
        """Make a mistake, where its twin can be played too."""
        aim = _aim(trace)
        tried = stage.enact(Wanted(trace.events, tokens, trace.effects, trace.event))
        failed = tried if isinstance(tried, Unplayable) else None
        if failed is None and trace.twin:
            failed = self._benign(stage, f"the twin of {aim}", Wanted(trace.twin, tokens, trace.effects))
        if failed is not None:
            self._failed.setdefault(aim, failed)
            if failed.by_contract:
                self._test.unreached[aim] = failed.reason
        elif isinstance(tried, Enacted):
            self._coverage.add(tried.observed(aim))
            found = _misjudged(tried, trace)
            if found is None:
                self._test.caught[aim] = trace.violation
            else:
                self._test.escaped[aim] = found

    def _benign(self, stage: Stage, name: str, wanted: Wanted) -> Unplayable | None:
        tried = stage.enact(wanted)
        if isinstance(tried, Unplayable):
            return tried
        self._test.benign += 1
        self._coverage.add(tried.observed(name))
        verdict = tried.verdict
        if verdict.verdict is not Verdict.PASS:
            self._test.alarms[name] = f"{verdict.verdict} by {verdict.rule}"
        return None


def _misjudged(tried: Enacted, trace: GeneratedTrace) -> str | None:
    """What is wrong with the judgement of a mistake, if anything is."""
    calls = sum(isinstance(event, Call) for event in trace.events[: trace.event + 1]) if trace.event is not None else 0
    if tried.refused != (trace.violation, calls):
        rule, call = tried.refused
        return f"call {call} is refused by {rule!r}, not call {calls} by {trace.violation!r}"
    if tried.judgement.verdict is not trace.verdict:
        return f"judged {tried.judgement.verdict}, not {trace.verdict}"
    claims = [claim for name, claim in tried.verdict.claims.items() if name != "path" and claim.findings]
    return f"the claim {claims[0].name!r} has findings: {claims[0].findings[0].rule}" if claims else None


def _aim(trace: GeneratedTrace) -> str:
    """What a trace shows, whichever way the graph is bound."""
    return trace.name.split(" (")[0].split("/", 2)[2]


def _aims(graph: Graph) -> Iterator[tuple[str, str]]:
    """Every named rule, and every conjunct of an allowed edge whose breach makes a difference, with its state."""
    concerned = edge_operations(graph.bind({}, REGISTRY, {}))
    homes = home(graph)
    for edge in graph.edges():
        place = homes[edge.id]
        state = graph.start if place is None else place.name
        if edge.forbid:
            yield f"forbid/{edge.id}", state
        elif not inert(edge, place, [REGISTRY[name] for name in concerned[edge.id][1]]):
            yield from ((f"not/{edge.id}/{index + 1}", state) for index in range(len(edge.when.conjuncts)))


def _ways(graph: Graph) -> nx.DiGraph[str]:
    """The states of a graph; where only answers lead on that nothing produces, the step is told and counts."""
    ways: nx.DiGraph[str] = nx.DiGraph()
    for here, there, move in graph.bind({}, REGISTRY, {}).network().edges(data=True):
        reason = None if move["forbid"] else _reason(move["call"], move["category"])
        if not move["forbid"] and (reason is None or not ways.has_edge(here, there)):
            told = "" if reason is None else f"{move['call']}/{move['category']}: {reason}"
            ways.add_edge(here, there, missing=told, weight=int(reason is not None))
    return ways


def _missing(ways: nx.DiGraph[str], start: str, state: str) -> str:
    """The answers, on the easiest way to a state, that nothing produces; empty where it can be reached."""
    if not nx.has_path(ways, start, state):
        return "no call leads there"
    way = nx.shortest_path(ways, start, state, weight="weight")
    return "; ".join(filter(None, (ways.edges[step]["missing"] for step in pairwise(way))))


def _answers(events: Sequence[Event]) -> set[tuple[str, str]]:
    """The (operation, category) of every answer."""
    called = {event.id: event.operation for event in events if isinstance(event, Call)}
    return {(called[event.call], event.category) for event in events if isinstance(event, Result)}
