from __future__ import annotations

import asyncio
import selectors
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from unacked.canonical import JSON
from unacked.orchestrator import Context, Entry, Journal, Plan, Reader, Report, Runner, Task

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):
    """Waits for nothing: where nothing is ready, the time until the next timer has passed at once."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "nothing will ever happen again"
            self.now += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose time passes only where everybody waits."""

    def __init__(self) -> None:
        self._clock = _Selector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now


def virtually(work: Coroutine[Any, Any, T]) -> T:
    """Run in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)


def now() -> float:
    return round(asyncio.get_running_loop().time(), 6)


class Diary:
    """Who did what, and when: what tests look at, for the orchestrator's own word proves nothing."""

    def __init__(self) -> None:
        self.lines: list[tuple[float, str]] = []

    def write(self, what: str) -> None:
        self.lines.append((now(), what))

    @property
    def names(self) -> list[str]:
        return [what for _, what in self.lines]

    def work(
        self, *, takes_s: float = 0, result: JSON = None, fails: int = 0
    ) -> Callable[[Context], Coroutine[Any, Any, JSON]]:
        """Work that takes its time, and fails the first times."""
        failures = {"left": fails}

        async def work(context: Context) -> JSON:
            self.write(f"{context.task.id} begins")
            await asyncio.sleep(takes_s)
            if failures["left"]:
                failures["left"] -= 1
                raise ValueError("not yet")
            self.write(f"{context.task.id} ends")
            return result

        return work


class Desk:
    """A journal on disk, and runs of plans on it in virtual time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: list[Entry] = []

    def journal(self, plan: Plan, **more: Any) -> Journal:
        return Journal(self.path, "run", plan.digest, told=self.entries.append, **more)

    def run(
        self,
        tasks: Sequence[Task] | Plan,
        *,
        meanwhile: Callable[[Runner], Awaitable[None]] | None = None,
        deadline_s: float | None = None,
        **more: Any,
    ) -> Report:
        """Run a plan to its end; ``meanwhile`` may act on the runner beside it."""
        plan = tasks if isinstance(tasks, Plan) else Plan(tasks)

        async def all_of_it() -> Report:
            runner = Runner(plan, journal, **more)
            beside = None if meanwhile is None else asyncio.ensure_future(meanwhile(runner))
            report = await runner.run(deadline_s=deadline_s)
            if beside is not None:
                await beside
            return report

        with self.journal(plan) as journal:
            return virtually(all_of_it())

    def reader(self) -> Any:
        return Reader.at(self.path, "run")

    def kinds(self, task: str) -> list[str]:
        return [entry.kind for entry in self.entries if entry.task == task]


@pytest.fixture
def diary() -> Diary:
    return Diary()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "journal.db")


def states(report: Report) -> dict[str, str]:
    return {name: task.status for name, task in report.tasks.items()}
