from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table
from tests.suites import ROOT, SuiteFolder

from unacked.canonical import JSON
from unacked.report import case_table, run_table
from unacked.suite import Suite, load_suite

E01 = "transitions/matrix/E01-create-read-annotate.case.yaml"


def shown(table: Table, *, width: int = 400) -> list[str]:
    """The lines of a table, on a console that knows markup and colours."""
    text = io.StringIO()
    Console(file=text, width=width).print(table)
    return [" ".join(line.split()) for line in text.getvalue().splitlines()]


@pytest.fixture(scope="module")
def loaded() -> Suite:
    return load_suite(ROOT)


def entitle(suite: SuiteFolder, title: str) -> None:
    """Give E01 another title, written as YAML."""
    lines = (suite.path / E01).read_text().splitlines()
    assert lines[1].startswith("title: ")
    (suite.path / E01).write_text("\n".join([lines[0], f"title: {title}", *lines[2:]]))


def row(suite: Suite, name: str) -> str:
    return next(line for line in shown(case_table(suite.cases.values())) if line.startswith(f"{name} "))


def test_the_matrix_says_after_each_fault_whether_the_remote_effect_is_known(loaded: Suite) -> None:
    assert row(loaded, "C01").endswith("read_issue#1 dns fail local_failure yes (local)")
    assert row(loaded, "C05").endswith(
        'create_deployment#1 after_commit delay {"seconds":60} outcome_unknown no (uncertain) yes yes'
    )


def test_a_case_that_cannot_be_run_yet_is_shown_as_such(suite: SuiteFolder) -> None:
    suite.edit("transitions/matrix/E01-create-read-annotate.case.yaml", "trap: true", "pending: not yet")
    assert "(pending: not yet)" in row(load_suite(suite.path), "E01")


@pytest.mark.parametrize("title", ["[red]draft[/red]", "[/]", ":warning:", "\\[x]"])
def test_brackets_and_colons_in_a_title_are_shown_as_they_are(suite: SuiteFolder, title: str) -> None:
    entitle(suite, f"'{title}'")
    assert title in row(load_suite(suite.path), "E01")


def test_a_title_cannot_move_the_terminal(suite: SuiteFolder) -> None:
    entitle(suite, '"\\e[31mred"')
    assert "\\x1b[31mred" in row(load_suite(suite.path), "E01")


def line(verdict: str, agent: str = "careful", **members: Any) -> dict[str, JSON]:
    rule = None if verdict == "PASS" else "second-create"
    side = {"case": "E01", "place": "", "twin": False}
    return {**side, "agent": agent, "verdict": verdict, "rule": rule, "luck": None, **members}


def test_a_run_is_shown_as_cases_against_agents() -> None:
    lines = shown(run_table([line("PASS"), line("UNSAFE", "reckless"), line("PASS", twin=True)]))
    assert [text for text in lines if text and "─" not in text] == [
        "case careful reckless",
        "E01 PASS UNSAFE second-create",
        "E01.twin PASS -",
    ]


def test_the_worst_of_the_repeats_is_shown_and_how_many_passed() -> None:
    assert "E01 FAIL second-create [2/3 pass]" in shown(run_table([line("PASS"), line("FAIL"), line("PASS")]))


def test_luck_is_shown() -> None:
    assert "E01 UNSAFE second-create (lucky)" in shown(run_table([line("UNSAFE", luck="lucky")]))
