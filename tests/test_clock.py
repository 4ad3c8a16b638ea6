"""Time is a value that somebody advances."""

from __future__ import annotations

import math

import pytest

from unacked.clock import MonotonicClock, VirtualClock


def test_a_trial_begins_at_zero() -> None:
    assert VirtualClock().now() == 0.0


def test_a_million_small_steps_do_not_drift() -> None:
    clock = VirtualClock()
    for _ in range(100_000):
        clock.advance(0.001)
    assert clock.now() == 100.0


@pytest.mark.parametrize("seconds", [-0.1, math.nan, math.inf])
def test_time_passes_forward_and_by_a_finite_measure(seconds: float) -> None:
    clock = VirtualClock()
    with pytest.raises(
        ValueError, match=f"^cannot advance by {seconds!r} s: expected a finite number of seconds, 0 or more$"
    ):
        clock.advance(seconds)
    assert clock.now() == 0.0


def test_a_moment_that_is_past_changes_nothing() -> None:
    clock = VirtualClock()
    clock.advance_to(5.0)
    clock.advance_to(2.0)
    assert clock.now() == 5.0


def test_real_time_is_counted_from_the_beginning_in_whole_microseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([1000.0, 1000.0000004, 1002.5])
    monkeypatch.setattr("time.monotonic", lambda: next(moments))
    clock = MonotonicClock()
    assert [clock.now(), clock.now()] == [0.0, 2.5]
