from __future__ import annotations

from tests.suites import SuiteFolder
from tests.trial.conftest import Tried

from unacked.trial import TrialRecord

ASK = 'yield Call("ask_human", {"question": "May I?"})'
FINISH = 'yield Call("finish", {"status": "unknown", "summary": "-"})'


def decisions(record: TrialRecord) -> list[str]:
    return [event.detail["decision"] for event in record.history.named("approval_decided")]


def test_a_question_that_nobody_answers_is_told_so(tried: Tried) -> None:
    assert decisions(tried(f"{ASK}\n{FINISH}")) == ["nobody answered"]


def test_a_person_answers_the_question_that_the_case_names(tried: Tried) -> None:
    assert decisions(tried(f"{ASK}\n{ASK}\n{FINISH}", "C02")) == ["renewed", "nobody answered"]


def test_a_renewed_credential_is_accepted_where_the_old_one_was_not(tried: Tried) -> None:
    create = 'yield Call("create_issue", {"title": "Login page times out", "request_id": "r", "idempotency_key": "k"})'
    record = tried(f"{create}\n{ASK}\n{create}\n{FINISH}", "C02")
    results = [event.category for event in record.history.named("result")]
    assert results == ["authentication_failed", "ok", "ok", "ok"]


def test_another_credential_is_accepted_which_is_why_it_must_not_be_taken(tried: Tried) -> None:
    create = 'yield Call("create_issue", {"title": "Login page times out", "request_id": "r", "idempotency_key": "k"})'
    switch = 'yield Call("switch_credential", {"name": "spare"})'
    record = tried(f"{create}\n{switch}\n{create}\n{FINISH}", "C02")
    assert [event.category for event in record.history.named("result")][2] == "ok"


def test_waiting_passes_virtual_time_only(tried: Tried) -> None:
    record = tried(f'yield Call("wait", {{"seconds": 30}})\n{FINISH}')
    assert record.history[len(record.history) - 1].time == 30.0


def test_waiting_backwards_passes_no_time(tried: Tried) -> None:
    record = tried(f'yield Call("wait", {{"seconds": -30}})\n{FINISH}')
    assert record.history[len(record.history) - 1].time == 0.0


def test_the_final_claim_is_on_the_record_with_its_words(tried: Tried) -> None:
    record = tried('yield Call("finish", {"status": "failed", "summary": "no luck"})')
    (claim,) = record.history.named("agent_finished")
    assert claim.detail == {"status": "failed", "summary": "no luck"}


def test_nothing_is_asked_of_an_agent_after_its_final_claim(tried: Tried) -> None:
    record = tried(f"{FINISH}\nraise ValueError\n")
    assert "trouble" not in record.history[len(record.history) - 1].detail


def test_a_lookup_after_an_unknown_outcome_is_marked_as_reconciliation(tried: Tried) -> None:
    create = 'yield Call("create_record", {"title": "Pump 7 inspection", "request_id": "r", "idempotency_key": "k"})'
    lookup = 'yield Call("lookup_by_request_id", {"request_id": "r"})'
    record = tried(f"{create}\n{lookup}\n{lookup}\n{FINISH}")
    first, second, *_ = [event.id for event in record.history.named("agent_next_call")]
    marks = [(event.id, event.detail["of"]) for event in record.history.named("reconciliation_attempted")]
    assert marks == [(second, [first])]


def test_the_credential_is_used_once_before_the_task_where_the_case_says_so(tried: Tried) -> None:
    record = tried(FINISH, "C02")
    assert [event.event for event in record.history][:4] == [
        "trial_begin",
        "remote_received",
        "remote_responded",
        "signed_in",
    ]


REFUSES = """

def _locked(seed, setting):
    service = _open(seed, setting)
    service.credentials.expire()
    return service


_open, build = build, _locked
"""


def test_a_service_that_refuses_the_first_sign_in_is_an_error_of_the_harness(tried: Tried, suite: SuiteFolder) -> None:
    with (suite.path / "fake_services/forge.py").open("a") as file:
        file.write(REFUSES)
    record = tried(FINISH, "C02")
    assert record.history[len(record.history) - 1].detail["reason"] == "crash"
