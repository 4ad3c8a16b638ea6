from __future__ import annotations

import json
from pathlib import Path

import pytest

from unacked.contract import Registry
from unacked.graph import Graph, Trace, judge, read_traces

DATA = Path(__file__).parents[1] / "data"
EXPECTED = [json.loads(line) for line in (DATA / "traces.expected.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def traces() -> dict[str, Trace]:
    return {trace.name: trace for trace in read_traces(DATA / "traces.jsonl")}


def test_there_are_twenty_six_labelled_traces(traces: dict[str, Trace]) -> None:
    assert len(traces) == 26


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda item: item["trace"])
def test_a_labelled_trace_gets_its_verdict_and_first_violation(
    expected: dict[str, str], traces: dict[str, Trace], graphs: dict[str, Graph], registry: Registry
) -> None:
    judgement = judge(traces[expected["trace"]], graphs, registry)
    assert judgement.verdict == expected["verdict"]
    if expected["violation"] is not None:
        assert judgement.violations[0].rule == expected["violation"]
