"""Suites that a graph writes about itself: good walks, planted-bad witnesses, transition probes.

A good walk takes one edge with one category and then finishes honestly. A witness makes one planted mistake: it
walks into a forbid, breaks one conjunct of an allowed edge, or calls an operation that the graph does not know. A
probe takes one edge with one category and then tries one operation, or stops, or it comes near to a forbid. What
each trace must get follows from how it was built; the monitor has to agree. Traces written by hand are the
specification; these freeze it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from unacked.canonical import JSON
from unacked.contract import Operation, Registry
from unacked.errors import Place
from unacked.graph.explore import (
    Alphabet,
    Answer,
    Arrival,
    Difference,
    Example,
    Expected,
    Kind,
    Letter,
    Script,
    Situation,
    Space,
    Step,
    Survey,
    Variant,
    compare,
    constructed,
    refusal,
    variants,
    ways_to_end,
)
from unacked.graph.explore.edges import edge_operations, home, inert
from unacked.graph.judgement import judge_events
from unacked.graph.model import FINISH, BoundGraph, Edge, Graph
from unacked.graph.model import Step as EdgeStep
from unacked.graph.monitor import Effects
from unacked.graph.moves import Call, Event
from unacked.graph.trace import Begin, Trace, lines_of
from unacked.graph.verdict import EndReason, Verdict

__all__ = [
    "GeneratedSuite",
    "GeneratedTrace",
    "Purpose",
    "Unreached",
    "expected_lines",
    "generate",
    "trace_lines",
]

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
    effects: Effects = field(default_factory=dict)
    """What the task asks for, where several threads are meant."""


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
            self._pairs()
        if Purpose.WITNESS in purposes:
            self._forbids()
            self._negations()
            self._limits()
            self._unlisted()
            self._orphans()
        if Purpose.PROBE in purposes:
            self._probes()

    # -- good walks ----------------------------------------------------------------------------------------

    def _walks(self) -> None:
        ends = ways_to_end(self._space)
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

    def _pairs(self) -> None:
        """Two effects of one kind that the task asks for: each has a thread of its own."""
        for name in self._declarable():
            arrivals = (item for item in self._survey.taken.values() if item.step.letter.operation.name == name)
            arrival = next((item for item in arrivals if item.step.answer.category == "ok"), None)
            finish = arrival and next((item for item in self._space.arrivals(arrival.target) if _finishes(item)), None)
            if arrival is None or finish is None:
                self.missed[f"walk/two/{name}"] = "nothing can be finished behind it"
                continue
            one, other = arrival.step, arrival.step.twin(self._alphabet)
            effects = {name: [self._asked(step) for step in (one, other)]}
            expected = Expected(Verdict.PASS, None, None, frozenset({self._graph.graph.start, finish.source[0].state}))
            self._keep(f"walk/two/{name}", Purpose.WALK, (one, other, finish.step), expected, effects=effects)

    def _declarable(self) -> list[str]:
        """The operations whose effects a case may declare, each of which then has a thread."""
        return [name for name, path in self._graph.keys.items() if path.text == "payload"]

    def _asked(self, step: Step) -> dict[str, JSON]:
        """What a task would ask for that wants this step."""
        call = Script(self._alphabet, [step]).events[0]
        args = call.args if isinstance(call, Call) else {}
        return {name: value for name, value in step.letter.operation.payload(args).items() if value is not None}

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

    def _limits(self) -> None:
        """Behind every call that is counted, the shortest way into a limit of its counter."""
        for edge in self._graph.graph.edges():
            for counter, _ in edge.count:
                found = self._nearest_limit(edge, counter)
                if found is not None:
                    self._add(f"witness/limit/{edge.id}/{counter}", Purpose.WITNESS, *found)

    def _nearest_limit(self, edge: Edge, counter: str) -> tuple[tuple[Step, ...], Letter] | None:
        for (taken, _), arrival in self._survey.taken.items():
            if taken != edge.id:
                continue
            beyond = Space([self._graph], self._alphabet, start=arrival.target)
            for situation in beyond.situations():
                for letter in beyond.letters(situation):
                    if self._limited(situation, letter, counter):
                        before = (*self._space.way(arrival.source), arrival.step)
                        return (*before, *beyond.way(situation)), letter
        return None

    def _limited(self, situation: Situation, letter: Letter, counter: str) -> bool:
        """Whether a call is refused, and would not be if the counter stood at nothing."""
        (local,) = situation
        counts = frozenset(item for item in local.counts if item[0] != counter)
        reactions = (self._machine.react(place, letter) for place in (local, local._replace(counts=counts)))
        refused, free = (refusal(self._machine, reaction, letter) for reaction in reactions)
        return refused is not None and free is None

    def _strangers(self) -> Iterator[Operation]:
        """The operations that the graph does not know."""
        return (item for item in self._registry.values() if item.name not in self._graph.watched)

    def _unlisted(self) -> None:
        forbidden = self._graph.graph.unlisted.op_write
        for operation in self._strangers():
            if operation.writes and forbidden:
                name = f"witness/unlisted/{operation.name}"
                self._add(name, Purpose.WITNESS, (), self._alphabet.plain(operation), aim="unlisted_operation")

    def _orphans(self) -> None:
        """Writes on something that nobody made, where the task has asked for effects."""
        for name in self._declarable():
            wanted = self._alphabet.letters[name][0]
            effects = {name: [self._asked(Step(wanted, self._success(wanted)))]}
            for operation in map(self._registry.__getitem__, sorted(self._graph.alphabet - self._graph.keys.keys())):
                letter = self._alphabet.plain(operation)
                named = self._machine.react(self._machine.start(), letter).rule
                if operation.writes and operation.broadcast is None and named == "not_in_expected_set":
                    expected = Expected(Verdict.UNSAFE, "orphan", 0, frozenset({self._graph.graph.start}))
                    steps = (Step(letter, self._success(letter)),)
                    self._keep(f"witness/orphan/{operation.name}", Purpose.WITNESS, steps, expected, effects=effects)

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
        for (rebinding, where, variable), arrival in self._survey.rebound.items():
            self._probe(f"probe/{rebinding}/{where or 'call'}/rebind/{variable}", arrival)
        forbids = {edge.id for edge in self._graph.graph.edges() if edge.forbid}
        for kind, examples in (("near", self._survey.negated), ("brink", self._survey.brink)):
            for (forbid, index), example in examples.items():
                if forbid in forbids:
                    name = f"probe/{kind}/{forbid}/{index + 1}"
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
        expected = constructed(self._machine, self._alphabet, steps, reason)
        if aim is not None and expected.violation != aim:
            self.missed[name] = f"the call is refused by {expected.violation!r}"
        else:
            self._keep(name, purpose, steps, expected, reason=reason)

    def _keep(
        self,
        name: str,
        purpose: Purpose,
        steps: Iterable[Step],
        expected: Expected,
        *,
        effects: Effects | None = None,
        reason: EndReason = EndReason.FINISHED,
    ) -> None:
        """Keep a trace, unless the monitor disagrees with what it must get."""
        events = Script(self._alphabet, steps).ended(reason)
        judgement = judge_events(events, [self._graph], effects)
        first = next(((item.rule, item.event) for item in judgement.violations), (None, None))
        if (judgement.verdict, *first) != (expected.verdict, expected.violation, expected.event):
            said = f"{judgement.verdict} {first}, not {expected}"
            self.disagreed.append(Unreached(name, f"the monitor says {said}"))
            return
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
                effects=effects or {},
            )
        )

    def _success(self, letter: Letter) -> Answer:
        """The answer that a planted mistake gets: it works."""
        for category in ("ok", *sorted(letter.operation.categories)):
            for answer in self._alphabet.answers.get((letter.operation.name, category), ()):
                return answer
        return Answer(min(letter.operation.categories, key=lambda name: (name != "ok", name)), {}, frozenset())


def _finishes(arrival: Arrival) -> bool:
    return arrival.step.letter.operation.name == FINISH


def trace_lines(suite: GeneratedSuite) -> Iterator[Mapping[str, JSON]]:
    """Yield every line of the suite's neutral traces."""
    for item in suite.traces:
        begin = Begin(
            graphs=(suite.graph.name,),
            effects=item.effects,
            roles=item.variant.roles,
            idempotent=item.variant.idempotent,
        )
        yield from lines_of(Trace(name=item.name, begin=begin, events=item.events, place=Place(suite.graph.file)))


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
