"""Where every trial of a run is: an orchestrator's journal, written in batches.

The record is the truth, the journal is what makes going on cheap and sure: which trials were begun, how often one
took its process with it, and the outcomes whose turn in ``verdicts.jsonl`` had not come. A trial is entered as begun
before it begins; of what ended since the last batch the record tells.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from types import TracebackType
from typing import Self

from unacked.canonical import JSON
from unacked.engine.folder import RunFolder
from unacked.engine.plan import Plan
from unacked.engine.trials import Outcome
from unacked.engine.verdicts import Mark, Verdicts
from unacked.errors import HarnessError
from unacked.orchestrator import Event, Journal, State
from unacked.orchestrator.lifecycle import FINAL
from unacked.trial import TrialPlan

__all__ = ["TrialJournal"]

_FLUSH_S = 1.0
_MARK = "verdicts_written"
_MAX_KILLS = 10
"""How often a trial may be under way when the whole run is killed; that is seldom its own doing."""

_Move = tuple[TrialPlan, Event, Mapping[str, JSON], Mapping[str, JSON]]
"""A trial, what happens to it, the columns of the journal that change, and what the step log tells besides."""


class TrialJournal:
    """The journal of one run, open for writing.

    ``ready`` are outcomes by index whose turn has not come; ``left`` the trials that are to be run; ``given_up`` those
    that were under way too often when the run was killed.
    """

    def __init__(self, folder: RunFolder, plan: Plan) -> None:
        self._folder, self._plan = folder, plan
        try:
            folder.journal.touch(mode=0o600)  # it holds raw errors
        except OSError as error:
            raise HarnessError(f"{folder.journal}: cannot be written: {error.strerror}") from None
        self._journal = Journal(folder.journal, plan.run, plan.run)
        self._states = self._entered()
        self._kills: Counter[str] = Counter()
        self._waiting: list[_Move] = []
        self._flushed_s = time.monotonic()
        self.ready: dict[int, Outcome] = {}
        self.left: list[TrialPlan] = []
        self.given_up: list[TrialPlan] = []
        self._mark: Callable[[], Mark | None] = lambda: None

    def _entered(self) -> dict[str, State]:
        """The states of all trials, in the order of the plan; they were entered together, or not at all."""
        states = self._journal.read.states()
        if not states:
            self._journal.add_tasks(trial.name for trial in self._plan.trials)
        return states or self._journal.read.states()

    def last_mark(self) -> Mark | None:
        """Return how far the verdicts were found good when the last batch was written."""
        entry = self._journal.read.last(_MARK)
        return None if entry is None else Mark(**entry.detail)

    def take_stock(self, verdicts: Verdicts) -> None:
        """Bring the journal up to the record, and sort the trials by what is to be done with them."""
        self._mark, done = lambda: verdicts.mark, verdicts.done
        self._kills.update(self._journal.read.recoveries())
        with self._journal.transaction():
            for trial, state in zip(self._plan.trials, list(self._states.values()), strict=True):
                if trial.index < done:
                    if state not in FINAL:
                        self._catch_up(trial)
                elif state in FINAL and (result := self._journal.read.result(trial.name)) is not None:
                    self.ready[trial.index] = Outcome(**result)
                else:
                    self._take_up(trial)

    def _catch_up(self, trial: TrialPlan) -> None:
        """A trial whose verdict is in the record has ended, whatever the journal last heard of it."""
        if self._states[trial.name] is State.PENDING:
            self._move(trial, Event.START)
        self._move(trial, Event.SUCCEEDED)

    def _take_up(self, trial: TrialPlan) -> None:
        """A trial that is not in the record is run; it is given up if it was under way too often."""
        state = self._states[trial.name]
        if state in FINAL:
            self._journal.forget(trial.name, "its verdict is not in the record")
            self._states[trial.name] = State.PENDING
        elif state is State.RUNNING and not self._was_under_way(trial):
            self._move(trial, Event.INTERRUPTED)
        elif state is State.RUNNING:
            kills = self._kills[trial.name] = self._kills[trial.name] + 1
            if kills > _MAX_KILLS:
                self.given_up.append(trial)
                return
            self._move(trial, Event.RECOVERED, {"recoveries": kills})
        self.left.append(trial)

    def _was_under_way(self, trial: TrialPlan) -> bool:
        """Whether a trial had begun and not ended: its record stands there without an end."""
        try:
            last = self._folder.events(trial.index, trial.name).read_bytes().rpartition(b"\n")[0].rpartition(b"\n")[2]
        except OSError:
            return False
        return b'"event":"trial_end"' not in last

    def _move(self, trial: TrialPlan, event: Event, columns: Mapping[str, JSON] | None = None, **detail: JSON) -> None:
        name = trial.name
        self._states[name] = self._journal.move(name, self._states[name], event, columns=columns or {}, **detail)

    def kills(self, trial: TrialPlan) -> int:
        """Count one more process that a trial took with it, and return how many that makes."""
        self._kills[trial.name] += 1
        return self._kills[trial.name]

    def claim(self, trials: Iterable[TrialPlan]) -> None:
        """Enter trials as begun, before they begin, and all that waits to be written."""
        self._waiting.extend((trial, Event.START, {}, {}) for trial in trials)
        self.flush()

    def ended(self, trial: TrialPlan, event: Event, outcome: Outcome | None, **columns: JSON) -> None:
        """Enter how a trial ended, with the next batch."""
        detail: dict[str, JSON] = {}
        if outcome is not None:
            self.ready[trial.index] = outcome
            usd = outcome.line.get("model", {}).get("usd")
            detail = {"duration_s": outcome.wall_s, "verdict": outcome.line["verdict"]}
            if usd is not None:
                detail["usd"] = usd
        self._waiting.append((trial, event, columns, detail))
        if time.monotonic() - self._flushed_s > _FLUSH_S:
            self.flush()

    def flush(self) -> None:
        """Write what waits, in one transaction."""
        self._flushed_s = time.monotonic()
        if not self._waiting:
            return
        with self._journal.transaction():
            for event, moves in groupby(self._waiting, self._alike):
                if event is None:
                    for move in moves:
                        self._move_alone(*move)
                else:
                    self._move_together(event, {trial.name: detail for trial, _, _, detail in moves})
            mark = self._mark()
            if mark is not None:
                self._journal.note("", _MARK, **asdict(mark))
        self._waiting.clear()

    def _alike(self, move: _Move) -> Event | None:
        """The event, if it changes nothing of a trial but its state; all of a kind are written at once then."""
        trial, event, columns, _ = move
        return event if not columns and (event is Event.START or trial.index not in self.ready) else None

    def _move_together(self, event: Event, details: Mapping[str, Mapping[str, JSON]]) -> None:
        (state,) = {self._states[name] for name in details}  # no event is known to two of the states that trials have
        following = self._journal.move_all(state, event, details)
        self._states.update(dict.fromkeys(details, following))

    def _move_alone(
        self, trial: TrialPlan, event: Event, columns: Mapping[str, JSON], detail: Mapping[str, JSON]
    ) -> None:
        outcome = None if event is Event.START else self.ready.get(trial.index)
        kept = {} if outcome is None else {"result": outcome.as_json()}
        self._move(trial, event, {**columns, **kept}, **detail)

    def interrupted(self) -> None:
        """Enter everything that was begun and did not end as interrupted."""
        self.flush()
        with self._journal.transaction():
            for name, state in self._states.items():
                if state is State.RUNNING:
                    self._states[name] = self._journal.move(name, state, Event.INTERRUPTED)

    def rewind(self, outcomes: Sequence[Outcome], again: Collection[str]) -> None:
        """Keep the outcomes of a run that is opened once more; trials in ``again`` are begun anew."""
        with self._journal.transaction():
            for outcome in outcomes:
                if outcome.line["trial"] not in again:
                    self._journal.keep(outcome.line["trial"], outcome.as_json())
            for name in again:
                state = self._states[name]
                if state in (State.FAILED, State.TIMED_OUT):
                    columns: dict[str, JSON] = {"recoveries": 0, "dead": 0, "error": None, "result": None}
                    self._states[name] = self._journal.move(name, state, Event.RETRY, columns=columns)

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
