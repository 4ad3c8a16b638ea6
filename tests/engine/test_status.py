from __future__ import annotations

from pathlib import Path

import pytest
from tests.engine.conftest import SMALL
from tests.suites import CommandLine, SuiteFolder, finished_run

from unacked.canonical import loads
from unacked.engine import Outcome, RunFolder, calls, run_log, run_status
from unacked.errors import SpecificationError


def test_a_finished_run_in_numbers(small: RunFolder) -> None:
    status = run_status(small)
    assert (status.stage, status.trials, dict(status.states)) == ("finished", 8, {"SUCCEEDED": 8})
    assert sum(status.verdicts.values()) == 8
    assert dict(status.verdicts) == {
        name: count for name, count in small.read_json(small.summary)["verdicts"].items() if count
    }
    assert (status.metrics.attempts, status.metrics.recoveries, status.dead, status.left_s) == (8, 0, [], None)


def test_a_run_that_is_at_work_is_seen_to_be_and_so_is_one_that_was_interrupted(little: Path, out: Path) -> None:
    seen: list[str] = []

    def told(outcome: Outcome) -> None:
        status = run_status(RunFolder(out / "run"))
        seen.append(status.stage)
        if outcome.line["index"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        finished_run(little, out, told=told, **SMALL)
    assert seen == ["at_work"] * 3
    status = run_status(RunFolder(out / "run"))
    assert (status.stage, status.states) == ("interrupted", {"PENDING": 5, "SUCCEEDED": 3})
    assert sum(status.verdicts.values()) == 3
    finished_run(little, out, **SMALL)
    assert run_status(RunFolder(out / "run")).states == {"SUCCEEDED": 8}


def test_a_run_that_was_copied_without_its_journal_still_has_a_status(little: Path, out: Path) -> None:
    folder, _ = finished_run(little, out, ("C01",), agents=("careful",))
    folder.journal.unlink()
    status = run_status(folder)
    assert (status.stage, status.states, status.verdicts) == ("finished", {"SUCCEEDED": 1}, {"PASS": 1})


def test_the_log_tells_of_every_trial_in_order(small: RunFolder) -> None:
    kinds = [(entry.task, entry.kind) for entry in run_log(small, "E01.careful.1")]
    assert kinds == [("E01.careful.1", "start"), ("E01.careful.1", "succeeded")]
    (entry,) = [entry for entry in run_log(small, "E01.careful.1") if entry.kind == "succeeded"]
    assert entry.detail["verdict"] == "PASS"


def test_every_input_and_output_of_a_trial_is_found_by_the_names_of_run_and_trial(small: RunFolder) -> None:
    beginning, steps = calls(small, "E01.careful.1")
    assert beginning == {"case": "E01", "agent": "careful", "repeat": 1}
    assert [(call.operation, call.category) for call in steps][:2] == [
        ("create_record", "outcome_unknown"),
        ("lookup_by_request_id", "ok"),
    ]
    assert steps[0].output is not None
    assert steps[0].output["category"] == "outcome_unknown"
    assert steps[0].ended_s is not None


def test_a_trial_that_is_under_way_shows_its_calls_so_far(little: Path, out: Path) -> None:
    folder, _ = finished_run(little, out, ("E01",), agents=("careful",))
    path = folder.events(0, "E01.careful.1")
    lines = path.read_bytes().splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if b'"event":"agent_next_call"' in line)
    path.write_bytes(b"".join(lines[: place + 1]) + lines[place + 1][:20])
    _, steps = calls(folder, "E01.careful.1")
    assert [(call.ended_s, call.output) for call in steps] == [(None, None)]


def test_a_trial_that_is_not_there_is_told_with_the_nearest_name(small: RunFolder) -> None:
    with pytest.raises(SpecificationError, match=r"no trial 'E01.carefull.1' was begun\n    hint: did you mean 'E01"):
        calls(small, "E01.carefull.1")


def test_status_and_logs_on_the_command_line(suite: SuiteFolder, unacked: CommandLine, tmp_path: Path) -> None:
    suite.one_side()
    words = ["run", "--suite", suite.path, "--agent", "careful", "--out", tmp_path, "--run-id", "r"]
    assert unacked(*words, "--priority", "careful=2", "--limit", "scripted=1", "--max-trial-s", "60").code == 0
    text = unacked("status", "r", "--out", tmp_path).out
    assert "r: finished\n" in text
    assert "trials   1: 1 succeeded\nverdicts 1 PASS\n" in text
    told = loads(unacked("status", "r", "--out", tmp_path, "--json").out)
    assert (told["stage"], told["verdicts"], told["dead"]) == ("finished", {"PASS": 1}, [])
    metrics = unacked("status", "r", "--out", tmp_path, "--prometheus").out
    assert 'unacked_trials{run="r",state="SUCCEEDED"} 1\n' in metrics
    assert 'unacked_verdicts_total{run="r",verdict="PASS"} 1\n' in metrics
    assert unacked("status", "r", "--out", tmp_path, "--prometheus", "--json").code == 2
    (trial,) = told_trials = [
        loads(line)["task"] for line in unacked("logs", "r", "--out", tmp_path, "--json").out.splitlines()
    ][:1]
    assert told_trials
    shown = unacked("logs", "r", trial, "--out", tmp_path).out
    assert "  start  attempt" in shown or "  start\n" in shown
    assert "    input  {" in shown
    assert "    output {" in shown


def test_every_mistake_in_limits_and_priorities_is_told_at_once(
    suite: SuiteFolder, unacked: CommandLine, tmp_path: Path
) -> None:
    words = ["run", "--suite", suite.path, "--agent", "careful", "--out", tmp_path]
    done = unacked(
        *words,
        *("--limit", "scripted=0", "--limit", "scriptd=3", "--limit", "scripted"),
        *("--priority", "careful=high", "--priority", "carful=1"),
    )
    assert done.code == 2
    assert "--limit: scripted=0: expected a number above 0, or one a minute" in done.err
    assert "--limit: nothing in this run is called 'scriptd'\n    hint: did you mean 'scripted'?" in done.err
    assert "--limit: 'scripted': expected NAME=N" in done.err
    assert "--priority: careful=high: expected a whole number" in done.err
    assert "--priority: nothing in this run is called 'carful'\n    hint: did you mean 'careful'?" in done.err


def test_which_run_is_to_be_retried_has_to_be_said(suite: SuiteFolder, unacked: CommandLine, tmp_path: Path) -> None:
    done = unacked("run", "--suite", suite.path, "--agent", "careful", "--out", tmp_path, "--retry-dead")
    assert (done.code, "which run is meant is not said\n    hint: name it with --run-id" in done.err) == (2, True)
