"""Suites that a graph writes about itself: good walks, planted-bad witnesses, transition probes.

A good walk takes one edge with one category and then finishes honestly. A witness makes one planted mistake: it
walks into a forbid, breaks one conjunct of an allowed edge, or calls an operation that the graph does not know. A
probe takes one edge with one category and then tries one operation, or stops, or it comes near to a forbid. What
each trace must get follows from how it was built; the monitor has to agree. Traces written by hand are the
specification; these freeze it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from unacked.canonical import JSON
from unacked.contract import Operation, Registry
from unacked.graph.explore import (
    Alphabet,
    Answer,
    Arrival,
    Difference,
    Example,
    Kind,
    Letter,
    Machine,
    Script,
    Situation,
    Space,
    Step,
    Survey,
    Variant,
    compare,
    refusal,
    variants,
)
from unacked.graph.explore.edges import edge_operations, home, inert
from unacked.graph.judgement import judge_events
from unacked.graph.model import BoundGraph, Edge, Finality, Graph
from unacked.graph.model import Step as EdgeStep
from unacked.graph.moves import Call, End, Event, Result
from unacked.graph.verdict import VERDICTS, EndReason, Standing, Verdict

__all__ = [
    "GeneratedSuite",
    "GeneratedTrace",
    "Purpose",
    "Unreached",
    "expected_lines",
    "generate",
    "trace_lines",
]

_STANDINGS: Mapping[Finality, Standing] = {
    Finality.OPEN: Standing.OPEN,
    Finality.OK: Standing.RESTING,
    Finality.FINAL: Standing.CLOSED,
}
_DEEPEST = 2
"""How many calls later a broken conjunct may show."""


class Purpose(StrEnum):
    """What a generated trace is for."""

    WALK = "walk"
    WITNESS = "witness"
    PROBE = "probe"


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedTrace:
    """One trace with what it must get; ``event`` is the index of the first refused call.

    ``states`` are those in which it makes a call or ends.
    """

    name: str
    purpose: Purpose
    variant: Variant
    events: tuple[Event, ...]
    verdict: Verdict
    violation: str | None
    event: int | None
    states: frozenset[str]


@dataclass(frozen=True, slots=True)
class Unreached:
    """Something that no trace could be made for, and why."""

    name: str
    reason: str


@dataclass(slots=True)
class GeneratedSuite:
    """All traces of one graph."""

    graph: Graph
    traces: list[GeneratedTrace] = field(default_factory=list)
    unreached: list[Unreached] = field(default_factory=list)

    def of(self, purpose: Purpose) -> list[GeneratedTrace]:
        """Return the traces of one purpose."""
        return [trace for trace in self.traces if trace.purpose is purpose]

    def fired(self) -> frozenset[str]:
        """Return every rule that some trace violates."""
        return frozenset(trace.violation for trace in self.traces if trace.violation is not None)


def generate(
    graph: Graph,
    registry: Registry,
    *,
    purposes: Collection[Purpose] = tuple(Purpose),
    surveys: Mapping[BoundGraph, Survey] | None = None,
) -> GeneratedSuite:
    """Return the suite of a graph; whatever could not be reached in any variant is listed with a reason.

    ``surveys`` are those that were made already.
    """
    suite = GeneratedSuite(graph)
    reached: set[str] = set()
    missed: dict[str, str] = {}
    for variant in variants(graph):
        bound = variant.bind(graph, registry)
        survey = (surveys or {}).get(bound) or Survey(Space([bound], Alphabet([bound], registry.values())))
        writer = _Writer(variant, survey, registry)
        writer.write(purposes)
        suite.traces.extend(writer.traces)
        reached |= writer.reached
        missed |= {name: reason for name, reason in writer.missed.items() if name not in missed}
        suite.unreached += writer.disagreed
    suite.unreached += [Unreached(name, reason) for name, reason in missed.items() if name not in reached]
    return suite


class _Writer:
    """Writes the traces of one variant of a graph."""

    def __init__(self, variant: Variant, survey: Survey, registry: Registry) -> None:
        self.traces: list[GeneratedTrace] = []
        self.reached: set[str] = set()
        self.missed: dict[str, str] = {}
        self.disagreed: list[Unreached] = []
        self._variant = variant
        self._registry = registry
        self._survey = survey
        self._space = survey.space
        self._alphabet = self._space.alphabet
        self._machine = survey.machine
        self._graph = self._machine.graph

    def write(self, purposes: Collection[Purpose]) -> None:
        """Write the traces of some purposes."""
        if Purpose.WALK in purposes:
            self._walks()
        if Purpose.WITNESS in purposes:
            self._forbids()
            self._negations()
            self._unlisted()
        if Purpose.PROBE in purposes:
            self._probes()

    # -- good walks ----------------------------------------------------------------------------------------

    def _walks(self) -> None:
        ends = _ways_to_end(self._space)
        for edge in self._graph.graph.edges():
            if edge.forbid:
                continue
            for category in sorted({category for rows in self._steps(edge) for category in rows}):
                name = f"walk/{edge.id}/{category}"
                arrival = self._survey.taken.get((edge.id, category))
                if arrival is None:
                    self.missed[name] = "no call is allowed by the edge"
                    continue
                steps = (*self._space.way(arrival.source), arrival.step)
                ending = ends.get(arrival.target)
                if ending is None:
                    self.missed[name] = "from there on no allowed calls lead to an end"
                    continue
                self._add(name, Purpose.WALK, (*steps, *ending))

    def _steps(self, edge: Edge) -> Iterator[Mapping[str, object]]:
        for rows in self._graph.table.values():
            for row in rows.values():
                yield from (step.then for step in row.allow if step.edge is edge)

    # -- planted mistakes ----------------------------------------------------------------------------------

    def _forbids(self) -> None:
        for edge in self._graph.graph.edges():
            if not edge.forbid:
                continue
            name = f"witness/forbid/{edge.id}"
            example = self._survey.decided.get(edge.id)
            if example is None:
                self.missed[name] = "no call is refused by the rule"
            else:
                self._add(name, Purpose.WITNESS, self._space.way(example.situation), example.letter, aim=edge.id)

    def _negations(self) -> None:
        homes, concerned = home(self._graph.graph), edge_operations(self._graph)
        for edge in self._graph.graph.edges():
            operations = [self._registry[name] for name in concerned.get(edge.id, (edge, ()))[1]]
            if edge.forbid or inert(edge, homes[edge.id], operations):
                continue
            for index, conjunct in enumerate(edge.when.conjuncts):
                name = f"witness/not/{edge.id}/{index + 1}"
                example = self._survey.negated.get((edge.id, index))
                if example is None:
                    self.missed[name] = f"nothing breaks {conjunct.text!r} alone"
                elif example.reaction.kind is Kind.REFUSED:
                    self._add(name, Purpose.WITNESS, self._space.way(example.situation), example.letter)
                else:
                    self._later(name, edge, example)

    def _later(self, name: str, edge: Edge, example: Example) -> None:
        """A broken conjunct that refuses nothing by itself (a read) shows in what is allowed afterwards."""
        (local,) = example.situation
        row = self._machine.row(self._machine.opened(local, example.letter), example.letter.operation)
        step = next(step for step in row.allow if step.edge is edge)
        found = self._telling_answer(example, step)
        if found is None:
            self.missed[name] = f"no later call tells whether {edge.when.conjuncts[0].text!r} held"
            return
        difference, answer = found
        before = (*self._space.way(example.situation), Step(example.letter, answer))
        self._add(name, Purpose.WITNESS, (*before, *difference.steps), difference.letter)

    def _telling_answer(self, example: Example, step: EdgeStep) -> tuple[Difference, Answer] | None:
        """The shortest way to tell whether an edge allowed a call, behind which answer to it."""
        (local,) = example.situation
        pairs = []
        for answer in self._space.answers(example.situation, example.letter):
            actual = local
            if example.reaction.step is not None:
                actual, _ = self._machine.arrive(local, example.letter, example.reaction.step, answer)
            supposed, _ = self._machine.arrive(local, example.letter, step, answer)
            if actual != supposed:
                pairs.append((answer, (actual, supposed)))
        for depth in range(_DEEPEST + 1):
            for answer, pair in pairs:
                graphs = [self._graph, self._graph]
                found = compare(graphs, self._alphabet, start=pair, depth=depth).difference
                if found is not None:
                    return found, answer
        return None

    def _strangers(self) -> Iterator[Operation]:
        """The operations that the graph does not know."""
        return (item for item in self._registry.values() if item.name not in self._graph.watched)

    def _unlisted(self) -> None:
        forbidden = self._graph.graph.unlisted.op_write
        for operation in self._strangers():
            if operation.writes and forbidden:
                name = f"witness/unlisted/{operation.name}"
                self._add(name, Purpose.WITNESS, (), self._alphabet.plain(operation), aim="unlisted_operation")

    # -- probes --------------------------------------------------------------------------------------------

    def _probes(self) -> None:
        for operation in self._strangers():
            if not operation.writes:
                self._add(f"probe/stranger/{operation.name}", Purpose.PROBE, (), self._alphabet.plain(operation))
        for (allowing, category, alternative), arrival in self._survey.alternatives.items():
            name = f"probe/{allowing}/{category}" + (f"/{alternative + 1}" if alternative else "")
            self._probe(name, arrival)
        for (allowing, category, alternative, index), arrival in self._survey.diverted.items():
            self._probe(f"probe/{allowing}/{category}/{alternative + 1}/not/{index + 1}", arrival)
        for edge in (edge for edge in self._graph.graph.edges() if edge.forbid):
            for index, _ in enumerate(edge.when.conjuncts):
                example = self._survey.negated.get((edge.id, index))
                if example is not None:
                    name = f"probe/near/{edge.id}/{index + 1}"
                    self._add(name, Purpose.PROBE, self._space.way(example.situation), example.letter)

    def _probe(self, name: str, arrival: Arrival) -> None:
        """Stop behind an answer, be cut off there, and try everything."""
        steps = (*self._space.way(arrival.source), arrival.step)
        self._add(f"{name}/stop", Purpose.PROBE, steps)
        self._add(f"{name}/cut", Purpose.PROBE, steps, reason=EndReason.CUT)
        for number, letter in enumerate(self._telling(arrival.target), start=1):
            self._add(f"{name}/{letter.operation.name}/{number}", Purpose.PROBE, steps, letter)

    def _telling(self, situation: Situation) -> Iterator[Letter]:
        """For each thing that the graph says of an operation here the first call, and the last, that gets it said."""
        (local,) = situation
        said: dict[object, list[Letter]] = {}
        for letter in self._space.letters(situation):
            reaction = self._machine.react(local, letter)
            said.setdefault((letter.operation.name, reaction.kind, reaction.rule), []).append(letter)
        for letters in said.values():
            yield from letters[:1] + letters[1:][-1:]

    # -- from steps to a trace -----------------------------------------------------------------------------

    def _add(
        self,
        name: str,
        purpose: Purpose,
        steps: Sequence[Step],
        last: Letter | None = None,
        *,
        aim: str | None = None,
        reason: EndReason = EndReason.FINISHED,
    ) -> None:
        """Add a trace with what it must get, unless it misses its aim or the monitor disagrees."""
        if last is not None:
            steps = (*steps, Step(last, self._success(last)))
        expected = _constructed(self._machine, self._alphabet, steps, reason)
        events = Script(self._alphabet, steps).ended(reason)
        judgement = judge_events(events, [self._graph])
        said = judgement.verdict, *next(((item.rule, item.event) for item in judgement.violations), (None, None))
        if aim is not None and expected.violation != aim:
            self.missed[name] = f"the call is refused by {expected.violation!r}"
        elif said != (expected.verdict, expected.violation, expected.event):
            self.disagreed.append(Unreached(name, f"the monitor says {said}, not {expected}"))
        else:
            self.reached.add(name)
            variant = f" ({self._variant.name})" if self._variant.name else ""
            self.traces.append(
                GeneratedTrace(
                    name=f"{self._graph.name}/{name}{variant}",
                    purpose=purpose,
                    variant=self._variant,
                    events=events,
                    verdict=expected.verdict,
                    violation=expected.violation,
                    event=expected.event,
                    states=expected.states,
                )
            )

    def _success(self, letter: Letter) -> Answer:
        """The answer that a planted mistake gets: it works."""
        for category in ("ok", *sorted(letter.operation.categories)):
            for answer in self._alphabet.answers.get((letter.operation.name, category), ()):
                return answer
        return Answer(min(letter.operation.categories, key=lambda name: (name != "ok", name)), {}, frozenset())


@dataclass(frozen=True, slots=True)
class _Expected:
    verdict: Verdict
    violation: str | None
    event: int | None
    states: frozenset[str]


def _constructed(machine: Machine, alphabet: Alphabet, steps: Iterable[Step], reason: EndReason) -> _Expected:
    """What steps must get, by the rules of the format and without the monitor."""
    local, severities = machine.start(), []
    violation: str | None = None
    event: int | None = None
    states = {local.state}
    for number, step in enumerate(steps):
        reaction = machine.react(local, step.letter)
        refused = refusal(machine, reaction, step.letter)
        if refused is not None:
            if violation is None:
                violation, event = refused[0], 2 * number
            severities.append(Verdict.UNSAFE if refused[1] else Verdict.FAIL)
        if reaction.step is not None:
            local, _ = machine.arrive(local, step.letter, reaction.step, step.answer)
            local = local.renamed(step.swapped, alphabet.tokens)
            states.add(local.state)
    standing = VERDICTS[_STANDINGS[machine.standing(local)], reason.stop]
    return _Expected(Verdict.worst(severities or [standing]), violation, event, frozenset(states))


def _ways_to_end(space: Space) -> dict[Situation, tuple[Step, ...]]:
    """For each situation the shortest allowed way to an end: a closed state, or else one where all may rest."""
    sources: dict[Situation, list[Arrival]] = {}
    for situation in space.situations():
        for arrival in space.arrivals(situation):
            sources.setdefault(arrival.target, []).append(arrival)
    ways: dict[Situation, tuple[Step, ...]] = {}
    for finality in (Finality.FINAL, Finality.OK):
        ends = [item for item in space.situations() if item not in ways and space.stand(item, finality)]
        ways.update(dict.fromkeys(ends, ()))
        queue = deque(ends)
        while queue:
            there = queue.popleft()
            for arrival in sources.get(there, ()):
                if arrival.source not in ways:
                    ways[arrival.source] = (arrival.step, *ways[there])
                    queue.append(arrival.source)
    return ways


def trace_lines(suite: GeneratedSuite) -> Iterator[Mapping[str, JSON]]:
    """Yield every line of the suite's neutral traces."""
    for trace in suite.traces:
        yield {
            "trace": trace.name,
            "type": "begin",
            "graph": suite.graph.name,
            "roles": dict(trace.variant.roles),
            "idempotent": trace.variant.idempotent,
        }
        for event in trace.events:
            yield {"trace": trace.name, **_line(event)}


def expected_lines(suite: GeneratedSuite) -> Iterator[Mapping[str, JSON]]:
    """Yield for each trace what it must get."""
    for trace in suite.traces:
        yield {
            "trace": trace.name,
            "graph": suite.graph.name,
            "verdict": trace.verdict.value,
            "violation": trace.violation,
            "event": trace.event,
        }


def _line(event: Event) -> dict[str, JSON]:
    match event:
        case Call():
            return {
                "type": "call",
                "turn": event.turn,
                "id": event.id,
                "agent": event.agent,
                "operation": event.operation,
                "args": dict(event.args),
                "at": event.at,
            }
        case Result():
            return {
                "type": "result",
                "call": event.call,
                "category": event.category,
                "fields": dict(event.fields),
                "at": event.at,
            }
        case End():
            return {"type": "end", "reason": event.reason.value, "at": event.at}
