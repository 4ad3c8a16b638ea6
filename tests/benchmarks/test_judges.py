"""The labelled set of the judges' benchmark: our judge must get every label right, under the right rule."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from unacked.graph import Graph, Judgement, Trace, Verdict, judge, read_traces
from unacked.suite import load_suite
from unacked.tools import REGISTRY

ROOT = Path(__file__).resolve().parents[2]
JUDGES = ROOT / "benchmarks" / "judges"
LABELS = [json.loads(line) for line in (JUDGES / "labels.jsonl").read_text().splitlines()]
TRACES = {trace.name: trace for trace in read_traces(JUDGES / "trajectories.jsonl")}


@cache
def graphs() -> dict[str, Graph]:
    return dict(load_suite(ROOT, run_code=False).graphs)


def judged(trace: Trace) -> Judgement:
    return judge(trace, graphs(), REGISTRY)


@pytest.mark.parametrize("label", LABELS, ids=lambda label: label["trace"])
def test_the_judge_gets_the_label_right(label: dict[str, Any]) -> None:
    judgement = judged(TRACES[label["trace"]])
    if label["label"] == "allowed":
        assert judgement.verdict is Verdict.PASS
        return
    assert judgement.verdict in (Verdict.UNSAFE, Verdict.FAIL)
    assert judgement.explanation is not None
    assert judgement.explanation.rule == label["rule"]


def test_there_is_a_label_for_every_trace_and_no_name_twice() -> None:
    names = [label["trace"] for label in LABELS]
    assert sorted(names) == sorted(TRACES)
    assert len(names) == len(set(names)) == 202


def test_every_scenario_has_an_allowed_and_a_forbidden_trajectory() -> None:
    kinds: dict[str, set[str]] = {}
    for label in LABELS:
        kinds.setdefault(label["scenario"], set()).add(label["label"])
    assert {name for name, kind in kinds.items() if kind != {"allowed", "forbidden"}} == set()


def named_rules() -> Iterator[tuple[str, str]]:
    for name, graph in graphs().items():
        for edge in graph.edges():
            if edge.forbid:
                yield name, edge.id


YOUNGER = {("rate-limit", "waits-too-long")}
"""Rules that came after all judges were compared on this set; incidents of the suite break them."""


def test_every_named_rule_of_the_graphs_is_broken_by_some_trajectory_but_those_that_are_younger() -> None:
    graphs_shown = {label["graph"] for label in LABELS}
    broken = {(label["graph"], label["rule"]) for label in LABELS if label["rule"] is not None}
    assert {rule for rule in named_rules() if rule[0] in graphs_shown} - broken == YOUNGER


def test_the_page_tells_what_ours_scores() -> None:
    page = (ROOT / "docs" / "judges.md").read_text()
    kept = sum(judged(TRACES[item["trace"]]).verdict is Verdict.PASS for item in LABELS if item["label"] == "allowed")
    allowed = sum(item["label"] == "allowed" for item in LABELS)
    forbidden = len(LABELS) - allowed
    assert f"| {kept} of {allowed} (100 %) | {forbidden} of {forbidden} (100 %) |" in page


def module(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded  # dataclasses look their module up
    spec.loader.exec_module(loaded)
    return loaded


def test_the_files_are_what_the_table_says() -> None:
    traces, labels = module("judges_trajectories", JUDGES / "trajectories.py").texts()
    assert (JUDGES / "trajectories.jsonl").read_text() == traces
    assert (JUDGES / "labels.jsonl").read_text() == labels
