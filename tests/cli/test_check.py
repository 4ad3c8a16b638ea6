from __future__ import annotations

from pathlib import Path

import pytest
from tests.suites import CommandLine, SuiteFolder, finished_run

from unacked.engine import RunFolder

E01 = "transitions/matrix/E01-create-read-annotate.case.yaml"
GRAPH = "transitions/create-outcome-unknown.yaml"


@pytest.fixture
def reckless(suite: SuiteFolder, tmp_path: Path) -> RunFolder:
    """A run in which the reckless agent was caught twice."""
    suite.keep("E01")
    return finished_run(suite.path, tmp_path / "runs", agents=("reckless",))[0]


def test_a_stored_run_gets_the_same_verdicts(unacked: CommandLine, controls: RunFolder) -> None:
    done = unacked("check", controls.path)
    assert (done.code, done.out) == (0, "23 trials judged again: 0 verdicts differ\n")


def test_a_stored_run_exits_as_the_run_itself_did(unacked: CommandLine, reckless: RunFolder) -> None:
    done = unacked("check", reckless.path)
    assert (done.code, done.out) == (1, "2 trials judged again: 0 verdicts differ\n")


def test_today_s_graph_is_asked_where_the_suite_is_named(
    unacked: CommandLine, reckless: RunFolder, suite: SuiteFolder
) -> None:
    suite.edit(GRAPH, "- id: second-create\n", "- id: twice\n")
    done = unacked("check", reckless.path, "--suite", suite.path)
    assert done.code == 1
    rest = "surplus-effect surplus-effect"
    assert done.out.splitlines()[0] == (
        f"E01.reckless.1: stored UNSAFE second-create {rest}, today UNSAFE twice {rest}"
    )
    explained = [line for line in done.out.splitlines() if line.startswith("    UNSAFE twice in thread")]
    assert len(explained) == 2
    again = f"      reproduce: unacked run E01 --agent reckless --seed 0 --repeat 1 --suite {suite.path}"
    assert again in done.out.splitlines()
    assert done.out.splitlines()[-1] == "2 trials judged again: 2 verdicts differ"


def test_the_same_verdict_for_another_reason_is_told_as_that(
    unacked: CommandLine, reckless: RunFolder, suite: SuiteFolder
) -> None:
    suite.edit(GRAPH, "why: a second create without the same token,", "why: without the same token,")
    done = unacked("check", reckless.path, "--suite", suite.path)
    assert done.code == 1
    assert done.out.splitlines()[0].endswith(" (explained otherwise)")


def test_a_suite_without_the_agents_of_the_run_can_judge_it(
    unacked: CommandLine, controls: RunFolder, suite: SuiteFolder
) -> None:
    for path in (suite.path / "agents").glob("*/agent.yaml"):
        path.unlink()
    assert unacked("check", controls.path, "--suite", suite.path).code == 0


def test_checking_runs_none_of_the_suite_s_python(unacked: CommandLine, copied_run: RunFolder) -> None:
    flag = copied_run.path / "was-run"
    for path in copied_run.suite.rglob("*.py"):
        path.write_text(f"open({str(flag)!r}, 'w').close()\n")
    assert unacked("check", copied_run.path).code == 0
    assert not flag.exists()


def test_a_run_that_is_not_finished_never_passes(unacked: CommandLine, suite: SuiteFolder, tmp_path: Path) -> None:
    def interrupt(_outcome: object) -> None:
        raise KeyboardInterrupt

    suite.keep("E01")
    with pytest.raises(KeyboardInterrupt):
        finished_run(suite.path, tmp_path / "runs", agents=("careful",), told=interrupt)
    done = unacked("check", tmp_path / "runs/run")
    assert (done.code, done.out) == (3, "1 trials judged again: 0 verdicts differ\n")


def test_a_run_is_checkable_after_an_expected_failure_has_ended(unacked: CommandLine, copied_run: RunFolder) -> None:
    path = copied_run.suite / E01
    path.write_text(f"{path.read_text()}\nxfail: {{agent: careful, reason: x, owner: y, until: 2020-01-31}}\n")
    assert unacked("check", copied_run.path).code == 0


def test_a_damaged_record_is_an_error_with_its_place(unacked: CommandLine, copied_run: RunFolder) -> None:
    path = copied_run.path / "events/000/E01.careful.1.jsonl"
    path.write_text(path.read_text().replace("Pump 7", "Pump 8"))
    done = unacked("check", copied_run.path)
    assert done.code == 4
    assert "E01.careful.1.jsonl:1: the hash does not match" in done.err


def test_a_case_that_is_gone_is_told(unacked: CommandLine, reckless: RunFolder, suite: SuiteFolder) -> None:
    suite.edit(E01, "case: E01", "case: E02")
    done = unacked("check", reckless.path, "--suite", suite.path)
    assert done.code == 4
    assert done.err.endswith("no longer holds E01\n")


def test_the_trail_of_a_run_holds(unacked: CommandLine, controls: RunFolder) -> None:
    done = unacked("audit", "verify", controls.path)
    assert (done.code, done.out) == (0, f"{controls.path}: 23 trials, every hash holds\n")


def test_a_changed_byte_fails_and_the_line_is_named(unacked: CommandLine, copied_run: RunFolder) -> None:
    path = copied_run.path / "events/000/E01.careful.1.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    lines[6] = lines[6].replace("e", "f", 1)
    path.write_text("".join(lines))
    done = unacked("audit", "verify", copied_run.path)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"{path}:7: ")


def test_a_run_that_is_not_sealed_does_not_verify(unacked: CommandLine, copied_run: RunFolder) -> None:
    manifest = copied_run.manifest()
    copied_run.write_manifest({**manifest, "seal": None})
    done = unacked("audit", "verify", copied_run.path)
    assert done.code == 1
    assert "the run is not sealed" in done.err
