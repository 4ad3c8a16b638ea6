"""Other people's orchestrators, for real: what was measured of each must come out again."""

from __future__ import annotations

from pathlib import Path

import pytest

from unacked.conformance.adapter import load_adapter
from unacked.conformance.run import check_orchestrator, chosen_checks

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("reference", {"C3": "pass", "C5": "pass", "L3": "pass", "T3": "pass", "G3": "pass", "A2": "pass"}),
        ("langgraph", {"C1": "pass", "C3": "fail", "C4": "fail", "C5": "not claimed", "S7": "fail"}),
        ("dbos", {"C1": "pass", "C4": "fail", "R2": "not claimed", "T2": "fail"}),
        ("temporal", {"C1": "pass", "C5": "pass", "L2": "pass", "R3": "fail"}),
    ],
)
def test_what_was_measured_of_an_orchestrator_comes_out_again(
    name: str, expected: dict[str, str], tmp_path: Path
) -> None:
    checks = chosen_checks(list(expected))
    report = check_orchestrator(load_adapter(name), checks, tmp_path, lambda _: None)
    found = {finding.check: finding.status.value for finding in report.findings}
    assert found == expected, [finding.explanation for finding in report.findings]
