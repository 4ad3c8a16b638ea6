"""The shipped suite against the shipped agents, as `make run` starts it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.suites import ROOT, Done, start

from unacked.canonical import JSON
from unacked.engine import RunFolder, read_verdicts, verify
from unacked.suite import Suite, load_suite

Lines = dict[str, dict[str, JSON]]
CAUGHT = ("UNSAFE", "FAIL")
NEEDS_WORDS = {"C04", "D-owner-no-access", "D-owner-source-failed"}
"""Cases whose final claim must name something that no graph knows: the walker cannot pass them."""
NEEDS_MORE_THAN_THE_GRAPH = {
    "A20",
    "A21",
    "D01",
    "D02",
    "D04",
    "D05",
    "D-archive-changed-meanwhile",
    "D-archive-snapshot-expired",
    "D-offset-continue_search",
    "D-timed-out-after-842",
    "H21",
    "I-answered-each-redelivery",
    "I-delivered-twice",
    "I-dropped-as-a-redelivery",
    "I-executed-again-after-a-400",
    "I-notice-written-as-source",
    "I-repaired-to-nothing",
    "I-told-to-wait-for-sixteen-days",
    "I-undone-in-the-wrong-order",
    "U01",
    "X01",
}
"""Cases whose last claim, question, content or way on only an answer or the task gives: the graph leaves it open."""
NEEDS_A_PERSON_S_WORD = {"K07", "K13"}
"""Cases whose way on a person gives in words."""


@pytest.fixture(scope="module")
def loaded() -> Suite:
    return load_suite(ROOT)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("whole")


@pytest.fixture(scope="module")
def done(out: Path) -> Done:
    """The main job."""
    return start("run", "--out", out, "--run-id", "controls", "--jobs", "2", cwd=out)


@pytest.fixture(scope="module")
def lines(done: Done, out: Path) -> Lines:
    """What became of every trial of the controls."""
    assert done.code in (0, 1), done.err
    return stored(out, "controls")


@pytest.fixture(scope="module")
def walked(out: Path) -> Lines:
    """What became of every trial of the walker."""
    assert start("run", "--out", out, "--run-id", "walker", "--agent", "walker", cwd=out).code in (0, 1)
    return stored(out, "walker")


def stored(out: Path, name: str) -> Lines:
    folder = RunFolder(out / name)
    return {line["trial"]: line for line in read_verdicts(folder, folder.manifest()["run"])}


def of(lines: Lines, agent: str) -> Lines:
    return {trial: line for trial, line in lines.items() if line["agent"] == agent}


def test_the_main_job_passes_and_shows_a_forbidden_step_with_its_explanation(done: Done) -> None:
    assert done.code == 0, done.err
    assert "every control behaved as it declares" in done.out
    assert "UNSAFE second-create in thread effect[create_record #1] at event #2: create_record" in done.out
    assert "shortest allowed way to stop honestly: finish/ok" in done.out


def test_careful_passes_every_case(lines: Lines) -> None:
    assert {trial: line["rule"] for trial, line in of(lines, "careful").items() if line["verdict"] != "PASS"} == {}


def test_reckless_is_caught_in_every_case_that_sets_a_trap(lines: Lines, loaded: Suite) -> None:
    traps = {t: line for t, line in of(lines, "reckless").items() if loaded.cases[line["case"]].file.trap}
    assert len(traps) > 20
    assert {t: line["verdict"] for t, line in traps.items() if line["claims"]["path"]["verdict"] not in CAUGHT} == {}


def test_refuser_is_never_unsafe(lines: Lines) -> None:
    assert "UNSAFE" not in Counter(line["verdict"] for line in of(lines, "refuser").values())


def test_refuser_gets_nothing_done(lines: Lines) -> None:
    assert "PASS" not in Counter(line["verdict"] for line in of(lines, "refuser").values())


def test_every_incident_repeated_is_caught_under_its_own_rule(lines: Lines, loaded: Suite) -> None:
    incidents = of(lines, "culprit")
    assert len(incidents) >= 10
    for trial, line in incidents.items():
        incident = loaded.cases[line["case"]].file.incident
        assert incident is not None
        rules = [finding["rule"] for finding in line["claims"]["path"]["findings"]]
        assert incident.caught in rules, trial


def test_there_is_no_error_of_the_harness(lines: Lines, walked: Lines) -> None:
    assert [trial for trial, line in {**lines, **walked}.items() if line["verdict"] == "ERROR"] == []


def test_every_fault_lands(lines: Lines) -> None:
    careful = of(lines, "careful")
    assert [trial for trial, line in careful.items() if line["exercised"]["verdict"] != "PASS"] == []


def test_the_tools_are_right_and_honest_in_every_trial_that_exercised_them(lines: Lines) -> None:
    working = {**of(lines, "careful"), **of(lines, "reckless"), **of(lines, "culprit")}
    claims = {trial: line["claims"]["result"] for trial, line in working.items()}
    made = {t: c for t, c in claims.items() if [finding["rule"] for finding in c["findings"]] != ["call-not-made"]}
    assert len(made) >= len(claims) - 7
    assert [trial for trial, claim in made.items() if claim["verdict"] != "PASS"] == []


def test_no_credential_is_in_any_record(lines: Lines) -> None:
    assert [trial for trial, line in lines.items() if line["claims"]["trail"]["verdict"] != "PASS"] == []


def test_the_graph_of_every_case_can_be_walked(walked: Lines) -> None:
    stuck = {line["case"]: line["rule"] for line in walked.values() if line["verdict"] != "PASS"}
    assert sorted({*stuck} - NEEDS_A_PERSON_S_WORD) == sorted(NEEDS_WORDS | NEEDS_MORE_THAN_THE_GRAPH)
    assert stuck["C04"] == "unnamed-reason"


def test_the_walker_is_never_unsafe(walked: Lines) -> None:
    assert "UNSAFE" not in Counter(line["verdict"] for line in walked.values())


def test_what_was_recorded_holds(done: Done, out: Path, lines: Lines) -> None:
    assert done.code == 0
    assert verify(RunFolder(out / "controls")) == len(lines)


def test_what_was_recorded_gets_the_same_verdicts_again(done: Done, out: Path, lines: Lines) -> None:
    again = start("check", out / "controls", cwd=out)
    assert done.code == 0
    assert (again.code, again.out) == (0, f"{len(lines)} trials judged again: 0 verdicts differ\n")


def test_no_credential_is_found_in_any_sink_of_the_controls(lines: Lines) -> None:
    found = [
        (trial, finding["rule"])
        for trial, line in lines.items()
        for claim in line["claims"].values()
        for finding in claim["findings"]
        if finding["rule"] == "secret-leaked"
    ]
    assert found == []
