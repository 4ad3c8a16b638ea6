"""Same seed, same suite, scripted agent: the same bytes, wherever and however they are run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.suites import ROOT, SHOWN, SuiteFolder, finished_run, start

from unacked.engine import RunFolder

GOLDEN = Path(__file__).parent / "data" / "E01.careful.jsonl"
Run = Callable[..., dict[str, bytes]]
ARGUMENTS = ("run", *SHOWN, "--agent", "careful", "--agent", "reckless", "--seed", "golden")


def record(folder: Path) -> dict[str, bytes]:
    """Event files and verdicts of a run by name."""
    paths = [*folder.glob("events/**/*"), folder / "verdicts.jsonl", folder / "diagnostics.jsonl"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths if path.is_file()}


@pytest.fixture(scope="module")
def run(small_suite: Path) -> Run:
    """Run the same job in another folder, with other arguments or another environment; returns the record."""

    def run(cwd: Path, *more: str | Path, **options: Any) -> dict[str, bytes]:
        where = ("--suite", small_suite, "--out", cwd / "runs", "--run-id", "r")
        done = start(*ARGUMENTS, *where, *more, cwd=cwd, **options)
        assert done.code == 1, done.err
        return record(cwd / "runs/r")

    return run


@pytest.fixture(scope="module")
def first(run: Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The record of one run."""
    return run(tmp_path_factory.mktemp("first"))


def test_two_runs_with_one_seed_are_the_same_bytes(run: Run, first: dict[str, bytes], tmp_path: Path) -> None:
    assert len(first) == 16
    assert run(tmp_path) == first


@pytest.mark.long
def test_the_number_of_processes_does_not_show(run: Run, first: dict[str, bytes], tmp_path: Path) -> None:
    assert run(tmp_path, "--jobs", "2") == first


@pytest.mark.long
@pytest.mark.parametrize("seed", ["0", "4711"])
def test_the_order_of_hashing_does_not_show(run: Run, first: dict[str, bytes], tmp_path: Path, seed: str) -> None:
    assert run(tmp_path, environment={"PYTHONHASHSEED": seed}) == first


@pytest.mark.long
def test_the_place_of_suite_and_folder_does_not_show(run: Run, first: dict[str, bytes], tmp_path: Path) -> None:
    elsewhere = SuiteFolder(tmp_path / "elsewhere")
    assert run(tmp_path, "--suite", elsewhere.path) == first


@pytest.mark.long
def test_language_and_time_zone_do_not_show(run: Run, first: dict[str, bytes], tmp_path: Path) -> None:
    assert run(tmp_path, environment={"LC_ALL": "C", "LANG": "tr_TR.UTF-8", "TZ": "Pacific/Kiritimati"}) == first


def lasting(folder: RunFolder) -> str:
    """The events of E01.careful without what depends on the rest of the suite."""
    lines = (folder.path / "events/000/E01.careful.1.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    return "".join(
        json.dumps({key: value for key, value in event.items() if key not in ("run", "hash")}, sort_keys=True) + "\n"
        for event in events
    )


def test_the_events_of_the_flagship_are_the_ones_of_old(small_suite: Path, tmp_path: Path) -> None:
    folder, _ = finished_run(small_suite, tmp_path / "runs", ("E01",), agents=("careful",))
    (tmp_path / "new.jsonl").write_text(lasting(folder))
    assert lasting(folder) == GOLDEN.read_text(), f"if this is right: cp {tmp_path / 'new.jsonl'} {GOLDEN}"


def other_pythons() -> list[str]:
    """Interpreters of other versions that work here; where there is none, the events of old are the check."""
    found = []
    for minor in range(11, 16):
        path = shutil.which(f"python3.{minor}")
        if path is None or minor == sys.version_info.minor:
            continue
        command = [path, "-c", "import sys, venv, ensurepip; print(sys.version_info.minor)"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.stdout.strip() == str(minor):
            found.append(path)
    return found


@pytest.mark.long
def test_the_version_of_python_does_not_show(run: Run, first: dict[str, bytes], tmp_path: Path) -> None:
    for python in other_pythons():
        here = tmp_path / Path(python).name
        subprocess.run([python, "-m", "venv", str(here / "venv")], check=True, timeout=300)
        interpreter = here / "venv/bin/python"
        requirements = ["--require-hashes", "--requirement", str(ROOT / "requirements/run.txt")]
        subprocess.run([interpreter, "-m", "pip", "install", "--quiet", *requirements], check=True, timeout=900)
        environment = {"PYTHONPATH": str(ROOT / "harness")}
        assert run(here, environment=environment, python=interpreter) == first, python
