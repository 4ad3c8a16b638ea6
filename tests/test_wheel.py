from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built without an index."""
    target = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(command, cwd=root, check=True, capture_output=True, timeout=120)
    (built,) = target.glob("*.whl")
    return built


@pytest.fixture
def nowhere(tmp_path: Path) -> Path:
    """An empty folder, far from the checkout."""
    folder = tmp_path / "nowhere"
    folder.mkdir()
    return folder


def test_the_wheel_carries_the_suite_below_its_own_package(wheel: Path) -> None:
    names = [Path(name).parts for name in zipfile.ZipFile(wheel).namelist()]
    assert {name[2] for name in names if name[1] == "_suite"} == {"agents", "fake_services", "transitions"}
    assert {name[0].partition("-")[0] for name in names} == {"unacked"}


def test_the_wheel_carries_what_pages_are_made_of(wheel: Path, root: Path) -> None:
    templates = {path.name for path in (root / "harness/unacked/report/templates").iterdir()}
    names = map(Path, zipfile.ZipFile(wheel).namelist())
    assert {name.name for name in names if name.parent.parts[-2:] == ("report", "templates")} == templates


def test_the_wheel_carries_no_bytecode(wheel: Path) -> None:
    assert [name for name in zipfile.ZipFile(wheel).namelist() if "__pycache__" in name] == []


@pytest.mark.long
def test_the_installed_wheel_runs_its_suite_from_an_empty_folder(wheel: Path, tmp_path: Path, nowhere: Path) -> None:
    target = tmp_path / "installed"
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(target), str(wheel)]
    subprocess.run([sys.executable, *install], check=True, capture_output=True, timeout=120)
    # -S: the editable install of the checkout is a .pth file, which must not be seen.
    path = os.pathsep.join([str(target), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    environment = {**os.environ, "PYTHONPATH": path}

    def python(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-S", *arguments]
        return subprocess.run(
            command, cwd=nowhere, env=environment, capture_output=True, text=True, check=False, timeout=300
        )

    located = python("-c", "import unacked; print(unacked.__file__)")
    assert Path(located.stdout.strip()).is_relative_to(target)
    done = python("-m", "unacked", "run")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_the_wheel_and_its_dependencies_run_in_an_empty_environment(wheel: Path, tmp_path: Path, nowhere: Path) -> None:
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True, timeout=300)
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run([programs / "python", "-m", "pip", "install", "--quiet", str(wheel)], check=True, timeout=600)
    done = subprocess.run(
        [programs / "unacked", "run"], cwd=nowhere, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
