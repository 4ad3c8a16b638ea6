"""Plans that are handed to an orchestrator, and the scripts that their probes obey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from unacked.canonical import JSON
from unacked.conformance.probe import value_of

__all__ = ["FORMAT", "Plan", "Script", "Step", "script_json", "step"]

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Script:
    """What a probe does, which the orchestrator is not told.

    ``raises`` attempts fail. At the attempts in ``kills`` it kills the command that runs it, once it has slept, and at
    those in ``kills_after`` once it has written that it ended. ``stubborn`` does not heed a request to stop;
    ``cleanup_s`` is how long its clean-up takes, where it has one.
    """

    sleep_s: float = 0.0
    raises: int = 0
    kills: Sequence[int] = ()
    kills_after: Sequence[int] = ()
    stubborn: bool = False
    cleanup_s: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan, and all that the orchestrator is told of it.

    It runs when all steps in ``after`` are over. ``when`` is (step, value): it is skipped unless that step gave that
    value. Where a step before it has failed or was skipped it is skipped too, unless ``after_failure`` is ``run``.
    The n-th retry waits ``first_s * factor ** (n - 1)`` seconds, give or take the share ``jitter``. ``delay_s`` is a
    timer that runs before the step begins. Of two steps that wait for a slot, the higher ``priority`` goes first.
    ``undo`` is the step that takes it back when the run fails later.
    """

    id: str
    after: Sequence[str] = ()
    argument: JSON = None
    when: tuple[str, JSON] | None = None
    after_failure: str = "skip"
    attempts: int = 1
    first_s: float = 0.0
    factor: float = 2.0
    jitter: float = 0.0
    timeout_s: float | None = None
    delay_s: float = 0.0
    priority: int = 0
    undo: str | None = None

    def as_json(self) -> dict[str, JSON]:
        """Return the step as the plan's file holds it."""
        return {**asdict(self), "after": list(self.after), "when": None if self.when is None else list(self.when)}


def step(name: str, *after: str) -> Step:
    """Return a step that runs after others."""
    return Step(name, after)


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps, how many may run at once, how long the run may take, and which step to run when it ends in some state.

    ``on`` has one step for each of ``failed``, ``timed_out``, ``cancelled``, ``deadletter`` (a step has used up its
    attempts) and ``compensation_failed``. ``scripts`` are what probes do; steps without one only give their value.
    """

    steps: Sequence[Step]
    scripts: Mapping[str, Script] = field(default_factory=dict)
    cap: int = 8
    deadline_s: float | None = None
    on: Mapping[str, str] = field(default_factory=dict)

    def as_json(self, run: str, probe: Sequence[str]) -> dict[str, JSON]:
        """Return the plan as the orchestrator gets it."""
        return {
            "format": FORMAT,
            "run": run,
            "probe": list(probe),
            "cap": self.cap,
            "deadline_s": self.deadline_s,
            "steps": [step.as_json() for step in self.steps],
            "on": dict(self.on),
        }

    def value(self, name: str) -> str:
        """Return the right value of a step, which holds those of all steps before it."""
        found = next(step for step in self.steps if step.id == name)
        return value_of(name, found.argument, [self.value(before) for before in found.after])


def script_json(plans: Sequence[Plan], run: str, record: str) -> dict[str, JSON]:
    """Return the script as the probes get it: that of all plans of one run, and the file to write lines to."""
    steps = {name: asdict(script) for plan in plans for name, script in plan.scripts.items()}
    return {"run": run, "record": record, "steps": steps}
