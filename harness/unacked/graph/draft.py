"""Drafts of graphs, inferred from transcripts that somebody calls good: proposals for a person, never a gate.

What good agents always did is not what every agent must do, so a draft is no graph: its file begins with ``draft``,
which no loader takes. It proposes two things, each with its support. *Guards*: an argument that equalled a variable, or
one constant, every time an edge was taken. *Missing edges*: calls that the graph refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from unacked.canonical import JSON, dumps
from unacked.graph.expression import Conjunct, compile_guard
from unacked.graph.judgement import judge_events
from unacked.graph.model import BoundGraph, Edge, Step
from unacked.graph.monitor import Effects, Move, Thread
from unacked.graph.moves import Event, Result

__all__ = ["Draft", "draft_text"]

_PER_TRIAL_ONLY = frozenset({"text", "summary", "question", "title"})
"""Arguments whose words are free: that they are alike says nothing."""


@dataclass(slots=True)
class _Taken:
    """One edge in one state: how often it was taken, where it led, and what held each time."""

    edge: Edge
    times: int = 0
    trials: set[str] = field(default_factory=set)
    answers: Counter[str] = field(default_factory=Counter)
    held: Counter[str] = field(default_factory=Counter)

    def proposals(self, support: int) -> Iterator[str]:
        """Yield the conjuncts that held every time and that the edge does not ask for."""
        asked = {_spelling(conjunct) for conjunct in self.edge.when.conjuncts}
        for text, times in sorted(self.held.items()):
            if times == self.times >= support and _spelling(compile_guard([text]).conjuncts[0]) not in asked:
                yield text


@dataclass(slots=True)
class _Refused:
    """One call that the graph refuses in one state."""

    trials: set[str] = field(default_factory=set)
    times: int = 0
    answers: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Draft:
    """What the good transcripts say of one graph."""

    graph: BoundGraph
    trials: set[str] = field(default_factory=set)
    taken: dict[tuple[str, str], _Taken] = field(default_factory=dict)
    """By state and edge."""
    refused: dict[tuple[str, str, str], _Refused] = field(default_factory=dict)
    """By state, operation and rule."""

    def add(self, trial: str, events: Sequence[Event], effects: Effects, tools: Collection[str] | None) -> None:
        """Take one good transcript into account; ``trial`` is its name among all runs."""
        self.trials.add(trial)

        def watch(_graph: BoundGraph, thread: Thread, move: Move, step: Step) -> None:
            taken = self.taken.setdefault((thread.state, step.edge.id), _Taken(step.edge))
            taken.times += 1
            taken.trials.add(trial)
            taken.held.update(_equalities(thread.variables, move))

        judgement = judge_events(events, [self.graph], effects, tools=tools, watch=watch)
        for walked in judgement.per_graph[self.graph.name].walked:
            self.taken[walked.state, walked.edge].answers[f"{walked.category}: {walked.to}"] += 1
        answers = {event.call: event.category for event in events if isinstance(event, Result)}
        for violation in judgement.violations:
            said = violation.explanation
            if not said.state or said.operation not in self.graph.registry:
                continue
            refused = self.refused.setdefault((said.state, said.operation, violation.rule), _Refused())
            refused.times += 1
            refused.trials.add(trial)
            call = events[violation.event]
            refused.answers[answers.get(getattr(call, "id", ""), "no answer")] += 1


def _equalities(variables: Mapping[str, JSON], move: Move) -> set[str]:
    """The conjuncts of the simplest kind that hold for a call: an argument against a variable, or a closed choice."""
    found = set()
    for argument in move.operation.arguments:
        value = move.args.get(argument.name)
        if value is None or argument.name in _PER_TRIAL_ONLY:
            continue
        found |= {f"args.{argument.name} == ${name}" for name, known in variables.items() if _same(known, value)}
        if argument.choices and isinstance(value, str):
            found.add(f"args.{argument.name} == {value!r}")
    return found


def _same(first: JSON, second: JSON) -> bool:
    return type(first) is type(second) and bool(first == second)


def _spelling(conjunct: Conjunct) -> str:
    """A conjunct without spaces, its sides in one order."""
    left, equal, right = "".join(conjunct.text.split()).partition("==")
    return equal.join(sorted((left, right))) if equal else left


def draft_text(draft: Draft, runs: Iterable[str], *, support: int) -> str:
    """Return the draft as YAML with its support in comments; guards need ``support`` calls without exception."""
    return "\n".join(_lines(draft, list(runs), support)) + "\n"


def _lines(draft: Draft, runs: Sequence[str], support: int) -> Iterator[str]:
    graph = draft.graph
    yield f"# Inferred from {len(draft.trials)} good trials. A draft, to be read and copied from by hand: no command of"
    yield "# unacked takes this file for a graph, and what is inferred is never a gate."
    yield f"# A guard is proposed where it held in every call, and there were at least {support}."
    yield f"draft: {dumps(graph.name)}"
    yield f"version: {graph.graph.version} # of the graph that it was compared with"
    yield f"runs: {dumps(list(runs))}"
    states = [state for state in graph.graph.states if any(key[0] == state for key in (*draft.taken, *draft.refused))]
    yield "states:" if states else "states: {} # no call of these trials concerns the graph"
    for state in states:
        yield f"  {state}:"
        yield "    allow:"
        for (where, _), taken in draft.taken.items():
            if where == state:
                yield from _taken(taken, graph, support)
        missing = ((key[1:], refused) for key, refused in draft.refused.items() if key[0] == state)
        for (operation, rule), refused in missing:
            yield from _missing(operation, rule, refused, state)


def _taken(taken: _Taken, graph: BoundGraph, support: int) -> Iterator[str]:
    yield f"      - id: {taken.edge.id} # taken {_times(taken.times, taken.trials)}"
    yield f"        call: {dumps(list(graph.calls(taken.edge)))}"
    asked = [conjunct.text for conjunct in taken.edge.when.conjuncts]
    proposed = list(taken.proposals(support))
    if asked or proposed:
        yield "        when:"
    yield from (f"          - {dumps(text)}" for text in asked)
    yield from (
        f"          - {dumps(text)} # proposed: held in {taken.times} of {taken.times} calls" for text in proposed
    )
    if taken.answers:
        yield "        then: # as seen"
    for answer, times in sorted(taken.answers.items()):
        yield f"          {answer} # {times}"


def _missing(operation: str, rule: str, refused: _Refused, state: str) -> Iterator[str]:
    yield f"      - id: draft-{operation} # missing: refused as {rule} {_times(refused.times, refused.trials)}"
    yield f"        call: {operation}"
    yield "        then: # where each answer leads is for a person to say"
    for category, times in sorted(refused.answers.items()):
        yield f"          {dumps(category)}: {state} # {times}"


def _times(times: int, trials: Collection[str]) -> str:
    return f"{times} time{'s' * (times != 1)} in {len(trials)} trial{'s' * (len(trials) != 1)}"
