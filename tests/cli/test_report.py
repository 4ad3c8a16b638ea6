from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from tests.suites import CommandLine, SuiteFolder, finished_run

from unacked.engine import RunFolder
from unacked.report.page import _environment
from unacked.secret import mint


def test_a_report_without_options_tells_what_went_wrong_first(unacked: CommandLine, controls: RunFolder) -> None:
    done = unacked("report", controls.path)
    assert done.code == 0
    assert done.out.splitlines()[:3] == [
        "run: 23 trials: 8 UNSAFE, 7 FAIL, 8 PASS",
        "     6 UNSAFE       second-create",
        "       reckless, such as C05.reckless.1",
    ]
    assert max(map(len, done.out.splitlines()[:8])) <= 80


def test_one_command_writes_every_format(unacked: CommandLine, controls: RunFolder, tmp_path: Path) -> None:
    files = {name: tmp_path / f"r.{name}" for name in ("html", "md", "sarif", "junit")}
    done = unacked("report", controls.path, *(part for name, path in files.items() for part in (f"--{name}", path)))
    assert (done.code, done.out, done.err) == (0, "", "")
    assert files["html"].read_text().startswith("<!DOCTYPE html>\n")
    assert files["md"].read_text().startswith("# unacked: run\n")
    assert len(json.loads(files["sarif"].read_text())["runs"][0]["results"]) == 15
    assert ET.parse(files["junit"]).getroot().get("tests") == "23"  # noqa: S314 - written by this test


def test_the_page_tells_as_many_trials_as_it_is_allowed(
    unacked: CommandLine, controls: RunFolder, tmp_path: Path
) -> None:
    unacked("report", controls.path, "--html", tmp_path / "r.html", "--stories", "2")
    assert (tmp_path / "r.html").read_text().count('<details class="story"') == 2


def test_the_page_tells_the_trials_that_are_named(unacked: CommandLine, controls: RunFolder, tmp_path: Path) -> None:
    unacked("report", controls.path, "C01.careful.1", "--html", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert page.count('<details class="story"') == 1
    assert 'aria-label="time line of C01.careful.1"' in page


def test_a_trial_that_is_not_there_is_told_with_the_nearest_name(
    unacked: CommandLine, controls: RunFolder, tmp_path: Path
) -> None:
    done = unacked("report", controls.path, "E01.carefull.1", "--html", tmp_path / "r.html")
    assert done.code == 2
    assert "no trial 'E01.carefull.1'\n    hint: did you mean 'E01.careful.1'?" in done.err


def test_a_job_on_github_gets_a_summary_and_annotations(
    unacked: CommandLine, controls: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "summary").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    done = unacked("report", controls.path, "--github")
    assert done.code == 0
    assert done.out.splitlines()[0].startswith(
        "::error file=transitions/matrix/C05-create-deployment.case.yaml,line=1,title=UNSAFE second-create%3A C05"
    )
    assert (tmp_path / "summary").read_text().startswith("before\n# unacked: run\n")


def test_github_outside_of_a_job_is_told(
    unacked: CommandLine, controls: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    done = unacked("report", controls.path, "--github")
    assert done.code == 2
    assert "GITHUB_STEP_SUMMARY: is not set" in done.err


def test_a_place_that_cannot_be_written_is_told(unacked: CommandLine, controls: RunFolder, tmp_path: Path) -> None:
    done = unacked("report", controls.path, "--html", tmp_path / "missing" / "r.html")
    assert done.code == 4
    assert "r.html: cannot be written: No such file or directory" in done.err


def test_a_credential_in_a_transcript_is_taken_out_of_the_page_and_told(
    unacked: CommandLine, suite: SuiteFolder, tmp_path: Path
) -> None:
    secret = mint("0", "E01", "leaky", "1", "0")
    suite.keep("E01")
    suite.agent("leaky", f'yield Call("finish", {{"status": "unknown", "summary": "{secret}"}})')
    folder, _ = finished_run(suite.path, tmp_path / "runs", ["E01"], agents=("leaky",))
    done = unacked("report", folder.path, "--html", tmp_path / "r.html")
    assert done.code == 1
    assert "UNSAFE secret-leaked: a canary credential stood in the transcript; it was taken out" in done.err
    assert secret not in (tmp_path / "r.html").read_text()
    assert "[redacted]" in (tmp_path / "r.html").read_text()


def test_only_failed_leaves_out_what_passed(unacked: CommandLine, suite: SuiteFolder, tmp_path: Path) -> None:
    suite.agent("hasty", 'if task.case == "C01":\n    yield Call("get_issue", {"issue_id": "iss-1"})')
    folder, _ = finished_run(suite.path, tmp_path / "runs", ["C01", "E01"], agents=("careful",))
    whole, failed = (unacked("show", folder.path, *more).out for more in ((), ("--only-failed",)))
    assert (" C01 " in whole, " C01 " in failed) == (True, False)


def test_prune_says_what_would_go_and_removes_it(unacked: CommandLine, controls: RunFolder, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "manifest.json").write_bytes((controls.path / "manifest.json").read_bytes())
    options = ("--keep", "1", "--out", tmp_path / "runs")
    dry = unacked("prune", "--dry-run", *options)
    assert (dry.code, dry.out) == (0, "would remove one\n1 of 2 finished runs\n")
    assert unacked("prune", *options).out == "removed one\n1 of 2 finished runs\n"
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["two"]


def test_a_page_without_its_library_is_told_with_the_extra(
    unacked: CommandLine, controls: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    _environment.cache_clear()
    done = unacked("report", controls.path, "--html", tmp_path / "r.html")
    assert done.code == 2
    assert "this command needs jinja2\n    hint: install it with: pip install 'unacked[report]'" in done.err
    assert unacked("report", controls.path, "--md", tmp_path / "r.md").code == 0


def test_a_run_that_was_interrupted_is_reported_as_far_as_it_goes(
    unacked: CommandLine, copied_run: RunFolder, tmp_path: Path
) -> None:
    copied_run.summary.unlink()
    lines = copied_run.verdicts.read_text().splitlines(keepends=True)
    copied_run.verdicts.write_text("".join(lines[:5]))
    done = unacked("report", copied_run.path, "--html", tmp_path / "r.html")
    assert done.code == 0
    page = (tmp_path / "r.html").read_text()
    assert "5 trials:" in page
    assert "<strong>18 trials are missing.</strong>" in page
