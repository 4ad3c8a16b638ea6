from __future__ import annotations

import pytest

from unacked.graph import VERDICTS, EndReason, Standing, Stop, Verdict

TABLE = [
    (Standing.UNSAFE_VIOLATION, "UNSAFE", "UNSAFE", "UNSAFE"),
    (Standing.UNMODELLED_CATEGORY, "ERROR", "ERROR", "ERROR"),
    (Standing.RULE_VIOLATION, "FAIL", "FAIL", "FAIL"),
    (Standing.OPEN, "FAIL", "INCONCLUSIVE", "ERROR"),
    (Standing.RESTING, "PASS", "INCONCLUSIVE", "INCONCLUSIVE"),
    (Standing.CLOSED, "PASS", "PASS", "PASS"),
    (Standing.NOT_EXPOSED, "INCONCLUSIVE", "INCONCLUSIVE", "INCONCLUSIVE"),
]


@pytest.mark.parametrize(("standing", "finished", "cut", "crash"), TABLE)
def test_a_row_of_the_table_has_its_three_verdicts(standing: Standing, finished: str, cut: str, crash: str) -> None:
    assert VERDICTS[standing, Stop.FINISHED] == finished
    assert VERDICTS[standing, Stop.CUT] == cut
    assert VERDICTS[standing, Stop.CRASH] == crash


def test_the_table_has_no_other_rows() -> None:
    assert len(VERDICTS) == 21


def test_verdicts_are_ranked_from_pass_to_unsafe() -> None:
    assert sorted(Verdict, key=lambda verdict: verdict.severity) == ["PASS", "INCONCLUSIVE", "FAIL", "ERROR", "UNSAFE"]


def test_the_worst_verdict_wins() -> None:
    assert Verdict.worst([Verdict.FAIL, Verdict.ERROR, Verdict.PASS]) is Verdict.ERROR


def test_nothing_to_merge_is_a_pass() -> None:
    assert Verdict.worst([]) is Verdict.PASS


@pytest.mark.parametrize(
    ("reason", "stop"), [("finished", "FINISHED"), ("budget", "CUT"), ("cut", "CUT"), ("crash", "CRASH")]
)
def test_an_end_reason_has_its_column(reason: str, stop: str) -> None:
    assert EndReason(reason).stop is Stop[stop]
