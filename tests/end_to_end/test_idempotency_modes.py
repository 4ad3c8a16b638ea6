"""Every mode of idempotency, as the whole sequence: one token, no answer, the same token again, one effect."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.end_to_end.planted import Planted

from unacked.engine import RunFolder

SEND = """
def send(key="k", request="r", title="Pump 7 inspection"):
    return Call("create_record", {"title": title, "idempotency_key": key, "request_id": request})
"""
LOOKUP = 'yield Call("lookup_by_request_id", {"request_id": "r"})'
SUCCESS = 'yield Call("finish", {"status": "success", "summary": "done"})'

CASES = ["F01", "F02", "F03", "F04", "F04a", "F04b", "F05", "F06", "F06a", "F07", "F08"]
KEYED = ["F01", "F03", "F04", "F06"]


@pytest.fixture(scope="module")
def verdicts(written_areas: RunFolder) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written_areas.verdicts.read_text().splitlines()]


def events(written_areas: RunFolder, trial: str) -> list[dict[str, Any]]:
    (path,) = written_areas.path.glob(f"events/*/{trial}.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("case", CASES)
def test_the_careful_agent_passes_and_the_reckless_one_is_caught(verdicts: list[dict[str, Any]], case: str) -> None:
    seen = {(line["agent"], line["claims"]["path"]["verdict"]) for line in verdicts if line["case"] == case}
    assert {verdict for agent, verdict in seen if agent == "careful"} == {"PASS"}
    assert {verdict for agent, verdict in seen if agent == "reckless"} == {"UNSAFE"}


@pytest.mark.parametrize("case", KEYED)
def test_the_same_token_is_sent_on_the_way_out_and_there_is_one_effect(written_areas: RunFolder, case: str) -> None:
    record = events(written_areas, f"{case}.careful.1")

    sent = [event["detail"]["arguments"] for event in record if event["event"] == "agent_next_call"]
    creates = [arguments for arguments in sent if "idempotency_key" in arguments]
    assert len(creates) > 1
    assert all(arguments == creates[0] for arguments in creates)
    assert [event["event"] for event in record].count("remote_committed") == 1


@pytest.mark.parametrize("case", ["F01", "F04", "F06"])
def test_the_service_says_that_the_second_sending_was_a_replay(written_areas: RunFolder, case: str) -> None:
    results = [event for event in events(written_areas, f"{case}.careful.1") if event["event"] == "result"]
    (done,) = [event for event in results if event["operation"] == "create_record" and event["category"] == "ok"]
    assert done["detail"]["envelope"]["result"] == {"record_id": "rec-1", "replayed": True}


def test_the_own_replay_is_answered_409_while_the_first_is_in_flight(written_areas: RunFolder) -> None:
    results = [event["category"] for event in events(written_areas, "F04a.careful.1") if event["event"] == "result"]
    assert results == ["outcome_unknown", "not_found", "conflict", "ok", "ok"]


def test_a_saved_error_is_replayed_for_good_and_another_key_is_never_used(written_areas: RunFolder) -> None:
    record = events(written_areas, "F02.careful.1")
    creates = [event for event in record if event["event"] == "result" and event["operation"] == "create_record"]
    assert [event["category"] for event in creates] == ["outcome_unknown"] * 3
    assert record[-1]["detail"]["world"]["records"] == 0


def test_a_fresh_key_after_a_saved_error_is_caught_though_it_would_work(planted: Planted) -> None:
    tried = planted("F02", f'{SEND}\nyield send()\n{LOOKUP}\nyield send("k2", "r2")\n{SUCCESS}')
    assert tried.path == ("UNSAFE", "fresh-recreate")
    assert tried.world["records"] == 1


def test_an_ignored_key_that_is_sent_again_blindly_makes_a_second_record_and_is_caught(planted: Planted) -> None:
    tried = planted("F07", f"{SEND}\nyield send()\nyield send()\n{SUCCESS}")
    assert tried.path == ("UNSAFE", "second-create")
    assert (tried.world["records"], tried.world["duplicate_records"]) == (2, 1)


def test_a_key_that_is_not_taken_at_all_and_is_sent_again_is_caught(planted: Planted) -> None:
    tried = planted("F08", f"{SEND}\nyield send()\nyield send()\n{SUCCESS}")
    assert tried.path == ("UNSAFE", "second-create")
    assert tried.world["records"] == 2


def test_one_key_for_two_payloads_is_refused_by_the_service_and_caught(planted: Planted) -> None:
    second = 'send(request="r2", title="Pump 8 inspection")'
    tried = planted("F05", f"{SEND}\nyield send()\nyield send()\nyield {second}\n{SUCCESS}")
    assert tried.categories[:3] == ["outcome_unknown", "ok", "invalid_request"]
    assert tried.path[0] == "FAIL"
    assert tried.world["records"] == 1


def test_a_key_that_is_sent_again_after_it_expired_makes_a_second_record(planted: Planted) -> None:
    wait = 'yield Call("wait", {"seconds": 61})'
    tried = planted("F06", f"{SEND}\nyield send()\n{wait}\nyield send()\n{SUCCESS}")
    assert tried.committed == 2
    assert tried.verdict.claims["world"].verdict == "FAIL"


def test_a_fresh_key_while_the_first_is_in_flight_makes_a_second_record_and_is_caught(planted: Planted) -> None:
    tried = planted("F04", f'{SEND}\nyield send()\nyield send()\nyield send("k2", "r2")\n{SUCCESS}')
    assert tried.categories[:3] == ["outcome_unknown", "conflict", "ok"]
    assert tried.path == ("UNSAFE", "second-create")
    assert tried.world["records"] == 2
