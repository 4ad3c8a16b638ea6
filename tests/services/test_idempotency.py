from __future__ import annotations

from typing import Any

import pytest

from unacked.contract import Idempotency
from unacked.fault import Action

HONOURED = [mode for mode in Idempotency if mode.honoured]
FAILS = Action.parse({"failure": {"status": 500, "body": {"error": "down"}}})

FIRST = (201, {"jar_id": "jar-1", "replayed": False, "correlation_id": "c-1"})
REPLAY = (201, {"jar_id": "jar-1", "replayed": True, "correlation_id": "c-1"})
SECOND = (201, {"jar_id": "jar-2", "replayed": False, "correlation_id": "c-1"})
DOWN = (500, {"error": "down"})
IN_FLIGHT = (409, {"error": "idempotency_in_flight"})
MISMATCH = (422, {"error": "idempotency_mismatch"})


def test_replay_success_replays_the_saved_success(caller: Any) -> None:
    jars = caller(Idempotency.REPLAY_SUCCESS)

    assert [jars.fill(key="k"), jars.fill(key="k"), jars.fill(key="k")] == [FIRST, REPLAY, REPLAY]
    assert jars.service.summary()["jars"] == 1


def test_replay_success_executes_again_after_a_failure(caller: Any) -> None:
    jars = caller(Idempotency.REPLAY_SUCCESS)
    jars.service.disturb(FAILS, "fill_jar")

    assert [jars.fill(key="k"), jars.fill(key="k"), jars.fill(key="k")] == [DOWN, FIRST, REPLAY]


def test_replay_error_replays_the_saved_error_for_good(caller: Any) -> None:
    jars = caller(Idempotency.REPLAY_ERROR)
    jars.service.disturb(FAILS, "fill_jar")

    assert [jars.fill(key="k"), jars.fill(key="k"), jars.fill(key="other")] == [DOWN, DOWN, FIRST]
    assert jars.service.summary()["jars"] == 1


def test_replay_error_saves_a_refusal_by_the_operation_itself(caller: Any) -> None:
    jars = caller(Idempotency.REPLAY_ERROR)

    assert [jars.fill("broken", key="k"), jars.fill("plum", key="k")] == [(422, {"error": "broken_jar"}), MISMATCH]


def test_replay_error_replays_a_success_too(caller: Any) -> None:
    jars = caller(Idempotency.REPLAY_ERROR)

    assert [jars.fill(key="k"), jars.fill(key="k")] == [FIRST, REPLAY]


def test_reexecute_executes_again_after_a_failure_and_replays_the_success(caller: Any) -> None:
    jars = caller(Idempotency.REEXECUTE)
    jars.service.disturb(FAILS, "fill_jar")

    assert [jars.fill(key="k"), jars.fill(key="k"), jars.fill(key="k")] == [DOWN, FIRST, REPLAY]
    assert jars.service.summary()["jars"] == 1


def test_conflict_in_flight_answers_409_until_the_first_is_done_then_replays_it(caller: Any) -> None:
    jars = caller(Idempotency.CONFLICT_IN_FLIGHT)

    answers = [jars.fill(key="k"), jars.fill(key="k")]
    jars.clock.advance(29.999)
    answers.append(jars.fill(key="k"))
    jars.clock.advance(0.001)
    answers.append(jars.fill(key="k"))

    assert answers == [FIRST, IN_FLIGHT, IN_FLIGHT, REPLAY]
    assert jars.service.summary()["jars"] == 1


def test_conflict_in_flight_does_not_hold_another_key(caller: Any) -> None:
    jars = caller(Idempotency.CONFLICT_IN_FLIGHT)

    assert [jars.fill(key="k"), jars.fill(key="other")] == [FIRST, SECOND]


def test_conflict_in_flight_executes_again_after_a_failure(caller: Any) -> None:
    jars = caller(Idempotency.CONFLICT_IN_FLIGHT)
    jars.service.disturb(FAILS, "fill_jar")

    assert [jars.fill(key="k"), jars.fill(key="k"), jars.fill(key="k")] == [DOWN, FIRST, IN_FLIGHT]


def test_mismatch_error_refuses_another_payload_and_still_replays_the_first(caller: Any) -> None:
    jars = caller(Idempotency.MISMATCH_ERROR)

    answers = [jars.fill("plum", key="k"), jars.fill("pear", key="k"), jars.fill("plum", key="k")]

    assert answers == [FIRST, MISMATCH, REPLAY]
    assert jars.service.summary()["jars"] == 1


@pytest.mark.parametrize("mode", HONOURED)
def test_every_honoured_mode_refuses_another_payload_under_the_same_key(caller: Any, mode: Idempotency) -> None:
    jars = caller(mode)

    assert [jars.fill("plum", key="k"), jars.fill("pear", key="k")] == [FIRST, MISMATCH]


@pytest.mark.parametrize("mode", HONOURED)
def test_another_request_id_is_not_another_payload(caller: Any, mode: Idempotency) -> None:
    jars = caller(mode)
    jars.fill(key="k", request_id="req-1")
    jars.clock.advance(30)

    assert jars.fill(key="k", request_id="req-2") == REPLAY


@pytest.mark.parametrize("mode", HONOURED)
def test_a_request_without_a_key_is_always_executed(caller: Any, mode: Idempotency) -> None:
    jars = caller(mode)

    assert [jars.fill(), jars.fill()] == [FIRST, SECOND]


@pytest.mark.parametrize("mode", HONOURED)
def test_what_was_refused_before_execution_is_not_saved(caller: Any, mode: Idempotency) -> None:
    jars = caller(mode)
    jars.service.disturb(Action.parse({"rate_limit": 1}), "fill_jar")

    assert jars.fill(key="k") == (429, {"error": "rate_limited"})
    assert jars.fill("", key="k") == (422, {"error": "invalid_request", "field": "label"})
    assert jars.fill(key="k") == FIRST


def test_expires_replays_until_the_key_is_forgotten_then_repeats_the_effect(caller: Any) -> None:
    jars = caller(Idempotency.EXPIRES)

    answers = [jars.fill(key="k")]
    jars.clock.advance(59.999)
    answers.append(jars.fill(key="k"))
    jars.clock.advance(0.001)
    answers.append(jars.fill(key="k"))

    assert answers == [FIRST, REPLAY, SECOND]
    assert jars.service.summary()["jars"] == 2


def test_a_forgotten_key_may_come_with_another_payload_and_begins_a_new_life(caller: Any) -> None:
    jars = caller(Idempotency.EXPIRES)
    jars.fill("plum", key="k")
    jars.clock.advance(60)

    assert jars.fill("pear", key="k") == SECOND
    assert jars.fill("plum", key="k") == MISMATCH


@pytest.mark.parametrize("mode", [Idempotency.IGNORED, Idempotency.NONE])
def test_a_key_without_effect_repeats_the_effect_and_never_conflicts(caller: Any, mode: Idempotency) -> None:
    jars = caller(mode)

    answers = [jars.fill("plum", key="k"), jars.fill("plum", key="k"), jars.fill("pear", key="k")]

    assert [status for status, _ in answers] == [201, 201, 201]
    assert [body["replayed"] for _, body in answers] == [False, False, False]
    assert jars.service.summary()["jars"] == 3


def test_an_operation_that_takes_no_key_ignores_one(caller: Any) -> None:
    jars = caller(Idempotency.REPLAY_SUCCESS)
    jars.fill()
    for _ in range(2):
        jars.send("POST", "/v1/jars/jar-1/lids", headers={"idempotency-key": "k"})

    assert jars.service.summary()["lids"] == 2


@pytest.mark.parametrize("mode", HONOURED)
def test_a_request_that_is_not_committed_leaves_no_key_behind(caller: Any, mode: Idempotency) -> None:
    jars = caller(mode)

    assert [jars.fill(key="k", commit=False), jars.fill("pear", key="k")] == [FIRST, FIRST]


def test_a_replay_is_answered_alike_whether_committed_or_not_and_never_counts_as_committed(caller: Any) -> None:
    jars = caller(Idempotency.REPLAY_SUCCESS)
    jars.fill(key="k")

    assert jars.fill(key="k", commit=False) == jars.fill(key="k") == REPLAY
    assert [entry.moment for entry in jars.service.ledger].count("mutation_committed") == 1


def test_a_replay_echoes_the_correlation_id_of_the_present_request(caller: Any) -> None:
    jars = caller(Idempotency.REPLAY_SUCCESS)
    jars.fill(key="k")

    response = jars.send(
        "POST",
        "/v1/jars",
        body=b'{"label":"plum","request_id":"req-1"}',
        headers={"idempotency-key": "k", "x-correlation-id": "c-2"},
    )

    assert response.body == b'{"correlation_id":"c-2","jar_id":"jar-1","replayed":true}'
