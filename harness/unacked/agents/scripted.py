"""The scripted driver: a policy written in Python takes the place of a model.

A policy is a generator function ``act(task)``. It yields a ``Call`` and receives the result as the agent
sees it (a JSON object), or yields a list of calls and receives the list of their results.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from unacked.agents.protocol import Call, Reply, Seat, Session, Task
from unacked.canonical import JSON
from unacked.content import load_content
from unacked.errors import Place, Problem, SpecificationError

__all__ = ["Moves", "Policy", "ScriptedDriver", "load_policy"]

_T = TypeVar("_T")

Moves = Generator[Call | list[Call], Any, _T]
"""A policy at work, or a part of one that returns a value to the rest (``yield from``)."""

Policy = Callable[[Task], Moves[None]]
"""A policy: see the module's docstring."""


def load_policy(path: Path) -> Policy:
    """Load the policy of a scripted agent; raises SpecificationError where there is none."""
    policy = getattr(load_content(path), "act", None)
    if not callable(policy):
        raise SpecificationError(
            [Problem(Place(str(path)), "defines no policy", "define: def act(task): ... yield Call(...)")]
        )
    return policy  # type: ignore[no-any-return]


class ScriptedDriver:
    """Runs a policy; of the seat it is given the seed, for it needs no provider."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def begin(self, task: Task, seat: Seat) -> Session:
        """Start the policy on ``task``."""
        return _ScriptedSession(self._policy(replace(task, seed=seat.seed)))


class _ScriptedSession:
    def __init__(self, moves: Moves[None]) -> None:
        self._moves = moves
        self._single = True

    def next(self, results: Sequence[Mapping[str, JSON]]) -> Reply:
        answer: Any = None
        if results:
            answer = results[0] if self._single else list(results)
        try:
            move = self._moves.send(answer)
        except StopIteration:
            return Reply()
        self._single = isinstance(move, Call)
        return Reply((move,) if isinstance(move, Call) else tuple(move))

    def close(self, results: Sequence[Mapping[str, JSON]] = ()) -> None:
        """Nothing is held: a policy that was left half-way is the collector's business."""
