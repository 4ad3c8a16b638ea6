"""From every situation the shortest allowed way to an end."""

from __future__ import annotations

from collections import deque

from unacked.graph.explore.space import Arrival, Situation, Space, Step
from unacked.graph.model import Finality

__all__ = ["ways_to_end"]


def ways_to_end(space: Space) -> dict[Situation, tuple[Step, ...]]:
    """Return for each situation the shortest allowed way to an end: a closed state, or else one where all may rest."""
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
