"""The page on nights is true: its workflow and its script are run as they are written, in plain bash."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.suites import SuiteFolder

from unacked.document import parse_yaml

pytestmark = pytest.mark.long

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "nightly.md").read_text(encoding="utf-8")
FILE, WORKFLOW = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
SCRIPT, PROMOTION = re.findall(r"```bash\n(.*?)```", PAGE, flags=re.DOTALL)
RUNNER = ("bash", "--noprofile", "--norc", "-eo", "pipefail")


class Checkout:
    """A suite with its nightly file, and a runner's environment."""

    def __init__(self, path: Path) -> None:
        self.suite = SuiteFolder(path / "checkout")
        self.path = self.suite.path
        (self.path / "nightly.yaml").write_text(FILE)
        self.summary = path / "summary.md"
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(self.summary),
        }

    def bash(self, script: str, **more: str) -> subprocess.CompletedProcess[str]:
        (self.path / "step.sh").write_text(script)
        return subprocess.run(
            [*RUNNER, "step.sh"],
            cwd=self.path,
            env={**self.environment, **more},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def workflow(self) -> tuple[int, str]:
        """Run the steps of the workflow that are commands; returns the code of the night, and what the report said."""
        steps = [step for step in _job()["steps"] if "run" in step]
        assert [step["name"] for step in steps] == ["install", "night", "report"]
        self.summary.unlink(missing_ok=True)
        night, report = (self.bash(step["run"]) for step in steps[1:])
        assert report.returncode == 0, report.stderr
        return night.returncode, report.stdout

    def night(self) -> Any:
        return json.loads((self.path / "reports" / "night.json").read_text())

    def break_the_agent(self) -> None:
        """Give the agent on trial the policy of one that repeats whatever it got no answer to."""
        shutil.copy(self.path / "agents/reckless/policy.py", self.path / "agents/careful/policy.py")


def _job() -> Any:
    workflow: Any = parse_yaml(WORKFLOW, "nightly.yml").value
    return workflow["jobs"]["night"]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_the_workflow_runs_nights_as_written_and_blocks_a_planted_regression(checkout: Checkout) -> None:
    code, _ = checkout.workflow()
    assert (code, checkout.night()["decision"]) == (3, "INCONCLUSIVE")
    assert checkout.bash(PROMOTION, run=checkout.night()["run"]).returncode == 0

    code, said = checkout.workflow()
    assert (code, checkout.night()["decision"], said) == (0, "PASS", "")

    checkout.break_the_agent()
    code, said = checkout.workflow()
    assert (code, checkout.night()["decision"]) == (1, "BLOCK")
    assert "C02.careful.1" in checkout.summary.read_text()
    assert said.startswith("::error file=transitions/matrix/")
    reports = {path.name for path in (checkout.path / "reports").iterdir()}
    assert reports == {"night.json", "night.html", "night.md", "run.html", "run.sarif", "junit.xml"}
    assert (checkout.path / "reports" / "night.html").read_text().count("BLOCK") >= 2


def test_every_step_after_the_night_runs_although_it_failed() -> None:
    names = [step.get("name", step.get("uses")) for step in _job()["steps"]]
    after = _job()["steps"][names.index("night") + 1 :]
    assert [step["if"] for step in after] == ["${{ !cancelled() }}"] * 4


def test_the_script_for_cron_is_silent_where_a_night_passed_and_tells_one_that_did_not(checkout: Checkout) -> None:
    first = checkout.bash(SCRIPT)
    assert (first.returncode, first.stdout.splitlines()[0]) == (3, "# unacked: careful")
    (night,) = (checkout.path / "reports").glob("*/night.json")
    assert checkout.bash(PROMOTION, run=json.loads(night.read_text())["run"]).returncode == 0
    second = checkout.bash(SCRIPT)
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    checkout.break_the_agent()
    third = checkout.bash(SCRIPT)
    assert third.returncode == 1
    assert "BLOCK" in third.stdout
