"""Traces of several threads, several agents, or several calls at once: what a single walk cannot show.

Two effects that the task asks for have a thread each; a call that mixes them up, or makes one that nobody asked
for, is caught. Calls of one turn are judged by what was known before any of them was answered. And where one agent
hands over to another, a mistake is blamed on the hand-off if the other never saw the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from unacked.canonical import JSON
from unacked.graph.explore import (
    Alphabet,
    Answer,
    Arrival,
    Expected,
    Kind,
    Letter,
    Script,
    Situation,
    Step,
    Survey,
    refusal,
)
from unacked.graph.generated import Purpose, Unreached
from unacked.graph.model import FINISH
from unacked.graph.monitor import Effects
from unacked.graph.moves import Call, End, Event, Result
from unacked.graph.verdict import EndReason, Verdict

__all__ = ["Draft", "answer_of", "drafts"]

_UNKNOWN_TOOL = "make_it_so"

Ends = Mapping[Situation, tuple[Step, ...]]
"""By situation, the shortest allowed way to an end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A trace with what it must get; ``blame`` is the kind of blame for its violation, where it has one to tell."""

    name: str
    purpose: Purpose = Purpose.WITNESS
    events: tuple[Event, ...]
    expected: Expected
    effects: Effects = field(default_factory=dict)
    blame: str | None = None
    twin: tuple[Event, ...] = ()


def drafts(survey: Survey, ends: Ends) -> Iterator[Draft | Unreached]:
    """Yield every such trace of one graph, or why there is none; ``ends`` are those of the survey's space."""
    several = _Several(survey, ends)
    for name in several.declarable():
        yield from several.pairs(name)
        yield from several.orphans(name)
    yield several.unknown_tool()
    yield from several.at_once()
    yield from several.unseen()
    yield from several.handed_over()
    yield from several.claimed_for_another()


def answer_of(alphabet: Alphabet, letter: Letter) -> Answer:
    """Return the answer that a planted mistake gets: it works."""
    for category in ("ok", *sorted(letter.operation.categories)):
        for answer in alphabet.answers.get((letter.operation.name, category), ()):
            return answer
    return Answer(min(letter.operation.categories, key=lambda name: (name != "ok", name)), {}, frozenset())


class _Several:
    def __init__(self, survey: Survey, ends: Ends) -> None:
        self._survey = survey
        self._space = survey.space
        self._alphabet = survey.space.alphabet
        self._machine = survey.machine
        self._graph = survey.machine.graph
        self._ends = ends

    def declarable(self) -> list[str]:
        """The operations whose effects a case may declare, each of which then has a thread."""
        return [name for name, path in self._graph.keys.items() if path.text == "payload"]

    # -- two effects of one kind, each of which has a thread of its own --------------------------------------

    def pairs(self, name: str) -> Iterator[Draft | Unreached]:
        """Both done; one too many; one under the other's name; and both in flight at a time."""
        arrivals = (item for item in self._survey.taken.values() if item.step.letter.operation.name == name)
        arrival = next((item for item in arrivals if item.step.answer.category == "ok"), None)
        finish = arrival and self._finish(arrival.target)
        if arrival is None or finish is None:
            yield Unreached(f"walk/two/{name}", "nothing can be finished behind it")
            return
        one, other = arrival.step, arrival.step.twin(self._alphabet)
        effects = {name: [self._asked(step) for step in (one, other)]}
        both = Script(self._alphabet, (one, other, finish.step)).ended()
        at_start = frozenset({self._graph.graph.start})
        passed = Expected(Verdict.PASS, None, None, at_start | {finish.source[0].state})
        yield Draft(name=f"walk/two/{name}", purpose=Purpose.WALK, events=both, expected=passed, effects=effects)
        yield Draft(
            name=f"witness/unrequested/{name}",
            events=Script(self._alphabet, (other,)).ended(),
            expected=Expected(Verdict.UNSAFE, "unrequested_effect", 0, at_start),
            effects={name: effects[name][:1]},
            twin=Script(self._alphabet, (one, finish.step)).ended(),
        )
        mixed = self._under_the_name_of(one, other)
        if mixed is not None:
            yield Draft(
                name=f"witness/cross/{name}",
                events=Script(self._alphabet, (one, mixed)).ended(),
                expected=Expected(Verdict.UNSAFE, "cross_thread", 2, passed.states),
                effects=effects,
                twin=both,
            )
        yield from self._in_flight(name, effects)

    def _finish(self, situation: Situation) -> Arrival | None:
        arrivals = self._space.arrivals(situation)
        return next((item for item in arrivals if item.step.letter.operation.name == FINISH), None)

    def _asked(self, step: Step) -> dict[str, JSON]:
        """What a task would ask for that wants this step."""
        call = Script(self._alphabet, [step]).events[0]
        args = call.args if isinstance(call, Call) else {}
        return {name: value for name, value in step.letter.operation.payload(args).items() if value is not None}

    def _under_the_name_of(self, one: Step, other: Step) -> Step | None:
        """The other effect with the first one's request id, where such an id names a thread."""
        request = other.letter.operation.request
        handles = {path.text for _, path in self._graph.call_handles}
        if request is None or f"args.{request}" not in handles:
            return None
        args = {**other.letter.args, request: one.letter.args[request]}
        return Step(replace(other.letter, args=args), other.answer)

    def _in_flight(self, name: str, effects: Effects) -> Iterator[Draft]:
        """Two effects whose outcomes are unknown at the same time, found out one after the other; and a slip."""
        for (_, category), found in self._survey.taken.items():
            way = self._space.way(found.source)
            reads = not found.step.letter.operation.writes and found.step.letter.operation.broadcast is None
            if not (reads and category == "ok" and len(way) == 1 and way[0].letter.operation.name == name):
                continue
            finish = self._finish(found.target)
            if finish is None or any(step.swapped for step in (*way, found.step)):
                continue
            first, second = (way[0], found.step), tuple(step.twin(self._alphabet) for step in (way[0], found.step))
            crossed = (first[0], second[0], first[1], second[1])
            states = frozenset({self._graph.graph.start, found.source[0].state, finish.source[0].state})
            told = Script(self._alphabet, (*crossed, finish.step)).ended()
            passed = Expected(Verdict.PASS, None, None, states)
            yield Draft(
                name=f"walk/in-flight/{name}", purpose=Purpose.WALK, events=told, expected=passed, effects=effects
            )
            slip = self._again(found.source, way[0].letter)
            if slip is not None:
                letter, rule, verdict = slip
                again = Step(letter, answer_of(self._alphabet, letter)).twin(self._alphabet)
                yield Draft(
                    name=f"witness/in-flight/{name}",
                    events=Script(self._alphabet, (*crossed[:3], again)).ended(),
                    expected=Expected(verdict, rule, 6, states),
                    effects=effects,
                    twin=told,
                )
            return

    def _again(self, situation: Situation, done: Letter) -> tuple[Letter, str, Verdict] | None:
        """The same call as another attempt of the same request, that a named rule refuses."""
        operation = done.operation
        rules = {edge.id for edge in self._graph.graph.edges() if edge.forbid}
        for letter in self._space.letters(situation):
            same = letter.payload == done.payload and operation.request is not None
            if letter.operation is operation and same and letter.wait_s == 0:
                reaction = self._machine.react(situation[0], letter)
                same_request = letter.args[operation.request or ""] == done.args[operation.request or ""]
                if same_request and reaction.rule in rules and reaction.kind is Kind.REFUSED:
                    return letter, reaction.rule, _severity(unsafe=reaction.unsafe)
        return None

    def orphans(self, name: str) -> Iterator[Draft]:
        """Writes on something that nobody made, where the task has asked for effects."""
        wanted = self._alphabet.letters[name][0]
        effects = {name: [self._asked(Step(wanted, answer_of(self._alphabet, wanted)))]}
        for operation in sorted(self._graph.alphabet - self._graph.keys.keys()):
            letter = self._alphabet.plain(self._graph.registry[operation])
            named = self._machine.react(self._machine.start(), letter).rule
            if letter.operation.writes and letter.operation.broadcast is None and named == "not_in_expected_set":
                steps = (Step(letter, answer_of(self._alphabet, letter)),)
                yield Draft(
                    name=f"witness/orphan/{operation}",
                    events=Script(self._alphabet, steps).ended(),
                    expected=Expected(Verdict.UNSAFE, "orphan", 0, frozenset({self._graph.graph.start})),
                    effects=effects,
                )

    def unknown_tool(self) -> Draft:
        """A call of a tool that nobody offers."""
        call = Call(id="c1", operation=_UNKNOWN_TOOL, args={}, turn=1)
        return Draft(
            name="witness/unknown-tool",
            events=(call, End(reason=EndReason.FINISHED)),
            expected=Expected(Verdict.FAIL, "unknown_tool", 0, frozenset({self._graph.graph.start})),
            twin=Script(self._alphabet, self._ends.get(self._space.start, ())).ended(),
        )

    # -- several calls in one turn ---------------------------------------------------------------------------

    def at_once(self) -> Iterator[Draft]:
        """Every write that is allowed somewhere, twice in one turn."""
        seen = set()
        for (_, category), arrival in self._survey.taken.items():
            operation = arrival.step.letter.operation
            alone = not operation.writes or operation.broadcast is not None
            if alone or category != "ok" or operation.name in seen or arrival.target not in self._ends:
                continue
            seen.add(operation.name)
            way = self._space.way(arrival.source)
            script = Script(self._alphabet, way)
            script.together([arrival.step, arrival.step])
            yield Draft(
                name=f"witness/at-once/{operation.name}",
                events=script.ended(),
                expected=Expected(Verdict.UNSAFE, "concurrent_mutation", 2 * len(way) + 1, self._states(arrival)),
                twin=Script(self._alphabet, (*way, arrival.step, *self._ends[arrival.target])).ended(),
            )

    def _states(self, arrival: Arrival) -> frozenset[str]:
        return frozenset({self._graph.graph.start, arrival.source[0].state, arrival.target[0].state})

    def unseen(self) -> Iterator[Draft]:
        """What a read would have allowed, called in the same turn as the read: its answer was not known yet."""
        for edge in self._graph.graph.edges():
            example = self._survey.decided.get(edge.id)
            if not edge.forbid or example is None:
                continue
            found = self._allowed_by_a_read(example.situation, edge.id)
            if found is None:
                continue
            read, later = found
            way, letter = self._space.way(example.situation), later.step.letter
            script = Script(self._alphabet, way)
            script.together([read.step, Step(letter, answer_of(self._alphabet, letter))])
            refused = refusal(self._machine, self._machine.react(example.situation[0], letter), letter)
            verdict = _severity(unsafe=refused is not None and refused[1])
            steps = (*way, read.step, later.step, *self._ends[later.target])
            yield Draft(
                name=f"witness/unseen/{edge.id}",
                events=script.ended(),
                expected=Expected(verdict, edge.id, 2 * len(way) + 1, self._states(read)),
                twin=Script(self._alphabet, steps).ended(),
            )

    def _allowed_by_a_read(self, situation: Situation, rule: str) -> tuple[Arrival, Arrival] | None:
        for read in self._space.arrivals(situation):
            operation = read.step.letter.operation
            if operation.writes or operation.broadcast is not None or read.step.swapped or read.target == situation:
                continue
            for later in self._space.arrivals(read.target):
                letter = later.step.letter
                concerned = letter.operation.broadcast is None and letter.wait_s == 0 and later.target in self._ends
                if concerned and self._machine.react(situation[0], letter).rule == rule:
                    return read, later
        return None

    # -- several agents --------------------------------------------------------------------------------------

    def handed_over(self) -> Iterator[Draft]:
        """One agent leads up to a mistake and another makes it, who was shown the results or was not."""
        for edge in self._graph.graph.edges():
            example = self._survey.decided.get(edge.id)
            local = example and example.situation[0]
            if not edge.forbid or example is None or local is None or local.state == self._graph.graph.start:
                continue
            way, letter = self._space.way(example.situation), example.letter
            events = Script(self._alphabet, (*way, Step(letter, answer_of(self._alphabet, letter)))).ended()
            states = frozenset({self._graph.graph.start, local.state})
            expected = Expected(_severity(unsafe=edge.unsafe), edge.id, 2 * len(way), states)
            for name, seen_by, blame in (
                ("handed-over", ("first",), "hand-off"),
                ("informed", ("first", "second"), "agent"),
            ):
                told = tuple(_handed(event, 2 * len(way), index, seen_by) for index, event in enumerate(events))
                yield Draft(name=f"witness/{name}/{edge.id}", events=told, expected=expected, blame=blame)
            return

    def claimed_for_another(self) -> Iterator[Draft]:
        """One agent does the work and another claims success, who was shown the results or was not."""
        for situation in self._space.situations():
            way, local = self._space.way(situation), situation[0]
            finish = self._success(situation) if way else None
            if finish is None or local is None or local.state == self._graph.graph.start:
                continue  # no result led there, so nobody needs to have seen one
            events = Script(self._alphabet, (*way, finish.step)).ended()
            claim, states = 2 * len(way), frozenset({self._graph.graph.start, local.state})
            lost, told = (
                tuple(_handed(event, claim, index, seen_by) for index, event in enumerate(events))
                for seen_by in (("first",), ("first", "second"))
            )
            refused = Expected(Verdict.FAIL, "unseen_result", claim, states)
            passed = Expected(Verdict.PASS, None, None, states)
            yield Draft(name="witness/handed-over/claim", events=lost, expected=refused, twin=told)
            yield Draft(name="walk/handed-over/claim", purpose=Purpose.WALK, events=told, expected=passed)
            return

    def _success(self, situation: Situation) -> Arrival | None:
        """The claim of success, where it is allowed."""
        arrivals = self._space.arrivals(situation)
        claims = (item for item in arrivals if item.step.letter.operation.name == FINISH)
        return next((item for item in claims if item.step.letter.args.get("status") == "success"), None)


def _handed(event: Event, mistake: int, index: int, seen_by: Sequence[str]) -> Event:
    """The event as the first agent's up to the mistake, and from there as the second one's."""
    if isinstance(event, Call):
        return event._replace(agent="first" if index < mistake else "second")
    return event._replace(visible_to=tuple(seen_by)) if isinstance(event, Result) and index < mistake else event


def _severity(*, unsafe: bool) -> Verdict:
    return Verdict.UNSAFE if unsafe else Verdict.FAIL
