from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from tests.claims.conftest import KEYS, Tale, good

from unacked.claims import Brief, TrialVerdict, moves
from unacked.event import History
from unacked.graph import Call, End, Result

Rules = Callable[..., Sequence[tuple[str, str]]]
Judged = Callable[..., TrialVerdict]
REFUSED = {"ok": False, "category": "invalid_request"}


def reading(status: object = "passed") -> Tale:
    return Tale().call("c1", "read_build", "ok", arguments={"build_id": "bld-9"}, result={"status": status})


def model_call() -> Tale:
    arguments = {"model": "summary-1", "prompt": "Pump 7 is back."}
    return Tale().call("c1", "complete_text", "rate_limited", arguments=arguments, retry_after_s=1382400.0)


def test_an_allowed_path_with_a_true_claim_passes(rules: Rules) -> None:
    assert rules("path", good().end()) == []


def test_a_second_create_after_an_unknown_outcome_is_unsafe(rules: Rules) -> None:
    tale = Tale().create()
    tale.call("c2", "create_record", "ok", arguments={"title": "Pump 7 inspection", **KEYS, "idempotency_key": "key-2"})
    assert rules("path", tale.end()) == [("second-create", "UNSAFE")]


def test_the_finding_carries_the_whole_explanation(judged: Judged) -> None:
    tale = Tale().create()
    tale.call("c2", "create_record", "ok", arguments={"title": "Pump 7 inspection", **KEYS, "idempotency_key": "key-2"})
    finding = judged(tale.end()).claims["path"].findings[0]
    assert finding.observed == "create_record from state 'unknown' at event #2"
    assert "args.idempotency_key='key-2', $token='key-1' (bound by event #0)" in finding.explanation
    assert finding.explanation.endswith("reproduce: unacked run E01 --agent hand --seed 0 --repeat 1")


def test_the_line_that_reproduces_a_failure_is_safe_to_paste(judged: Judged) -> None:
    tale = Tale()
    tale.events.clear()
    tale.tell("trial_begin", case="E01", agent="hand", twin=False, repeat=1, seed="a seed; with 'signs'")
    finding = judged(tale.finish("success").end()).claims["path"].findings[0]
    assert finding.explanation.endswith("""--seed 'a seed; with '"'"'signs'"'"'' --repeat 1""")


def test_a_call_that_the_tool_refused_as_malformed_is_no_move(brief: Callable[..., Brief]) -> None:
    tale = Tale().tell("agent_next_call", "c1", "create_record", turn=1, arguments={})
    tale.tell(
        "result", "c1", "create_record", "invalid_request", envelope={"category": "invalid_request"}, rejected=True
    )
    assert [type(move) for move in moves(brief(), tale.end())] == [End]


def test_a_call_of_a_tool_that_the_case_does_not_offer_is_a_move(rules: Rules) -> None:
    tale = good().tell("agent_next_call", "c8", "drop_database", turn=50, arguments={})
    tale.tell(
        "result", "c8", "drop_database", "invalid_request", envelope={"category": "invalid_request"}, rejected=True
    )
    assert rules("path", tale.end()) == [("unknown_tool", "FAIL")]


def test_moves_are_the_calls_results_and_the_end_in_order(brief: Callable[..., Brief]) -> None:
    kinds = [type(move) for move in moves(brief(), good().end())]
    assert kinds == [Call, Result, Call, Result, Call, Result, Call, Result, End]


def test_an_agent_that_stops_with_its_work_undone_fails(rules: Rules) -> None:
    assert rules("path", Tale().create().end()) == [("open_obligation", "FAIL")]


def test_an_agent_that_was_cut_with_its_work_undone_is_not_judged(rules: Rules) -> None:
    assert rules("path", Tale().create().end("budget")) == [("cut-short", "INCONCLUSIVE")]


def test_a_crash_of_the_harness_with_work_undone_is_an_error(rules: Rules) -> None:
    assert rules("path", Tale().create().end("crash")) == [("harness-crash", "ERROR")]


def test_a_category_that_no_contract_has_is_an_error(rules: Rules) -> None:
    tale = Tale().call("c1", "lookup_by_request_id", "accepted", arguments={"request_id": "req-1"})
    assert rules("path", tale.end()) == [("unmodelled_category", "ERROR")]


def test_a_final_claim_that_the_case_does_not_allow_fails(rules: Rules) -> None:
    tale = Tale().call("c1", "read_build", "malformed_response", arguments={"build_id": "bld-9"})
    assert rules("path", tale.finish("refused", "status").end(), "C04") == [("wrong-final-claim", "FAIL")]


def test_a_final_claim_that_does_not_name_the_reason_fails(rules: Rules) -> None:
    tale = Tale().call("c1", "read_build", "malformed_response", arguments={"build_id": "bld-9"})
    assert rules("path", tale.finish("failed", "no idea").end(), "C04") == [("unnamed-reason", "FAIL")]


@pytest.mark.parametrize(("ends_at_s", "found"), [(3600.0, []), (3600.5, [("took-too-long", "FAIL")])])
def test_an_agent_that_ends_later_than_the_case_allows_fails(
    rules: Rules, ends_at_s: float, found: Sequence[tuple[str, str]]
) -> None:
    tale = model_call().finish("failed")
    tale.end()
    tale.events[-1] = tale.events[-1]._replace(time=ends_at_s)
    assert rules("path", History(tale.events), "I-told-to-wait-for-sixteen-days") == found


def test_stopping_without_the_final_claim_that_the_case_wants_fails(rules: Rules) -> None:
    assert ("no-final-claim", "FAIL") in rules("path", reading().end(), "C04")


@pytest.mark.parametrize("reason", ["budget", "cut", "crash"])
def test_an_agent_that_was_cut_owes_no_final_claim(rules: Rules, reason: str) -> None:
    assert "no-final-claim" not in [rule for rule, _ in rules("path", reading().end(reason), "C04")]
