"""Suites that a graph writes about itself: good walks, planted-bad witnesses, transition probes.

A good walk takes one edge with one category and then finishes honestly. A witness makes one planted mistake: it
walks into a forbid, breaks one conjunct of an allowed edge, or calls an operation that the graph does not know. A
probe takes one edge with one category and then tries one operation, or stops, or it comes near to a forbid. What
each trace must get follows from how it was built; the monitor has to agree. Traces written by hand are the
specification; these freeze it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from unacked.contract import Operation, Registry
from unacked.graph.explore import (
    Alphabet,
    Answer,
    Arrival,
    Difference,
    Example,
    Kind,
    Letter,
    Local,
    Script,
    Situation,
    Space,
    Step,
    Survey,
    Variant,
    constructed,
    differences,
    refusal,
    variants,
    ways_to_end,
)
from unacked.graph.explore.edges import edge_operations, home, inert
from unacked.graph.generated import (
    GeneratedSuite,
    GeneratedTrace,
    Purpose,
    Unreached,
    expected_lines,
    trace_lines,
)
from unacked.graph.judgement import judge_events
from unacked.graph.model import BoundGraph, Edge, Graph
from unacked.graph.model import Step as EdgeStep
from unacked.graph.several import Draft, Ends, answer_of, drafts
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


def generate(
    graph: Graph,
    registry: Registry,
    *,
    purposes: Collection[Purpose] = tuple(Purpose),
    surveys: Mapping[BoundGraph, Survey] | None = None,
    ways: Iterable[Variant] | None = None,
) -> GeneratedSuite:
    """Return the suite of a graph; whatever could not be reached in any variant is listed with a reason.

    ``surveys`` are those that were made already. ``ways`` to bind the graph are, by default, all that make a
    difference to its guards.
    """
    suite = GeneratedSuite(graph)
    reached: set[str] = set()
    missed: dict[str, str] = {}
    for variant in variants(graph) if ways is None else ways:
        bound = variant.bind(graph, registry)
        survey = (surveys or {}).get(bound) or Survey(Space([bound], Alphabet([bound], registry.values())))
        writer = _Writer(variant, survey, registry)
        writer.write(purposes)
        suite.traces.extend(writer.traces)
        reached |= writer.reached
        missed |= {name: reason for name, reason in writer.missed.items() if name not in missed}
        suite.unreached += writer.disagreed
        suite.tokens.update(survey.space.alphabet.tokens)
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
            self._limits()
            self._unlisted()
        if Purpose.PROBE in purposes:
            self._probes()
        self._several(purposes)

    @cached_property
    def _ends(self) -> Ends:
        return ways_to_end(self._space)

    # -- good walks ----------------------------------------------------------------------------------------

    def _walks(self) -> None:
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
                ending = self._ends.get(arrival.target)
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
        """The shortest way to tell whether an edge allowed a call, behind which answer to it.

        Where there is one, a call that is refused because the edge did not.
        """
        (local,) = example.situation
        pairs = []
        for answer in self._space.answers(example.situation, example.letter):
            actual = local
            if example.reaction.step is not None:
                actual, _ = self._machine.arrive(local, example.letter, example.reaction.step, answer)
            supposed, _ = self._machine.arrive(local, example.letter, step, answer)
            if actual != supposed:
                pairs.append((answer, (actual, supposed)))
        told = None
        for depth in range(_DEEPEST + 1):
            for answer, pair in pairs:
                graphs = [self._graph, self._graph]
                for found in differences(graphs, self._alphabet, start=pair, depth=depth):
                    told = told or (found, answer)
                    if found.letter is not None and found.letter.keeps_contract and found.said[0]:
                        return found, answer
        return told

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
        every = steps if last is None else (*steps, Step(last, answer_of(self._alphabet, last)))
        expected = constructed(self._machine, self._alphabet, every, reason)
        if aim is not None and expected.violation != aim:
            self.missed[name] = f"the call is refused by {expected.violation!r}"
            return
        ending = self._ends.get((self._behind(steps),)) if purpose is Purpose.WITNESS else None
        twin = () if ending is None else Script(self._alphabet, (*steps, *ending)).ended()
        events = Script(self._alphabet, every).ended(reason)
        self._keep(Draft(name=name, purpose=purpose, events=events, expected=expected, twin=twin))

    def _behind(self, steps: Iterable[Step]) -> Local:
        """Where the thread stands after steps, whether it was moved by them or not."""
        local = self._machine.start()
        for step in steps:
            reaction = self._machine.react(local, step.letter)
            if reaction.step is not None:
                local, _ = self._machine.arrive(local, step.letter, reaction.step, step.answer)
                local = local.renamed(step.swapped, self._alphabet.tokens)
        return local

    def _several(self, purposes: Collection[Purpose]) -> None:
        for draft in drafts(self._survey, self._ends):
            if isinstance(draft, Unreached):
                self.missed[draft.name] = draft.reason
            elif draft.purpose in purposes:
                self._keep(draft)

    def _keep(self, draft: Draft) -> None:
        """Keep a trace, unless the monitor disagrees with what it must get, or its twin."""
        disagreement = self._disagreement(draft)
        if disagreement is not None:
            self.disagreed.append(Unreached(draft.name, f"the monitor says {disagreement}"))
            return
        self.reached.add(draft.name)
        variant = f" ({self._variant.name})" if self._variant.name else ""
        self.traces.append(
            GeneratedTrace(
                name=f"{self._graph.name}/{draft.name}{variant}",
                purpose=draft.purpose,
                variant=self._variant,
                events=draft.events,
                verdict=draft.expected.verdict,
                violation=draft.expected.violation,
                event=draft.expected.event,
                states=draft.expected.states,
                effects=draft.effects,
                blame=draft.blame,
                twin=draft.twin,
            )
        )

    def _disagreement(self, draft: Draft) -> str | None:
        expected = draft.expected
        judgement = judge_events(draft.events, [self._graph], draft.effects)
        first = next(((item.rule, item.event) for item in judgement.violations), (None, None))
        if (judgement.verdict, *first) != (expected.verdict, expected.violation, expected.event):
            return f"{judgement.verdict} {first}, not {expected}"
        blame = judgement.explanation.blame.partition(":")[0] if judgement.explanation else None
        if draft.blame is not None and blame != draft.blame:
            return f"to blame is the {blame}, not the {draft.blame}"
        twin = judge_events(draft.twin, [self._graph], draft.effects).verdict if draft.twin else Verdict.PASS
        return None if twin is Verdict.PASS else f"{twin} of its twin"
