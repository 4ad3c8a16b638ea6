from __future__ import annotations

from pathlib import Path

import pytest
from tests.suites import SmallSuite, SuiteFolder, finished_run

from unacked.engine import RunFolder

HURT = """
if "Pump 7" in task.text and not os.path.exists({flag!r}):
    yield Call("wait", {{"seconds": 1}})
    open({flag!r}, "w").close()
    {harm}
yield Call("finish", {{"status": "failed", "summary": "-"}})
"""


def record(folder: RunFolder) -> dict[str, bytes]:
    """Everything of a run that is evidence, but what was set aside."""
    paths = [*folder.path.glob("events/**/*.jsonl"), folder.verdicts, folder.diagnostics, folder.summary]
    return {str(path.relative_to(folder.path)): path.read_bytes() for path in paths}


class Hurt:
    """A suite whose agent does harm in the third of four trials, the first time that it gets there."""

    def __init__(self, path: Path) -> None:
        self.suite = SuiteFolder(path / "suite")
        self.suite.keep("C01", "C03", "E01")
        self.flag = path / "was-there"
        self.out = path / "my runs"

    def harm(self, line: str, **more: str) -> None:
        """Say in one line of Python what the agent does, and what else its definition says."""
        self.suite.agent("hurt", HURT.format(flag=str(self.flag), harm=line), **more)

    @property
    def arguments(self) -> tuple[str, ...]:
        """What to run, without a name for the run."""
        return (
            "run",
            "--suite",
            str(self.suite.path),
            "--agent",
            "hurt",
            "--seed",
            "it's a seed",
            "--out",
            str(self.out),
        )

    def run(self, name: str = "r") -> RunFolder:
        return RunFolder(self.out / name)

    def undisturbed(self) -> dict[str, bytes]:
        """The record of the same run, had nothing happened."""
        assert self.flag.exists()
        whole, _ = finished_run(self.suite.path, self.out.parent / "whole", agents=("hurt",), seed="it's a seed")
        return record(whole)


@pytest.fixture
def hurt(tmp_path: Path) -> Hurt:
    return Hurt(tmp_path)


@pytest.fixture
def small(tmp_path: Path) -> SmallSuite:
    """A suite of its own for a test."""
    return SmallSuite(tmp_path / "suite")
