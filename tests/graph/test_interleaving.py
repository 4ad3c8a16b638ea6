"""Effects that do not touch each other: in whatever order their calls are mixed, each is judged as if it were alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unacked.contract import Registry
from unacked.graph import Call, End, EndReason, Event, Graph, Judgement, Result, judge_events

GRAPH = "create-outcome-unknown"
EFFECTS = {"create_record": [{"title": "alpha"}, {"title": "beta"}]}
Judge = Callable[[list[Event]], Judgement]
Move = tuple[str, dict[str, Any], str, dict[str, Any]]

ANSWERS = st.sampled_from(["ok", "not_found", "outcome_unknown", "rate_limited", "authorization_denied", "conflict"])


@pytest.fixture(scope="module")
def judged(graphs: dict[str, Graph], registry: Registry) -> Judge:
    bound = graphs[GRAPH].bind({}, registry, dict.fromkeys(registry, True))
    return lambda events: judge_events(events, [bound], EFFECTS)


@st.composite
def paths(draw: st.DrawFn, title: str) -> list[Move]:
    """Calls that concern one effect only: they carry its ids, and its record once it is known."""
    create = {"title": title, "idempotency_key": f"K-{title}", "request_id": f"R-{title}"}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("create_record", create),
        ("create_record", {**create, "idempotency_key": f"other-{title}"}),
        ("lookup_by_request_id", {"request_id": f"R-{title}"}),
        ("attach_note", {"record_id": f"rec-{title}", "text": "x", "request_id": f"R-{title}"}),
    ]
    first: Move = ("create_record", create, draw(ANSWERS), {"record_id": f"rec-{title}"})
    later = draw(st.lists(st.tuples(st.sampled_from(calls), ANSWERS), max_size=4))
    return [first, *((name, args, answer, {"record_id": f"rec-{title}"}) for (name, args), answer in later)]


def mixed(alpha: list[Move], beta: list[Move], order: list[bool]) -> list[tuple[str, Move]]:
    """Both paths, each in its own order; ``order`` says whose turn it is while both have calls left."""
    left, right, moves = list(alpha), list(beta), []
    turns = iter([*order, *[True] * (len(alpha) + len(beta))])
    while left or right:
        own = next(turns) if left and right else bool(left)
        moves.append(("alpha", left.pop(0)) if own else ("beta", right.pop(0)))
    return moves


def told(judged: Judge, moves: list[tuple[str, Move]]) -> dict[str, Any]:
    """What is said of each thread: its end, and the rules that it broke in order."""
    events: list[Event] = []
    for number, (_, (operation, args, category, fields)) in enumerate(moves):
        events.append(Call(id=f"c{number}", operation=operation, args=args, turn=number))
        events.append(Result(call=f"c{number}", category=category, fields=fields))
    judgement = judged([*events, End(reason=EndReason.FINISHED)])
    threads = judgement.per_graph[GRAPH].threads
    return {
        "verdict": judgement.verdict,
        **{
            thread.name: (thread.state, [v.rule for v in judgement.violations if v.thread == thread.name])
            for thread in threads
        },
    }


@given(alpha=paths("alpha"), beta=paths("beta"), order=st.lists(st.booleans(), max_size=10))
def test_no_interleaving_of_two_effects_changes_what_is_said_of_either(
    judged: Judge, alpha: list[Move], beta: list[Move], order: list[bool]
) -> None:
    assert told(judged, mixed(alpha, beta, order)) == told(judged, mixed(alpha, beta, []))


def test_two_paths_that_take_turns_are_mixed_in_turns() -> None:
    one: Move = ("create_record", {}, "ok", {})

    assert [name for name, _ in mixed([one, one], [one, one], [False, True, False])] == [
        "beta",
        "alpha",
        "beta",
        "alpha",
    ]
