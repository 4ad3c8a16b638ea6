from __future__ import annotations

import stat
from pathlib import Path

import pytest

from unacked.engine.lines import LineFile, cut_torn_line, cut_unfinished
from unacked.errors import HarnessError, RecordError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lines.jsonl"


def test_a_line_is_in_the_file_once_it_was_written(path: Path) -> None:
    with LineFile(path) as file:
        file.write({"trial": "a"})
        assert path.read_text() == '{"trial":"a"}\n'


def test_lines_are_appended_to_what_is_there(path: Path) -> None:
    path.write_text('{"trial":"a"}\n')
    with LineFile(path) as file:
        file.write({"trial": "b"})
    assert path.read_text() == '{"trial":"a"}\n{"trial":"b"}\n'


def test_a_private_file_is_readable_by_its_owner_only(path: Path) -> None:
    with LineFile(path, private=True):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_opened_is_told_by_name(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"missing/lines\.jsonl: cannot be written: No such file"):
        LineFile(tmp_path / "missing/lines.jsonl")


def test_a_full_disk_is_told_by_name() -> None:
    full = "/dev/full: cannot be written: No space left on device"
    with pytest.raises(HarnessError, match=full), LineFile(Path("/dev/full")) as file:
        file.write({"trial": "a"})


def test_an_error_of_the_writers_user_is_not_taken_for_one_of_the_file(path: Path) -> None:
    with pytest.raises(BrokenPipeError), LineFile(path):
        raise BrokenPipeError


@pytest.mark.parametrize(
    ("text", "kept"),
    [("", ""), ("{}\n", "{}\n"), ("{}", ""), ("{}\n{", "{}\n"), ("{}\n{}\n", "{}\n{}\n"), ('{}\n{"a"\x00', "{}\n")],
)
def test_only_a_line_without_an_end_is_cut_off(path: Path, text: str, kept: str) -> None:
    path.write_text(text)
    cut_torn_line(path)
    assert path.read_text() == kept


def test_there_is_nothing_to_cut_off_a_file_that_is_not_there(path: Path) -> None:
    cut_torn_line(path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('{"trial":"a"}\n{"trial":"b"}\n', '{"trial":"a"}\n{"trial":"b"}\n'),
        ('{"trial":"a"}\n{"trial":"c"}\n', '{"trial":"a"}\n'),
        ('{"trial":"a"}\n{"trial":"b"', '{"trial":"a"}\n'),
        ('{"trial":"c"}\n', ""),
    ],
)
def test_what_was_written_of_an_unfinished_trial_is_cut_off(path: Path, text: str, kept: str) -> None:
    path.write_text(text)
    cut_unfinished(path, {"a", "b"})
    assert path.read_text() == kept


@pytest.mark.parametrize("line", ["nonsense", "[]", '{"ref":"d1"}'])
def test_a_whole_line_that_makes_no_sense_is_not_cut_off_in_silence(path: Path, line: str) -> None:
    path.write_text(f'{{"trial":"a"}}\n{line}\n')
    with pytest.raises(RecordError, match=r"lines\.jsonl:2: is no line of this record"):
        cut_unfinished(path, {"a"})
