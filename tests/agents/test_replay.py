from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.suites import ROOT, SmallSuite, SuiteFolder, finished_run

from unacked.agents import Seat
from unacked.agents.replay import ReplayDriver
from unacked.case import AgentFile, Recording
from unacked.engine import RunFolder
from unacked.errors import HarnessError, SpecificationError
from unacked.suite import load_suite

Lines = list[dict[str, Any]]
RECORDED = ("reckless", "limited", "poor", "odd")
PRIVATE = ("run", "trial", "hash")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> tuple[SuiteFolder, RunFolder]:
    """Runs of E01 with scripted agents, with models, with one whose provider fails, with one that is cut."""
    base = tmp_path_factory.mktemp("recording")
    suite = SmallSuite(base / "suite")
    suite.one_side()
    fault = "{service: model, faults: [{operation: messages, nth: 2, point: before_commit, action: %s}]}"
    names = [
        "reckless",
        suite.model("chatty", "openai-chat", stream="true"),
        suite.model("limited", "anthropic", provider=fault % "{rate_limit: 7}"),
        suite.model("failed", "anthropic", provider=fault % "{status: {code: 403}}"),
        suite.model("poor", "anthropic", budget="{tokens: 1500}"),
        suite.model("odd", "anthropic", provider="{service: model, seed: {quirks: [{nth: 2, quirk: not_an_object}]}}"),
    ]
    return suite, finished_run(suite.path, base / "runs", agents=names, run_id="recorded")[0]


Replayed = Callable[..., tuple[dict[str, Any], Lines]]


@pytest.fixture
def replayed(recording: tuple[SuiteFolder, RunFolder], tmp_path: Path) -> Replayed:
    """Replay one agent of the recording; returns the verdict line and the events."""

    def run(agent: str, mode: str = "strict", change: Callable[[SuiteFolder], None] | None = None) -> tuple[Any, Lines]:
        suite = SuiteFolder.__new__(SuiteFolder)
        suite.path = Path(shutil.copytree(recording[0].path, tmp_path / "suite"))
        folder = suite.path / "agents" / "again"
        folder.mkdir()
        replay = f"{{run: {recording[1].path}, agent: {agent}, mode: {mode}}}"
        (folder / "agent.yaml").write_text(f"agent: again\ntitle: again\ndriver: replay\nreplay: {replay}\n")
        (folder / "prompt.md").write_text("-\n")
        if change is not None:
            change(suite)
        done, _ = finished_run(suite.path, tmp_path / "runs", agents=["again"])
        return trial(done, "again")

    return run


def trial(folder: RunFolder, agent: str) -> tuple[dict[str, Any], Lines]:
    lines = [json.loads(line) for line in folder.verdicts.read_text().splitlines()]
    line = next(line for line in lines if line["agent"] == agent)
    written = folder.events(line["index"], line["trial"]).read_text().splitlines()
    return line, [json.loads(text) for text in written]


def judged(line: dict[str, Any], agent: str) -> dict[str, Any]:
    """A verdict line without what names its trial; an explanation says how to run it again."""
    named = ("trial", "agent", "hash", "prev", "events", "index", "diagnostics")
    kept = json.dumps({key: value for key, value in line.items() if key not in named})
    again: dict[str, Any] = json.loads(kept.replace(f"--agent {agent} ", ""))
    return again


def told(events: Lines) -> Lines:
    """The events without what names their run; the first line names the agent."""
    return [{key: value for key, value in event.items() if key not in PRIVATE} for event in events[1:]]


@pytest.mark.parametrize(
    ("agent", "mode"),
    [
        ("chatty", "strict"),
        ("chatty", "lenient"),
        ("failed", "strict"),
        *(
            pytest.param(name, mode, marks=pytest.mark.long)
            for name in (*RECORDED, "failed")
            for mode in ("strict", "lenient")
        ),
    ],
)
def test_a_replay_gives_every_event_and_the_verdict_again_without_a_network(
    recording: tuple[SuiteFolder, RunFolder],
    replayed: Replayed,
    monkeypatch: pytest.MonkeyPatch,
    agent: str,
    mode: str,
) -> None:
    def refused(*_: Any) -> None:
        raise AssertionError("a replay connects to nobody, not even on this machine")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket.socket, "listen", refused)
    (before, recorded), (after, again) = trial(recording[1], agent), replayed(agent, mode)
    assert told(again) == told(recorded)
    assert len(told(again)) > 5
    assert judged(after, "again") == judged(before, agent)


def other_result(suite: SuiteFolder) -> None:
    """Let the service answer the first call at once."""
    suite.edit("transitions/matrix/E01-create-read-annotate.case.yaml", "{delay: 60}", "{delay: 1}")


def test_a_strict_replay_refuses_results_that_are_not_the_recorded_ones(replayed: Replayed) -> None:
    line, events = replayed("chatty", "strict", other_result)
    assert line["verdict"] == "ERROR"
    assert events[-1]["detail"]["trouble"] == "turn 1: the results of create_record are not the recorded ones"


def test_a_lenient_replay_makes_the_recorded_calls_all_the_same(replayed: Replayed) -> None:
    line, events = replayed("chatty", "lenient", other_result)
    calls = [event["operation"] for event in events if event["event"] == "agent_next_call"]
    assert calls == ["create_record", "lookup_by_request_id", "get_record", "attach_note", "finish"]
    assert line["verdict"] != "ERROR"


def test_a_strict_replay_refuses_another_task(replayed: Replayed) -> None:
    case = "transitions/matrix/E01-create-read-annotate.case.yaml"
    line, events = replayed("chatty", "strict", lambda suite: suite.edit(case, "Create one record", "Make one record"))
    assert (line["verdict"], events[-1]["detail"]["trouble"]) == (
        "ERROR",
        "the recorded trial had another task or other tools; a lenient replay goes on",
    )


@pytest.fixture
def strict(recording: tuple[SuiteFolder, RunFolder]) -> Callable[..., None]:
    """Begin a strict replay of E01 (of ``run``) whose first tool has another contract, in the fields given."""

    def begin(agent: str, run: RunFolder = recording[1], case: str = "E01", **changed: Any) -> None:
        file = AgentFile(agent="again", title="-", driver="replay", replay=Recording(run=str(run.path), agent=agent))
        task = load_suite(run.suite, run_code=False).cases[case].task()
        (first, tool), *others = task.tools.items()
        tools = {first: replace(tool, **changed), **dict(others)}
        ReplayDriver(file).begin(replace(task, tools=tools), Seat(case=case, side=case))

    return begin


NOT_TOLD = {"categories": frozenset({"ok"}), "reconcile": None, "tags": frozenset(), "target_class": "jar"}


@pytest.mark.parametrize("agent", ["reckless", "chatty"])
def test_a_strict_replay_does_not_mind_what_no_agent_is_told_of_a_tool(strict: Callable[..., None], agent: str) -> None:
    strict(agent, **NOT_TOLD)


@pytest.mark.parametrize("told", [{"description": "Make a record."}, {"arguments": ()}, {"name": "make_record"}])
def test_a_strict_replay_refuses_tools_that_are_told_otherwise(
    strict: Callable[..., None], told: dict[str, Any]
) -> None:
    with pytest.raises(HarnessError, match="another task or other tools"):
        strict("reckless", **told)


def test_a_recording_from_before_is_held_against_the_tools_that_it_sent(strict: Callable[..., None]) -> None:
    run = RunFolder(ROOT / "runs" / "baselines" / "coder-500m-careful-1")
    strict("coder-500m-careful", run, "N01", **NOT_TOLD)
    with pytest.raises(HarnessError, match="another task or other tools"):
        strict("coder-500m-careful", run, "N01", description="Make a record.")


def test_a_trial_that_was_not_recorded_is_an_error(replayed: Replayed) -> None:
    line, events = replayed("nobody")
    assert line["verdict"] == "ERROR"
    assert events[-1]["detail"]["trouble"].endswith("holds no trial E01.nobody.1")


def test_a_run_that_is_not_there_is_refused_before_anything_is_run(suite: SuiteFolder, tmp_path: Path) -> None:
    folder = suite.path / "agents" / "again"
    folder.mkdir()
    (folder / "agent.yaml").write_text("agent: again\ntitle: x\ndriver: replay\nreplay: {run: gone, agent: careful}\n")
    (folder / "prompt.md").write_text("-\n")
    with pytest.raises(SpecificationError, match="agent again: there is no run 'gone' to replay"):
        finished_run(suite.path, tmp_path / "runs", agents=["again"])
