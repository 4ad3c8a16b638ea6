"""``unacked adapter check`` at the command line, and the example of the documentation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.suites import ROOT, start

PAGE = (ROOT / "docs" / "adapters.md").read_text()
NAIVE, MENDED = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
SHOWN = re.findall(r"^FAIL ([a-z-]+)  \(.+ times, first at ([a-z_.\d-]+)\)$", PAGE, flags=re.MULTILINE)


def test_the_example_of_the_documentation_is_found_wrong_as_it_says(tmp_path: Path) -> None:
    (tmp_path / "mytools.py").write_text(NAIVE)
    done = start("adapter", "check", "mytools:call", "create_record", "--suite", ROOT, "--json", cwd=tmp_path)
    assert done.code == 1, done.err
    found = [(finding["rule"], finding["first"]) for finding in done.json["findings"]]
    assert found == SHOWN


def test_the_mended_example_of_the_documentation_lacks_a_deadline_only(tmp_path: Path) -> None:
    (tmp_path / "mytools.py").write_text(MENDED)
    done = start("adapter", "check", "mytools:call", "create_record", "--suite", ROOT, cwd=tmp_path)
    assert done.code == 1, done.err
    assert re.findall(r"^(?:FAIL|UNSAFE) (\S+)", done.out, flags=re.MULTILINE) == ["hung"]
    assert re.search(r"^mytools:call: \d+ calls of 1 operations, simulated wire: 1 findings$", done.out, re.MULTILINE)


def test_the_reference_adapter_exits_0(tmp_path: Path) -> None:
    reference = "unacked.adapter.reference:call"
    done = start("adapter", "check", reference, "read_build", "--suite", ROOT, cwd=tmp_path)
    assert done.code == 0, done.err
    assert re.fullmatch(rf"{reference}: \d+ calls of 1 operations, simulated wire: no finding\n", done.out)


@pytest.mark.parametrize("wrong", [["nothing"], ["unacked.adapter.reference:call", "read_isue"]])
def test_what_is_not_there_is_a_usage_error(tmp_path: Path, wrong: list[str]) -> None:
    done = start("adapter", "check", *wrong, "--suite", ROOT, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
