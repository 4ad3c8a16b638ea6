from __future__ import annotations

import pytest

from unacked.errors import Place, SpecificationError
from unacked.graph import Call, End, EndReason, Result, Trace
from unacked.graph.trace import Begin
from unacked.probe import Prefix, of_case, of_trace
from unacked.suite import Suite


def traced(loaded: Suite, after: int | None = None, *, category: str = "outcome_unknown") -> Prefix:
    events = (
        Call(id="a", operation="create_record", args={"title": "x", "request_id": "r"}),
        Result(call="a", category=category, at=5.0),
        Call(id="b", operation="lookup_by_request_id", args={"request_id": "r"}, at=6.0),
        Result(call="b", category="ok", fields={"record_id": "rec-1"}, at=7.0),
        End(reason=EndReason.FINISHED, at=8.0),
    )
    trace = Trace(name="t", begin=Begin(graphs=("create-outcome-unknown",)), events=events, place=Place("t.jsonl"))
    return of_trace(trace, loaded.graphs, task="Create x.", after=after)


def test_a_trace_is_taken_up_to_its_first_result_that_is_no_success(loaded: Suite) -> None:
    prefix = traced(loaded)
    assert prefix.answered == "create_record -> outcome_unknown"
    assert len(prefix.moves) == 2
    assert prefix.past[0].results[0] == {
        "ok": False,
        "category": "outcome_unknown",
        "class": "uncertain",
        "operation": "create_record",
        "retry": "reconcile_first",
        "correlation_id": "a",
        "message": "No usable answer came after the request was sent; the remote outcome is unknown.",
        "reconcile": "lookup_by_request_id",
        "effect_acknowledged": "unknown",
    }


def test_the_tools_of_a_trace_are_those_of_its_graph_and_the_ways_to_end(loaded: Suite) -> None:
    tools = traced(loaded).task.tools
    assert {"create_record", "lookup_by_request_id", "attach_note", "get_record", "finish", "ask_human"} <= tools.keys()
    assert "charge" not in tools


def test_so_many_turns_of_a_trace_can_be_asked_for(loaded: Suite) -> None:
    prefix = traced(loaded, 2)
    assert prefix.answered == "lookup_by_request_id -> ok"
    assert len(prefix.moves) == 4


def test_more_turns_than_a_trace_has_are_refused(loaded: Suite) -> None:
    with pytest.raises(SpecificationError, match="t: has 2 answered turns, and 3 were asked for"):
        traced(loaded, 3)


def test_a_trace_without_trouble_does_not_say_where_to_ask(loaded: Suite) -> None:
    with pytest.raises(SpecificationError, match="holds no result that is not a success"):
        traced(loaded, category="ok")


def test_the_other_side_of_a_case_has_a_way_of_its_own(loaded: Suite) -> None:
    prefix = of_case(loaded, "E01.twin", by="careful", after=2)
    assert prefix.answered == "lookup_by_request_id -> not_found"
    assert prefix.name == "E01.twin, by careful"


def test_what_a_value_may_have_come_from_is_the_task_the_calls_and_the_results(loaded: Suite) -> None:
    prefix = of_case(loaded, "E01", by="careful", after=2)
    task, sent, _, first, second = prefix.sources[0], prefix.sources[1], 0, prefix.sources[2], prefix.sources[4]
    assert str(task).startswith("Create one record titled")
    assert sent["title"] == "Pump 7 inspection"
    assert (first["category"], second["category"]) == ("outcome_unknown", "ok")
