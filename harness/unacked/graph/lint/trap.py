"""Traps: situations from which an agent that only does what is allowed cannot come to an end; and contradictions."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from unacked.graph.explore import Arrival, Kind, Situation, Space, allowed, told
from unacked.graph.model import FINISH, Finality

__all__ = ["Trap", "contradictions", "first_trap"]

_SILENCE = "(no claim)"


@dataclass(frozen=True, slots=True)
class Trap:
    """Where the agent is caught: the states of the graphs, and the shortest way there."""

    states: tuple[str, ...]
    way: tuple[str, ...]
    threads: int = 1


def first_trap(space: Space, *, threads: int = 1) -> Trap | None:
    """Return the nearest situation from which no allowed calls lead to an end that all graphs allow, if there is one.

    An end is a ``finish`` that nothing refuses, or a situation in which every thread may rest. With two
    ``threads`` a second effect of the same kind may be anywhere, and one claim must fit both.
    """
    claims = _claims(space)
    alone = next((situation for situation in space.situations() if not claims[situation]), None)
    if alone is not None:
        return Trap(_states(alone), told(space.way(alone)))
    return _pair(space, claims) if threads > 1 else None


def contradictions(space: Space) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield every edge whose calls some other graph always refuses: the edge, the rule, the shortest example."""
    refused: dict[str, tuple[str, tuple[str, ...]]] = {}
    free = set()
    for situation in space.situations():
        for letter in space.letters(situation):
            reactions = space.react(situation, letter)
            edges = [reaction.rule for reaction in reactions if reaction.kind is Kind.ALLOWED]
            rules = [reaction.rule for reaction in reactions if reaction.kind is Kind.REFUSED]
            if not rules:
                free.update(edges)
            for edge in edges if rules else ():
                refused.setdefault(edge, (rules[0], told(space.way(situation), letter)))
    for edge, (rule, way) in refused.items():
        if edge not in free:
            yield edge, rule, way


def _claims(space: Space) -> dict[Situation, frozenset[str]]:
    """By situation, the final claims that can be made from there on, sooner or later."""
    claims: dict[Situation, set[str]] = {}
    sources: dict[Situation, list[Situation]] = {}
    for situation in space.situations():
        claims[situation] = set(_now(space, situation))
        for arrival in space.arrivals(situation):
            if not _finishes(arrival):
                sources.setdefault(arrival.target, []).append(situation)
    queue = deque(claims)
    while queue:
        there = queue.popleft()
        for here in sources.get(there, ()):
            if not claims[there] <= claims[here]:
                claims[here] |= claims[there]
                queue.append(here)
    return {situation: frozenset(words) for situation, words in claims.items()}


def _now(space: Space, situation: Situation) -> Iterator[str]:
    if space.stand(situation, Finality.OK, Finality.FINAL):
        yield _SILENCE
    for letter in space.letters(situation):
        if letter.operation.name == FINISH and allowed(space.react(situation, letter)):
            yield str(letter.args.get("status"))


def _finishes(arrival: Arrival) -> bool:
    return arrival.step.letter.operation.name == FINISH


def _pair(space: Space, claims: dict[Situation, frozenset[str]]) -> Trap | None:
    """Two threads that move independently are caught where no claim is open to both."""
    nearest: dict[frozenset[str], Situation] = {}
    for situation in space.situations():
        if not space.stand(situation, Finality.FINAL):
            nearest.setdefault(claims[situation], situation)
    pairs = [
        (one, two)
        for index, (words, one) in enumerate(nearest.items())
        for others, two in list(nearest.items())[index + 1 :]
        if not words & others
    ]
    if not pairs:
        return None
    one, two = min(pairs, key=lambda pair: len(space.way(pair[0])) + len(space.way(pair[1])))
    return Trap((*_states(one), *_states(two)), (*told(space.way(one)), *told(space.way(two))), threads=2)


def _states(situation: Situation) -> tuple[str, ...]:
    return tuple(local.state for local in situation)
