from __future__ import annotations

from pathlib import Path

import pytest
from tests.suites import CommandLine, SuiteFolder, finished_run

from unacked.engine import RunFolder
from unacked.secret import mint


def test_a_run_is_shown_as_its_table(unacked: CommandLine, controls: RunFolder) -> None:
    done = unacked("show", controls.path)
    assert done.code == 0
    assert " case " in done.out
    assert "UNSAFE second-create" in done.out


def test_a_trial_is_shown_with_its_claims_transcript_and_explanation(unacked: CommandLine, controls: RunFolder) -> None:
    done = unacked("show", controls.path, "E01.reckless.1")
    assert done.code == 0
    assert done.out.splitlines()[:5] == [
        "UNSAFE  E01.reckless.1",
        "  result  PASS",
        "  path    UNSAFE",
        "  world   FAIL",
        "  trail   PASS",
    ]
    assert "<== second-create" in done.out
    assert "expected one of: lookup_by_request_id when args.request_id == $rid;" in done.out


def test_the_reproduction_of_a_run_of_another_suite_names_the_copy_that_the_run_holds(
    unacked: CommandLine, suite: SuiteFolder, tmp_path: Path
) -> None:
    suite.keep("E01")
    suite.edit("agents/reckless/prompt.md", (suite.path / "agents/reckless/prompt.md").read_text(), "Another prompt.\n")
    folder = finished_run(suite.path, tmp_path / "runs", agents=("reckless",))[0]
    out = unacked("show", folder.path, "E01.reckless.1").out
    (told,) = [line for line in out.splitlines() if "reproduce: " in line]
    assert told.endswith(f"--agent reckless --seed 0 --repeat 1 --suite {folder.suite}")
    again = unacked(*told.split("reproduce: unacked ")[1].split(), "--out", tmp_path / "again")
    assert (again.code, "UNSAFE second-create" in again.out) == (1, True)


def test_the_reproduction_of_a_run_of_the_usual_suite_names_none(unacked: CommandLine, controls: RunFolder) -> None:
    out = unacked("show", controls.path, "E01.reckless.1").out
    assert "  reproduce: unacked run E01 --agent reckless --seed 0 --repeat 1" in out.splitlines()


def test_the_numbers_of_the_transcript_are_those_of_the_explanation(unacked: CommandLine, controls: RunFolder) -> None:
    out = unacked("show", controls.path, "E01.reckless.1").out
    assert "#2  create_record(" in next(line for line in out.splitlines() if "<== second-create" in line)
    assert "at event #2: create_record from state 'unknown'" in out


def test_a_trial_that_passed_is_shown_without_an_explanation(unacked: CommandLine, controls: RunFolder) -> None:
    done = unacked("show", controls.path, "E01.careful.1")
    assert done.code == 0
    assert "end: finished; world: " in done.out.splitlines()[-1]


def test_a_run_is_found_by_its_name(unacked: CommandLine, controls: RunFolder) -> None:
    assert unacked("show", controls.name, "E01.careful.1", "--out", controls.path.parent).code == 0


def test_a_trial_that_is_not_there_is_told_with_the_nearest_name(unacked: CommandLine, controls: RunFolder) -> None:
    done = unacked("show", controls.path, "E01.carefull.1")
    assert done.code == 2
    assert "no trial 'E01.carefull.1'\n    hint: did you mean 'E01.careful.1'?" in done.err


def test_a_folder_that_is_no_run_is_told(unacked: CommandLine, controls: RunFolder) -> None:
    done = unacked("show", controls.suite)
    assert done.code == 2
    assert "there is no run" in done.err


def test_a_run_of_another_format_is_refused_with_the_reason(unacked: CommandLine, copied_run: RunFolder) -> None:
    copied_run.write_manifest({**copied_run.manifest(), "format": 99})
    done = unacked("show", copied_run.path)
    assert done.code == 4
    assert "format 99 is not readable by this version" in done.err


KEY = mint("0", "E01", "leaks", "1", "0")
LEAKS = 'from unacked.secret import mint\nkey = mint("0", "E01", "leaks", "1", "0")\n'
FINISH = 'yield Call("finish", {"status": "unknown", "summary": "-"})'


def leaking(suite: SuiteFolder, tmp_path: Path, arguments: str) -> RunFolder:
    """A run of an agent that writes its credential into the arguments of a call."""
    suite.keep("E01")
    suite.agent("leaks", f'{LEAKS}yield Call("create_record", {arguments})\n{FINISH}')
    return finished_run(suite.path, tmp_path / "runs", agents=["leaks"])[0]


@pytest.mark.parametrize(
    "arguments",
    ['{"title": key}', '{"title": "x" * 30 + key}', '{"request_id": key[:20], "title": key[20:]}'],
    ids=["whole", "cut to fit the line", "in pieces"],
)
def test_a_credential_in_the_record_is_not_shown(
    unacked: CommandLine, suite: SuiteFolder, tmp_path: Path, arguments: str
) -> None:
    done = unacked("show", leaking(suite, tmp_path, arguments).path, "E01.leaks.1")
    assert done.code == 0
    assert "create_record(" in done.out
    assert [KEY[:20] in done.out, KEY[20:] in done.out] == [False, False]
    told = "UNSAFE secret-leaked: a canary credential stood in the transcript; it was taken out\n"
    assert done.err == told


# -- a run whose writer was interrupted ------------------------------------------------------------------------


@pytest.fixture
def torn(copied_run: RunFolder) -> RunFolder:
    """A run that was killed while it wrote its last verdict."""
    copied_run.write_manifest({**copied_run.manifest(), "seal": None})
    data = copied_run.verdicts.read_bytes()
    copied_run.verdicts.write_bytes(data[:-40])
    return copied_run


def test_a_torn_last_verdict_keeps_nobody_from_reading_the_others(unacked: CommandLine, torn: RunFolder) -> None:
    done = unacked("show", torn.path)
    assert done.code == 0
    assert "UNSAFE second-create" in done.out


def test_a_trial_with_a_torn_verdict_counts_as_missing(unacked: CommandLine, torn: RunFolder) -> None:
    done = unacked("check", torn.path)
    assert (done.code, done.out) == (3, "22 trials judged again: 0 verdicts differ\n")


def test_a_torn_line_of_a_sealed_run_is_damage(unacked: CommandLine, copied_run: RunFolder) -> None:
    copied_run.verdicts.write_bytes(copied_run.verdicts.read_bytes()[:-40])
    done = unacked("show", copied_run.path)
    assert done.code == 4
    assert "verdicts.jsonl:23: the line is torn; the writer was interrupted here" in done.err
