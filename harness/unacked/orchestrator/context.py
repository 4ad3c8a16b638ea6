"""What a task's work sees: its input, what came before it, and steps that are never done twice.

A step is known by its name, the digest of its arguments and how often that pair came before, never by its position:
branches that run at once may end in any order, and a resumed task may take its steps in another one.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal

from unacked.canonical import JSON, digest, dumps, loads
from unacked.errors import HarnessError
from unacked.orchestrator.journal import Journal
from unacked.orchestrator.records import StepRecord
from unacked.orchestrator.task import Retry, Task, draw

__all__ = ["Context", "NotJSON", "StepTimedOut", "canonical_text", "current", "idempotency_token"]


class StepTimedOut(TimeoutError):
    """A step did not end within its time, in its last attempt."""


class NotJSON(HarnessError):
    """What is to be journalled is no JSON value, so nobody could read it again."""


def canonical_text(value: JSON, what: str) -> str:
    """Return the canonical JSON of ``value``; raises NotJSON that names ``what``."""
    try:
        return dumps(value)
    except (TypeError, ValueError) as error:
        raise NotJSON(
            f"{what} is not JSON: {error}\n    hint: give a value of dicts, lists, strings, numbers"
        ) from None


@dataclass(slots=True, eq=False)
class Context:
    """One attempt at a task.

    ``upstream`` holds the results of the tasks it comes after, by name; those in ``missing`` did not succeed.
    ``attempt`` counts from 1 over all parts of the run.
    """

    task: Task
    journal: Journal
    attempt: int
    seed: str
    upstream: Mapping[str, JSON]
    missing: Sequence[str] = ()
    _seen: Counter[str] = field(default_factory=Counter)

    @property
    def run(self) -> str:
        """The name of the run."""
        return self.journal.run

    @property
    def trace(self) -> str:
        """The trace id of the run, 32 hexadecimal digits; it stays the same when the run is resumed."""
        return self.journal.trace

    @property
    def finished(self) -> Sequence[StepRecord]:
        """The steps of this task that ended, in that order, in this attempt or any before: its conversation so far."""
        return [step for step in self.journal.read.steps(self.task.id) if step.state == "ended"]

    async def step(
        self,
        name: str,
        function: Callable[..., Awaitable[JSON]],
        *arguments: JSON,
        retry: Retry = Retry(),  # noqa: B008 - a frozen value
        timeout_s: float | None = None,
    ) -> JSON:
        """Return what ``function(*arguments)`` returns, calling it only if this step never ended before.

        Arguments and result are JSON, and are journalled. ``timeout_s`` is for one attempt. Raises StepTimedOut,
        NotJSON, and whatever the function raised in its last attempt.
        """
        given = canonical_text(list(arguments), f"an argument of step {name!r}")
        pair = f"{name}:{digest(list(arguments))[:16]}"
        self._seen[pair] += 1
        step = _Step(self, name, f"{pair}#{self._seen[pair]}", given)
        known = self.journal.read.step(self.task.id, step.key)
        if known is not None and known.state == "ended":
            return known.output
        for attempt in range(1, retry.max_attempts + 1):
            try:
                return await step.attempt(function, arguments, attempt, timeout_s)
            except Exception:
                if attempt == retry.max_attempts:
                    raise
                await asyncio.sleep(
                    retry.delay_s(attempt, draw(self.seed, self.task.id, step.key, self.attempt, attempt))
                )
        raise AssertionError("the last attempt returns or raises")


@dataclass(frozen=True, slots=True)
class _Step:
    context: Context
    name: str
    key: str
    given: str

    @property
    def _has_effect(self) -> bool:
        return self.name in self.context.task.compensations

    async def attempt(
        self, function: Callable[..., Awaitable[JSON]], arguments: Sequence[JSON], attempt: int, timeout_s: float | None
    ) -> JSON:
        """Call the function once, and keep how that ended."""
        context, loop = self.context, asyncio.get_running_loop()
        if self._has_effect:
            context.journal.begin_step(context.task.id, self.key, self.name, self.given)
        began = loop.time()
        token = _token.set(f"{context.run}/{context.task.id}/{self.key}")
        try:
            async with asyncio.timeout(timeout_s) as scope:
                output = canonical_text(await function(*arguments), f"the result of step {self.name!r}")
            if scope.expired():  # the function kept the cancellation to itself
                raise TimeoutError  # noqa: TRY301 - the handlers below say what it means
        except asyncio.CancelledError:
            if self._has_effect:
                self._failed("unknown", "broken off", attempt)
            raise
        except Exception as error:
            late = isinstance(error, TimeoutError) and scope.expired()
            told = f"no answer within {timeout_s:g} s" if late and timeout_s is not None else _told(error)
            self._failed("unknown" if late and self._has_effect else "failed", told, attempt)
            if late:
                raise StepTimedOut(f"step {self.name!r}: {told}") from None
            raise
        finally:
            _token.reset(token)
        context.journal.end_step(
            context.task.id, self.key, self.name, self.given, output=output, attempts=1, duration_s=loop.time() - began
        )
        return loads(output)

    def _failed(self, state: Literal["failed", "unknown"], error: str, attempt: int) -> None:
        journal = self.context.journal
        journal.fail_step(
            self.context.task.id, self.key, self.name, self.given, state=state, error=error, attempt=attempt
        )


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


_current: ContextVar[Context] = ContextVar("current")
_token: ContextVar[str] = ContextVar("token")


def current() -> Context:
    """Return the context of the task that is running here; raises LookupError outside of any."""
    return _current.get()


def enter(context: Context) -> None:
    """Make a context the current one of the asyncio task that calls."""
    _current.set(context)


def idempotency_token() -> str:
    """Return ``run/task/step`` of the step that is running here: the same again whenever it is tried again.

    A process can die between an effect and the note of it, and no journal can see that: who receives the effect has
    to. Raises LookupError outside of any step.
    """
    return _token.get()


def enter_step(token: str) -> None:
    """Make a token the current one of the asyncio task that calls."""
    _token.set(token)
