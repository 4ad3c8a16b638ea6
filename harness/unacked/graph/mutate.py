"""How many slips of the pen in a graph its traces would show: those written by hand, and those generated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from unacked.canonical import JSON
from unacked.contract import Registry
from unacked.errors import SpecificationError
from unacked.graph.explore import Alphabet, Variant, compare, told, variants
from unacked.graph.generate import GeneratedTrace
from unacked.graph.judgement import Judgement, judge_events
from unacked.graph.model import BoundGraph, Graph
from unacked.graph.mutants import Mutant, mutants
from unacked.graph.trace import Trace, judge

__all__ = ["Fate", "MutationReport", "Survivor", "mutate"]

Answer = tuple[str, str | None, int | None]
"""Verdict, first violation, and the event that it is at."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that no trace tells from the original, and why."""

    name: str
    equivalent: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Fate:
    """Which kinds of traces tell a mutant from the original; ``survivor`` says why none does."""

    mutant: Mutant
    by_hand: bool
    generated: bool
    survivor: Survivor | None = None


@dataclass(slots=True)
class MutationReport:
    """What became of the mutants of one graph; ``refused`` are those that the loader's checks refuse."""

    graph: str
    fates: list[Fate] = field(default_factory=list)
    refused: int = 0

    @property
    def survivors(self) -> list[Survivor]:
        """The mutants that nothing tells from the original."""
        return [fate.survivor for fate in self.fates if fate.survivor is not None]

    @property
    def equivalent(self) -> int:
        """How many survivors cannot be told from the original at all."""
        return sum(survivor.equivalent for survivor in self.survivors)

    def rate(self, *, by_hand: bool = True, generated: bool = True) -> float:
        """Return the share of mutants killed by some kinds of traces, those apart that are equivalent."""
        killed = sum((by_hand and fate.by_hand) or (generated and fate.generated) for fate in self.fates)
        total = len(self.fates) - self.equivalent
        return killed / total if total else 1.0

    def as_json(self) -> dict[str, JSON]:
        """Return the report as a JSON object."""
        return {
            "graph": self.graph,
            "mutants": len(self.fates),
            "refused": self.refused,
            "equivalent": self.equivalent,
            "kinds": dict(sorted(Counter(fate.mutant.kind for fate in self.fates).items())),
            "killed": {
                "by_hand": self.rate(generated=False),
                "generated": self.rate(by_hand=False),
                "together": self.rate(),
            },
            "survivors": [
                {"mutant": item.name, "equivalent": item.equivalent, "reason": item.reason} for item in self.survivors
            ],
        }


def mutate(
    graph: Graph,
    registry: Registry,
    *,
    by_hand: Sequence[Trace] = (),
    generated: Sequence[GeneratedTrace] = (),
    every: int = 1,
    depth: int | None = None,
) -> MutationReport:
    """Judge traces by each mutant of a graph (or by ``every`` nth) and report what they tell.

    ``by_hand`` may hold traces of other graphs; they are left out. A survivor is compared with the original in
    every variant, as deep as ``depth`` calls, or without end.
    """
    report = MutationReport(graph.name)
    jury = _Jury(graph, registry, by_hand, generated)
    for number, mutant in enumerate(mutants(graph, registry)):
        if number % every:
            continue
        try:
            killed_by_hand, killed_by_generated = jury.told_by_hand(mutant), jury.told_by_generated(mutant)
        except SpecificationError:
            report.refused += 1
            continue
        survivor = None
        if not (killed_by_hand or killed_by_generated):
            survivor = _explained(graph, registry, mutant, depth)
        report.fates.append(Fate(mutant, killed_by_hand, killed_by_generated, survivor))
    return report


class _Jury:
    """Traces with what they get by the original."""

    def __init__(
        self, graph: Graph, registry: Registry, by_hand: Iterable[Trace], generated: Sequence[GeneratedTrace]
    ) -> None:
        self._registry = registry
        self._name = graph.name
        known = {graph.name: graph}
        self._by_hand = [
            (trace, _answer(judge(trace, known, registry))) for trace in by_hand if trace.begin.graphs == (graph.name,)
        ]
        self._by_state: dict[str | None, list[GeneratedTrace]] = {None: list(generated)}
        for trace in generated:
            for state in trace.states:
                self._by_state.setdefault(state, []).append(trace)

    def told_by_hand(self, mutant: Mutant) -> bool:
        """Whether some trace written by hand gets another verdict by the mutant."""
        known = {self._name: mutant.graph}
        return any(_answer(judge(trace, known, self._registry)) != answer for trace, answer in self._by_hand)

    def told_by_generated(self, mutant: Mutant) -> bool:
        """Whether some generated trace does; only those can that come by where the slip is."""
        bound: dict[str, BoundGraph] = {}
        for trace in self._nearest(mutant):
            variant = trace.variant
            if variant.name not in bound:
                bound[variant.name] = variant.bind(mutant.graph, self._registry)
            answer = _answer(judge_events(trace.events, [bound[variant.name]], trace.effects))
            if answer != (trace.verdict, trace.violation, trace.event):
                return True
        return False

    def _nearest(self, mutant: Mutant) -> Iterator[GeneratedTrace]:
        traces = self._by_state.get(mutant.state, [])
        mark = f"/{mutant.edge}/" if mutant.edge else ""
        yield from (trace for trace in traces if mark and mark in f"{trace.name}/")
        yield from (trace for trace in traces if not mark or mark not in f"{trace.name}/")


def _answer(judgement: Judgement) -> Answer:
    first = next(((item.rule, item.event) for item in judgement.violations), (None, None))
    return judgement.verdict, *first


_OF_SEVERAL_THREADS = frozenset({"drop-key", "change-unlisted"})
"""Slips that a comparison thread by thread does not see."""


def _explained(graph: Graph, registry: Registry, mutant: Mutant, depth: int | None) -> Survivor:
    """Compare a survivor with the original: either nothing can tell them apart, or this would."""
    if mutant.kind in _OF_SEVERAL_THREADS:
        reason = "not killed: only calls of several threads, or of none, could tell it"
        return Survivor(mutant.name, equivalent=False, reason=reason)
    complete = True
    for variant in variants(graph):
        pair = [variant.bind(graph, registry), variant.bind(mutant.graph, registry)]
        found = compare(pair, Alphabet(pair, registry.values()), depth=depth)
        complete &= found.complete
        if found.difference is not None:
            difference = found.difference
            way = " -> ".join(told(difference.steps, difference.letter)) or "the end"
            original, mutated = (word or "allowed" for word in difference.said)
            reason = f"not killed: {way} is {original} by the original and {mutated} by the mutant"
            return Survivor(mutant.name, equivalent=False, reason=_of(variant, reason))
    if not complete:
        return Survivor(mutant.name, equivalent=False, reason="not killed: there is too much to compare for a proof")
    limit = "" if depth is None else f" within {depth} calls"
    return Survivor(mutant.name, equivalent=True, reason=f"equivalent: no call and no end tells it{limit}")


def _of(variant: Variant, reason: str) -> str:
    return f"{reason} ({variant.name})" if variant.name else reason
