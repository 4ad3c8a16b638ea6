"""``unacked adapter check`` at the command line, and the example of the documentation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.adapter.conftest import Check, checked, shipped
from tests.suites import ROOT, start

from unacked.adapter import Report, load_adapter

__all__ = ["checked", "shipped"]

PAGE = (ROOT / "docs" / "adapters.md").read_text()
NAIVE, MENDED = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
SHOWN = re.findall(r"^FAIL ([a-z-]+)  \(.+ times, first at ([a-z_.\d-]+)\)$", PAGE, flags=re.MULTILINE)


def example(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, checked: Check) -> Report:
    name = f"mytools_{len(text)}"
    (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    return checked(load_adapter(f"{name}:call"), "create_record")


def test_the_example_of_the_documentation_is_found_wrong_as_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checked: Check
) -> None:
    report = example(NAIVE, tmp_path, monkeypatch, checked)
    assert [(finding["rule"], finding["first"]) for finding in report.findings.values()] == SHOWN


def test_the_mended_example_of_the_documentation_lacks_a_deadline_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checked: Check
) -> None:
    assert example(MENDED, tmp_path, monkeypatch, checked).rules == ["hung"]


@pytest.mark.long
def test_findings_are_shown_with_what_to_do_and_exit_1(tmp_path: Path) -> None:
    (tmp_path / "mytools.py").write_text(NAIVE)
    done = start("adapter", "check", "mytools:call", "read_build", "--suite", ROOT, cwd=tmp_path)
    assert done.code == 1, done.err
    assert done.out.splitlines() == [
        "FAIL raised  (1 times, first at read_build.no-fault)",
        "  expected an envelope, whatever happens; observed KeyError: 'title'",
        "  remedy: catch everything at the edge of the tool; what is not proven is outcome_unknown",
        "mytools:call: 1 calls of 1 operations, simulated wire: 1 findings",
    ]


def test_the_reference_adapter_exits_0(tmp_path: Path) -> None:
    reference = "unacked.adapter.reference:call"
    done = start("adapter", "check", reference, "read_build", "--suite", ROOT, cwd=tmp_path)
    assert done.code == 0, done.err
    assert re.fullmatch(rf"{reference}: \d+ calls of 1 operations, simulated wire: no finding\n", done.out)


@pytest.mark.long
@pytest.mark.parametrize("wrong", [["nothing"], ["unacked.adapter.reference:call", "read_isue"]])
def test_what_is_not_there_is_a_usage_error(tmp_path: Path, wrong: list[str]) -> None:
    done = start("adapter", "check", *wrong, "--suite", ROOT, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
