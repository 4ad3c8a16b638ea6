"""One look at everything that a graph can do: the first, and so the shortest, example of each thing."""

from __future__ import annotations

from typing import Any, NamedTuple

from unacked.canonical import freeze
from unacked.graph.explore.letters import Letter
from unacked.graph.explore.reaction import Kind, Local, Reaction
from unacked.graph.explore.space import Arrival, Situation, Space
from unacked.graph.expression import Guard, Scope, Undefined
from unacked.graph.model import Step

__all__ = ["Example", "Survey"]


class Example(NamedTuple):
    """A call in a situation, and what the graph says of it."""

    situation: Situation
    letter: Letter
    reaction: Reaction


class Survey:
    """What happens in the space of a single graph. Every table holds the nearest example."""

    def __init__(self, space: Space) -> None:
        self.space = space
        (self.machine,) = space.machines
        self.states: dict[str, Situation] = {}
        """By state, the nearest situation in it."""
        self.taken: dict[tuple[str, str], Arrival] = {}
        """By (edge, category), the nearest answer to a call that the edge allowed."""
        self.alternatives: dict[tuple[str, str, int], Arrival] = {}
        """By (edge, category, position of the target)."""
        self.diverted: dict[tuple[str, str, int, int], Arrival] = {}
        """By (edge, category, target, conjunct), the nearest answer of which exactly that conjunct does not hold."""
        self.decided: dict[str, Example] = {}
        """By edge, the nearest call that it decides: allows, or refuses."""
        self.matched: dict[str, Example] = {}
        """By edge, the nearest call that its guard fits, whichever edge decides."""
        self.negated: dict[tuple[str, int], Example] = {}
        """By (edge, position), the nearest call of which exactly one conjunct does not hold; refused ones first."""
        self.brink: dict[tuple[str, int], Example] = {}
        """By (edge, position), the farthest call of which exactly that conjunct, which counts, does not hold."""
        self.rebound: dict[tuple[str, str, str], Arrival] = {}
        """By (edge, category or empty at the call, variable), the nearest answer where it gets another value."""
        self.overlaps: dict[tuple[str, str], Example] = {}
        """By two edges of ``allow`` that fit the same call, the first of which decides."""
        self.unbound: dict[tuple[str, str], Example] = {}
        """By (edge, conjunct), the nearest call where a variable that it reads was not bound."""
        for situation in space.situations():
            self._look(situation)

    @property
    def exhaustive(self) -> bool:
        """Whether everything was tried: what was not seen does not exist."""
        return self.space.exhaustive

    def _look(self, situation: Situation) -> None:
        (local,) = situation
        self.states.setdefault(local.state, situation)
        for letter in self.space.letters(situation):
            self._call(situation, local, letter)
        for arrival in self.space.arrivals(situation):
            self._answer(arrival, local)

    def _call(self, situation: Situation, local: Local, letter: Letter) -> None:
        reaction = self.machine.react(local, letter)
        example = Example(situation, letter, reaction)
        if reaction.rule:
            self.decided.setdefault(reaction.rule, example)
        opened = self.machine.opened(local, letter)
        row, scope = self.machine.row(opened, letter.operation), self.machine.scope(opened, letter)
        fitting = []
        for edge in (*row.always, *(step.edge for step in row.allow), *row.forbid):
            truths = [conjunct.evaluate(scope) for conjunct in edge.when.conjuncts]
            failing = [index for index, truth in enumerate(truths) if truth is not True]
            if not failing:
                fitting.append(edge)
                self.matched.setdefault(edge.id, example)
            elif len(failing) == 1:
                self._negated((edge.id, failing[0]), example)
                if any(path.root == "count" for path in edge.when.conjuncts[failing[0]].reads):
                    self.brink[edge.id, failing[0]] = example
            self._unbound(edge.id, edge.when, truths, example)
        allowing = [edge.id for edge in fitting if not edge.forbid]
        if reaction.kind is Kind.ALLOWED:
            for other in allowing[1:]:
                self.overlaps.setdefault((allowing[0], other), example)

    def _negated(self, key: tuple[str, int], example: Example) -> None:
        known = self.negated.get(key)
        refused = example.reaction.kind is Kind.REFUSED
        if known is None or (refused and known.reaction.kind is not Kind.REFUSED):
            self.negated[key] = example

    def _unbound(self, edge: str, guard: Guard, truths: list[object], example: Example) -> None:
        for conjunct, truth in zip(guard.conjuncts, truths, strict=True):
            if isinstance(truth, Undefined) and truth.reason.endswith("never bound"):
                self.unbound.setdefault((edge, conjunct.text), example)

    def _answer(self, arrival: Arrival, local: Local) -> None:
        (reaction,), (chosen,) = arrival.reactions, arrival.alternatives
        if reaction.step is None:
            return
        edge, category = reaction.step.edge, arrival.step.answer.category
        self.taken.setdefault((edge.id, category), arrival)
        self.alternatives.setdefault((edge.id, category, chosen), arrival)
        scope = self.machine.answered(local, arrival.step.letter, reaction.step, arrival.step.answer)
        self._bindings(arrival, dict(local.variables), reaction.step, scope, chosen)
        example = Example(arrival.source, arrival.step.letter, reaction)
        for index, target in enumerate(reaction.step.then[category]):
            truths: list[object] = [conjunct.evaluate(scope) for conjunct in target.when.conjuncts]
            failing = [position for position, truth in enumerate(truths) if truth is not True]
            if len(failing) == 1:
                self.diverted.setdefault((edge.id, category, index, failing[0]), arrival)
            self._unbound(edge.id, target.when, truths, example)

    def _bindings(self, arrival: Arrival, before: dict[str, Any], step: Step, scope: Scope, chosen: int) -> None:
        """Note where a variable that has a value gets another."""
        edge, category = step.edge, arrival.step.answer.category
        for name, _ in edge.bind:
            if name in before and name in scope.variables and freeze(scope.variables[name]) != before[name]:
                self.rebound.setdefault((edge.id, "", name), arrival)
        for name, path in step.then[category][chosen].bind if chosen >= 0 else ():
            value = path.get(scope)
            known = name in scope.variables and not isinstance(value, Undefined)
            if known and freeze(value) != freeze(scope.variables[name]):
                self.rebound.setdefault((edge.id, category, name), arrival)
