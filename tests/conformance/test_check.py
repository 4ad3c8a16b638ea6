"""What checks make of lines that were written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from unacked.conformance.check import Finding, Pace, Scenario, Status
from unacked.conformance.checks import CHECKS
from unacked.conformance.record import Command, Line, Observation

PACE = Pace(beat_s=0.25, start_s=0.5, lease_s=2.0, wait_bound_s=1.5)


def lines(*written: str, **more: Any) -> list[Line]:
    """Lines written as ``event step [host] [at]``, such as ``begin a 1 0.5``."""
    found: list[Line] = []
    for number, text in enumerate(written, start=1):
        event, step, host, at_s = (*text.split(), "1", str(number))[:4] if len(text.split()) < 4 else text.split()
        attempt = sum(line.step == step and line.event == "begin" for line in found) + (event == "begin")
        found.append(Line(number, step, attempt, event, int(host), 1, float(at_s), **more))
    return found


def judged(check: str, *observed: Observation) -> Finding:
    scenarios = list(CHECKS[check].scenarios(PACE))
    assert isinstance(scenarios[0], Scenario)
    return CHECKS[check].finding(scenarios, observed, PACE)


def test_an_explanation_names_the_lines() -> None:
    seen = lines("begin a", "end a", "begin b", "kill b", "begin b 2", "begin b 3", "end b 2", "begin c 2", "end c 2")
    assert judged("C3", Observation(seen)) == Finding(
        "C3",
        Status.FAIL,
        "the run went on twice: line 5 (begin of 'b', attempt 2, in command 2); "
        "line 6 (begin of 'b', attempt 3, in command 3)",
        (Observation(seen),),
        failed=1,
    )


def test_what_was_waited_for_in_vain_is_not_exercised() -> None:
    seen = Observation(lines("begin a"), missed="waited for the kill of 'b' in vain")
    finding = judged("C3", seen)
    assert (finding.status, finding.explanation) == (Status.NOT_EXERCISED, "waited for the kill of 'b' in vain")


def test_a_run_in_which_nothing_began_is_not_exercised_and_says_what_the_command_said() -> None:
    finding = judged("S1", Observation([], [Command("start", 7, 1, "KeyError: 'c'")]))
    assert finding.status is Status.NOT_EXERCISED
    assert finding.explanation == "no step ever began; start (exit status 1: KeyError: 'c')"


def test_lines_that_do_not_show_the_scenario_at_all_exercise_nothing() -> None:
    finding = judged("T3", Observation(lines("begin timed-out", "end timed-out")))
    assert (finding.status, finding.explanation) == (Status.NOT_EXERCISED, "no begin of 'a'")


def test_one_scenario_that_fails_is_enough() -> None:
    good = Observation(lines("begin a", "begin timed-out"))
    finding = judged("L1", good, Observation(lines("begin a", "begin timed-out")))
    assert finding.status is Status.FAIL
    assert finding.explanation == (
        "1 of 2: cancelled: line 1 (begin of 'a', attempt 1, in command 1) was cancelled; "
        "what ran at the end: ['timed-out']"
    )


def test_a_failure_outweighs_what_was_not_exercised() -> None:
    missed = Observation(lines("begin a"), missed="nothing came")
    assert judged("L1", missed, Observation(lines("begin a", "begin timed-out"))).status is Status.FAIL


@pytest.mark.parametrize(
    ("status", "expected"), [(1, Status.PASS), (0, Status.FAIL), (-9, Status.FAIL), (None, Status.FAIL)]
)
def test_only_an_exit_status_of_its_own_is_a_refusal(status: int | None, expected: Status) -> None:
    seen = Observation(lines("begin a", "end a", "begin b", "end b", argument=1), [Command("start", 1, status)])
    assert judged("L2", seen).status is expected


def test_a_lease_is_counted_from_the_kill() -> None:
    seen = lines("begin a 1 0", "end a 1 1", "begin b 1 1", "begin b 2 9", "end b 2 10", "begin c 2 10", "end c 2 11")
    late = judged("C5", Observation(seen, killed=(5.0, 1)))
    assert (late.status, late.explanation) == (
        Status.FAIL,
        "line 4 (begin of 'b', attempt 2, in command 2) came 4.0 s after the kill; 2.0 s are claimed",
    )
