"""The shortest way on which two graphs, or one graph in two situations, judge differently: the product automaton."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from unacked.contract import Effect
from unacked.graph.explore.letters import Alphabet, Letter
from unacked.graph.explore.reaction import Kind, Machine, Reaction
from unacked.graph.explore.space import Situation, Space, Step
from unacked.graph.model import BoundGraph

__all__ = ["Comparison", "Difference", "compare", "differences", "refusal"]


class Difference(NamedTuple):
    """Where the judgements part: after ``steps``, at the call ``letter``, or without one at the end of the trial.

    ``said`` are the two answers: the rule that refuses the call (empty: none does), or how the thread stands.
    """

    steps: tuple[Step, ...]
    letter: Letter | None
    said: tuple[str, str]


class Comparison(NamedTuple):
    """The first difference of two graphs. Where there is none, ``complete`` says whether that is a proof.

    It is one as far as the values go that the alphabet tries, and the steps that were asked for.
    """

    difference: Difference | None
    complete: bool = True


def refusal(machine: Machine, reaction: Reaction, letter: Letter) -> tuple[str, bool] | None:
    """Return the rule by which a trial with this graph alone refuses a call, and whether it is unsafe; or None."""
    operation, unlisted = letter.operation, machine.graph.graph.unlisted
    if reaction.kind is Kind.REFUSED:
        return reaction.rule, reaction.unsafe
    forbidden = unlisted.op_write if operation.writes else unlisted.op_read
    if reaction.kind is Kind.SILENT and operation.effect is not Effect.CONTROL and forbidden:
        return "unlisted_operation", operation.writes
    return None


def compare(
    graphs: Sequence[BoundGraph], alphabet: Alphabet, *, start: Situation | None = None, depth: int | None = None
) -> Comparison:
    """Return the shortest way on which two graphs judge differently, of at most ``depth`` steps."""
    space = Space(graphs, alphabet, start=start)
    difference = next(_differences(space, depth), None)
    return Comparison(difference, complete=difference is not None or space.exhaustive)


def differences(
    graphs: Sequence[BoundGraph], alphabet: Alphabet, *, start: Situation, depth: int
) -> Iterator[Difference]:
    """Yield every way on which two graphs judge differently, of at most ``depth`` steps, the shortest first."""
    yield from _differences(Space(graphs, alphabet, start=start), depth)


def _differences(space: Space, depth: int | None) -> Iterator[Difference]:
    for situation in space.situations(depth):
        standings = [machine.standing(local).value for machine, local in zip(space.machines, situation, strict=True)]
        if standings[0] != standings[1]:
            yield Difference(space.way(situation), None, (standings[0], standings[1]))
        for letter in space.letters(situation):
            reactions = space.react(situation, letter)
            first, second = (
                refusal(machine, reaction, letter) for machine, reaction in zip(space.machines, reactions, strict=True)
            )
            if first != second:
                said = (first[0] if first else "", second[0] if second else "")
                yield Difference(space.way(situation), letter, said)
