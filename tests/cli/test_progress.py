from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unacked.cli import run_command


@pytest.mark.long
def test_progress_is_a_live_bar_on_a_terminal_and_leaves_the_results_alone(small_suite: Path, tmp_path: Path) -> None:
    terminal, stderr = pty.openpty()
    command = [sys.executable, "-m", "unacked", "run", "E01", "--agent", "careful", "--suite", str(small_suite)]
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=stderr, check=False, timeout=120
    )
    os.close(stderr)
    shown = os.read(terminal, 100_000).decode()
    os.close(terminal)
    assert done.returncode == 0, shown
    assert "trials" in shown
    assert "Traceback" not in shown
    assert b"\x1b" not in done.stdout
    assert b"2 trials: 2 PASS" in done.stdout


def test_progress_elsewhere_is_a_line_now_and_then_with_rate_and_time_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr(run_command, "time", SimpleNamespace(monotonic=lambda: now))
    told = run_command._PlainProgress(60)
    for index in range(20, 40):  # a run that was resumed at its 21st trial
        now += 0.5
        outcome: Any = SimpleNamespace(line={"index": index})
        told(outcome)
    assert capsys.readouterr().err.splitlines() == [
        "30 of 60 trials, 2.0 a second, 15 s left",
        "40 of 60 trials, 2.0 a second, 10 s left",
    ]


def test_the_first_trial_for_which_everything_has_to_start_says_nothing_of_the_rate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr(run_command, "time", SimpleNamespace(monotonic=lambda: now))
    told = run_command._PlainProgress(60)
    for index, took in enumerate([20.0, 3.0, 3.0]):
        now += took
        outcome: Any = SimpleNamespace(line={"index": index})
        told(outcome)
    assert capsys.readouterr().err.splitlines() == ["1 of 60 trials", "3 of 60 trials, 0.3 a second, 171 s left"]
