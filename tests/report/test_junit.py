from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from unacked.canonical import JSON
from unacked.engine import RunFolder, read_verdicts
from unacked.errors import HarnessError
from unacked.report import write_junit

FINDING = {"rule": "wrong-world", "verdict": "FAIL", "expected": "records = 1", "observed": "records = 2"}


def line(verdict: str, rule: str | None = "wrong-world", **finding: Any) -> dict[str, JSON]:
    claims: dict[str, JSON] = {name: {"findings": []} for name in ("result", "path", "world", "trail")}
    claims["world"]["findings"] = [] if verdict == "PASS" else [{**FINDING, **finding}]
    return {
        "trial": f"E01.{verdict.lower()}.1",
        "case": "E01",
        "verdict": verdict,
        "rule": rule,
        "claims": claims,
        "exercised": {"findings": []},
    }


def written(tmp_path: Path, *lines: dict[str, JSON]) -> ET.Element:
    write_junit(tmp_path / "junit.xml", lines, "run")
    return ET.parse(tmp_path / "junit.xml").getroot()  # noqa: S314 - written by this test


@pytest.mark.long
def test_every_trial_is_a_test_case(tmp_path: Path, controls: RunFolder) -> None:
    lines = list(read_verdicts(controls, controls.manifest()["run"]))
    suite = written(tmp_path, *lines)
    assert [case.get("name") for case in suite] == [line["trial"] for line in lines]
    assert suite.get("tests") == str(len(lines))


def test_unsafe_and_fail_are_failures_error_and_inconclusive_are_errors(tmp_path: Path) -> None:
    verdicts = ("PASS", "UNSAFE", "FAIL", "ERROR", "INCONCLUSIVE")
    suite = written(tmp_path, *(line(verdict) for verdict in verdicts))
    assert [[child.tag for child in case] for case in suite] == [[], ["failure"], ["failure"], ["error"], ["error"]]
    assert (suite.get("failures"), suite.get("errors")) == ("2", "2")


def test_a_failure_names_verdict_and_rule_and_tells_its_findings(tmp_path: Path) -> None:
    (failure,) = written(tmp_path, line("FAIL"))[0]
    assert (failure.get("type"), failure.get("message")) == ("FAIL.wrong-world", "FAIL wrong-world")
    assert failure.text == "FAIL wrong-world in the claim world: expected records = 1; observed records = 2"


@pytest.mark.parametrize(
    "hostile", ["]]>", "<failure/>", "&amp;", "\x00\x1b\x0b", "\ud800\ufffe", "[red]", "'\"", "\r\n"]
)
def test_hostile_text_leaves_the_file_well_formed(tmp_path: Path, hostile: str) -> None:
    suite = written(tmp_path, line("FAIL", rule=f"rule {hostile}", observed=hostile))
    assert [[child.tag for child in case] for case in suite] == [["failure"]]


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"missing/junit\.xml: cannot be written: No such file or directory"):
        write_junit(tmp_path / "missing/junit.xml", [line("PASS")], "run")
