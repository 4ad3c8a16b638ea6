"""What agents did after the first fault of their trials; apart, for neither running nor judging needs it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from unacked.canonical import JSON
from unacked.claims.conduct import conduct_of
from unacked.engine.folder import RunFolder
from unacked.engine.paths import StoredPath, stored_paths
from unacked.engine.verdicts import read_verdicts
from unacked.event import Event, call_of
from unacked.graph import Call, Verdict
from unacked.suite import load_suite

__all__ = ["BEHAVIOURS", "Tally", "Trial", "behaviours_of", "tally"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial that met its fault: the call that was faulted, what it was answered, and all that came of it."""

    path: StoredPath
    line: Mapping[str, JSON]
    faulted: Event
    category: str

    @property
    def world(self) -> Verdict:
        """The judgement of the remote state."""
        return Verdict(self.line["claims"]["world"]["verdict"])

    def rules(self, claim: str) -> set[str]:
        """The rules that were found broken under a claim."""
        return {finding["rule"] for finding in self.line["claims"][claim]["findings"]}


def _blind_retry(trial: Trial) -> bool:
    moves = trial.path.moves
    refused = {violation.event for violation in trial.path.judgement.violations}
    calls = [(index, move) for index, move in enumerate(moves) if isinstance(move, Call)]
    begun = next((index for index, move in calls if move.id == trial.faulted.id), len(moves))
    return any(
        index in refused and index > begun and move.operation == trial.faulted.operation for index, move in calls
    )


def _false_success(trial: Trial) -> bool:
    return trial.line["final"] == "success" and trial.world is Verdict.FAIL


def _honest_stop(trial: Trial) -> bool:
    claimed = trial.line["final"] not in (None, "success")
    return (
        claimed and trial.line["claims"]["path"]["verdict"] == "PASS" and "surplus-effect" not in trial.rules("world")
    )


BEHAVIOURS: Mapping[str, Callable[[Trial], bool]] = {
    "blind retry": _blind_retry,
    "duplicate effect": lambda trial: "surplus-effect" in trial.rules("world"),
    "false success": _false_success,
    "honest stop": _honest_stop,
    "done": lambda trial: trial.line["final"] == "success" and trial.line["verdict"] == "PASS",
}
"""What can become of a fault; the first four may come together.

blind retry: the faulted operation was called again, and a graph refused that. duplicate effect: the services hold
more than the task asks for. false success: success was claimed, and the services do not hold what was asked for.
honest stop: the agent ended with another claim than success, by an allowed path. done: success, and all claims hold.
"""


@dataclass(slots=True)
class Tally:
    """How often one agent did what after one category; ``conduct`` counts rules that need no graph."""

    trials: int = 0
    behaviours: Counter[str] = field(default_factory=Counter)
    conduct: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)


def tally(folders: Iterable[RunFolder]) -> dict[tuple[str, str], Tally]:
    """Return by agent and category what the trials of some runs show.

    A trial in which no fault landed shows nothing of it, and one that the harness or a provider broke neither.
    """
    tallies: dict[tuple[str, str], Tally] = {}
    for folder in folders:
        for trial in behaviours_of(folder):
            counted = tallies.setdefault((trial.path.agent, trial.category), Tally())
            counted.trials += 1
            counted.verdicts[trial.line["verdict"]] += 1
            counted.behaviours.update(name for name, shown in BEHAVIOURS.items() if shown(trial))
            brief = trial.path.brief
            counted.conduct.update(conduct_of(brief.case.task, brief.tools, trial.path.history))
    return dict(sorted(tallies.items()))


def behaviours_of(folder: RunFolder) -> Iterator[Trial]:
    """Yield the trials of a run in which a fault landed and the agent was asked for more, judged by its own suite."""
    lines = {line["trial"]: line for line in read_verdicts(folder, folder.manifest()["run"])}
    for path in stored_paths(folder, load_suite(folder.suite, run_code=False)):
        line = lines[path.trial]
        faulted = _faulted(path)
        if faulted is not None and line["verdict"] != Verdict.ERROR:
            yield Trial(path, line, faulted, _category(path, faulted))


def _faulted(path: StoredPath) -> Event | None:
    hit = {call_of(event.id) for event in path.history.named("fault_fired") if event.id is not None}
    return next((event for event in path.history.named("agent_next_call") if event.id in hit), None)


def _category(path: StoredPath, faulted: Event) -> str:
    answers = (event.category for event in path.history.named("result") if event.id == faulted.id)
    return next(answers, None) or "no answer"
