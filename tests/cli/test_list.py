from __future__ import annotations

from tests.suites import CommandLine, SuiteFolder


def test_the_matrix_the_agents_and_the_graphs_are_listed(unacked: CommandLine) -> None:
    done = unacked("list")
    assert done.code == 0
    assert "known?" in done.out
    assert (
        "agent careful: does what the result contract says, and claims only what it knows [control: passes]" in done.out
    )
    assert "graphs: auth-vs-denial, create-outcome-unknown, " in done.out


def test_what_cannot_be_run_yet_is_counted(unacked: CommandLine, suite: SuiteFolder) -> None:
    suite.keep("C01", "E01")
    suite.edit("transitions/matrix/E01-create-read-annotate.case.yaml", "trap: true", "pending: not yet")
    assert unacked("list", "--suite", suite.path).out.splitlines()[-1] == "1 cases ready, 1 pending"


def test_hostile_titles_are_shown_as_they_are(unacked: CommandLine, suite: SuiteFolder) -> None:
    suite.edit("agents/refuser/agent.yaml", "title: does nothing at all, safely", 'title: "[red]\\e[2J :warning:"')
    done = unacked("list", "--suite", suite.path)
    assert "agent refuser: [red]\\x1b[2J :warning: [control: never_unsafe]" in done.out


def test_a_good_suite_validates(unacked: CommandLine, suite: SuiteFolder) -> None:
    done = unacked("validate", "--suite", suite.path)
    assert done.code == 0
    assert done.out.endswith(" agents: no problem found\n")


def test_a_bad_suite_does_not(unacked: CommandLine, suite: SuiteFolder) -> None:
    suite.edit("agents/careful/agent.yaml", "driver: scripted", "driver: script")
    done = unacked("validate", "--suite", suite.path)
    assert (done.code, done.out) == (2, "")


def test_every_policy_that_does_not_load_is_told(unacked: CommandLine, suite: SuiteFolder) -> None:
    (suite.path / "agents/careful/policy.py").write_text("def act(:\n")
    (suite.path / "agents/reckless/policy.py").write_text("import nothing_of_this_name\n")
    done = unacked("validate", "--suite", suite.path)
    assert done.code == 2
    assert "agents/careful/policy.py:1:9: is not Python" in done.err
    assert "agents/reckless/policy.py:1:1: fails while it is loaded" in done.err


def test_a_suite_without_cases_does_not_validate(unacked: CommandLine, suite: SuiteFolder) -> None:
    suite.keep("nothing")
    done = unacked("validate", "--suite", suite.path)
    assert done.code == 2
    assert "the suite holds no cases" in done.err


def test_a_narrow_terminal_shows_each_case_in_whole_words(unacked: CommandLine) -> None:
    lines = unacked("list").out.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("C01  "))
    assert [line.rstrip() for line in lines[start : start + 2]] == [
        "C01  read an issue, the service's name does not resolve",
        "    read_issue#1 dns fail -> local_failure; remote effect known? yes (local)",
    ]
