"""Folders that cannot be written to: told in one line, and nothing that was recorded is touched."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
from tests.crash.conftest import Hurt, record
from tests.suites import Done, heed_interrupts, start

from unacked.engine import verify

_DROP_FROM_BOUNDING_SET, _MAY_WRITE_ANYWHERE = 24, 1  # prctl(2), capabilities(7)


def as_anybody() -> None:
    """Let the modes of files hold for the process that is about to start, even where the tests run as root."""
    heed_interrupts()
    ctypes.CDLL(None).prctl(_DROP_FROM_BOUNDING_SET, _MAY_WRITE_ANYWHERE, 0, 0, 0)


def refused(hurt: Hurt, cwd: Path) -> Done:
    """Run, and be refused because something cannot be written."""
    done = start(*hurt.arguments, "--run-id", "r", cwd=cwd, preexec_fn=as_anybody)
    assert (done.code, done.out) == (4, ""), done.err
    assert "Traceback" not in done.err
    return done


class ReadOnly:
    """Takes the right to write away from everything below a folder, and gives it back."""

    def __init__(self, folder: Path) -> None:
        self._modes = {path: path.stat().st_mode for path in (folder, *folder.rglob("*"))}

    def __enter__(self) -> None:
        for path, mode in self._modes.items():
            path.chmod(mode & ~0o222)

    def __exit__(self, *_: object) -> None:
        for path, mode in self._modes.items():
            path.chmod(mode)


@pytest.fixture
def interrupted(hurt: Hurt, tmp_path: Path) -> Hurt:
    """A run that was interrupted in the third of four trials."""
    hurt.harm("signal.raise_signal(signal.SIGINT); signal.raise_signal(signal.SIGINT)")
    assert start(*hurt.arguments, "--run-id", "r", cwd=tmp_path).code == 130
    return hurt


def test_where_no_run_can_be_made_that_is_told(hurt: Hurt, tmp_path: Path) -> None:
    hurt.harm("pass")
    hurt.out.mkdir()
    with ReadOnly(hurt.out):
        done = refused(hurt, tmp_path)
    assert done.err == f"{hurt.out / 'r'}: cannot be made: Permission denied\n"
    assert list(hurt.out.iterdir()) == []


@pytest.mark.long
def test_a_run_that_cannot_be_written_to_is_left_as_it_is_and_resumed_when_it_can(
    interrupted: Hurt, tmp_path: Path
) -> None:
    hurt, before = interrupted, {path: path.read_bytes() for path in interrupted.out.rglob("*") if path.is_file()}
    with ReadOnly(hurt.out):
        done = refused(hurt, tmp_path)
    assert done.err == f"{hurt.out / 'r'}: cannot be locked: Permission denied\n"
    assert {path: path.read_bytes() for path in hurt.out.rglob("*") if path.is_file()} == before
    assert start(*hurt.arguments, "--run-id", "r", cwd=tmp_path).code == 1
    assert verify(hurt.run()) == 4
    assert record(hurt.run()) == hurt.undisturbed()


@pytest.mark.long
@pytest.mark.parametrize("part", ["events", "verdicts.jsonl", "suite"])
def test_a_part_of_a_run_that_cannot_be_written_to_is_named_or_not_needed(
    interrupted: Hurt, tmp_path: Path, part: str
) -> None:
    hurt = interrupted
    with ReadOnly(hurt.run().path / part):
        if part == "suite":
            assert start(*hurt.arguments, "--run-id", "r", cwd=tmp_path, preexec_fn=as_anybody).code == 1
        else:
            assert f"{hurt.run().path / part}" in refused(hurt, tmp_path).err
    assert start(*hurt.arguments, "--run-id", "r", cwd=tmp_path).code == 1
    assert verify(hurt.run()) == 4
    assert record(hurt.run()) == hurt.undisturbed()
