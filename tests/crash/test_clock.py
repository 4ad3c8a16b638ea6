"""A clock that is set back between two parts of a run: wall-clock times are recorded, and decide nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.crash.conftest import Hurt, record
from tests.suites import start

from unacked.engine import run_log, run_status, verify

A_DAY_EARLIER = """
import datetime
import time

_time, _time_ns, _a_day_s = time.time, time.time_ns, 86_400


class _Earlier(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return super().now(tz) - datetime.timedelta(seconds=_a_day_s)


datetime.datetime = _Earlier
time.time = lambda: _time() - _a_day_s
time.time_ns = lambda: _time_ns() - _a_day_s * 1_000_000_000
"""


@pytest.mark.long
def test_a_run_whose_clock_was_set_back_is_resumed_to_the_very_same_record(hurt: Hurt, tmp_path: Path) -> None:
    hurt.harm("os.kill(os.getpid(), signal.SIGKILL)")
    assert start(*hurt.arguments, "--run-id", "r", cwd=tmp_path).code == -9
    (tmp_path / "set back").mkdir()
    (tmp_path / "set back/sitecustomize.py").write_text(A_DAY_EARLIER)
    earlier = {"PYTHONPATH": str(tmp_path / "set back")}
    assert start(*hurt.arguments, "--run-id", "r", cwd=tmp_path, environment=earlier).code == 1
    assert verify(hurt.run()) == 4
    assert record(hurt.run()) == hurt.undisturbed()
    times = [entry.at for entry in run_log(hurt.run())]
    assert times[-1] < times[0], "the clock really was set back"
    status = run_status(hurt.run())
    assert (status.stage, status.states, status.left_s) == ("finished", {"SUCCEEDED": 4}, None)
    assert status.per_s is None or status.per_s > 0
