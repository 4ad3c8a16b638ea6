from __future__ import annotations

from typing import Any

from tests.compare.conftest import line

from unacked.compare import clusters


def failure(
    trial: int, verdict: str, observed: str, claim: str = "path", rule: str = "second-create"
) -> dict[str, Any]:
    finding = {"rule": rule, "verdict": verdict, "observed": observed}
    return line("C01", verdict, trial, claims={claim: {"findings": [finding]}})


def test_failures_of_one_rule_from_one_state_are_one_kind_wherever_they_happened() -> None:
    (found,) = clusters(
        [
            failure(1, "UNSAFE", "create_record from state 'unknown' at event #4"),
            failure(2, "UNSAFE", "create_record from state 'unknown' at event #9"),
        ]
    )
    assert (found.observed, found.trials) == ("create_record from state 'unknown'", ["C01.one.1", "C01.one.2"])


def test_failures_from_other_states_are_other_kinds() -> None:
    found = clusters(
        [failure(1, "UNSAFE", "x from state 'a' at event #1"), failure(2, "UNSAFE", "x from state 'b' at event #1")]
    )
    assert len(found) == 2


def test_the_gravest_kind_comes_first_and_then_the_most_frequent() -> None:
    found = clusters(
        [
            failure(1, "FAIL", "records = 2", "world", "wrong-world"),
            failure(2, "FAIL", "x at event #1", rule="a"),
            failure(3, "FAIL", "x at event #2", rule="a"),
            failure(4, "UNSAFE", "y at event #2"),
        ]
    )
    assert [kind.rule for kind in found] == ["second-create", "a", "wrong-world"]


def test_what_passed_or_says_nothing_is_no_failure() -> None:
    assert clusters([line("C01", "PASS"), line("C01", "INCONCLUSIVE"), line("C01", "ERROR")]) == []
