from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.suites import SuiteFolder, controls, copied_run, finished_run, small_suite, suite, unacked

from unacked.engine import RunFolder

__all__ = ["controls", "copied_run", "small_suite", "suite", "unacked"]

SMALL: dict[str, Any] = {"select": ("E01", "C05"), "agents": ("careful", "reckless")}
"""Eight trials: both sides of two cases, two agents."""


def texts(folder: RunFolder, *, pattern: str = "events/**/*.jsonl") -> dict[str, bytes]:
    """The files of a run by name."""
    return {str(path.relative_to(folder.path)): path.read_bytes() for path in folder.path.glob(pattern)}


@pytest.fixture(scope="session")
def little(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of three cases, which loads quickly; not to be changed."""
    folder = SuiteFolder(tmp_path_factory.mktemp("little") / "suite")
    folder.keep("C01", "C05-", "E01")
    return folder.path


@pytest.fixture(scope="session")
def small(little: Path, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A finished run of eight trials; not to be changed."""
    return finished_run(little, tmp_path_factory.mktemp("small"), **SMALL)[0]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder for runs that is not there yet."""
    return tmp_path / "runs"
