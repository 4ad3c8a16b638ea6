from __future__ import annotations

from pathlib import Path

import pytest
from tests.suites import CommandLine, SuiteFolder, finished_run

CAREFUL = "agents/careful/policy.py"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two versions of one agent over E01 and C07: the second creates again instead of looking up."""
    suite = SuiteFolder(tmp_path_factory.mktemp("versions") / "suite")
    suite.keep("E01", "C07")
    out = tmp_path_factory.mktemp("runs")
    finished_run(suite.path, out, agents=("careful",), repeat=3, run_id="before")
    reckless = (suite.path / "agents/reckless/policy.py").read_text()
    (suite.path / CAREFUL).write_text(reckless)
    finished_run(suite.path, out, agents=("careful",), repeat=3, run_id="after")
    return out


@pytest.mark.long
def test_the_behaviour_that_differs_comes_first_with_its_edge_and_its_transcript(
    unacked: CommandLine, runs: Path
) -> None:
    done = unacked("compare", "before", "after", "--out", runs)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[:3] == [
        "A  careful (before): 9 of 9 passed, 0 unsafe",
        "B  careful (after): 0 of 9 passed, 6 unsafe",
        "the pin that differs: agent.policy",
    ]
    assert "    0.67 | 0.00   reconcile  (create-outcome-unknown)" in lines
    assert "  E01: 3/3 (0.44-1.00) | 0/3 (0.00-0.56)  p = 0.1" in lines
    parted = lines.index("the transcripts of E01 part at call 2")
    assert [line[:30].split("(")[0].split() for line in lines[parted + 1 :] if line[4:5] in "AB"][:2] == [
        ["A", "lookup_by_request_id"],
        ["B", "create_record"],
    ]
    assert max(map(len, lines)) <= 80


def test_kinds_of_failure_are_counted(unacked: CommandLine, runs: Path) -> None:
    done = unacked("compare", "before", "after", "--out", runs, "--json")
    (first, second) = done.json["failures"]
    assert (first, [(kind["rule"], len(kind["trials"])) for kind in second]) == (
        [],
        [("second-create", 6), ("too-early", 3)],
    )


def test_two_agents_of_one_run_are_named_with_it(unacked: CommandLine, tmp_path: Path, suite: SuiteFolder) -> None:
    suite.keep("E01")
    finished_run(suite.path, tmp_path / "runs", agents=("careful", "reckless"), run_id="both")
    done = unacked("compare", "both:careful", "both:reckless", "--out", tmp_path / "runs", "--confounded")
    assert (done.code, done.out.splitlines()[2]) == (0, "CONFOUNDED: 2 pins differ: agent.policy, agent.prompt")


HASTY = """

from random import Random

find_out_first = find_out


def find_out(task, operation, arguments, result):
    if operation.name != "create_record" or Random(task.seed).random() > RATE:
        return (yield from find_out_first(task, operation, arguments, result))
    again = yield Call(operation.name, {**arguments, "request_id": "another", "idempotency_key": "another"})
    return ("success", again["result"]) if again["ok"] else ("unknown", again["message"])
"""
"""A version that, at the given rate, creates again under another key instead of looking; else it is the careful one."""


@pytest.mark.long
def test_two_seeded_versions_that_differ_in_one_behaviour_are_told_apart_by_it(
    unacked: CommandLine, suite: SuiteFolder, tmp_path: Path
) -> None:
    suite.keep("C01", "C07", "E01")
    careful = (suite.path / CAREFUL).read_text()
    for version, rate in (("one", "0.0"), ("two", "0.5")):
        (suite.path / CAREFUL).write_text(careful + HASTY.replace("RATE", rate))
        finished_run(suite.path, tmp_path / "runs", agents=("careful",), repeat=20, run_id=version)

    done = unacked("compare", "one", "two", "--out", tmp_path / "runs")
    told = done.out.splitlines()
    edges = told[told.index("what B does otherwise: times in a trial, A | B") + 1 :][:1]
    parted = told.index("the transcripts of E01 part at call 2")
    calls = [line.split()[1].split("(")[0] for line in told[parted + 1 :] if line[4:5] in "AB"][:2]
    failures = unacked("compare", "one", "two", "--out", tmp_path / "runs", "--json").json["failures"]
    assert told[:3] == [
        "A  careful (one): 80 of 80 passed, 0 unsafe",
        "B  careful (two): 60 of 80 passed, 20 unsafe",
        "the pin that differs: agent.policy",
    ]
    assert edges == [
        "    0.50 | 0.25   reconcile  (create-outcome-unknown)",
    ]
    assert calls == ["lookup_by_request_id", "create_record"]
    assert ([kind["rule"] for kind in failures[0]], [kind["rule"] for kind in failures[1]]) == ([], ["second-create"])


def test_more_than_one_differing_pin_is_refused(unacked: CommandLine, tmp_path: Path, suite: SuiteFolder) -> None:
    suite.keep("E01")
    finished_run(suite.path, tmp_path / "runs", agents=("careful", "reckless"), run_id="both")
    done = unacked("compare", "both:careful", "both:reckless", "--out", tmp_path / "runs")
    assert (done.code, done.out) == (2, "")
    assert "differ in 2 pins: agent.policy, agent.prompt" in done.err
    assert "change one thing at a time, or go on with --confounded" in done.err


def test_a_run_that_is_not_there_is_a_usage_error(unacked: CommandLine, runs: Path) -> None:
    done = unacked("compare", "before", "afer:careful", "--out", runs)
    assert done.code == 2
    assert "there is no run 'afer'" in done.err


def test_an_unsafe_night_is_blocked(unacked: CommandLine, runs: Path) -> None:
    done = unacked("gate", "after", "--baseline", "before", "--out", runs)
    assert done.code == 1
    assert done.out.splitlines()[:2] == [
        "BLOCK",
        "  6 unsafe: E01.careful.1, E01.careful.2, E01.careful.3, E01.twin.careful.1, E01.twin.careful.2 and 1 more",
    ]


def test_too_few_repeats_are_inconclusive(unacked: CommandLine, runs: Path) -> None:
    done = unacked("gate", "before", "--baseline", "before", "--out", runs, "--json")
    assert (done.code, done.json["decision"], done.json["pins"]) == (3, "INCONCLUSIVE", [])


def test_a_wide_margin_lets_an_equal_night_pass(unacked: CommandLine, runs: Path) -> None:
    done = unacked("gate", "before", "--baseline", "before", "--margin", "0.5", "--out", runs)
    assert (done.code, done.out.splitlines()[0]) == (0, "PASS")


def test_without_scipy_the_extra_is_named(unacked: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name, name="scipy")

    monkeypatch.setattr("unacked.cli.importlib.import_module", missing)
    done = unacked("compare", "before", "after")
    assert (done.code, done.out) == (2, "")
    assert done.err == "this command needs scipy\n    hint: install it with: pip install 'unacked[compare]'\n"


def test_the_page_tells_what_differs_first_with_its_edge_and_its_transcript(
    unacked: CommandLine, runs: Path, tmp_path: Path
) -> None:
    done = unacked(
        "compare", "before", "after", "--out", runs, "--html", tmp_path / "c.html", "--md", tmp_path / "c.md"
    )
    assert done.code == 0
    page = (tmp_path / "c.html").read_text()
    places = [
        page.index(text) for text in ("agent.policy", ">reconcile</th>", "(here they part)", "<h3>E01</h3>", "Cases<")
    ]
    assert places == sorted(places)
    assert page.count("(here they part)") == 6
    assert (tmp_path / "c.md").read_text() == f"# unacked: comparison\n\n```text\n{done.out}```\n"


def test_three_runs_are_a_matrix_against_the_first(unacked: CommandLine, runs: Path) -> None:
    done = unacked("compare", "before", "after", "before", "--out", runs)
    assert done.code == 0
    against = [line for line in done.out.splitlines() if line.startswith("     against A")]
    assert [line.split()[2] for line in against] == ["-100.0", "-29.9"]
    lines = [line for line in done.out.splitlines() if line not in against]
    assert lines[:8] == [
        "A  careful (before): 9 of 9 passed, 0 unsafe",
        "     a trial: turns 5.0, US dollars 0",
        "B  careful (after): 0 of 9 passed, 6 unsafe",
        "     a trial: turns 4.3, US dollars 0",
        "C  careful (before): 9 of 9 passed, 0 unsafe",
        "     a trial: turns 5.0, US dollars 0",
        "what they do otherwise: times in a trial, A | B | C",
        "    0.67 | 0.00   | 0.67   reconcile  (create-outcome-unknown)",
    ]
    assert lines[-6:] == [
        "passes of the decided trials in 3 cases that all have run; * where p < 0.05 by itself",
        "  C07: 3/3 | 0/3 | 3/3",
        "      turns 4.0 | 3.0 | 4.0, US dollars 0 | 0 | 0",
        "  E01: 3/3 | 0/3, 3 unsafe | 3/3",
        "  E01.twin: 3/3 | 0/3, 3 unsafe | 3/3",
        "      turns 6.0 | 5.0 | 6.0, US dollars 0 | 0 | 0",
    ]


def test_the_page_of_three_runs_is_a_matrix_with_edges_and_transcripts(
    unacked: CommandLine, runs: Path, tmp_path: Path
) -> None:
    done = unacked("compare", "before", "after", "before", "--out", runs, "--html", tmp_path / "c.html")
    assert done.code == 0
    page = (tmp_path / "c.html").read_text()
    head = '<th scope="col">case</th><th scope="col">A</th><th scope="col">B</th><th scope="col">C</th>'
    places = [page.index(text) for text in (">reconcile</th>", head, "<h3>E01, A against B</h3>")]
    assert places == sorted(places)
    assert "No case of C changed." in page
    assert page.count("(here they part)") == 6


def test_turns_and_cost_of_each_case_are_told(unacked: CommandLine, runs: Path) -> None:
    done = unacked("compare", "before", "after", "--out", runs, "--json")
    (row,) = [row for row in done.json["cases"] if row["case"] == "C07"]
    assert [(row[side]["turns"], row[side]["usd"]) for side in ("first", "second")] == [(12, 0.0), (9, 0.0)]
    text = unacked("compare", "before", "after", "--out", runs).out
    assert "      turns 4.0 | 3.0, US dollars 0 | 0" in text.splitlines()


def test_one_run_is_no_comparison(unacked: CommandLine, runs: Path) -> None:
    done = unacked("compare", "before", "--out", runs)
    assert done.code == 2
    assert "a comparison takes 2 to 26 runs" in done.err
