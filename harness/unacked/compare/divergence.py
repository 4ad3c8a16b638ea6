"""Where two transcripts of one case part: the first call, or the first result, that is not the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from unacked.canonical import JSON, dumps
from unacked.event import History

__all__ = ["Divergence", "Step", "first_divergence", "steps_of"]


@dataclass(frozen=True, slots=True)
class Step:
    """One call and what came of it. ``arguments`` is their canonical text; ``category`` None where nothing came."""

    operation: str
    arguments: str
    category: str | None

    def __str__(self) -> str:
        return f"{self.operation}({self.arguments}) -> {self.category or 'no result'}"


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first step, counted from 1, at which two transcripts differ; None is a transcript that had ended."""

    number: int
    before: Sequence[Step]
    first: Step | None
    second: Step | None

    def as_json(self) -> dict[str, JSON]:
        """Return the divergence as a JSON object."""
        told = [None if step is None else str(step) for step in (self.first, self.second)]
        return {"step": self.number, "before": [str(step) for step in self.before], "first": told[0], "second": told[1]}


def steps_of(history: History) -> list[Step]:
    """Return the calls of a trial in order, each with the category of its result."""
    categories = {event.id: event.category for event in history.named("result")}
    return [
        Step(event.operation or "", _arguments(event.detail), categories.get(event.id))
        for event in history.named("agent_next_call")
    ]


def _arguments(detail: Mapping[str, JSON]) -> str:
    return dumps(detail.get("arguments", {}))


def first_divergence(first: Iterable[Step], second: Iterable[Step]) -> Divergence | None:
    """Return where two transcripts part, None where they are the same to the end.

    A step of another operation or category comes before one that differs in its arguments only, even an earlier
    one: two models seldom choose the same words for a title.
    """
    pairs = list(zip_longest(first, second))
    kinds = [number for number, (one, two) in enumerate(pairs) if _kind(one) != _kind(two)]
    values = [number for number, (one, two) in enumerate(pairs) if one != two]
    if not values:
        return None
    number = (kinds or values)[0]
    one, two = pairs[number]
    return Divergence(number + 1, [step for step, _ in pairs[:number] if step is not None], one, two)


def _kind(step: Step | None) -> tuple[str, str | None] | None:
    return None if step is None else (step.operation, step.category)
