"""kill -9 at the writes of a run: nothing is lost, nothing is run twice, and the verdicts are those of a quiet run."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.suites import SuiteFolder, finished_run

from unacked.engine import read_verdicts


def swept(tmp_path: Path, *, repeat: int, first: int, step: int, every_line: int) -> list[int]:
    """Sweep the writes of a run; returns how many trials had to be run again after each kill."""
    suite = SuiteFolder(tmp_path / "suite")
    suite.keep("C05-", "E01")
    undisturbed, plan = finished_run(suite.path, tmp_path / "quiet", agents=("careful", "reckless"), repeat=repeat)
    numbers = map(str, (repeat, first, step, every_line))
    killer = Path(__file__).with_name("killer.py")
    command = [sys.executable, str(killer), str(suite.path), str(tmp_path / "runs"), *numbers]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=550)
    kills = [json.loads(line) for line in done.stdout.splitlines()]
    for kill in kills:
        assert kill["trials"] == len(plan.trials), kill["at"]
        assert kill["verdicts"] == undisturbed.verdicts.read_text(), kill["at"]
    assert [kill["codes"] for kill in kills] == [[-signal.SIGKILL, 0]] * (len(kills) - 1) + [[0, 0]]
    names = [line["trial"] for line in read_verdicts(undisturbed, plan.run)]
    assert len(set(names)) == len(plan.trials)
    return [kill["aborted"] for kill in kills]


def test_killed_at_some_of_its_writes_a_run_ends_as_if_nothing_had_been(tmp_path: Path) -> None:
    aborted = swept(tmp_path, repeat=1, first=8, step=40, every_line=5)
    assert len(aborted) == 2


@pytest.mark.long
def test_killed_at_every_write_of_its_journal_a_run_of_200_trials_ends_as_if_nothing_had_been(tmp_path: Path) -> None:
    aborted = swept(tmp_path, repeat=25, first=1, step=1, every_line=25)
    assert len(aborted) > 20
    assert max(aborted) <= 64, "no more than one batch of trials is run again"
