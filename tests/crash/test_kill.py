from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.crash.conftest import Hurt, record
from tests.suites import start

from unacked.engine import RunFolder, read_verdicts, verify

DIE = "os.kill(os.getpid(), signal.SIGKILL)"


def test_a_run_that_was_killed_is_resumed_to_the_very_same_record(hurt: Hurt, tmp_path: Path) -> None:
    hurt.harm(DIE)
    assert start(*hurt.arguments, "--run-id", "r", cwd=tmp_path).code == -9
    text = (hurt.run().path / "events/000/E01.hurt.1.jsonl").read_text()
    assert '"operation":"wait"' in text, "what was done so far had left the process"
    assert start(*hurt.arguments, "--run-id", "r", cwd=tmp_path).code == 1
    assert verify(hurt.run()) == 4
    assert record(hurt.run()) == hurt.undisturbed()


@pytest.mark.long
def test_a_worker_that_was_killed_costs_its_trial_an_attempt_and_nobody_else_anything(
    hurt: Hurt, tmp_path: Path
) -> None:
    hurt.harm(DIE)
    done = start(*hurt.arguments, "--run-id", "r", "--jobs", "2", cwd=tmp_path)
    assert done.code == 1
    assert "Traceback" not in done.err
    assert [path.name for path in hurt.run().path.rglob("*.aborted-*")] == ["E01.hurt.1.aborted-1"]
    assert verify(hurt.run()) == 4
    assert record(hurt.run()) == hurt.undisturbed()


BAD = """
if "Pump 7" in task.text and not os.path.exists({flag!r}):
    yield Call("wait", {{"seconds": 1}})
    {harm}
yield Call("finish", {{"status": "failed", "summary": "-"}})
"""


def verdicts(folder: RunFolder) -> dict[str, str]:
    return {line["trial"]: line["verdict"] for line in read_verdicts(folder, folder.manifest()["run"])}


@pytest.mark.long
@pytest.mark.parametrize(
    ("harm", "jobs", "status", "told"),
    [
        (DIE, "2", "deadletter", "its process ended 3 times in the middle of it"),
        ("while True: pass", "2", "timed_out", "it took more than 2 s of real time and was broken off"),
        ("while True: pass", "1", "timed_out", "it took more than 2 s of real time and was broken off"),
    ],
)
def test_a_trial_that_cannot_be_ended_is_an_error_and_is_run_again_when_asked(
    hurt: Hurt, tmp_path: Path, harm: str, jobs: str, status: str, told: str
) -> None:
    hurt.suite.agent("hurt", BAD.format(flag=str(hurt.flag), harm=harm))
    command = (*hurt.arguments, "--run-id", "r", "--jobs", jobs, "--max-trial-s", "2")
    done = start(*command, cwd=tmp_path)
    assert f"{status}: E01.hurt.1: {told}\n" in done.out
    (line,) = [
        line for line in done.out.splitlines() if line.startswith("another chance for what could not be ended: ")
    ]
    assert line.partition(": ")[2].startswith("unacked run --run-id r --retry-dead --suite ")
    assert "Traceback" not in done.err
    first = verdicts(hurt.run())
    assert {name: verdict for name, verdict in first.items() if verdict == "ERROR"} == {
        "E01.hurt.1": "ERROR",
        "E01.twin.hurt.1": "ERROR",
    }
    assert verify(hurt.run()) == 4
    assert start("check", hurt.run().path, cwd=tmp_path).code == 1, "the record alone gives the same verdicts"
    hurt.flag.touch()
    again = start(*command, "--retry-dead", cwd=tmp_path)
    assert "to be run again: E01.hurt.1, E01.twin.hurt.1" in again.err
    assert "ERROR" not in verdicts(hurt.run()).values()
    assert verify(hurt.run()) == 4
    assert record(hurt.run()) == hurt.undisturbed()
    superseded = hurt.run().path / "verdicts.superseded-1.jsonl"
    assert superseded.read_text().count('"verdict":"ERROR"') >= 2
    assert len(hurt.run().manifest()["superseded"]) == 1


@pytest.mark.long
def test_workers_do_not_outlive_a_run_that_was_killed(hurt: Hurt, tmp_path: Path) -> None:
    hurt.harm("os.kill(os.getppid(), signal.SIGKILL)")
    # This returns only when no process is left that could write to its output.
    assert start(*hurt.arguments, "--run-id", "r", "--jobs", "2", cwd=tmp_path).code == -9
    assert start(*hurt.arguments, "--run-id", "r", cwd=tmp_path).code == 1
    assert record(hurt.run()) == hurt.undisturbed()


@pytest.mark.long
def test_a_second_process_on_the_same_run_is_refused_and_the_first_goes_on(hurt: Hurt, tmp_path: Path) -> None:
    said = tmp_path / "said"
    again = ["-m", "unacked", *hurt.arguments, "--run-id", "r"]
    hurt.harm(
        f"import subprocess, sys; open({str(said)!r}, 'w').write(repr(subprocess.run([sys.executable, *{again!r}], "
        "capture_output=True, text=True)))",
        programs=f"[{Path(sys.executable).name}]",
    )
    assert start(*hurt.arguments, "--run-id", "r", cwd=tmp_path).code == 1
    assert "returncode=4" in said.read_text()
    assert f"{hurt.run().path}: another process is at work on this run" in said.read_text().replace("\\\\", "")
    assert verify(hurt.run()) == 4
