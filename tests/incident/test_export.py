"""Trials of ours written for others, and read again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.suites import CommandLine, SuiteFolder, finished_run

from unacked.engine import RunFolder, stored_paths
from unacked.graph import Call, judge, read_traces
from unacked.incident import neutral_lines, trial_trace
from unacked.suite import Suite, load_suite
from unacked.tools import REGISTRY


@pytest.fixture(scope="module")
def teams(tmp_path_factory: pytest.TempPathFactory) -> tuple[Suite, RunFolder, dict[str, Any]]:
    """The cases with a team, run by the careful and the reckless agent."""
    base = tmp_path_factory.mktemp("teams")
    suite = SuiteFolder(base / "suite")
    suite.keep("M0")
    folder, _ = finished_run(suite.path, base / "runs", agents=["careful", "reckless"])
    lines = map(json.loads, folder.verdicts.read_text().splitlines())
    return load_suite(folder.suite), folder, {line["trial"]: line for line in lines if "trial" in line}


def test_a_trial_of_a_team_is_judged_alike_as_a_neutral_trace(
    teams: tuple[Suite, RunFolder, dict[str, Any]],
) -> None:
    suite, folder, verdicts = teams
    judged = {}
    for stored in stored_paths(folder, suite, set(verdicts)):
        text = neutral_lines(trial_trace(stored.brief, stored.history, stored.trial))
        (trace,) = read_traces(text.splitlines())
        judgement = judge(trace, suite.graphs, REGISTRY)
        told = judgement.explanation
        judged[stored.trial] = (judgement.verdict, told.rule if told else None, told.member if told else "")
    expected = {}
    for trial, line in verdicts.items():
        path = line["claims"]["path"]
        first = path["findings"][0] if path["findings"] else {"rule": None}
        expected[trial] = (path["verdict"], first["rule"], first.get("member", ""))
    assert judged == expected
    assert len({verdict for verdict, _, _ in judged.values()}) > 1


@pytest.mark.parametrize("agent", ["careful", "reckless"])
def test_a_trial_of_a_team_goes_out_as_spans_and_comes_back_with_its_members(
    teams: tuple[Suite, RunFolder, dict[str, Any]], unacked: CommandLine, tmp_path: Path, agent: str
) -> None:
    _, folder, verdicts = teams
    trial = f"M01.{agent}.1"
    spans, back, at_once = tmp_path / "spans.json", tmp_path / "back.jsonl", tmp_path / "at-once.jsonl"
    assert unacked("incident", "export", folder.path, trial, "--to", spans).code == 0
    assert unacked("incident", "import", spans, "--to", back).code == 0
    assert unacked("incident", "export", folder.path, trial, "--format", "neutral", "--to", at_once).code == 0
    for path in (back, at_once):
        assert {event.agent for event in read_traces(path)[0].events if isinstance(event, Call)} == {"maker", "noter"}
        told = unacked("judge", path, "--json").json
        assert (told["verdict"], told["member"] or "") == (
            verdicts[trial]["claims"]["path"]["verdict"],
            blamed(verdicts[trial]),
        )


def blamed(line: dict[str, Any]) -> str:
    return next((finding.get("member", "") for finding in line["claims"]["path"]["findings"]), "")


def test_no_case_is_made_of_a_trace_of_several_agents(
    teams: tuple[Suite, RunFolder, dict[str, Any]], unacked: CommandLine, tmp_path: Path
) -> None:
    trace = tmp_path / "team.jsonl"
    assert (
        unacked("incident", "export", teams[1].path, "M01.reckless.1", "--format", "neutral", "--to", trace).code == 0
    )
    done = unacked("incident", "new", trace, "--to", tmp_path / "x.case.yaml")
    assert done.code == 2
    assert "is of several agents, and only a trace of one can be made a case" in done.err
