from __future__ import annotations

from typing import Any

import pytest

from unacked.services import Entry, Moment
from unacked.services.ledger import Ledger


def test_a_committed_request_has_three_moments_in_order(jars: Any) -> None:
    jars.clock.advance(1.5)
    jars.send(
        "POST",
        "/v1/jars",
        body=b'{"label":"plum"}',
        headers={"x-correlation-id": "c-7", "x-request-id": "req-7", "idempotency-key": "secret-key"},
    )

    key = "85dbe15d75ef9308"
    assert jars.service.ledger.of("c-7") == (
        Entry(1.5, Moment.RECEIVED, "c-7", "fill_jar", "req-7", key, None),
        Entry(1.5, Moment.MUTATION_COMMITTED, "c-7", "fill_jar", "req-7", key, None),
        Entry(1.5, Moment.RESPONDED, "c-7", "fill_jar", "req-7", key, 201),
    )


def test_a_read_commits_nothing(jars: Any) -> None:
    jars.send("GET", "/v1/jars", query="label=plum")

    assert [entry.moment for entry in jars.service.ledger] == ["received", "responded"]
    assert jars.service.ledger.committed("c-1") is False


def test_a_request_that_is_not_committed_was_still_received_and_answered(jars: Any) -> None:
    jars.fill(commit=False)

    assert [entry.moment for entry in jars.service.ledger] == ["received", "responded"]
    assert jars.service.ledger.committed("c-1") is False


def test_a_refused_request_is_in_the_ledger_with_its_status(jars: Any) -> None:
    jars.send("POST", "/v1/jars", headers={"authorization": "Bearer other"})

    assert [(entry.moment, entry.operation, entry.status) for entry in jars.service.ledger] == [
        ("received", "fill_jar", None),
        ("responded", "fill_jar", 401),
    ]


def test_an_unknown_route_has_no_operation(jars: Any) -> None:
    jars.send("GET", "/v1/spoons")

    assert {entry.operation for entry in jars.service.ledger} == {None}


def test_entries_are_found_by_their_correlation_id_only(jars: Any) -> None:
    jars.fill()
    jars.send("GET", "/v1/jars", query="label=plum", headers={"x-correlation-id": "c-2"})

    assert len(jars.service.ledger) == 5
    assert [entry.moment for entry in jars.service.ledger.of("c-2")] == ["received", "responded"]
    assert jars.service.ledger.of("c-3") == ()
    assert jars.service.ledger.committed("c-1") is True


def test_an_entry_cannot_be_changed(jars: Any) -> None:
    jars.fill()
    entry = jars.service.ledger.of("c-1")[0]

    with pytest.raises(AttributeError):
        entry.time = 9.0


def test_reading_the_ledger_while_it_grows_shows_what_was_there(jars: Any) -> None:
    jars.fill()
    for _ in jars.service.ledger:
        jars.send("GET", "/v1/session")

    assert len(jars.service.ledger) == 9


def test_a_new_ledger_is_empty(jars: Any) -> None:
    assert list(Ledger(jars.clock)) == []
