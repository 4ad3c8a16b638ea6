from __future__ import annotations

from pathlib import Path

import pytest
from tests.suites import CommandLine

NIGHT = "nightly: n\ncandidate: careful\nbaseline: b\nreference: careful\nselect: [E01]\nrule: {margin: 0.3}\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "night.yaml"
    path.write_text(NIGHT)
    return path


def test_a_night_says_what_it_decided_and_what_it_knows_of_each_case(unacked: CommandLine, file: Path) -> None:
    done = unacked("nightly", file)
    assert done.code == 3
    assert done.out.splitlines()[:4] == [
        "INCONCLUSIVE",
        "  there is no baseline 'b' yet; make this run one with --promote, if it is good",
        "2 cases over the nights",
        "  insufficient E01: 5/5 in 1 nights; unsafe 0 of 5 exposed, below 45.07%",
    ]


def test_a_promoted_night_lets_an_equal_one_pass(unacked: CommandLine, file: Path) -> None:
    run = unacked("nightly", file, "--json").json["run"]
    assert unacked("nightly", file, "--promote", run, "--reason", "good").code == 0
    done = unacked("nightly", file, "--json")
    assert (done.code, done.json["decision"], done.json["classes"]["E01"]["class"]) == (0, "PASS", "insufficient")


def test_a_promotion_needs_its_reason(unacked: CommandLine, file: Path) -> None:
    done = unacked("nightly", file, "--promote", "x")
    assert done.code == 2
    assert "--promote and --reason belong together" in done.err


def test_an_agent_that_is_not_there_is_told_with_the_nearest_name(unacked: CommandLine, file: Path) -> None:
    file.write_text(NIGHT.replace("candidate: careful", "candidate: carefull"))
    done = unacked("nightly", file)
    assert (done.code, "carefull" in done.err, "careful" in done.err) == (2, True, True)


def test_a_plan_says_what_an_answer_costs(unacked: CommandLine) -> None:
    done = unacked("plan", "--usd-per-trial", "0.02")
    assert done.out.splitlines() == [
        "30 cases with a mean pass rate of 95.0%",
        "to find a drop of 5% with chance 80%: 12 repeats a case, 360 trials of each agent, $7.20",
        "to exclude a drop of 5% where nothing changed: 4 repeats a case, 120 trials of each agent, $2.40",
        "to bound the rate of unsafe runs below 1 %: 299 exposed runs without one",
    ]


def test_a_plan_takes_the_pass_rates_of_a_run(unacked: CommandLine, file: Path) -> None:
    run = unacked("nightly", file, "--json").json["run"]
    done = unacked("plan", "--baseline", run)
    assert (done.code, done.out.splitlines()[0]) == (0, "2 cases with a mean pass rate of 100.0%")
