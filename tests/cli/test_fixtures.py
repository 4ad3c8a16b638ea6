from __future__ import annotations

from pathlib import Path

from tests.suites import CommandLine, SuiteFolder

WRONG = """\
fixture: wrong
operation: create_record
fixture_response: {status: 403, body: {error: no}}
expect: {category: authentication_failed, retry: never}
"""


def write(suite: SuiteFolder, text: str = WRONG) -> None:
    (suite.path / "transitions" / "wrong.fixture.yaml").write_text(text)


def test_the_shipped_fixtures_pass(unacked: CommandLine, root: Path) -> None:
    done = unacked("fixtures", "--suite", root)
    assert done.code == 0
    assert done.out.splitlines()[-1] == "17 fixtures of 4 operations: 17 PASS"


def test_a_fixture_that_does_not_hold_fails_and_says_why(unacked: CommandLine, suite: SuiteFolder) -> None:
    write(suite)
    done = unacked("fixtures", "--suite", suite.path)
    assert done.code == 1
    assert done.out.splitlines() == [
        "FAIL         wrong                        create_record          authorization_denied never",
        "    wrong-category: expected category 'authentication_failed'; observed 'authorization_denied'",
        "1 fixtures of 1 operations: 1 FAIL",
    ]


def test_a_result_in_json_is_one_object(unacked: CommandLine, suite: SuiteFolder) -> None:
    write(suite)
    done = unacked("fixtures", "--suite", suite.path, "--json").json
    assert done["exit_code"] == 1
    assert done["verdicts"] == {"PASS": 0, "INCONCLUSIVE": 0, "FAIL": 1, "ERROR": 0, "UNSAFE": 0}
    assert done["fixtures"][0]["findings"][0]["rule"] == "wrong-category"


def test_the_generated_ones_of_one_operation_are_selected_by_a_pattern(
    unacked: CommandLine, suite: SuiteFolder
) -> None:
    done = unacked("fixtures", "--suite", suite.path, "--generated", "rotate_credential.*")
    assert done.code == 0
    assert done.out.splitlines()[-1] == "115 fixtures of 1 operations: 115 PASS"


def test_a_word_that_selects_nothing_is_a_mistake(unacked: CommandLine, root: Path) -> None:
    done = unacked("fixtures", "--suite", root, "expired-tokens")
    assert (done.code, "did you mean 'expired-token'?" in done.err) == (2, True)


def test_a_suite_without_fixtures_is_never_green(unacked: CommandLine, suite: SuiteFolder) -> None:
    assert unacked("fixtures", "--suite", suite.path).code == 2


def test_validate_tells_what_is_wrong_with_a_fixture(unacked: CommandLine, suite: SuiteFolder) -> None:
    write(suite, WRONG.replace("create_record", "create_recrod"))
    done = unacked("validate", "--suite", suite.path)
    assert (done.code, "unknown operation 'create_recrod'" in done.err) == (2, True)
