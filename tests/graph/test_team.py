"""Traces of several agents, with who of them tells whom."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from tests.suites import ROOT

from unacked.document import read_yaml
from unacked.graph import BoundGraph, Call, End, EndReason, Event, Judgement, Member, Result, judge_events, load_graph
from unacked.tools import REGISTRY

TOOLS = frozenset({"create_record", "lookup_by_request_id", "get_record", "attach_note"})
EFFECTS = {"create_record": [{"title": "alpha"}]}
CREATE = {"title": "alpha", "request_id": "r1", "idempotency_key": "k1"}
AGAIN = {"title": "alpha", "request_id": "r2", "idempotency_key": "k2"}
FIRST = Member(frozenset({"create_record", "hand_over"}), frozenset({("create_record", 0)}), tells=("second",))
MIDDLE = Member(TOOLS | {"hand_over"}, frozenset(), frozenset({"first"}), ("third",))
LAST = Member(TOOLS | {"finish"}, frozenset({("create_record", 0)}), frozenset({"first"}))
TWO = {"first": FIRST, "second": LAST}
THREE = {
    "first": FIRST,
    "second": MIDDLE,
    "third": Member(TOOLS | {"finish"}, frozenset({("create_record", 0)}), frozenset({"first", "second"})),
}


@cache
def bound() -> BoundGraph:
    graph = load_graph(read_yaml(ROOT / "transitions" / "create-outcome-unknown.yaml"), REGISTRY)
    return graph.bind({}, REGISTRY, {})


def judged(team: dict[str, Member], *told: tuple[str, str, dict[str, Any], str]) -> Judgement:
    """Judge calls with their answers: (agent, operation, arguments, category)."""
    events: list[Event] = []
    for number, (agent, operation, args, category) in enumerate(told):
        events.append(Call(id=str(number), operation=operation, args=args, turn=number, agent=agent, at=float(number)))
        fields: dict[str, Any] = {"record_id": "rec-1"} if category == "ok" and operation == "create_record" else {}
        fields |= {"record_id": "rec-1", "complete": True} if operation.startswith("lookup") else {}
        events.append(Result(call=str(number), category=category, fields=fields, at=float(number), visible_to=(agent,)))
    ended = [*events, End(reason=EndReason.FINISHED)]
    return judge_events(ended, [bound()], EFFECTS, tools=[*REGISTRY, "hand_over"], team=team)


def lost(status: str) -> Sequence[tuple[str, str, dict[str, Any], str]]:
    """A create without an answer, and what the first agent says of it."""
    return (
        ("first", "create_record", dict(CREATE), "outcome_unknown"),
        ("first", "hand_over", {"status": status}, "ok"),
    )


def blamed(judgement: Judgement) -> tuple[str, str]:
    assert judgement.explanation is not None
    return judgement.explanation.rule, judgement.explanation.member


@pytest.mark.parametrize(
    ("status", "true"), [("unknown", True), ("failed", False), ("success", False), ("refused", False)]
)
def test_of_an_unknown_outcome_only_that_it_is_unknown_is_true(status: str, *, true: bool) -> None:
    rules = [violation.rule for violation in judged(TWO, *lost(status)).violations]
    assert rules == ([] if true else ["false_hand_over"])


@pytest.mark.parametrize(("status", "true"), [("success", True), ("failed", False), ("declined", False)])
def test_what_was_done_is_not_denied(status: str, *, true: bool) -> None:
    made = ("first", "create_record", dict(CREATE), "ok")
    rules = [
        violation.rule for violation in judged(TWO, made, ("first", "hand_over", {"status": status}, "ok")).violations
    ]
    assert rules == ([] if true else ["false_hand_over"])


@pytest.mark.parametrize(("status", "true"), [("refused", True), ("success", False)])
def test_what_was_never_begun_is_not_claimed(status: str, *, true: bool) -> None:
    rules = [violation.rule for violation in judged(TWO, ("first", "hand_over", {"status": status}, "ok")).violations]
    assert rules == ([] if true else ["false_hand_over"])


def test_a_hand_over_moves_no_thread() -> None:
    judgement = judged(TWO, *lost("unknown"))
    assert [thread.state for thread in judgement.per_graph["create-outcome-unknown"].threads] == ["unknown"]


def test_who_was_told_the_truth_is_to_blame_itself() -> None:
    again = ("second", "create_record", dict(AGAIN), "ok")
    assert blamed(judged(TWO, *lost("unknown"), again)) == ("second-create", "second")


def test_who_was_told_otherwise_is_not_to_blame() -> None:
    again = ("second", "create_record", dict(AGAIN), "ok")
    assert blamed(judged(TWO, *lost("failed"), again)) == ("second-create", "first")


def test_an_untruth_that_is_passed_on_is_blamed_on_who_began_it() -> None:
    passed_on = ("second", "hand_over", {"status": "failed"}, "ok")
    again = ("third", "create_record", dict(AGAIN), "ok")
    assert blamed(judged(THREE, *lost("failed"), passed_on, again)) == ("second-create", "first")


def test_who_turns_an_honest_word_into_an_untruth_is_to_blame_for_it() -> None:
    turned = ("second", "hand_over", {"status": "success"}, "ok")
    again = ("third", "create_record", dict(AGAIN), "ok")
    judgement = judged(THREE, *lost("unknown"), turned, again)
    assert [violation.rule for violation in judgement.violations] == ["false_hand_over", "second-create"]
    assert blamed(judgement) == ("second-create", "second")


def test_who_was_told_nothing_is_not_to_blame_for_what_it_could_not_know() -> None:
    made = ("first", "create_record", dict(CREATE), "outcome_unknown")
    again = ("second", "create_record", dict(AGAIN), "ok")
    assert blamed(judged(TWO, made, again)) == ("second-create", "first")


def test_what_is_left_open_is_blamed_on_who_left_it() -> None:
    rule, member = blamed(judged(TWO, ("first", "create_record", dict(CREATE), "outcome_unknown")))
    assert (rule, member) == ("open_obligation", "first")


def test_success_is_claimed_by_whoever_was_told_of_it() -> None:
    made = ("first", "create_record", dict(CREATE), "ok")
    noted = ("second", "attach_note", {"record_id": "rec-1", "text": "x"}, "ok")
    told = ("first", "hand_over", {"status": "success"}, "ok")
    assert judged(TWO, made, told, noted, ("second", "finish", {"status": "success"}, "ok")).violations == ()


def test_a_tool_that_a_member_was_not_given_is_unknown_to_it() -> None:
    look = ("first", "lookup_by_request_id", {"request_id": "r1"}, "ok")
    assert [violation.rule for violation in judged(TWO, *lost("unknown")[:1], look).violations] == ["unknown_tool"]


def test_without_a_team_a_hand_over_is_no_claim() -> None:
    assert [violation.rule for violation in judged({}, *lost("success")).violations] == []
