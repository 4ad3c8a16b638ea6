from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.suites import SuiteFolder, finished_run

from unacked.compare import Side, Tally
from unacked.engine import RunFolder


def line(case: str, verdict: str, repeat: int = 1, **more: Any) -> dict[str, Any]:
    """One line of verdicts.jsonl, as far as comparisons read it."""
    return {
        "case": case,
        "place": "",
        "twin": False,
        "agent": "one",
        "trial": f"{case}.one.{repeat}",
        "verdict": verdict,
        "luck": None,
        "turns": 3,
        "exercised": {"verdict": "PASS", "findings": []},
        "claims": {},
        **more,
    }


def side(verdicts: dict[str, str], name: str = "one", pins: dict[str, str] | None = None) -> Side:
    """A side by the first letters of its verdicts, such as ``{"C01": "PPF"}``."""
    words = {"P": "PASS", "F": "FAIL", "U": "UNSAFE", "I": "INCONCLUSIVE", "E": "ERROR"}
    lines = [
        line(case, words[letter], repeat, claims=failed(words[letter]))
        for case, letters in verdicts.items()
        for repeat, letter in enumerate(letters, start=1)
    ]
    cases: dict[str, Tally] = {}
    for each in lines:
        cases.setdefault(each["case"], Tally()).add(each)
    return Side("tonight", name, pins or {}, lines, cases)


def failed(verdict: str) -> dict[str, Any]:
    """The claims of a trial that has no finding, or one."""
    if verdict not in ("FAIL", "UNSAFE"):
        return {}
    return {"path": {"findings": [{"rule": "second-create", "verdict": verdict, "observed": "x at event #4"}]}}


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Two agents over both sides of E01, three times each; not to be changed."""
    folder = SuiteFolder(tmp_path_factory.mktemp("compared") / "suite")
    folder.keep("E01")
    out: Path = tmp_path_factory.mktemp("compared-runs")
    return finished_run(folder.path, out, agents=("careful", "reckless"), repeat=3)[0]
