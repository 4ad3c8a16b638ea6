"""Tasks and plans as values: what is to be done, after what, how often, and for how long at most."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any

from unacked.canonical import JSON, digest, dumps
from unacked.errors import Place, Problem, SpecificationError, nearest

__all__ = ["Compensation", "Join", "Plan", "Propagation", "Retry", "Saga", "Task", "draw"]


@dataclass(frozen=True, slots=True)
class Retry:
    """How often something is tried, and how long to wait before the next time.

    The wait is ``base_s``, then ``factor`` times as long each time, at most ``cap_s``. Of each wait a share of up to
    ``jitter`` (0 to 1) is left out at random, so that many who failed together do not come back together.
    """

    max_attempts: int = 1
    base_s: float = 1.0
    factor: float = 2.0
    cap_s: float = 60.0
    jitter: float = 0.0

    def __post_init__(self) -> None:
        wrong = [
            name
            for name, holds in (
                ("max_attempts: expected 1 or more", self.max_attempts >= 1),
                ("base_s: expected 0 or more seconds", 0 <= self.base_s < math.inf),
                ("factor: expected 1 or more", 1 <= self.factor < math.inf),
                ("cap_s: expected 0 or more seconds", 0 <= self.cap_s < math.inf),
                ("jitter: expected a share from 0 to 1", 0 <= self.jitter <= 1),
            )
            if not holds
        ]
        if wrong:
            raise SpecificationError([Problem(Place("retry"), text) for text in wrong])

    def delay_s(self, failures: int, share: float) -> float:
        """Return the seconds to wait after ``failures`` failures; ``share`` (0 to 1) says how much of the jitter."""
        try:
            grown = self.base_s * self.factor ** (failures - 1)
        except OverflowError:
            grown = math.inf
        return min(self.cap_s, grown) * (1 - self.jitter * share)


def draw(*names: str | int) -> float:
    """Return a number from 0 to 1 that depends on the names alone, so never on the order in which things end."""
    text = "/".join(map(str, names)).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8]) / 2**64


class Join(StrEnum):
    """When a task with several upstream tasks may start: when all have succeeded, or the first has."""

    ALL = "all"
    ANY = "any"


class Propagation(StrEnum):
    """What a task does where what it depends on did not succeed."""

    SKIP = "skip"
    ALERT = "alert"  # skip, and tell a person
    FAIL = "fail"
    RUN = "run"  # anyway; Context.missing names what is not there


class Saga(StrEnum):
    """Whose finished steps are compensated: those of the task that did not succeed, or of the whole plan."""

    TASK = "task"
    PLAN = "plan"


@dataclass(frozen=True, slots=True)
class Compensation:
    """How a step is taken back: called with the step's arguments, and ``output=`` what it returned.

    It must bear being called twice: a process can die between its effect and the note of it.
    """

    undo: Callable[..., Awaitable[object]]
    retry: Retry = Retry()
    timeout_s: float = 60.0


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One unit of work.

    ``work`` is called with a Context and returns JSON. ``input`` and ``version`` (of the code, of a prompt) are
    part of the plan's digest; what can be changed between two parts of a run is not: ``priority`` (higher first),
    ``retry`` and ``timeout_s`` (of one attempt, in seconds). ``condition`` sees the results of ``after`` by name.
    ``compensations`` are keyed by the name of the step; a step without one only reads.
    """

    id: str
    work: Callable[..., Awaitable[JSON]]
    after: Sequence[str] = ()
    join: Join = Join.ALL
    on_upstream_failure: Propagation = Propagation.SKIP
    condition: Callable[[Mapping[str, JSON]], bool] | None = None
    priority: int = 0
    retry: Retry = Retry()
    timeout_s: float | None = None
    input: JSON = None
    version: str = ""
    compensations: Mapping[str, Compensation] = field(default_factory=dict)

    def identity(self) -> dict[str, JSON]:
        """Return what makes it this task, whoever runs it."""
        return {
            "id": self.id,
            "after": list(self.after),
            "join": self.join.value,
            "on_upstream_failure": self.on_upstream_failure.value,
            "conditional": self.condition is not None,
            "compensations": sorted(self.compensations),
            "input": self.input,
            "version": self.version,
        }

    def problems(self, known: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield what is wrong with the task in a plan whose tasks are ``known``."""
        place = Place(f"task {self.id!r}")
        if not self.id:
            yield Problem(place, "a task needs a name")
        for name in self.after:
            if name not in known:
                yield Problem(place, f"comes after {name!r}, which is no task of this plan", nearest(name, known))
        if len(set(self.after)) != len(self.after):
            yield Problem(place, "comes after the same task twice")
        if self.timeout_s is not None and not 0 < self.timeout_s < math.inf:
            yield Problem(place, f"timeout_s is {self.timeout_s!r}: expected seconds, more than 0")
        try:
            dumps(self.input)
        except (TypeError, ValueError) as error:
            yield Problem(place, f"its input is not JSON: {error}")


@dataclass(frozen=True, eq=False)
class Plan:
    """Tasks and the order among them; raises SpecificationError with every problem at once.

    ``pins`` is whatever else decides what the run does (JSON): digests of cases, prompts, graphs. Two runs of
    equal ``digest`` can continue each other's journal, and no others.
    """

    tasks: Sequence[Task]
    pins: JSON = None
    saga: Saga = Saga.TASK

    def __post_init__(self) -> None:
        known = {task.id: task for task in self.tasks}
        problems = [problem for task in self.tasks for problem in task.problems(known)]
        if len(known) != len(self.tasks):
            ids = [task.id for task in self.tasks]
            problems += [
                Problem(Place(f"task {name!r}"), f"{ids.count(name)} tasks have this name")
                for name in known
                if ids.count(name) > 1
            ]
        try:
            TopologicalSorter({task.id: task.after for task in self.tasks}).prepare()
        except CycleError as error:
            way = " -> ".join(repr(name) for name in reversed(error.args[1]))
            problems.append(Problem(Place("plan"), f"tasks wait for each other: {way}", "remove one dependency"))
        if problems:
            raise SpecificationError(problems)

    @cached_property
    def by_id(self) -> Mapping[str, Task]:
        """The tasks by name."""
        return {task.id: task for task in self.tasks}

    @cached_property
    def downstream(self) -> Mapping[str, Sequence[str]]:
        """The tasks that come right after each, in the order of the plan."""
        following: dict[str, list[str]] = {task.id: [] for task in self.tasks}
        for task in self.tasks:
            for name in task.after:
                following[name].append(task.id)
        return following

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that decides what a run of this plan does."""
        tasks = sorted((task.identity() for task in self.tasks), key=lambda one: str(one["id"]))
        return digest({"tasks": tasks, "pins": self.pins, "saga": self.saga.value})
