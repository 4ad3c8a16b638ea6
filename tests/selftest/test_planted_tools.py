"""Tools that are wrong inside a trial, past the gate and over SSH: caught under their rule, and ours never."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.suites import ROOT

from unacked.selftest.planted_tools import TOOLBOXES, PlantedToolbox
from unacked.selftest.run import _toolbox
from unacked.suite import Suite, load_suite


@pytest.fixture(scope="module")
def shipped() -> Suite:
    return load_suite(ROOT)


@pytest.mark.parametrize("planted", TOOLBOXES, ids=lambda planted: planted.name)
def test_a_planted_toolbox_is_caught_under_its_own_rule_and_ours_is_left_alone(
    planted: PlantedToolbox, shipped: Suite, tmp_path: Path
) -> None:
    item = _toolbox(planted, shipped, tmp_path)
    assert (item.caught, item.rules[0], item.false_alarms, item.gap) == (1, planted.rule, 0, None)


def test_what_a_case_waits_for_is_said_of_the_toolbox(
    shipped: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unacked.suite.suite.find_spec", lambda _: None)
    over_ssh = next(planted for planted in TOOLBOXES if planted.case == "C06")
    unread = replace(shipped, cases={"C06": replace(shipped.cases["C06"])})
    item = _toolbox(over_ssh, unread, tmp_path)
    assert (item.planted, item.gap, list(item.unreached)) == (
        0,
        None,
        ["it needs the extra 'ssh': pip install 'unacked[ssh]'"],
    )
