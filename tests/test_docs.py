"""The documentation is true: generated pages are current, and what the README shows really happens."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from unacked.case import CaseFile
from unacked.conformance.checks import CHECKS
from unacked.document import parse_yaml, validate

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_generated_pages_are_current() -> None:
    check = subprocess.run(
        [sys.executable, ROOT / "docs" / "build.py", "--check"], capture_output=True, text=True, check=False
    )

    assert (check.returncode, check.stdout) == (0, "")


def test_the_incident_in_the_readme_is_a_valid_case() -> None:
    (written,) = re.findall(r"```yaml\n(.*?)```", README, flags=re.DOTALL)

    case = validate(CaseFile, parse_yaml(written, "README.md"))

    assert case.incident is not None
    assert case.incident.caught == "second-create"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What ``unacked run`` prints for the flagship."""
    out = tmp_path_factory.mktemp("runs")
    run = subprocess.run(
        [sys.executable, "-m", "unacked", "run", "E01", "--out", out],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout


def test_the_explanation_in_the_readme_is_what_the_run_prints(shown: str) -> None:
    (block,) = re.findall(r"```text\n(.*?)```", README, flags=re.DOTALL)
    explanation = block[block.index("E01.reckless.1") :].strip().splitlines()

    for line in explanation:
        for part in line.split("...")[:1]:
            assert part.strip() in shown


def test_every_command_that_the_readme_names_exists() -> None:
    named = set(re.findall(r"`unacked ([a-z]+)", README))
    help_text = subprocess.run(
        [sys.executable, "-m", "unacked", "--help"], capture_output=True, text=True, check=True
    ).stdout

    assert named
    assert [name for name in sorted(named) if f"\n  {name} " not in help_text] == []


@pytest.mark.parametrize("page", ["conformance.md", "scale.md"])
def test_every_subcommand_that_a_page_names_exists(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    named = set(re.findall(r"unacked (orchestrator|scale) ([a-z]+)", text))
    assert named
    groups = {group: importlib.import_module(f"unacked.cli.{group}_command").command for group, _ in named}
    assert [pair for pair in sorted(named) if pair[1] not in groups[pair[0]].commands] == []


def test_the_table_of_orchestrators_has_every_check() -> None:
    text = (ROOT / "docs" / "orchestrators.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| ([A-Z]\d) \|", text, flags=re.MULTILINE) == list(CHECKS)
