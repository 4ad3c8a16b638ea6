from __future__ import annotations

import sys
from pathlib import Path

from tests.crash.conftest import Hurt, record
from tests.suites import start

from unacked.engine import verify

DIE = "os.kill(os.getpid(), signal.SIGKILL)"


def test_a_run_that_was_killed_is_resumed_to_the_very_same_record(hurt: Hurt, tmp_path: Path) -> None:
    hurt.harm(DIE)
    assert start(*hurt.arguments, "--run-id", "r", cwd=tmp_path).code == -9
    text = (hurt.run().path / "events/000/E01.hurt.1.jsonl").read_text()
    assert '"operation":"wait"' in text, "what was done so far had left the process"
    assert start(*hurt.arguments, "--run-id", "r", cwd=tmp_path).code == 1
    assert verify(hurt.run()) == 4
    assert record(hurt.run()) == hurt.undisturbed()


def test_a_worker_that_was_killed_is_an_error_that_can_be_resumed(hurt: Hurt, tmp_path: Path) -> None:
    hurt.harm(DIE)
    done = start(*hurt.arguments, "--run-id", "r", "--jobs", "2", cwd=tmp_path)
    assert (done.code, done.out) == (4, "")
    assert "Traceback" not in done.err
    assert done.err.splitlines()[-1] == "a worker process ended unexpectedly; what was finished is kept"
    assert start(*hurt.arguments, "--run-id", "r", "--jobs", "2", cwd=tmp_path).code == 1
    assert verify(hurt.run()) == 4
    assert record(hurt.run()) == hurt.undisturbed()


def test_workers_do_not_outlive_a_run_that_was_killed(hurt: Hurt, tmp_path: Path) -> None:
    hurt.harm("os.kill(os.getppid(), signal.SIGKILL)")
    # This returns only when no process is left that could write to its output.
    assert start(*hurt.arguments, "--run-id", "r", "--jobs", "2", cwd=tmp_path).code == -9
    assert start(*hurt.arguments, "--run-id", "r", cwd=tmp_path).code == 1
    assert record(hurt.run()) == hurt.undisturbed()


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
