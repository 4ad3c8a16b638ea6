"""Every planted adapter is caught under its own rule; the self-test fails where one is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.suites import ROOT, start

from unacked.adapter import HONESTY, RULES, Report, cases_of, check, reference
from unacked.adapter.stage import scenes
from unacked.selftest import PLANTED, Planted
from unacked.selftest.planted_replies import REPLIES, RIGHT
from unacked.selftest.run import _broken_suites, _planted
from unacked.suite import Suite, load_suite

OUT_OF_REACH = {"invented-effect", "id-reused"}
"""No fault of the sweep leads there by itself; the claims' own tests have them."""


@pytest.fixture(scope="module")
def shipped() -> Suite:
    return load_suite(ROOT)


EVERY = (*PLANTED, *REPLIES)


@pytest.mark.long
@pytest.mark.parametrize("planted", EVERY, ids=lambda planted: planted.name.partition(":")[2])
def test_a_planted_adapter_is_caught_under_its_own_rule(shipped: Suite, planted: Planted) -> None:
    item = _planted(planted, shipped)
    assert (item.caught, item.rules[0], item.gap) == (1, planted.rule, None)


def test_every_rule_has_an_adapter_that_breaks_it() -> None:
    assert {planted.rule for planted in EVERY} == {*RULES, *HONESTY} - OUT_OF_REACH


@pytest.mark.long
def test_our_own_tools_are_left_alone_behind_an_mcp_server(shipped: Suite) -> None:
    report = Report("reference over MCP", "simulated")
    for heard in check(RIGHT, shipped, cases_of(shipped, ["read_build"])):
        report.add(heard)
    assert (report.findings, report.calls > 190, report.not_exercised) == ({}, True, 0)


def test_a_planted_adapter_that_is_not_caught_is_a_gap(shipped: Suite) -> None:
    planted = replace(PLANTED[0], adapter=reference.call, operation="read_build")
    calls = sum(1 for case in cases_of(shipped, ["read_build"]) for _ in scenes(case))
    item = _planted(planted, shipped)
    assert (item.caught, item.gap) == (0, f"not caught under denied-effect in {calls} calls")


@pytest.mark.long
def test_a_suite_whose_faults_cannot_act_is_never_green(shipped: Suite, tmp_path: Path) -> None:
    items = list(_broken_suites(shipped, tmp_path))
    assert [(item.name, item.rules, item.gap) for item in items] == [
        ("misspelt-target", ["exit 2"], None),
        ("never-fires", ["exit 3"], None),
    ]


@pytest.mark.long
def test_the_self_test_catches_everything_and_raises_no_false_alarm(tmp_path: Path) -> None:
    done = start("selftest", "--json", cwd=tmp_path)
    assert done.code == 0, done.out
    assert done.json["gaps"] == 0
    assert done.json["caught"] == done.json["planted"] > 150
    assert done.json["false_alarms"] == 0 < done.json["benign"]
