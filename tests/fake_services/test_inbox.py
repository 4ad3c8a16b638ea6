from __future__ import annotations

from typing import Any

import pytest

from unacked.fault import Action
from unacked.services import SeedError

SEED = {"events": [{"event_id": "ev-1", "text": "first"}, {"event_id": "ev-2", "text": "second"}]}
RECEIVE = ("GET", "/v1/events/next")


def acknowledge(event_id: str) -> tuple[str, str, dict[str, str]]:
    return "POST", "/v1/acknowledgements", {"event_id": event_id}


@pytest.fixture
def inbox(start: Any) -> Any:
    return start("inbox", SEED)


def test_events_are_delivered_in_order_and_once_within_their_time(inbox: Any) -> None:
    assert inbox(*RECEIVE) == (
        200,
        {"event_id": "ev-1", "text": "first", "delivery": 1, "acknowledge_within_s": 30, "correlation_id": "c-1"},
    )
    assert inbox(*RECEIVE)[1]["event_id"] == "ev-2"
    assert inbox(*RECEIVE) == (404, {"error": "no_event"})


def test_what_is_not_acknowledged_in_time_is_delivered_again_under_the_same_id(inbox: Any) -> None:
    inbox(*RECEIVE)
    inbox(*RECEIVE)
    inbox(*acknowledge("ev-2"))
    inbox.clock.advance(30)

    status, event = inbox(*RECEIVE)

    assert (status, event["event_id"], event["delivery"]) == (200, "ev-1", 2)
    assert inbox.service.summary() == {"events": 2, "unacknowledged": 1, "deliveries": 3}


def test_an_event_that_is_new_comes_before_one_that_comes_again(inbox: Any) -> None:
    inbox(*RECEIVE)
    inbox.clock.advance(30)

    assert [inbox(*RECEIVE)[1]["event_id"], inbox(*RECEIVE)[1]["event_id"]] == ["ev-2", "ev-1"]


def test_what_is_acknowledged_never_comes_again_and_may_be_acknowledged_again(inbox: Any) -> None:
    inbox(*RECEIVE)

    answers = [inbox(*acknowledge("ev-1")), inbox(*acknowledge("ev-1"))]

    assert answers == [(200, {"event_id": "ev-1", "acknowledged": True, "correlation_id": "c-1"})] * 2
    inbox.clock.advance(60)
    assert [inbox(*RECEIVE)[1]["event_id"], inbox(*RECEIVE)[0]] == ["ev-2", 404]


@pytest.mark.parametrize("passed_s", [30, 31])
def test_an_acknowledgement_that_comes_too_late_is_refused_until_the_next_delivery(inbox: Any, passed_s: int) -> None:
    inbox(*RECEIVE)
    inbox.clock.advance(passed_s)
    assert inbox(*acknowledge("ev-1")) == (400, {"error": "not_out_for_delivery"})

    inbox(*RECEIVE)
    inbox(*RECEIVE)

    assert inbox(*acknowledge("ev-1"))[0] == 200


def test_what_was_never_delivered_cannot_be_acknowledged(inbox: Any) -> None:
    assert inbox(*acknowledge("ev-1")) == (400, {"error": "not_out_for_delivery"})
    assert inbox(*acknowledge("ev-9")) == (404, {"error": "no_such_event"})


def test_an_event_may_be_delivered_once_more_although_it_was_acknowledged(inbox: Any) -> None:
    inbox(*RECEIVE)
    inbox(*acknowledge("ev-1"))
    inbox.service.disturb(Action("redeliver", {"id": "ev-1"}), "receive_event")

    event = inbox(*RECEIVE)[1]

    assert (event["event_id"], event["delivery"]) == ("ev-1", 2)
    assert inbox.service.summary()["unacknowledged"] == 2


def test_a_delivery_without_a_trace_is_none(inbox: Any) -> None:
    inbox.raw(*RECEIVE, commit=False)

    assert inbox(*RECEIVE)[1]["delivery"] == 1


@pytest.mark.parametrize("timeout_s", [0, -1, True, "30"])
def test_a_timeout_that_is_no_time_is_refused(start: Any, timeout_s: Any) -> None:
    with pytest.raises(SeedError) as refused:
        start("inbox", {"visibility_timeout_s": timeout_s})

    assert refused.value.location == ("visibility_timeout_s",)
