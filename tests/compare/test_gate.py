from __future__ import annotations

import pytest

from unacked.compare import Decision, GateRule, Night, decide
from unacked.statistics import Counts

RULE = GateRule()
SAME = {f"C{number:02}": Counts(5, 5, 5, 5) for number in range(30)}


def test_a_candidate_that_is_as_good_over_enough_runs_passes() -> None:
    gate = decide(Night(SAME), RULE)
    assert (gate.decision, gate.reasons) == (
        Decision.PASS,
        ["the mean pass rate fell by less than 5% (95 % bound: 1.8%)"],
    )


def test_one_unsafe_trial_blocks_whatever_the_numbers_are() -> None:
    gate = decide(Night(SAME, unsafe=["C01.one.1"], errors=1.0), RULE)
    assert (gate.decision, gate.reasons) == (Decision.BLOCK, ["1 unsafe: C01.one.1"])


def test_a_night_of_errors_says_nothing() -> None:
    gate = decide(Night(SAME, errors=0.06), RULE)
    assert gate.decision is Decision.ERROR


def test_a_drop_over_all_cases_blocks() -> None:
    gate = decide(Night(dict.fromkeys(SAME, Counts(5, 5, 4, 5))), RULE)
    assert gate.decision is Decision.BLOCK
    assert "passes less often over all cases" in gate.reasons[0]


def test_a_drop_over_all_cases_names_those_that_made_it() -> None:
    gate = decide(Night({**dict.fromkeys(SAME, Counts(5, 5, 5, 5)), "C03": Counts(10, 10, 0, 10)}), RULE)
    assert (gate.decision, gate.reasons[1:]) == (Decision.BLOCK, ["above all in C03"])


def test_a_suspect_keeps_the_night_open_until_it_has_fresh_repeats() -> None:
    gate = decide(Night({**SAME, "C00": Counts(5, 5, 2, 5)}), RULE)
    assert (gate.decision, gate.suspects) == (Decision.INCONCLUSIVE, ["C00"])
    assert gate.reasons == ["suspect, and without fresh repeats: C00"]


def test_a_suspect_that_fails_again_blocks_by_its_name() -> None:
    gate = decide(Night({**SAME, "C00": Counts(5, 5, 2, 5)}), RULE, {"C00": Counts(10, 10, 3, 10)})
    assert (gate.decision, gate.confirmed) == (Decision.BLOCK, ["C00"])
    assert gate.reasons == ["worse in C00, confirmed by 10 fresh repeats"]


def test_a_suspect_that_does_not_fail_again_is_let_go() -> None:
    gate = decide(Night({**SAME, "C00": Counts(5, 5, 2, 5)}), RULE, {"C00": Counts(10, 10, 10, 10)})
    assert (gate.decision, gate.suspects, gate.confirmed) == (Decision.PASS, ["C00"], ())


def test_fresh_repeats_of_several_suspects_are_adjusted_for_their_number() -> None:
    rule, suspect, fresh = GateRule(alpha=0.02, screen=0.25), Counts(5, 5, 3, 5), Counts(10, 10, 5, 10)
    alone = decide(Night({**SAME, "C00": suspect}), rule, {"C00": fresh})
    both = decide(Night({**SAME, "C00": suspect, "C01": suspect}), rule, {"C00": fresh, "C01": fresh})
    assert (alone.decision, both.confirmed) == (Decision.BLOCK, ())


def test_too_few_runs_never_pass_and_the_gate_says_how_many_more() -> None:
    gate = decide(Night({"C00": Counts(5, 5, 5, 5)}), RULE)
    assert gate.decision is Decision.INCONCLUSIVE
    assert gate.reasons == [
        (
            "a drop of 5% cannot be excluded (the mean pass rate fell by up to 35.1%);"
            " about 47 more repeats a case would do if nothing has changed"
        )
    ]


@pytest.mark.parametrize(
    ("night", "reason"),
    [
        (Night(SAME, idle=["C03"]), "the fault never landed: C03"),
        (Night(SAME, missing=["C99"]), "not run: C99"),
    ],
    ids=["idle", "missing"],
)
def test_what_was_not_tried_does_not_pass(night: Night, reason: str) -> None:
    gate = decide(night, RULE)
    assert (gate.decision, gate.reasons) == (Decision.INCONCLUSIVE, [reason])


def test_a_night_that_decided_nothing_is_inconclusive() -> None:
    gate = decide(Night({"C00": Counts(0, 0, 0, 0)}), RULE)
    assert (gate.decision, gate.reasons) == (Decision.INCONCLUSIVE, ["there are no trials that say anything"])


def test_each_decision_has_its_exit_code() -> None:
    codes = {decision.value: int(decision.exit_code) for decision in Decision}
    assert codes == {"PASS": 0, "BLOCK": 1, "INCONCLUSIVE": 3, "ERROR": 4}
