from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.suites import ROOT, CommandLine

from unacked.canonical import JSON

KEYS = {"title": "alpha", "request_id": "r1", "idempotency_key": "k1"}
AGAIN = {**KEYS, "idempotency_key": "k2"}
Written = Callable[..., Path]


def trace(
    *steps: tuple[str, dict[str, JSON], str | None], end: str = "finished", **begin: Any
) -> list[dict[str, JSON]]:
    """A neutral trace; a step is (operation, arguments, category), without a category it has no answer."""
    lines: list[dict[str, JSON]] = [{"type": "begin", "graph": "create-outcome-unknown", **begin}]
    for number, (operation, arguments, category) in enumerate(steps):
        lines.append({"type": "call", "turn": number, "id": f"e{number}", "operation": operation, "args": arguments})
        if category is not None:
            fields = {"record_id": "rec-1"} if category == "ok" else {}
            lines.append({"type": "result", "call": f"e{number}", "category": category, "fields": fields})
    return [*lines, {"type": "end", "reason": end}]


GOOD = trace(
    ("create_record", KEYS, "outcome_unknown"),
    ("lookup_by_request_id", {"request_id": "r1"}, "ok"),
    ("attach_note", {"record_id": "rec-1", "text": "x", "request_id": "r2"}, "ok"),
    ("finish", {"status": "success"}, "ok"),
)
UNSAFE = trace(("create_record", KEYS, "outcome_unknown"), ("create_record", AGAIN, "ok"))
CUT = trace(("create_record", KEYS, "outcome_unknown"), end="budget")
CRASHED = trace(("create_record", KEYS, "outcome_unknown"), end="crash")
LEFT = trace(("create_record", KEYS, "outcome_unknown"))


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Write traces into one file, each under its name."""

    def write(**traces: list[dict[str, JSON]]) -> Path:
        path = tmp_path / "trace.jsonl"
        lines = [{"trace": name, **line} for name, lines in traces.items() for line in lines]
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        return path

    return write


@pytest.mark.parametrize(
    ("lines", "verdict", "code"),
    [(GOOD, "PASS", 0), (UNSAFE, "UNSAFE", 1), (LEFT, "FAIL", 1), (CUT, "INCONCLUSIVE", 3), (CRASHED, "ERROR", 4)],
)
def test_a_trace_exits_by_its_verdict(
    unacked: CommandLine, written: Written, lines: list[dict[str, JSON]], verdict: str, code: int
) -> None:
    done = unacked("judge", written(one=lines))
    assert (done.code, done.out.split()[:2]) == (code, [verdict, "one"])


@pytest.mark.parametrize(
    ("traces", "code"),
    [
        ({"a": GOOD, "b": CUT}, 3),
        ({"a": CUT, "b": CRASHED}, 4),
        ({"a": CRASHED, "b": LEFT}, 4),
        ({"a": UNSAFE, "b": GOOD}, 1),
    ],
)
def test_several_traces_exit_by_the_gravest(
    unacked: CommandLine, written: Written, traces: dict[str, list[dict[str, JSON]]], code: int
) -> None:
    assert unacked("judge", written(**traces)).code == code


def test_a_refused_call_is_explained(unacked: CommandLine, written: Written) -> None:
    done = unacked("judge", written(one=UNSAFE))
    assert "UNSAFE second-create in thread effect at event #2: create_record from state 'unknown'" in done.out


def test_json_is_one_object_a_trace(unacked: CommandLine, written: Written) -> None:
    done = unacked("judge", written(a=UNSAFE, b=GOOD), "--json")
    first, second = (json.loads(line) for line in done.out.splitlines())
    assert sorted(first) == ["event", "explanation", "graph", "member", "trace", "verdict", "violation"]
    told = {key: first[key] for key in ("trace", "graph", "verdict", "violation", "event")}
    assert told == {
        "trace": "a",
        "graph": "create-outcome-unknown",
        "verdict": "UNSAFE",
        "violation": "second-create",
        "event": 2,
    }
    assert second == {
        "trace": "b",
        "graph": "create-outcome-unknown",
        "verdict": "PASS",
        "violation": None,
        "event": None,
        "member": None,
        "explanation": None,
    }


def test_a_verdict_without_a_forbidden_call_has_an_explanation_and_no_violation(
    unacked: CommandLine, written: Written
) -> None:
    told = unacked("judge", written(one=LEFT), "--json").json
    assert (told["verdict"], told["violation"], told["event"]) == ("FAIL", None, 2)
    assert told["explanation"].startswith("FAIL open_obligation in thread effect at event #2: end of the trial")


def test_the_graph_may_be_named_where_the_trace_names_none(unacked: CommandLine, written: Written) -> None:
    lines = [{"type": "begin"}, *GOOD[1:]]
    assert unacked("judge", written(one=lines), "--graph", "create-outcome-unknown").code == 0


@pytest.mark.parametrize(
    ("lines", "arguments", "told"),
    [
        ([{"type": "begin"}, *GOOD[1:]], (), "no graph is named"),
        (
            [{"type": "begin"}, *GOOD[1:]],
            ("--graph", "create-outcome-unknwon"),
            "did you mean 'create-outcome-unknown'?",
        ),
        ([{**GOOD[0], "grpah": "x"}, *GOOD[1:]], (), "grpah"),
        ([*GOOD[:2], {"type": "result", "call": "e9", "category": "ok"}], (), "e9"),
        ([*GOOD[:2], {"type": "result", "call": "e0", "category": "okay"}], (), "okay"),
    ],
)
def test_a_trace_that_makes_no_sense_is_refused_with_its_place(
    unacked: CommandLine, written: Written, lines: list[dict[str, JSON]], arguments: tuple[str, ...], told: str
) -> None:
    done = unacked("judge", written(one=lines), *arguments)
    assert (done.code, done.out) == (2, "")
    assert "trace.jsonl" in done.err
    assert told in done.err


@pytest.mark.parametrize("text", ["", "\n", "not json\n", "[]\n", '{"type":"call"', '{"type":"end","type":"end"}\n'])
def test_a_file_that_is_no_trace_is_refused(unacked: CommandLine, tmp_path: Path, text: str) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(text)
    done = unacked("judge", path)
    assert (done.code, done.out) == (2, "")
    assert "trace.jsonl" in done.err


def test_a_file_that_is_not_there_is_refused(unacked: CommandLine) -> None:
    done = unacked("judge", "missing.jsonl")
    assert done.code == 2
    assert "missing.jsonl" in done.err


def test_hostile_names_in_a_trace_move_no_terminal(unacked: CommandLine, written: Written) -> None:
    lines = trace(("create\x1b[2J", {"\x9b": "\x07"}, None))
    done = unacked("judge", written(**{"one\x1b[31m": lines}))
    assert done.code == 1
    assert [character for character in "\x1b\x9b\x07" if character in done.out] == []


def test_a_refusal_says_how_to_judge_this_trace_alone(unacked: CommandLine, written: Written) -> None:
    path = written(good=GOOD, bad=UNSAFE)
    done = unacked("judge", path)
    assert f"  reproduce: unacked judge {path} --trace bad" in done.out.splitlines()


def test_one_trace_of_a_file_can_be_judged_alone(unacked: CommandLine, written: Written) -> None:
    done = unacked("judge", written(good=GOOD, bad=UNSAFE), "--trace", "good")
    assert (done.code, done.out) == (0, "PASS         good\n")


def test_a_trace_that_the_file_does_not_hold_is_told(unacked: CommandLine, written: Written) -> None:
    done = unacked("judge", written(good=GOOD), "--trace", "bda")
    assert done.code == 2
    assert "holds no trace 'bda'" in done.err


def test_the_trace_of_a_team_in_the_docs_is_judged_as_they_say(unacked: CommandLine, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "trace.md").read_text(encoding="utf-8")
    trace = tmp_path / "team.jsonl"
    trace.write_text(page.split("## Several agents")[1].split("```json\n")[1].split("```")[0], encoding="utf-8")
    told = unacked("judge", trace, "--json").json
    assert (told["verdict"], told["violation"], told["member"]) == ("UNSAFE", "second-create", "maker")
