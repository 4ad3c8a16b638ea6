"""A new suite runs as it is, and never lands on top of something else."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.suites import start

from unacked.errors import HarnessError, SpecificationError
from unacked.suite import begin_suite, load_suite


def test_a_new_suite_has_a_case_its_controls_and_a_place_for_an_agent_of_ones_own(tmp_path: Path) -> None:
    folders = begin_suite(tmp_path / "new")
    suite = load_suite(tmp_path / "new")
    assert folders == [tmp_path / "new" / name for name in ("agents", "fake_services", "transitions")]
    assert sorted(suite.cases) == ["E01"]
    assert sorted(suite.agents) == ["careful", "culprit", "mine", "reckless", "refuser"]


def test_its_controls_behave_as_they_declare_and_its_agent_passes(tmp_path: Path) -> None:
    begun = start("init", "new", cwd=tmp_path)
    assert begun.code == 0
    assert begun.out.splitlines()[-1] == "      cd new && unacked run --agent mine    (your agent: agents/mine/)"
    assert start("run", cwd=tmp_path / "new").code == 0
    assert start("run", "--agent", "mine", cwd=tmp_path / "new").code == 0


def test_what_is_there_already_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(SpecificationError, match="is there already and not an empty folder"):
        begin_suite(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HarnessError, match="cannot be written: Not a directory"):
        begin_suite(tmp_path / "file" / "new")
