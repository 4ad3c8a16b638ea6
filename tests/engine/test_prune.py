from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from unacked.engine import RunFolder, prunable, prune
from unacked.errors import HarnessError, SpecificationError


@pytest.fixture
def out(controls: RunFolder, tmp_path: Path) -> Path:
    """Three finished runs, b being the oldest, and one in the baselines that is older still."""
    for name, day in (("a", "2027-01-03"), ("b", "2027-01-01"), ("c", "2027-01-02"), ("baselines/old", "2026-01-01")):
        (tmp_path / "runs" / name).mkdir(parents=True)
        shutil.copy(controls.path / "manifest.json", tmp_path / "runs" / name)
        folder = RunFolder(tmp_path / "runs" / name)
        folder.write_manifest({**folder.manifest(), "created": f"{day}T00:00:00+00:00"})
    return tmp_path / "runs"


def names(folders: list[RunFolder]) -> list[str]:
    return [folder.name for folder in folders]


def test_the_newest_runs_stay_and_the_others_leave_the_oldest_first(out: Path) -> None:
    retained = prunable(out, 1)
    assert (names(retained.leaving), names(retained.newest)) == (["b", "c"], ["a"])


def test_nothing_leaves_where_there_are_no_more_than_may_stay(out: Path) -> None:
    assert prunable(out, 3).leaving == []


def test_pruning_removes_what_leaves_and_no_baseline(out: Path) -> None:
    prune(out, prunable(out, 0))
    assert sorted(path.name for path in out.iterdir()) == ["baselines"]
    assert (out / "baselines" / "old" / "manifest.json").is_file()


def test_a_folder_of_baselines_is_refused(out: Path) -> None:
    with pytest.raises(SpecificationError, match="holds baselines"):
        prunable(out / "baselines", 0)


def test_a_run_that_is_not_finished_or_not_readable_stays(out: Path) -> None:
    unfinished, other = RunFolder(out / "a"), RunFolder(out / "b")
    unfinished.write_manifest({**unfinished.manifest(), "seal": None})
    other.write_manifest({**other.manifest(), "format": 99})
    retained = prunable(out, 0)
    assert names(retained.leaving) == ["c"]
    assert retained.untouched == {"a": "is not finished", "b": "is not readable by this version"}


def test_what_is_no_run_is_left_alone(out: Path) -> None:
    (out / "history").mkdir()
    (out / "link").symlink_to(out / "a")
    prune(out, prunable(out, 0))
    assert sorted(path.name for path in out.iterdir()) == ["baselines", "history", "link"]


def test_a_run_that_another_process_works_on_is_an_error(out: Path) -> None:
    with RunFolder(out / "b").locked(), pytest.raises(HarnessError, match="another process is at work"):
        prune(out, prunable(out, 2))
    assert (out / "b").is_dir()


def test_what_an_interrupted_pruning_left_over_goes_with_the_next(out: Path) -> None:
    (out / "b").rename(out / ".pruned-b")
    prune(out, prunable(out, 5))
    assert sorted(path.name for path in out.iterdir()) == ["a", "baselines", "c"]
