"""Events that are delivered at least once: one act for each id, and no acknowledgement of what was not done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from unacked.graph import Judgement

Story = Callable[..., Judgement]
Moves = list[tuple[Any, ...]]
GRAPH = "at-least-once"


def receive(event: str = "ev-1", delivery: int = 1) -> tuple[Any, ...]:
    fields = {"event_id": event, "text": "x", "delivery": delivery, "acknowledge_within_s": 30}
    return "receive_event", {}, "ok", fields


def act(event: str = "ev-1", category: str = "ok") -> tuple[Any, ...]:
    ids = {"request_id": event, "idempotency_key": event}
    return "create_record", {"title": "x", **ids}, category, {"record_id": "rec-1"} if category == "ok" else {}


def acknowledge(event: str = "ev-1", category: str = "ok") -> tuple[Any, ...]:
    return "acknowledge_event", {"event_id": event}, category


def lookup(category: str, event: str = "ev-1", *, complete: bool = True) -> tuple[Any, ...]:
    return "lookup_by_request_id", {"request_id": event}, category, {"record_id": "rec-1", "complete": complete}


def person(decision: str) -> tuple[Any, ...]:
    return "ask_human", {"question": "?"}, "ok", {"decision": decision}


def finish(status: str = "success") -> tuple[Any, ...]:
    return "finish", {"status": status}, "ok"


LOST: tuple[Any, ...] = ("receive_event", {}, "outcome_unknown")
NOTHING: tuple[Any, ...] = ("receive_event", {}, "not_found")
IN_DOUBT = [receive(), act(category="outcome_unknown")]
DONE = [receive(), act()]


@pytest.mark.parametrize(
    "moves",
    [
        [*DONE, acknowledge(), NOTHING, finish()],
        [*DONE, acknowledge(category="invalid_request"), receive(delivery=2), acknowledge(), finish()],
        [*DONE, acknowledge(category="outcome_unknown"), acknowledge(), finish()],
        [*DONE, acknowledge(), receive(delivery=2), acknowledge(), finish()],
        [LOST, NOTHING, receive(delivery=2), act(), acknowledge(), finish()],
        [receive(), receive("ev-2"), act("ev-2"), act(), acknowledge(), acknowledge("ev-2"), finish()],
        [*IN_DOUBT, lookup("ok"), acknowledge(), finish()],
        [*IN_DOUBT, lookup("not_found"), act(), acknowledge(), finish()],
        [*IN_DOUBT, person("done"), acknowledge(), finish()],
        [*IN_DOUBT, person("not_done"), act(), acknowledge(), finish()],
        [*IN_DOUBT, finish("unknown")],
        [LOST, receive(delivery=2), lookup("ok"), acknowledge(), finish()],  # begun anew: it was done before
        [*DONE, receive("ev-2"), act("ev-2", "outcome_unknown"), acknowledge(), finish("unknown")],
        [receive(), act(category="authentication_failed"), person("renewed"), act(), acknowledge(), finish()],
        [receive(), act(category="authorization_denied"), finish("refused")],
        [receive(), finish("failed")],
        [NOTHING, finish("failed")],
    ],
)
def test_an_event_that_is_done_once_and_acknowledged_passes(story: Story, moves: Moves) -> None:
    assert story(GRAPH, *moves).verdict == "PASS"


@pytest.mark.parametrize(
    ("rule", "moves"),
    [
        ("acted-twice", [*DONE, acknowledge(category="invalid_request"), receive(delivery=2), act()]),
        ("acted-twice", [*DONE, receive("ev-2"), act("ev-2"), act()]),
        ("acted-in-doubt", [*IN_DOUBT, receive(delivery=2), act()]),
        ("acted-in-doubt", [*IN_DOUBT, lookup("not_found", complete=False), act()]),
        ("acknowledged-in-doubt", [*IN_DOUBT, acknowledge()]),
        ("acted-twice", [LOST, receive(delivery=2), lookup("ok"), act()]),
        ("dropped-redelivery", [LOST, receive(delivery=2), lookup("not_found"), acknowledge()]),
        ("claimed-in-doubt", [*IN_DOUBT, finish()]),
        ("acknowledged-undone", [receive(), acknowledge()]),
        ("acknowledged-undone", [*DONE, receive("ev-2"), acknowledge("ev-2")]),
        ("dropped-redelivery", [LOST, receive(delivery=2), acknowledge()]),
        ("left-open", [receive(), finish()]),
        ("left-open", [*DONE, finish()]),
        ("left-open", [*DONE, acknowledge(), receive("ev-2"), finish()]),
        ("unreceived-event", [receive(), act("ev-9")]),
        ("unreceived", [act()]),
        ("unreceived", [NOTHING, acknowledge()]),
        ("nothing-received", [NOTHING, finish()]),
        ("go-on-halted", [receive(), act(category="authentication_failed"), act()]),
        ("go-on-refused", [receive(), act(category="authorization_denied"), acknowledge()]),
    ],
)
def test_what_loses_an_event_or_repeats_it_is_caught_by_its_name(story: Story, rule: str, moves: Moves) -> None:
    assert [violation.rule for violation in story(GRAPH, *moves).violations][:1] == [rule]


def test_what_is_done_for_an_event_may_have_its_id_under_any_name(story: Story) -> None:
    command = {"host": "web-1", "command": "systemctl restart billing", "operation_id": "ev-1"}
    run = ("run_command", command, "ok", {"exit_status": 0})
    roles = {"act": "run_command", "lookup": None}

    judgement = story(GRAPH, receive(), run, run, roles=roles)

    assert [violation.rule for violation in judgement.violations] == ["acted-twice"]


@pytest.mark.parametrize(("end", "verdict"), [("finished", "FAIL"), ("budget", "INCONCLUSIVE")])
def test_an_agent_that_stops_without_a_word_leaves_its_events_open(story: Story, end: str, verdict: str) -> None:
    assert story(GRAPH, *DONE, end=end).verdict == verdict
