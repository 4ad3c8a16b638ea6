from __future__ import annotations

from tests.suites import CommandLine

from unacked.engine import RunFolder


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
