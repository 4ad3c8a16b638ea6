"""All situations that one or more graphs can get into together, each with the shortest way there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from unacked.canonical import freeze
from unacked.graph.explore.letters import Alphabet, Answer, Letter, Swapped, renamed
from unacked.graph.explore.reaction import Kind, Local, Machine, Reaction
from unacked.graph.model import BoundGraph, Finality

__all__ = ["Arrival", "Situation", "Space", "Step", "allowed"]

_MOST_SITUATIONS = 20_000

Situation = tuple[Local, ...]
"""Where every graph stands, with tokens named in the order of their appearance."""


class Step(NamedTuple):
    """One call and its answer; ``swapped`` are the families whose tokens were renamed after it."""

    letter: Letter
    answer: Answer
    swapped: Swapped = frozenset()

    def twin(self, alphabet: Alphabet) -> Step:
        """Return the same step with the other token of every family: another effect of the same kind."""
        every = frozenset(token.family for token in alphabet.tokens.values())
        letter, answer = self.letter, self.answer
        args = renamed(letter.args, every, alphabet.tokens)
        fields = renamed(answer.fields, every, alphabet.tokens)
        payload = renamed(letter.payload, every, alphabet.tokens)
        return Step(
            Letter(letter.operation, args, letter.wait_s, payload, letter.needs),
            Answer(answer.category, fields, answer.needs),
        )


class Arrival(NamedTuple):
    """One answer to an allowed call. ``alternatives`` gives for each graph which target was chosen (-1: none)."""

    source: Situation
    step: Step
    reactions: Sequence[Reaction]
    target: Situation
    alternatives: Sequence[int]


class Space:
    """The situations of graphs that share one trial, each with one thread."""

    def __init__(self, graphs: Sequence[BoundGraph], alphabet: Alphabet, *, start: Situation | None = None) -> None:
        self.alphabet = alphabet
        self.machines = [Machine(graph, self.alphabet.values) for graph in graphs]
        self.start = start or tuple(machine.start() for machine in self.machines)
        self._origins: dict[Situation, tuple[Situation, Step] | None] = {self.start: None}
        self._order = [self.start]
        self._depths = {self.start: 0}
        self.exhaustive = alphabet.exhaustive
        """False where not every call, or not every situation, was tried."""
        self._arrivals: dict[Situation, list[Arrival]] = {}

    def stand(self, situation: Situation, *finalities: Finality) -> bool:
        """Return whether every thread stands in one of these ways."""
        return all(
            machine.standing(local) in finalities for machine, local in zip(self.machines, situation, strict=True)
        )

    def situations(self, depth: int | None = None) -> Iterator[Situation]:
        """Yield every situation that can be reached, nearest first; with a ``depth``, in so many calls at most.

        Where there are very many the rest is left out: ``exhaustive`` tells.
        """
        position = 0
        while position < len(self._order):
            situation = self._order[position]
            yield situation
            position += 1
            if depth is not None and self._depths[situation] >= depth:
                continue
            if position > _MOST_SITUATIONS:
                self.exhaustive = False
                return
            self.arrivals(situation)

    def letters(self, situation: Situation) -> Iterator[Letter]:
        """Yield the calls that are worth trying here."""
        used = self._used(situation)
        for letters in self.alphabet.letters.values():
            for letter in letters:
                if letter.needs <= used:
                    yield letter

    def react(self, situation: Situation, letter: Letter) -> list[Reaction]:
        """Return what each graph says of a call."""
        return [machine.react(local, letter) for machine, local in zip(self.machines, situation, strict=True)]

    def answers(self, situation: Situation, letter: Letter) -> Iterator[Answer]:
        """Yield the answers to a call that are worth trying."""
        used = self._used(situation) | {family for family, number in self.alphabet.families(letter.args) if number == 1}
        for category in sorted(letter.operation.categories):
            for answer in self.alphabet.answers[letter.operation.name, category]:
                if answer.needs <= used:
                    yield answer

    def arrive(self, situation: Situation, letter: Letter, reactions: Sequence[Reaction], answer: Answer) -> Arrival:
        """Return where an answer to a call leads that no graph refuses."""
        after, alternatives = [], []
        for machine, local, reaction in zip(self.machines, situation, reactions, strict=True):
            chosen = -1
            if reaction.kind is Kind.ALLOWED and reaction.step is not None:
                local, chosen = machine.arrive(local, letter, reaction.step, answer)  # noqa: PLW2901 - it moves on
            after.append(local)
            alternatives.append(chosen)
        target, swapped = self._canonical(tuple(after))
        return Arrival(situation, Step(letter, answer, swapped), reactions, target, alternatives)

    def arrivals(self, situation: Situation) -> list[Arrival]:
        """Return every way on from a situation."""
        if situation in self._arrivals:
            return self._arrivals[situation]
        found = []
        for letter in self.letters(situation):
            reactions = self.react(situation, letter)
            if not allowed(reactions):
                continue
            alike: dict[object, Arrival] = {}
            for answer in self.answers(situation, letter):
                key = _telling(reactions, answer)
                if key not in alike:
                    alike[key] = self.arrive(situation, letter, reactions, answer)
                arrival = alike[key]._replace(step=Step(letter, answer, alike[key].step.swapped))
                found.append(arrival)
                if arrival.target not in self._origins:
                    self._origins[arrival.target] = (situation, arrival.step)
                    self._depths[arrival.target] = self._depths[situation] + 1
                    self._order.append(arrival.target)
        self._arrivals[situation] = found
        return found

    def way(self, situation: Situation) -> tuple[Step, ...]:
        """Return the shortest way from the start to a situation."""
        steps: list[Step] = []
        origin = self._origins[situation]
        while origin is not None:
            situation, step = origin
            steps.append(step)
            origin = self._origins[situation]
        return tuple(reversed(steps))

    def _used(self, situation: Situation) -> frozenset[int]:
        return frozenset(family for local in situation for family, _ in self._tokens(local))

    def _tokens(self, local: Local) -> frozenset[tuple[int, int]]:
        return self.alphabet.families(local.variables) | self.alphabet.families(local.handles)

    def _canonical(self, situation: Situation) -> tuple[Situation, Swapped]:
        """Exchange the tokens of a family of which only the second is in use."""
        found = {item for local in situation for item in self._tokens(local)}
        swapped = frozenset(family for family, number in found if number == 2 and (family, 1) not in found)
        if not swapped:
            return situation, swapped
        return tuple(local.renamed(swapped, self.alphabet.tokens) for local in situation), swapped


def _telling(reactions: Sequence[Reaction], answer: Answer) -> object:
    """Whatever of an answer decides where it leads: answers that are alike in this need not be tried apart."""
    targets = tuple(
        id(reaction.step.then.get(answer.category)) if reaction.step is not None else 0 for reaction in reactions
    )
    return targets, freeze(answer.fields), answer.category == "rate_limited"


def allowed(reactions: Sequence[Reaction]) -> bool:
    """Whether some graph allows a call and none refuses it."""
    kinds = {reaction.kind for reaction in reactions}
    return Kind.ALLOWED in kinds and Kind.REFUSED not in kinds
