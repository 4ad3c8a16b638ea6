"""Where an agent that runs by itself and a trial that asks for turns meet: one call at a time, in turns."""

from __future__ import annotations

import queue
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unacked.agents.protocol import BudgetSpentError, Call, Reply
from unacked.canonical import JSON

__all__ = ["Ended", "Handoff", "TrialOverError"]


class TrialOverError(Exception):
    """The trial has ended: no more calls are taken."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The agent has come to its end, with a last word or with an exception of its own."""

    text: str = ""
    error: BaseException | None = None


class Handoff:
    """Takes calls from the agent's threads and results from the trial's; calls at the same time wait in line."""

    def __init__(self) -> None:
        self._moves: queue.Queue[Call | Ended] = queue.Queue()
        self._results: queue.Queue[Mapping[str, JSON] | None] = queue.Queue()
        self._line = threading.Lock()
        self._over = False

    # The agent's side

    def call(self, call: Call) -> Mapping[str, JSON]:
        """Make a call and wait for its result; raises TrialOverError where none will come."""
        with self._line:
            if self._over:
                raise TrialOverError("the trial is over")
            self._moves.put(call)
            result = self._results.get()
            if result is None:
                raise TrialOverError("the trial is over")
            return result

    def end(self, ended: Ended) -> None:
        """Say that no more calls will come."""
        self._moves.put(ended)

    # The trial's side

    def next(self, results: Sequence[Mapping[str, JSON]], timeout_s: float) -> Reply:
        """Hand over the last call's result and wait for the next call, or for the end."""
        for result in results:
            self._results.put(result)
        try:
            move = self._moves.get(timeout=timeout_s)
        except queue.Empty:
            raise BudgetSpentError(f"the agent did nothing for {timeout_s:g} s") from None
        if isinstance(move, Call):
            return Reply((move,))
        if move.error is not None:
            raise move.error
        return Reply(text=move.text)

    def close(self, results: Sequence[Mapping[str, JSON]]) -> None:
        """Hand over what was not told yet, and take no more calls."""
        self._over = True
        for result in results:
            self._results.put(result)
        self._results.put(None)
