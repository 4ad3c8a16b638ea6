from __future__ import annotations

import os
from pathlib import Path

import pytest

from unacked.errors import HarnessError
from unacked.report import write_report


def test_a_report_replaces_the_one_before_and_leaves_nothing_else(tmp_path: Path) -> None:
    write_report(tmp_path / "a.md", "one")
    write_report(tmp_path / "a.md", "two")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.md": "two"}


def test_a_report_that_cannot_be_written_leaves_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_report(tmp_path / "a.md", "one")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(HarnessError, match=r"a\.md: cannot be written: No space left on device"):
        write_report(tmp_path / "a.md", "two")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.md": "one"}


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.md").write_text("one")
    (tmp_path / "link.md").symlink_to("real.md")
    write_report(tmp_path / "link.md", "two")
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "real.md").read_text() == "two"


def test_what_is_no_file_is_written_to() -> None:
    write_report(Path(os.devnull), "one")
    assert Path(os.devnull).is_char_device()


def test_half_a_character_does_not_keep_a_report_from_being_written(tmp_path: Path) -> None:
    write_report(tmp_path / "a.md", "\ud800")
    assert (tmp_path / "a.md").read_text() == "?"
