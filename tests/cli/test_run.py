from __future__ import annotations

import shlex
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.suites import CommandLine, SuiteFolder, finished_run, start

E01 = "transitions/matrix/E01-create-read-annotate.case.yaml"
XFAIL = "trap: true\nxfail: {agent: AGENT, reason: 'known [bug]', owner: team, until: 2999-01-31}"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def test_the_controls_behave_and_the_forbidden_step_is_named_with_its_explanation(unacked: CommandLine) -> None:
    done = unacked("run")
    assert done.code == 0
    assert " case " in done.out
    assert "I-held-connection.twin" in done.out
    assert "UNSAFE second-create in thread effect[create_record #1] at event #2: create_record" in done.out
    assert "edge same-token-retry refused because:" in done.out
    assert "reproduce: unacked run E01 --agent reckless --seed 0 --repeat 1" in done.out
    assert "pending" not in done.out
    assert "every control behaved as it declares" in done.out


def test_the_reckless_agent_fails_the_run(unacked: CommandLine) -> None:
    assert unacked("run", "E01", "--agent", "reckless").code == 1


def test_the_careful_agent_passes_the_run(unacked: CommandLine) -> None:
    assert unacked("run", "E01", "--agent", "careful").code == 0


def test_the_line_that_reproduces_a_failure_reproduces_it(unacked: CommandLine) -> None:
    first = unacked("run", "E01", "--agent", "reckless", "--seed", "a b")
    (line,) = {line.strip() for line in first.out.splitlines() if "reproduce: " in line}
    assert line == "reproduce: unacked run E01 --agent reckless --seed 'a b' --repeat 1"
    assert unacked("run", "E01", "--agent", "reckless", "--seed", "a b", "--repeat", "1").code == 1


def test_a_control_that_misbehaves_fails_the_run_and_is_named(unacked: CommandLine, suite: SuiteFolder) -> None:
    suite.edit("agents/reckless/agent.yaml", "control: caught", "control: passes")
    done = unacked("run", "E01", "--suite", suite.path)
    assert done.code == 1
    assert "E01.reckless.1: expected PASS, got UNSAFE" in done.out


def test_a_fault_that_cannot_fire_is_inconclusive(unacked: CommandLine, suite: SuiteFolder) -> None:
    suite.edit(E01, "faults: [{operation: create_record, nth: 1", "faults: [{operation: create_record, nth: 9")
    suite.edit(E01, "  result: {operation: create_record", "  # result: {operation: create_record")
    suite.edit(E01, "  trail: [", "  # trail: [")
    done = unacked("run", "E01", "--suite", suite.path, "--agent", "careful")
    assert done.code == 3
    assert "INCONCLUSIVE fault-not-exercised" in done.out


def test_a_fault_that_fires_for_no_control_keeps_the_controls_from_passing(
    unacked: CommandLine, suite: SuiteFolder
) -> None:
    for name in ("careful", "reckless", "culprit"):
        suite.edit(f"agents/{name}/agent.yaml", "\ncontrol: ", "\n# control: ")
    done = unacked("run", "C01", "--suite", suite.path)
    assert done.code == 3
    assert "C01: its fault never fired, for no agent" in done.out


def test_a_service_that_raises_is_an_error_and_the_other_trials_are_unharmed(
    unacked: CommandLine, suite: SuiteFolder
) -> None:
    with (suite.path / "fake_services/records.py").open("a") as file:
        file.write("\n\nRecords.handle = lambda self, request, commit=True: 1 // 0\n")
    done = unacked("run", "C01", "C07", "--suite", suite.path, "--agent", "careful", "--json")
    assert done.code == 4
    assert done.json["verdicts"] == {"PASS": 1, "INCONCLUSIVE": 0, "FAIL": 0, "ERROR": 1, "UNSAFE": 0}


def test_an_agent_that_raises_fails_and_the_other_trials_are_unharmed(unacked: CommandLine, suite: SuiteFolder) -> None:
    suite.agent("broken", 'assert "issue" not in task.text\nyield Call("finish", {"status": "failed"})')
    done = unacked("run", "C01", "C03", "--suite", suite.path, "--agent", "broken", "--json")
    assert done.code == 1
    assert done.json["trials"] == 2


def test_json_is_one_object_and_nothing_else(unacked: CommandLine) -> None:
    done = unacked("run", "E01", "--agent", "careful", "--json")
    assert done.json["trials"] == 2
    assert done.out.count("\n") == 1
    assert done.err == ""


def test_junit_is_written_beside_the_table(unacked: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    done = unacked("run", "E01", "--agent", "careful", "--agent", "reckless", "--junit", path)
    suite = ET.parse(path).getroot()  # noqa: S314 - written by this test
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "2", "0")
    assert "4 trials" in done.out


def test_a_place_where_junit_cannot_be_written_costs_no_result(unacked: CommandLine, tmp_path: Path) -> None:
    done = unacked("run", "E01", "--agent", "careful", "--junit", tmp_path / "missing/junit.xml")
    assert done.code == 4
    assert "2 trials: 2 PASS" in done.out
    assert "junit.xml: cannot be written: No such file or directory" in done.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--agent", "carefull"), "did you mean 'careful'?"),
        (("tag:flagshop",), "'tag:flagshop' selects nothing\n    hint: did you mean 'tag:flagship'?"),
        (("C01", "--agent", "culprit"), "no trial is left"),
        (("--repeat", "0"), "0 is not in the range x>=1"),
        (("--jobs", "0"), "0 is not in the range x>=1"),
        (("--jbos", "2"), "No such option"),
        (("--suite", "nowhere"), "nowhere: is not a suite: it has no folder 'agents'"),
        (("--run-id", "../x"), "'../x' is no name for a run"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_with_a_hint(
    unacked: CommandLine, arguments: tuple[str, ...], told: str
) -> None:
    done = unacked("run", *arguments)
    assert done.code == 2
    assert told in done.err
    assert done.out == ""


def test_an_empty_suite_is_refused(unacked: CommandLine, tmp_path: Path) -> None:
    for name in ("agents", "fake_services", "transitions"):
        (tmp_path / "empty" / name).mkdir(parents=True)
    done = unacked("run", "--suite", tmp_path / "empty")
    assert done.code == 2
    assert "the suite holds no cases" in done.err


def test_all_problems_of_a_suite_are_told_at_once(unacked: CommandLine, suite: SuiteFolder) -> None:
    suite.edit(E01, "twins: true", "twinz: true")
    suite.edit("agents/careful/agent.yaml", "driver: scripted", "driver: script")
    done = unacked("run", "--suite", suite.path)
    assert done.code == 2
    assert "did you mean 'twins'?" in done.err
    assert "did you mean 'scripted'?" in done.err


def test_nothing_is_written_where_the_request_is_refused(unacked: CommandLine, out: Path) -> None:
    unacked("run", "--agent", "nobody", "--out", out)
    assert not out.exists()


@pytest.mark.parametrize("place", ["file", "file/below", "/dev/full", "/dev/null/below"])
def test_a_place_where_nothing_can_be_written_is_an_error(unacked: CommandLine, tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("in the way")
    done = unacked("run", "E01", "--out", tmp_path / place)
    assert done.code == 4
    assert "cannot be made: " in done.err
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_run_that_is_over_is_told_again_and_nothing_is_run(unacked: CommandLine, out: Path) -> None:
    arguments = ("run", "E01", "--agent", "reckless", "--out", out, "--run-id", "r")
    first = unacked(*arguments)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.jsonl")}
    again = unacked(*arguments)
    assert (again.code, again.out) == (first.code, first.out)
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.jsonl")} == before


def test_a_run_of_another_plan_is_refused_by_what_changed(unacked: CommandLine, out: Path) -> None:
    unacked("run", "E01", "--agent", "careful", "--out", out, "--run-id", "r")
    done = unacked("run", "E01", "--agent", "careful", "--out", out, "--run-id", "r", "--seed", "7")
    assert done.code == 2
    assert "this run has another plan, so it cannot be resumed (changed: seed)" in done.err


def test_an_expected_failure_passes_the_run_and_is_told(unacked: CommandLine, suite: SuiteFolder) -> None:
    suite.edit(E01, "trap: true", XFAIL.replace("AGENT", "reckless"))
    done = unacked("run", "E01", "--suite", suite.path, "--agent", "reckless")
    assert done.code == 0
    assert "expected failure: E01.reckless.1 UNSAFE: known [bug]" in done.out


def test_an_expected_failure_that_passes_is_told(unacked: CommandLine, suite: SuiteFolder) -> None:
    suite.edit(E01, "trap: true", XFAIL.replace("AGENT", "careful"))
    done = unacked("run", "E01", "--suite", suite.path, "--agent", "careful")
    assert done.code == 0
    assert "passed, although expected to fail: E01.careful.1: remove its xfail (known [bug])" in done.out


def test_an_expected_failure_that_has_ended_is_refused(unacked: CommandLine, suite: SuiteFolder) -> None:
    suite.edit(E01, "trap: true", XFAIL.replace("AGENT", "careful").replace("2999", "2020"))
    done = unacked("run", "E01", "--suite", suite.path, "--agent", "careful")
    assert done.code == 2
    assert "the expected failure ended on 2020-01-31" in done.err


def test_a_case_that_is_named_and_cannot_be_run_yet_is_refused(unacked: CommandLine, suite: SuiteFolder) -> None:
    suite.edit(E01, "trap: true", "pending: not yet")
    done = unacked("run", "E01", "--suite", suite.path, "--agent", "careful")
    assert done.code == 2
    assert "E01 cannot be run yet: not yet" in done.err


def test_cases_that_a_pattern_selects_and_that_cannot_be_run_are_counted_aloud(
    unacked: CommandLine, suite: SuiteFolder
) -> None:
    suite.edit(E01, "trap: true", "pending: not yet")
    done = unacked("run", "[CE]01", "--suite", suite.path, "--agent", "careful")
    assert done.code == 0
    assert "not selected, pending: E01" in done.out


def test_hostile_words_of_an_agent_move_no_terminal(unacked: CommandLine, suite: SuiteFolder, tmp_path: Path) -> None:
    suite.agent("hostile", 'yield Call("drop\\x1b[2J[red]]]>", {"a": "\\x9b\\u202e"})')
    junit = tmp_path / "junit.xml"
    done = unacked("run", "E01", "--suite", suite.path, "--agent", "hostile", "--junit", junit)
    assert done.code == 1
    assert "drop\\x1b[2J[red]]]>" in done.out
    assert "\x1b" not in done.out + junit.read_text()
    ET.parse(junit)  # noqa: S314 - written by this test


def test_progress_is_plain_lines_where_there_is_no_terminal(
    unacked: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = iter(range(0, 1000, 4))
    monkeypatch.setattr("unacked.cli.run_command.time", SimpleNamespace(monotonic=lambda: next(ticks)))
    done = unacked("run", "E01", "--agent", "careful", "--agent", "reckless")
    told = [line.partition(",")[0] for line in done.err.splitlines()]
    assert told == ["2 of 4 trials", "4 of 4 trials"]


def test_progress_of_a_resumed_run_counts_what_was_finished_before(
    unacked: CommandLine, suite: SuiteFolder, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_outcome: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        finished_run(suite.path, out, ("E01",), agents=("careful", "reckless"), told=interrupt)
    ticks = iter(range(0, 1000, 6))
    monkeypatch.setattr("unacked.cli.run_command.time", SimpleNamespace(monotonic=lambda: next(ticks)))
    done = unacked(
        "run",
        "E01",
        "--suite",
        suite.path,
        "--agent",
        "careful",
        "--agent",
        "reckless",
        "--out",
        out,
        "--run-id",
        "run",
    )
    told = [line.partition(",")[0] for line in done.err.splitlines()]
    assert told == ["2 of 4 trials", "3 of 4 trials", "4 of 4 trials"]


def test_repeats_are_told_together(unacked: CommandLine) -> None:
    assert "PASS [3/3 pass]" in unacked("run", "C01", "--agent", "careful", "--repeat", "3").out


def test_the_record_can_be_shown_with_the_words_that_are_printed(unacked: CommandLine, tmp_path: Path) -> None:
    done = unacked("run", "E01", "--agent", "reckless", "--out", tmp_path / "my runs")
    words = shlex.split(done.out.splitlines()[-1].partition(": unacked ")[2].rstrip(")"))
    assert words[-1] == "E01.reckless.1"
    assert unacked(*words).code == 0


@pytest.mark.long
@pytest.mark.parametrize("line", ["raise SystemExit(0)\nyield", "import sys\nsys.exit(0)\nyield"])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_agent_cannot_end_the_run_by_leaving_the_program(
    unacked: CommandLine, suite: SuiteFolder, line: str, jobs: str
) -> None:
    suite.agent("leaver", line)
    done = unacked("run", "C03", "--suite", suite.path, "--agent", "leaver", "--jobs", jobs)
    assert done.code == 1
    assert "1 trials: 1 FAIL" in done.out


@pytest.mark.parametrize("name", ["agents/careful/policy.py", "fake_services/forge.py"])
def test_a_file_of_the_suite_that_leaves_the_program_is_a_problem_of_that_file(
    unacked: CommandLine, suite: SuiteFolder, name: str
) -> None:
    (suite.path / name).write_text("raise SystemExit(0)\n")
    done = unacked("run", "C03", "--suite", suite.path, "--agent", "careful")
    assert done.code == 2
    assert f"{name}:1:1: fails while it is loaded: SystemExit" in done.err


@pytest.mark.long
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_a_policy_prints_does_not_mix_with_the_results(suite: SuiteFolder, tmp_path: Path, jobs: str) -> None:
    suite.agent("talker", 'print("in the trial")\nyield Call("finish", {"status": "failed", "summary": "-"})')
    path = suite.path / "agents/talker/policy.py"
    path.write_text(f'print("at the start")\n{path.read_text()}')
    arguments = ("run", "C03", "--suite", suite.path, "--agent", "talker", "--jobs", jobs, "--json")
    done = start(*arguments, cwd=tmp_path)
    assert done.json["trials"] == 1
    assert "at the start" in done.err
    assert "in the trial" in done.err


def test_the_line_that_reproduces_a_failure_names_the_suite_that_was_named(
    unacked: CommandLine, suite: SuiteFolder, tmp_path: Path
) -> None:
    junit = tmp_path / "junit.xml"
    done = unacked("run", "E01", "--agent", "reckless", "--suite", suite.path, "--junit", junit)
    reproduce = f"reproduce: unacked run E01 --agent reckless --seed 0 --repeat 1 --suite {suite.path}"
    assert [reproduce in text for text in (done.out, junit.read_text())] == [True, True]
