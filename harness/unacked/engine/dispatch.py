"""Which trials may begin now: by priority, in the order of the plan, and within the limits of each provider.

Pure: it is told the time, in seconds. Trials of a limited provider are given one by one, its agents in turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from unacked.orchestrator import Gate
from unacked.trial import TrialPlan

__all__ = ["Dispatch", "Limit", "Policy"]


@dataclass(frozen=True, slots=True)
class Limit:
    """What a provider bears: so many trials at once, so many begun a minute; None is no limit."""

    at_once: int | None = None
    per_minute: float | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """How trials are run; none of it decides a verdict, so all of it may change when a run is resumed.

    ``max_trial_s`` is the wall-clock time of a trial, ``max_attempts`` how often one is tried that takes its worker
    process with it. ``limits`` are by the name of a driver, ``priorities`` by that of an agent or a case: higher first.
    """

    max_trial_s: float = 600.0
    max_attempts: int = 3
    limits: Mapping[str, Limit] = field(default_factory=dict)
    priorities: Mapping[str, int] = field(default_factory=dict)


class Dispatch:
    """The trials that are left; ``drivers`` names the driver of every agent."""

    def __init__(self, trials: Iterable[TrialPlan], policy: Policy, drivers: Mapping[str, str]) -> None:
        self._drivers = drivers
        self._gates: dict[str, Gate[TrialPlan]] = {
            driver: Gate(at_once=limit.at_once, per_s=None if limit.per_minute is None else limit.per_minute / 60)
            for driver, limit in policy.limits.items()
        }
        self._free: deque[TrialPlan] = deque()
        rank = policy.priorities
        by_rank = sorted(trials, key=lambda trial: -rank.get(trial.agent, 0) - rank.get(trial.case, 0))
        for trial in by_rank:
            gate = self._gate(trial)
            if gate is None:
                self._free.append(trial)
            else:
                gate.enqueue(trial.agent, trial)

    def _gate(self, trial: TrialPlan) -> Gate[TrialPlan] | None:
        return self._gates.get(self._drivers[trial.agent])

    def take(self, most: int, now_s: float) -> list[TrialPlan]:
        """Take one trial of a limited provider, or ``most`` others; none where nobody may begin."""
        for gate in self._gates.values():
            trial = gate.take(now_s)
            if trial is not None:
                return [trial]
        return [self._free.popleft() for _ in range(min(most, len(self._free)))]

    def ended(self, trial: TrialPlan) -> None:
        """Let another of the same provider begin."""
        gate = self._gate(trial)
        if gate is not None:
            gate.release()

    def back(self, trials: Iterable[TrialPlan]) -> None:
        """Let trials that were taken begin once more, before all others where nothing limits them."""
        for trial in trials:
            gate = self._gate(trial)
            if gate is None:
                self._free.appendleft(trial)
            else:
                gate.release()
                gate.enqueue(trial.agent, trial)

    def wait_s(self, now_s: float) -> float | None:
        """Return how long nobody may begin for want of time, None where none is left or one has to end first."""
        if self._free:
            return 0.0
        waits = [wait for gate in self._gates.values() if (wait := gate.wait_s(now_s)) is not None]
        return min(waits, default=None)
