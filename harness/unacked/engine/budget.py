"""What a whole run may spend: where it is spent the run stops, and the same command resumes it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from unacked.canonical import JSON
from unacked.engine.trials import Outcome
from unacked.errors import ExitCode, RecordError, UnackedError

__all__ = ["RunBudget", "RunCutError"]


class RunCutError(UnackedError):
    """The run was cut by its budget: the trials that are left were not run, so it proves nothing."""

    exit_code = ExitCode.INCONCLUSIVE


class RunBudget:
    """Hears of every outcome before ``told`` does, and raises RunCutError once the budget is spent.

    ``done`` are the verdict lines of an earlier part of the run, which have cost money too and are read only where
    there is a budget in money; ``trials`` is how many there are in all. Money is counted as far as it is known, in
    ``usd``; an unknown cost spends any budget.
    """

    def __init__(
        self,
        told: Callable[[Outcome], None],
        done: Iterable[Mapping[str, JSON]],
        trials: int,
        *,
        max_usd: float | None,
        max_minutes: float | None,
    ) -> None:
        self._told, self._trials = told, trials
        self._max_usd, self._max_minutes = max_usd, max_minutes
        self._began_s = time.monotonic()
        self.usd = 0.0
        self._unpriced: str | None = None
        with suppress(RecordError):  # a last line that was torn: its trial is run again
            for line in done if max_usd is not None else ():
                self._count(line)

    def __call__(self, outcome: Outcome) -> None:
        """Count one trial."""
        self._told(outcome)
        self._count(outcome.line)
        left = self._trials - outcome.line["index"] - 1
        if left and (spent := self._spent()) is not None:
            raise RunCutError(f"{spent}: {left} trials were not run")

    def _count(self, line: Mapping[str, JSON]) -> None:
        usd = line.get("model", {"usd": 0.0})["usd"]
        if usd is None:
            self._unpriced = str(line["agent"])
        self.usd += usd or 0.0

    def _spent(self) -> str | None:
        if self._max_usd is not None and self._unpriced is not None:
            return (
                f"what {self._unpriced} costs is not known (give its agent a 'price'), so no budget in money can hold"
            )
        if self._max_usd is not None and self.usd >= self._max_usd:
            return f"the run's budget of {self._max_usd:g} US dollars is spent"
        minutes = (time.monotonic() - self._began_s) / 60
        if self._max_minutes is not None and minutes >= self._max_minutes:
            return f"the run's budget of {self._max_minutes:g} minutes is spent"
        return None
