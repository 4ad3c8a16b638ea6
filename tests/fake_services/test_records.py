from __future__ import annotations

from typing import Any

import pytest

from unacked.contract import Idempotency
from unacked.services import SeedError

SEED = {
    "records": [{"record_id": "r1", "title": "alpha", "notes": ["one", "two"], "patch": "p", "request_id": "req-0"}]
}
CREATE = ("POST", "/v1/records", {"title": "beta", "request_id": "req-1"})


@pytest.fixture
def records(start: Any) -> Any:
    return start("records", SEED)


def test_create_record_answers_the_new_id(records: Any) -> None:
    assert records(*CREATE) == (
        201,
        {"record_id": "rec-1", "title": "beta", "replayed": False, "correlation_id": "c-1"},
    )


def test_the_same_create_twice_makes_two_records_and_the_world_shows_it(records: Any) -> None:
    records(*CREATE)
    assert records(*CREATE)[1]["record_id"] == "rec-2"

    assert records.service.summary() == {
        "records": 3,
        "notes": 2,
        "patched": 1,
        "updates": 0,
        "duplicate_records": 1,
        "duplicate_notes": 0,
    }


def test_the_same_create_twice_is_one_record_where_the_service_replays(start: Any) -> None:
    records = start("records", {}, create_record=Idempotency.REPLAY_SUCCESS)

    assert [records(*CREATE)[1]["replayed"], records(*CREATE)[1]["replayed"]] == [False, True]
    assert records.service.summary()["records"] == 1


def test_a_create_with_another_title_under_the_same_request_id_is_a_duplicate(records: Any) -> None:
    records(*CREATE)
    records("POST", "/v1/records", {"title": "beta (retry)", "request_id": "req-1"})

    assert records.service.summary()["duplicate_records"] == 1


def test_lookup_finds_the_record_that_a_request_made(records: Any) -> None:
    records(*CREATE)

    assert records("GET", "/v1/records?request_id=req-1") == (
        200,
        {"items": [{"record_id": "rec-1"}], "complete": True, "correlation_id": "c-1"},
    )


def test_lookup_finds_every_record_that_a_request_made(records: Any) -> None:
    records(*CREATE)
    records(*CREATE)

    assert records("GET", "/v1/records?request_id=req-1")[1]["items"] == [
        {"record_id": "rec-1"},
        {"record_id": "rec-2"},
    ]


def test_lookup_of_an_unknown_request_is_complete_and_empty(records: Any) -> None:
    assert records("GET", "/v1/records?request_id=req-9") == (
        200,
        {"items": [], "complete": True, "correlation_id": "c-1"},
    )


def test_a_seeded_record_can_be_looked_up(records: Any) -> None:
    assert records("GET", "/v1/records?request_id=req-0")[1]["items"] == [{"record_id": "r1"}]


def test_get_record_shows_notes_as_a_count(records: Any) -> None:
    assert records("GET", "/v1/records/r1") == (
        200,
        {"record_id": "r1", "title": "alpha", "notes": 2, "patch": "p", "correlation_id": "c-1"},
    )


def test_attach_note_answers_the_count(records: Any) -> None:
    assert records("POST", "/v1/records/r1/notes", {"text": "three", "request_id": "req-2"}) == (
        201,
        {"notes": 3, "correlation_id": "c-1"},
    )


def test_the_same_note_twice_is_a_duplicate(records: Any) -> None:
    for _ in range(2):
        records("POST", "/v1/records/r1/notes", {"text": "three", "request_id": "req-2"})

    assert records.service.summary()["notes"] == 4
    assert records.service.summary()["duplicate_notes"] == 1


def test_update_record_sets_the_patch(records: Any) -> None:
    answer = records("PATCH", "/v1/records/r1", {"patch": "q", "request_id": "req-3"})

    assert answer == (200, {"patch": "q", "correlation_id": "c-1"})
    assert records("GET", "/v1/records/r1")[1]["patch"] == "q"
    assert records.service.summary()["updates"] == 1


@pytest.mark.parametrize(
    ("method", "target", "body"),
    [
        ("GET", "/v1/records/r9", None),
        ("POST", "/v1/records/r9/notes", {"text": "x"}),
        ("PATCH", "/v1/records/r9", {"patch": "x"}),
    ],
)
def test_an_unknown_record_is_not_found_and_nothing_changes(records: Any, method: str, target: str, body: Any) -> None:
    before = records.service.summary()

    assert records(method, target, body) == (404, {"error": "no_such_record"})
    assert records.service.summary() == before


@pytest.mark.parametrize(
    ("method", "target", "body"),
    [
        CREATE,
        ("GET", "/v1/records?request_id=req-0", None),
        ("GET", "/v1/records/r1", None),
        ("POST", "/v1/records/r1/notes", {"text": "three", "request_id": "req-2"}),
        ("PATCH", "/v1/records/r1", {"patch": "q", "request_id": "req-3"}),
    ],
)
def test_the_two_sides_of_a_twin_are_the_same_bytes(start: Any, method: str, target: str, body: Any) -> None:
    records = start("records", SEED, create_record=Idempotency.REPLAY_SUCCESS)
    before = records.service.summary()

    unmade = records.raw(method, target, body, commit=False)
    assert records.service.summary() == before
    made = records.raw(method, target, body)

    assert (unmade.status, unmade.headers, unmade.body) == (made.status, made.headers, made.body)


def test_a_new_id_never_meets_a_seeded_one(start: Any) -> None:
    records = start("records", {"records": [{"record_id": "rec-1", "title": "alpha"}]})

    assert records(*CREATE)[1]["record_id"] == "rec-2"


def test_ids_are_the_same_in_every_world(start: Any) -> None:
    assert start("records", SEED)(*CREATE) == start("records", SEED)(*CREATE)


def test_a_trial_does_not_change_its_seed(start: Any) -> None:
    seed = {"records": [{"record_id": "r1", "title": "alpha", "notes": ["one"]}]}
    records = start("records", seed)
    records("POST", "/v1/records/r1/notes", {"text": "two"})
    records("PATCH", "/v1/records/r1", {"patch": "q"})

    assert seed == {"records": [{"record_id": "r1", "title": "alpha", "notes": ["one"]}]}


@pytest.mark.parametrize(
    ("seed", "message"),
    [
        ({"record": []}, "seed.record: unknown key; did you mean 'records'?"),
        ({"records": [{"record_id": "r1"}]}, "seed.records[0].title: is missing; expected a non-empty string"),
        (
            {"records": [{"record_id": "r1", "title": "a", "notes": 2}]},
            "seed.records[0].notes: expected a list, got 2",
        ),
        (
            {"records": [{"record_id": "r1", "title": "a", "notes": ["x", 2]}]},
            "seed.records[0].notes[1]: expected a non-empty string, got 2",
        ),
    ],
)
def test_a_bad_seed_is_refused_with_its_key(start: Any, seed: dict[str, Any], message: str) -> None:
    with pytest.raises(SeedError) as caught:
        start("records", seed)

    assert str(caught.value) == message
