"""Events are lines of the record; a history is the ordered, immutable view of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unacked.canonical import dumps, loads
from unacked.errors import RecordError
from unacked.event import EVENTS, Event, History

WORD = st.none() | st.text(min_size=1)
EVENT = st.builds(
    Event,
    time=st.floats(0, 1e6),
    event=st.sampled_from(sorted(EVENTS)),
    id=WORD,
    operation=WORD,
    target_class=WORD,
    category=WORD,
    diagnostics_ref=WORD,
    detail=st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.booleans())),
)

COMMITTED = Event(0.003, "remote_committed", "cid-1", "create_record", "record", detail={"service": "records"})
RESULT = Event(5.0, "result", "cid-1", "create_record", "record", "outcome_unknown", "d1", {"envelope": {}})
END = Event(5.0, "trial_end")


def test_an_event_is_written_with_all_that_it_has() -> None:
    assert RESULT.as_json() == {
        "time": 5.0,
        "event": "result",
        "id": "cid-1",
        "operation": "create_record",
        "target_class": "record",
        "category": "outcome_unknown",
        "diagnostics_ref": "d1",
        "detail": {"envelope": {}},
    }


def test_what_an_event_does_not_have_is_left_out() -> None:
    assert END.as_json() == {"time": 5.0, "event": "trial_end"}


@given(EVENT)
def test_an_event_that_was_written_is_read_back_the_same(event: Event) -> None:
    assert Event.from_json(loads(dumps(event.as_json()))) == event


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            {"time": 1, "event": "remote_comitted"},
            "unknown event 'remote_comitted'; this record was written by another version",
        ),
        ({"time": 1}, "unknown event None; this record was written by another version"),
        ({"time": 1, "event": ["result"]}, "unknown event ['result']; this record was written by another version"),
        ({"event": "result"}, "event 'result' has no time"),
        ({"time": "1", "event": "result"}, "event 'result' has no time"),
        ({"time": True, "event": "result"}, "event 'result' has no time"),
        ({"time": 1, "event": "result", "detail": []}, "the detail of event 'result' is not an object"),
        ({"time": 1, "event": "result", "detail": None}, "the detail of event 'result' is not an object"),
        ({"time": 1, "event": "result", "id": 7}, "the id of event 'result' is not a text"),
        ({"time": 1, "event": "result", "category": {}}, "the category of event 'result' is not a text"),
    ],
)
def test_a_line_that_is_no_event_is_refused(line: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError) as caught:
        Event.from_json(line)
    assert str(caught.value) == message


def test_an_event_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        END.time = 6.0  # type: ignore[misc]


def test_a_history_is_a_sequence_of_its_events() -> None:
    history = History([COMMITTED, RESULT, END])
    assert (len(history), history[0], history[-1], list(history)) == (3, COMMITTED, END, [COMMITTED, RESULT, END])


def test_a_history_does_not_grow_with_the_list_that_it_was_made_from() -> None:
    events = [COMMITTED]
    history = History(events)
    events.append(END)
    assert list(history) == [COMMITTED]


def test_events_are_found_by_name_in_order() -> None:
    history = History([COMMITTED, RESULT, END])
    assert list(history.named("trial_end", "remote_committed")) == [COMMITTED, END]


def test_events_are_found_by_the_call_that_they_belong_to() -> None:
    history = History([COMMITTED, Event(1.0, "result", "cid-2"), RESULT, END])
    assert history.of("cid-1") == [COMMITTED, RESULT]


def test_every_event_says_what_it_means() -> None:
    assert [name for name, meaning in EVENTS.items() if not meaning] == []
