from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from unacked.canonical import dumps
from unacked.contract import Registry
from unacked.errors import Place, SpecificationError
from unacked.graph import Begin, Call, End, EndReason, Graph, Result, Trace, judge, read_traces, stream_traces
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
