"""The plan as coroutines: what adapters of orchestrators without graphs of their own call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from unacked.conformance.job import StepFailed, StepTimedOut
from unacked.conformance.plan import Plan, Step, step
from unacked.conformance.walk import walk


class Steps:
    """Carries out steps at once; those in ``ends`` end otherwise."""

    def __init__(self, ends: Mapping[str, BaseException] | None = None) -> None:
        self.called: list[tuple[str, Any]] = []
        self._ends = ends or {}

    async def __call__(self, name: str, _argument: Any, context: Any, _step: Mapping[str, Any]) -> str:
        self.called.append((name, context))
        if name in self._ends:
            raise self._ends[name]
        return f"{name}!"

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.called]


def walked(steps: Steps, plan: Sequence[Step], **on: str) -> str:
    return asyncio.run(walk(Plan(plan, on=on).as_json("run", []), steps, asyncio.sleep))


def test_steps_run_after_those_they_depend_on_and_are_handed_their_values() -> None:
    steps = Steps()
    assert walked(steps, [step("c", "a", "b"), step("b", "a"), step("a")]) == "succeeded"
    assert steps.called == [("a", []), ("b", [["a", "a!"]]), ("c", [["a", "a!"], ["b", "b!"]])]


def test_a_step_whose_condition_does_not_hold_is_skipped_with_what_depends_on_it() -> None:
    steps = Steps()
    plan = [step("a"), Step("b", ["a"], when=("a", "no")), step("c", "b"), Step("d", ["b"], after_failure="run")]
    assert walked(steps, plan) == "succeeded"
    assert steps.called == [("a", []), ("d", [])]


def test_what_was_done_is_taken_back_last_first_and_what_cannot_be_is_told() -> None:
    steps = Steps({"c": StepFailed(), "undo-b": StepFailed()})
    plan = [Step("a", undo="undo-a"), Step("b", ["a"], undo="undo-b"), step("c", "b")]
    assert walked(steps, plan, compensation_failed="stuck", failed="over") == "failed"
    assert steps.called[3:] == [
        ("undo-b", [["b", "b!"]]),
        ("undo-a", [["a", "a!"]]),
        ("stuck", [["b", None]]),
        ("over", []),
    ]


@pytest.mark.parametrize(
    ("end", "state", "told"),
    [(StepTimedOut(), "timed_out", "late"), (asyncio.CancelledError(), "cancelled", "stopped")],
)
def test_how_a_run_ended_is_told(end: BaseException, state: str, told: str) -> None:
    steps = Steps({"a": end})
    assert walked(steps, [step("a"), step("b", "a")], timed_out="late", cancelled="stopped") == state
    assert steps.names == ["a", told]


def test_a_step_that_has_used_up_its_attempts_is_told() -> None:
    steps = Steps({"a": StepFailed()})
    assert walked(steps, [Step("a", attempts=3), step("b")], deadletter="dead") == "failed"
    assert sorted(steps.called) == [("a", []), ("b", []), ("dead", [["a", None]])]


def test_a_cancellation_does_not_stop_what_is_taken_back() -> None:
    class Cancelling(Steps):
        async def __call__(self, name: str, argument: Any, context: Any, about: Mapping[str, Any]) -> str:
            if name == "undo-a":
                running[0].cancel()
                await asyncio.sleep(0)
            return await super().__call__(name, argument, context, about)

    steps = Cancelling({"b": StepFailed()})
    plan = Plan([Step("a", undo="undo-a"), step("b", "a")], on={"failed": "over"}).as_json("run", [])

    running: list[asyncio.Future[str]] = []

    async def run() -> str:
        running.append(asyncio.ensure_future(walk(plan, steps, asyncio.sleep)))
        return await running[0]

    assert asyncio.run(run()) == "failed"
    assert steps.names == ["a", "b", "undo-a", "over"]
