from __future__ import annotations

from pathlib import Path

from tests.suites import CommandLine, SuiteFolder

PRICE = "{as_of: 2026-01-01, input: 1, output: 10}"


def test_a_run_stops_when_its_money_is_spent_and_the_same_command_resumes_it(
    suite: SuiteFolder, unacked: CommandLine, tmp_path: Path
) -> None:
    suite.one_side()
    suite.model("priced", "openai-chat", price=PRICE)
    command = ["run", "--suite", suite.path, "--agent", "priced", "--repeat", "3", "--out", tmp_path, "--run-id", "r"]
    cut = unacked(*command, "--max-usd", "0.01")  # a trial costs 0.007
    assert cut.code == 3
    assert "the run's budget of 0.01 US dollars is spent: 1 trials were not run" in cut.err
    assert "to resume: unacked run --run-id r" in cut.err
    again = unacked(*command, "--max-usd", "0.01")  # what was spent before counts; nothing is left after the third
    assert (again.code, again.err.count("is spent")) == (0, 0)


def test_an_unknown_cost_holds_no_budget(suite: SuiteFolder, unacked: CommandLine, tmp_path: Path) -> None:
    suite.one_side()
    suite.model("unpriced", "openai-chat")
    done = unacked(
        "run", "--suite", suite.path, "--agent", "unpriced", "--repeat", "2", "--out", tmp_path, "--max-usd", "9"
    )
    assert done.code == 3
    assert "what unpriced costs is not known (give its agent a 'price')" in done.err


def test_agents_without_a_model_cost_nothing(suite: SuiteFolder, unacked: CommandLine, tmp_path: Path) -> None:
    suite.one_side()
    done = unacked(
        "run", "--suite", suite.path, "--agent", "careful", "--repeat", "2", "--out", tmp_path, "--max-usd", "1"
    )
    assert done.code == 0


def test_a_run_stops_when_its_time_is_over(suite: SuiteFolder, unacked: CommandLine, tmp_path: Path) -> None:
    suite.one_side()
    words = ["run", "--suite", suite.path, "--agent", "careful", "--repeat", "2", "--out", tmp_path]
    done = unacked(*words, "--max-minutes", "0.0000001")
    assert (done.code, "minutes is spent: 1 trials were not run" in done.err) == (3, True)
