from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.crash.conftest import Hurt, record
from tests.suites import start

from unacked.engine import RunFolder, read_verdicts, verify

PRESS = "signal.raise_signal(signal.SIGINT)"
PRESS_TWICE = f"{PRESS}; {PRESS}"


def typed(line: str, cwd: Path) -> int:
    """Type a line into a shell."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["sh", "-c", line]
    return subprocess.run(
        command, cwd=cwd, env={**os.environ, "PATH": path}, capture_output=True, check=False, timeout=120
    ).returncode


def line_to_resume(text: str) -> str:
    """The command that a message gives."""
    (line,) = [line for line in text.splitlines() if "to resume: " in line]
    return line.partition("to resume: ")[2]


@pytest.mark.parametrize(
    "name", [("--run-id", "r"), ("--run-id=x", "--run-id=r"), ()], ids=["two words", "twice in one word", "none"]
)
def test_after_ctrl_c_the_printed_line_resumes_the_run(hurt: Hurt, tmp_path: Path, name: tuple[str, ...]) -> None:
    hurt.harm(PRESS_TWICE)
    done = start(*hurt.arguments, *name, cwd=tmp_path)
    assert (done.code, done.out) == (130, "")
    assert "Traceback" not in done.err
    line = line_to_resume(done.err)
    assert line.count("--run-id") == 1
    (path,) = hurt.out.iterdir()
    assert len(list(read_verdicts(RunFolder(path), RunFolder(path).manifest()["run"]))) == 2
    assert typed(line, tmp_path) == 1
    assert [run.name for run in hurt.out.iterdir()] == [path.name]
    assert verify(RunFolder(path)) == 4
    assert record(RunFolder(path)) == hurt.undisturbed()


def test_the_first_ctrl_c_lets_the_trial_that_is_under_way_end(hurt: Hurt, tmp_path: Path) -> None:
    hurt.harm(PRESS)
    done = start(*hurt.arguments, "--run-id", "r", cwd=tmp_path)
    assert (done.code, done.out) == (130, "")
    assert done.err.splitlines()[0] == "ending with the trials that are under way; Ctrl-C again stops at once"
    assert len(list(read_verdicts(hurt.run(), hurt.run().manifest()["run"]))) == 3
    assert typed(line_to_resume(done.err), tmp_path) == 1
    assert list(hurt.run().path.rglob("*.aborted-*")) == []
    assert verify(hurt.run()) == 4


def test_a_selection_after_two_dashes_stays_a_selection_and_the_half_record_is_kept(hurt: Hurt, tmp_path: Path) -> None:
    hurt.harm(PRESS_TWICE)
    done = start(*hurt.arguments, "--run-id", "r", "--", "C01", "C03", "E01", cwd=tmp_path)
    assert typed(line_to_resume(done.err), tmp_path) == 1
    assert verify(hurt.run()) == 4
    (aborted,) = hurt.run().path.rglob("*.aborted-*")
    assert aborted.name == "E01.hurt.1.aborted-1"
    assert '"event":"trial_begin"' in aborted.read_text()


@pytest.mark.long
def test_ctrl_c_reaches_every_process_and_none_of_them_shouts(hurt: Hurt, tmp_path: Path) -> None:
    hurt.harm("os.killpg(0, signal.SIGINT)")
    words = ("--run-id", "r", "--jobs", "2", "--repeat", "2")  # so many that some are left
    done = start(*hurt.arguments, *words, cwd=tmp_path, start_new_session=True)
    assert (done.code, done.out) == (130, ""), done.err
    assert "Traceback" not in done.err
    assert typed(line_to_resume(done.err), tmp_path) == 1
    assert verify(hurt.run()) == 8
    assert list(hurt.run().path.rglob("*.aborted-*")) == []


@pytest.mark.long
def test_a_run_that_was_interrupted_can_be_shown_and_never_passes_a_check(hurt: Hurt, tmp_path: Path) -> None:
    hurt.harm(PRESS)
    start(*hurt.arguments, "--run-id", "r", cwd=tmp_path)
    assert start("show", hurt.run().path, cwd=tmp_path).code == 0
    assert start("check", hurt.run().path, cwd=tmp_path).code == 1
    assert start("audit", "verify", hurt.run().path, cwd=tmp_path).code == 1
