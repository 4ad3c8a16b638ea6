"""What the tests of the upper floors share: a suite to change, the command line, and runs to look at."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from unacked.cli import main
from unacked.engine import Outcome, Plan, RunFolder, RunRequest, execute, make_plan, open_run
from unacked.suite import load_suite

__all__ = [
    "ROOT",
    "SHOWN",
    "CommandLine",
    "Done",
    "SmallSuite",
    "SuiteFolder",
    "controls",
    "copied_run",
    "finished_run",
    "small_suite",
    "start",
    "suite",
    "unacked",
]

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("agents", "fake_services", "transitions")


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, which must be one JSON value."""
        return json.loads(self.out)


CommandLine = Callable[..., Done]
"""``unacked(*arguments)``: runs the command line in this process."""


class SuiteFolder:
    """A copy of the repository's suite that a test may change."""

    def __init__(self, path: Path) -> None:
        self.path = path
        for name in FOLDERS:
            shutil.copytree(ROOT / name, path / name, ignore=shutil.ignore_patterns("__pycache__"))

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a text that stands in the file exactly once."""
        text = (self.path / name).read_text()
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {name}"
        (self.path / name).write_text(text.replace(old, new))

    def one_side(self) -> None:
        """Leave E01 as the only case, without its twin."""
        self.keep("E01")
        self.edit("transitions/matrix/E01-create-read-annotate.case.yaml", "twins: true\n", "")

    def case(self, name: str, text: str) -> None:
        """Add a case."""
        (self.path / "transitions" / f"{name}.case.yaml").write_text(f"case: {name}\n{text}")

    def keep(self, *cases: str) -> None:
        """Remove every case and fixture file but those that begin with these names."""
        folder = self.path / "transitions"
        for path in (*folder.rglob("*.case.yaml"), *folder.rglob("*.fixture.yaml")):
            if not path.name.startswith(cases):
                path.unlink()

    def agent(self, name: str, policy: str, **more: str) -> None:
        """Add a scripted agent; ``policy`` is the body of ``act(task)``."""
        folder = self.path / "agents" / name
        folder.mkdir()
        lines = [f"agent: {name}", f"title: {name}", "driver: scripted", "policy: policy.py"]
        (folder / "agent.yaml").write_text("\n".join([*lines, *(f"{key}: {value}" for key, value in more.items())]))
        (folder / "prompt.md").write_text("-\n")
        body = "\n".join(f"    {line}" for line in policy.strip().splitlines())
        (folder / "policy.py").write_text(
            f"import os\nimport signal\n\nfrom unacked.agents import Call\n\n\ndef act(task):\n{body}\n"
        )

    def model(self, name: str, driver: str, policy: str = "careful", **more: str) -> str:
        """Add an agent with a model, which the fake model server plays by a policy; returns its name."""
        folder = self.path / "agents" / name
        folder.mkdir()
        model = f"openai/{policy}" if driver == "litellm" else policy
        given = {"agent": name, "title": name, "driver": driver, "model": model, "provider": "{service: model}", **more}
        (folder / "agent.yaml").write_text("".join(f"{key}: {value}\n" for key, value in given.items()))
        (folder / "prompt.md").write_text("Do it.\n")
        return name


class SmallSuite(SuiteFolder):
    """The seed matrix, the flagship and the incidents: what a test loads quickly."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.keep("C01", "C02", "C03", "C04", "C05", "C07", "E01", "2026-0")
        for graph in (path / "transitions").glob("*.yaml"):
            if graph.stem not in ("auth-vs-denial", "create-outcome-unknown", "plain-read", "rate-limit"):
                graph.unlink()


@pytest.fixture
def suite(tmp_path: Path) -> SuiteFolder:
    """A copy of a part of the repository's suite."""
    return SmallSuite(tmp_path / "suite")


@pytest.fixture(scope="session")
def small_suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of a part of the repository's suite; not to be changed."""
    return SmallSuite(tmp_path_factory.mktemp("small") / "suite").path


@pytest.fixture
def unacked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, small_suite: Path
) -> CommandLine:
    """The command line, started where a part of the repository's suite is."""
    here = tmp_path / "here"
    here.mkdir()
    for name in FOLDERS:
        (here / name).symlink_to(small_suite / name)
    monkeypatch.chdir(here)

    def run(*arguments: str | Path) -> Done:
        monkeypatch.setattr(sys, "argv", ["unacked", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        assert isinstance(ended.value.code, int)
        return Done(ended.value.code, captured.out, captured.err)

    return run


def heed_interrupts() -> None:
    """Hear Ctrl-C in a process that is about to start, even where the tests themselves run in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(
    *arguments: str | Path,
    cwd: Path,
    environment: dict[str, str] | None = None,
    python: str | Path = sys.executable,
    **options: Any,
) -> Done:
    """Run the command line as a process of its own; ``options`` are those of ``subprocess.run``."""
    command = [str(python), "-m", "unacked", *map(str, arguments)]
    env = {**os.environ, **(environment or {})}
    options.setdefault("preexec_fn", heed_interrupts)
    done = subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, check=False, **{"timeout": 120, **options}
    )
    return Done(done.returncode, done.stdout, done.stderr)


def finished_run(
    suite: Path,
    out: Path,
    select: Sequence[str] = (),
    *,
    agents: Sequence[str] = (),
    told: Callable[[Outcome], None] = lambda _outcome: None,
    run_id: str = "run",
    **more: Any,
) -> tuple[RunFolder, Plan]:
    """Run a plan in this process; returns its folder and the plan."""
    loaded = load_suite(suite)
    plan = make_plan(loaded, RunRequest(select, agents, **more))
    folder = open_run(loaded, plan, out, run_id)
    execute(folder, plan, jobs=1, told=told)
    return folder, plan


SHOWN = ("C01", "C05", "E01", "I-held-connection")
"""A read, the flagship, a case with a twin, an incident: 23 trials of the controls."""


@pytest.fixture(scope="session")
def controls(small_suite: Path, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A finished run of the controls; not to be changed."""
    return finished_run(small_suite, tmp_path_factory.mktemp("controls"), SHOWN)[0]


@pytest.fixture
def copied_run(controls: RunFolder, tmp_path: Path) -> RunFolder:
    """A copy of the run of the controls that a test may change."""
    return RunFolder(shutil.copytree(controls.path, tmp_path / "runs" / "copied"))
