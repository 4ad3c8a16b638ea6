from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from unacked.canonical import dumps
from unacked.contract import Registry
from unacked.errors import Place, SpecificationError
from unacked.graph import Begin, Call, End, EndReason, Graph, Result, Trace, judge, read_traces, render, stream_traces
from unacked.graph.trace import lines_of

BEGIN: dict[str, Any] = {"type": "begin", "graph": "create-outcome-unknown"}
CREATE = {"title": "alpha", "idempotency_key": "K1", "request_id": "R1"}
CALL: dict[str, Any] = {
    "type": "call",
    "turn": 1,
    "id": "c1",
    "agent": "a1",
    "operation": "create_record",
    "args": CREATE,
    "at": 1.0,
}
LOST: dict[str, Any] = {"type": "result", "call": "c1", "category": "outcome_unknown", "fields": {}, "at": 5.0}
END: dict[str, Any] = {"type": "end", "reason": "finished", "at": 6.0}
AGAIN = {**CALL, "id": "c2", "turn": 2}
DONE = {"type": "result", "call": "c2", "category": "ok", "fields": {"record_id": "rec-1"}, "at": 6.0}


def lines(*values: dict[str, Any]) -> list[str]:
    return [json.dumps(value) for value in values]


def problems(*texts: str) -> list[str]:
    with pytest.raises(SpecificationError) as caught:
        read_traces(texts, name="t.jsonl")
    return [str(problem) for problem in caught.value.problems]


TEAM = {**BEGIN, "team": [{"member": "a1", "tools": ["create_record"]}, {"member": "a2", "after": ["a1"]}]}
TOLD = {**CALL, "id": "c9", "turn": 2, "operation": "hand_over"}


def test_who_was_told_something_untrue_is_not_to_blame_for_what_it_does_then(
    graphs: dict[str, Graph], registry: Registry
) -> None:
    mistaken = {**AGAIN, "agent": "a2", "args": {"title": "alpha", "request_id": "R2", "idempotency_key": "K2"}}
    (trace,) = read_traces(lines(TEAM, CALL, LOST, {**TOLD, "args": {"status": "failed"}}, mistaken, DONE, END))
    judgement = judge(trace, graphs, registry)
    assert [violation.rule for violation in judgement.violations] == ["false_hand_over", "second-create"]
    assert judgement.explanation is not None
    assert (judgement.explanation.rule, judgement.explanation.member) == ("second-create", "a1")
    assert "a1 told a2 'failed' at event #2, in spite of event #1 (outcome_unknown)" in render(judgement.explanation)


def test_a_member_without_tools_of_its_own_has_all_and_others_have_theirs(
    graphs: dict[str, Graph], registry: Registry
) -> None:
    looked = {**CALL, "id": "c2", "turn": 2, "operation": "lookup_by_request_id", "args": {"request_id": "R1"}}
    (trace,) = read_traces(lines(TEAM, CALL, LOST, looked, END))
    assert [violation.rule for violation in judge(trace, graphs, registry).violations] == ["unknown_tool"]
    handed = {**TOLD, "args": {"status": "unknown"}}
    (trace,) = read_traces(lines(TEAM, CALL, LOST, handed, {**looked, "agent": "a2"}, END))
    assert judge(trace, graphs, registry).violations == ()


def test_what_members_are_asked_for_comes_besides_what_the_task_asks_for(registry: Registry) -> None:
    team = [{"member": "a1", "effects": {"create_record": [{"title": "alpha"}]}}, {"member": "a2", "after": ["a1"]}]
    begin = {**BEGIN, "effects": {"create_record": [{"title": "beta"}]}, "team": team}
    (trace,) = read_traces(lines(begin, CALL, LOST, END))
    assert trace.begin.asked == {"create_record": [{"title": "beta"}, {"title": "alpha"}]}
    assert trace.begin.members(registry)["a1"].effects == {("create_record", 1)}
    assert read_traces([dumps(line) for line in lines_of(trace)])[0].begin == trace.begin


@pytest.mark.parametrize(
    ("team", "problem"),
    [
        ([{"member": "a1"}], "one member is no team"),
        ([{"member": "a1"}, {"member": "a1"}], "two members are named 'a1'"),
        (
            [{"member": "a1"}, {"member": "a2", "after": ["a3"]}],
            "a2 comes after 'a3', who is no member",
        ),
        ([{"member": "a1", "after": ["a2"]}, {"member": "a2", "after": ["a1"]}], "members wait for each other: a1, a2"),
        ([{"member": "a1"}, {"member": "a2", "befor": ["a1"]}], "unknown key 'team.1.befor'"),
        ([{"member": "b1"}, {"member": "b2"}], "'a1' is no member of the team"),
    ],
)
def test_a_team_that_cannot_be_is_refused_with_its_place(team: list[Any], problem: str) -> None:
    assert any(problem in told for told in problems(*lines({**BEGIN, "team": team}, CALL, LOST, END)))


def test_a_member_with_a_tool_that_is_none_is_refused(graphs: dict[str, Graph], registry: Registry) -> None:
    begin = {**BEGIN, "team": [{"member": "a1", "tools": ["create_recrod"]}, {"member": "a2", "after": ["a1"]}]}
    (trace,) = read_traces(lines(begin, CALL, LOST, END))
    with pytest.raises(SpecificationError, match="member 'a1' has a tool 'create_recrod' that is none"):
        judge(trace, graphs, registry)


def test_a_trace_without_a_key_takes_the_name_of_its_file() -> None:
    (trace,) = read_traces(lines(BEGIN, CALL, LOST, END), name="t.jsonl")
    assert trace.name == "t.jsonl"
    assert trace.begin.graphs == ("create-outcome-unknown",)
    assert trace.events == (
        Call(id="c1", operation="create_record", args=CREATE, turn=1, agent="a1", at=1.0),
        Result(call="c1", category="outcome_unknown", at=5.0),
        End(reason=EndReason.FINISHED, at=6.0),
    )


def test_many_traces_may_interleave_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    both = [{**line, "trace": name} for line in (BEGIN, CALL, LOST, END) for name in ("one", "two")]
    path.write_text("\n".join(lines(*both)))
    assert [(trace.name, len(trace.events)) for trace in read_traces(path)] == [("one", 3), ("two", 3)]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "t.jsonl:1:1: is not strict JSON: "),
        ('{"type": "begin"}\u00a0', "t.jsonl:1:1: is not strict JSON: Extra data"),
        ('{"type": "begin"}\f', "t.jsonl:1:1: is not strict JSON: Extra data"),
        ('{"type": "end", "type": "end"}', "t.jsonl:1:1: is not strict JSON: duplicate key in an object"),
        (
            '{"type": "end", "reason": "finished", "at": NaN}',
            "t.jsonl:1:1: is not strict JSON: NaN is not a JSON number",
        ),
        ('{"type": "stop"}', "t.jsonl:1:1: 'type' must be one of begin, call, result, end"),
        ('{"type": "end"}', "t.jsonl:1:1: missing key 'reason'"),
        (
            '{"type": "end", "reason": "bored"}',
            "t.jsonl:1:1: reason: Input should be 'finished', 'budget', 'cut' or 'crash'",
        ),
        ('{"type": "begin", "grahp": "g"}', "t.jsonl:1:1: unknown key 'grahp'"),
        ('{"type": "result", "call": "c1", "category": "ok"}', "t.jsonl:1:1: call 'c1' was never made"),
    ],
)
def test_a_malformed_line_is_told_with_its_place(line: str, problem: str) -> None:
    assert problems(line)[0].startswith(problem)


def test_all_malformed_lines_are_told_at_once() -> None:
    told = problems(*lines(BEGIN, CALL, {**LOST, "category": "lost"}, LOST, CALL), "{", *lines(END, AGAIN, BEGIN))
    assert told == [
        "t.jsonl:3:1: unknown category 'lost'\n    hint: known: " + told[0].split("known: ")[1],
        "t.jsonl:4:1: call 'c1' has its result already",
        "t.jsonl:5:1: call id 'c1' is taken",
        told[3],
        "t.jsonl:8:1: stands after the end of its trace\n    hint: give each trace its own 'trace' key",
        "t.jsonl:9:1: stands after the end of its trace\n    hint: give each trace its own 'trace' key",
    ]
    assert told[3].startswith("t.jsonl:6:1: is not strict JSON")


def test_a_file_without_a_trace_is_told() -> None:
    assert problems("", "  ") == ["t.jsonl: holds no trace"]


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SpecificationError, match="cannot be read: No such file or directory"):
        read_traces(tmp_path / "none.jsonl")


def test_a_trace_is_handed_over_as_soon_as_it_ends() -> None:
    read = 0

    def source() -> Iterator[str]:
        nonlocal read
        for name in ("one", "two"):
            for line in lines(*({**line, "trace": name} for line in (BEGIN, CALL, LOST, END))):
                read += 1
                yield line

    assert [(trace.name, read) for trace in stream_traces(source())] == [("one", 4), ("two", 8)]


def test_no_trace_is_handed_over_after_a_problem() -> None:
    texts = [json.dumps({**line, "trace": "one"}) for line in (BEGIN, END)]
    traces = stream_traces([texts[0], texts[1], "{", *(text.replace("one", "two") for text in texts)], name="t")
    assert next(traces).name == "one"
    with pytest.raises(SpecificationError, match="t:3:1: is not strict JSON"):
        next(traces)


def test_a_file_of_another_kind_is_given_up_after_a_thousand_problems() -> None:
    told = problems(*(["{}"] * 5000))
    assert len(told) == 1001
    assert told[-1] == "t.jsonl:1000:1: too many problems; the rest was not read"


def test_a_line_separator_inside_a_text_is_no_end_of_a_line(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    call = {**CALL, "args": {**CREATE, "title": "one\u2028two\x85three"}}
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in (BEGIN, call, LOST, END)))
    (trace,) = read_traces(path)
    assert trace.events[0].args["title"] == "one\u2028two\x85three"  # type: ignore[union-attr]


def test_a_line_that_is_not_utf_8_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b'{"type":"begin"}\n{"type":"\xff"}\n')
    with pytest.raises(SpecificationError, match=r"bad\.jsonl:2:1: is not strict JSON: invalid UTF-8 at byte 9"):
        read_traces(path)


def test_begin_comes_first() -> None:
    assert problems(*lines(CALL, BEGIN)) == ["t.jsonl:2:1: 'begin' is not the first line of its trace"]


def verdict(graphs: dict[str, Graph], registry: Registry, *values: dict[str, Any], **options: Any) -> str:
    (trace,) = read_traces(lines(*values), name="t.jsonl")
    return judge(trace, graphs, registry, **options).verdict


def test_the_same_key_is_safe_unless_begin_says_otherwise(graphs: dict[str, Graph], registry: Registry) -> None:
    cut = {**END, "reason": "cut"}
    assert verdict(graphs, registry, BEGIN, CALL, LOST, AGAIN, DONE, cut) == "INCONCLUSIVE"
    assert verdict(graphs, registry, {**BEGIN, "idempotent": False}, CALL, LOST, AGAIN, DONE, cut) == "UNSAFE"


def test_begin_binds_roles_and_declares_effects(graphs: dict[str, Graph], registry: Registry) -> None:
    begin = {**BEGIN, "roles": {"annotate": None, "read": None}, "effects": {"create_record": [{"title": "alpha"}]}}
    finish = {"type": "call", "turn": 3, "id": "c3", "operation": "finish", "args": {"status": "success"}}
    answer = {"type": "result", "call": "c3", "category": "ok"}
    assert verdict(graphs, registry, begin, CALL, LOST, AGAIN, DONE, finish, answer, END) == "PASS"


def test_the_graph_may_be_named_outside_or_several_in_begin(graphs: dict[str, Graph], registry: Registry) -> None:
    names = ["create-outcome-unknown", "rate-limit"]
    assert verdict(graphs, registry, CALL, LOST, END, default=["create-outcome-unknown"]) == "FAIL"
    assert verdict(graphs, registry, {"type": "begin", "graphs": names}, CALL, LOST, END) == "FAIL"


@pytest.mark.parametrize(
    ("begin", "problem"),
    [
        ({"type": "begin"}, "no graph is named"),
        (
            {"type": "begin", "graph": "rate-limits"},
            "unknown graph 'rate-limits'\n    hint: did you mean 'rate-limit'?",
        ),
        ({**BEGIN, "roles": {"creat": None}}, "no graph of this trace has a role 'creat'"),
        ({**BEGIN, "effects": {"create_recrod": []}}, "effects of unknown operation 'create_recrod'"),
    ],
)
def test_a_begin_that_does_not_fit_is_told(
    graphs: dict[str, Graph], registry: Registry, begin: dict[str, Any], problem: str
) -> None:
    with pytest.raises(SpecificationError) as caught:
        verdict(graphs, registry, begin, CALL, END)
    assert str(caught.value).startswith(f"t.jsonl:1:1: {problem}")


def test_a_trace_that_is_written_reads_back_the_same() -> None:
    begin = Begin(graphs=("g",), effects={"create_record": [{"title": "a"}]}, roles={"read": None}, idempotent=False)
    events = (
        Call(id="c0", operation="create_record", args={"title": "a"}, turn=1, agent="a1", at=0.5),
        Result(call="c0", category="ok", fields={"n": [1]}, at=1.0, visible_to=("a1", "a2"), retry_after_s=2.0),
        Call(id="c1", operation="finish", args={}),
        End(reason=EndReason.BUDGET, at=3.0),
    )
    trace = Trace(name="t", begin=begin, events=events, place=Place("trace", 1, 1))

    assert read_traces([dumps(line) for line in lines_of(trace)]) == [trace]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"type": "begin", "graph": "g", "idempotent": "no"}', "idempotent: Input should be a valid boolean"),
        ('{"type": "call", "id": "c", "operation": "o", "turn": "1"}', "turn: Input should be a valid integer"),
        ('{"type": "call", "id": "c", "operation": "o", "at": "1"}', "at: Input should be a valid number"),
        ('{"type": "call", "id": "c", "operation": "o", "at": true}', "at: Input should be a valid number"),
    ],
)
def test_a_value_of_another_type_is_refused_with_its_place(line: str, told: str) -> None:
    with pytest.raises(SpecificationError, match=f"^trace:1:1: {told}$"):
        read_traces([line])
