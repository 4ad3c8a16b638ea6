"""A disk that fills up: no file may grow beyond a limit, so the line that reaches it is torn."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
from tests.crash.conftest import record
from tests.suites import SmallSuite, finished_run, start

from unacked.engine import RunFolder, verify


def arguments(suite: SmallSuite, out: Path) -> tuple[str | Path, ...]:
    agents = ("--agent", "reckless", "--agent", "careful")
    return ("run", "E01", "C05", *agents, "--suite", suite.path, "--out", out, "--run-id", "run")


def filled(suite: SmallSuite, tmp_path: Path, limit: int) -> RunFolder:
    """A run on a disk that holds files of ``limit`` bytes at most, and then again on one that is empty."""

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    no_bytecode = {"PYTHONDONTWRITEBYTECODE": "1"}  # Python 3.11 would keep what it wrote of it
    done = start(*arguments(suite, tmp_path / "runs"), cwd=tmp_path, environment=no_bytecode, preexec_fn=full)
    assert (done.code, done.out) == (4, "")
    assert "cannot be written: " in done.err
    assert "File too large" in done.err
    assert "Traceback" not in done.err
    folder = RunFolder(tmp_path / "runs/run")
    assert not folder.is_begun or folder.manifest()["seal"] is None
    assert start(*arguments(suite, tmp_path / "runs"), cwd=tmp_path).code == 1
    return folder


@pytest.fixture
def whole(small: SmallSuite, tmp_path: Path) -> dict[str, bytes]:
    """The record of the same run, had the disk been large enough."""
    folder, _ = finished_run(small.path, tmp_path / "whole", ("E01", "C05"), agents=("reckless", "careful"))
    return record(folder)


@pytest.mark.parametrize("limit", [1_000, 9_500])
def test_a_full_disk_is_told_and_nothing_of_it_is_left_in_the_record(
    small: SmallSuite, tmp_path: Path, whole: dict[str, bytes], limit: int
) -> None:
    folder = filled(small, tmp_path, limit)
    assert verify(folder) == 8
    assert record(folder) == whole


@pytest.mark.long
def test_wherever_the_disk_is_full_the_record_stays_whole(
    small: SmallSuite, tmp_path: Path, whole: dict[str, bytes]
) -> None:
    for limit in range(1_500, 12_000, 700):
        here = tmp_path / str(limit)
        here.mkdir()
        folder = filled(small, here, limit)
        assert verify(folder) == 8, limit
        assert record(folder) == whole, limit
