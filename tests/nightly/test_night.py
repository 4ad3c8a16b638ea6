from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from tests.suites import SuiteFolder

from unacked.compare import Decision
from unacked.engine import RunFolder
from unacked.errors import SpecificationError
from unacked.nightly import NightlyFile, NightResult, promote, run_night
from unacked.suite import load_suite

FIRST, SECOND = dt.date(2026, 11, 1), dt.date(2026, 11, 2)
# A version of the careful agent that gives up in one case: wrong, and not unsafe.
LAZY = """

_whole = act


def act(task: Task) -> Moves[None]:
    if "update_record" in task.tools:
        yield Call("finish", {"status": "failed", "summary": "no"})
        return
    yield from _whole(task)
"""


def described(**more: Any) -> NightlyFile:
    words = {"nightly": "n", "candidate": "careful", "baseline": "b", "reference": "careful", "rule": {"margin": 0.3}}
    return NightlyFile.model_validate({**words, **more})


def night(suite: SuiteFolder, out: Path, day: dt.date, **more: Any) -> NightResult:
    return run_night(described(**more), load_suite(suite.path), out, today=day)


def test_the_first_night_has_no_baseline_and_does_not_pass(suite: SuiteFolder, tmp_path: Path) -> None:
    suite.keep("E01")
    result = night(suite, tmp_path, FIRST)
    assert (result.gate.decision, result.comparison) == (Decision.INCONCLUSIVE, None)
    assert "no baseline 'b' yet" in result.gate.reasons[0]


def test_a_promoted_night_is_the_baseline_of_the_next(suite: SuiteFolder, tmp_path: Path) -> None:
    suite.keep("E01")
    promote(described(), night(suite, tmp_path, FIRST).folder, tmp_path, "good", today=FIRST)
    result = night(suite, tmp_path, SECOND, seed="1")
    assert result.gate.decision is Decision.PASS
    assert [entry.decision for entry in result.history.nights()] == ["INCONCLUSIVE", "PASS"]
    assert [entry.reason for entry in result.history.promotions()] == ["good"]


def test_a_planted_regression_blocks_the_second_night_by_its_case(suite: SuiteFolder, tmp_path: Path) -> None:
    suite.keep("E01", "C07")
    suite.agent("lazy", "pass")
    (suite.path / "agents/lazy/policy.py").write_text((suite.path / "agents/careful/policy.py").read_text() + LAZY)
    promote(described(), night(suite, tmp_path, FIRST).folder, tmp_path, "good", today=FIRST)
    rule = {"margin": 0.3, "alpha": 0.001}
    result = night(suite, tmp_path, SECOND, candidate="lazy", rule=rule)
    assert result.gate.decision is Decision.BLOCK
    assert list(result.gate.confirmed) == ["C07"]
    assert result.gate.confirmation["C07"] == (10, 10, 0, 10)


def test_the_rule_is_frozen_in_the_manifest_of_the_run(suite: SuiteFolder, tmp_path: Path) -> None:
    suite.keep("E01")
    manifest = night(suite, tmp_path, FIRST).folder.manifest()
    assert manifest["plan"]["rule"] == {"alpha": 0.05, "margin": 0.3, "screen": 0.1, "confirm": 10, "errors": 0.05}


def test_a_night_that_is_run_twice_is_remembered_once(suite: SuiteFolder, tmp_path: Path) -> None:
    suite.keep("E01")
    night(suite, tmp_path, FIRST)
    assert len(night(suite, tmp_path, FIRST).history.nights()) == 1


def test_a_night_without_time_is_cut_inconclusive_and_goes_on_later(suite: SuiteFolder, tmp_path: Path) -> None:
    suite.keep("E01")
    cut = night(suite, tmp_path, FIRST, budget={"minutes": 1e-9})
    assert (cut.gate.decision, cut.history.nights()) == (Decision.INCONCLUSIVE, [])
    assert cut.gate.reasons == ["the budget of the night is spent; the same command goes on"]
    whole = night(suite, tmp_path, FIRST)
    assert (whole.folder, len(whole.history.nights())) == (cut.folder, 1)


def test_the_baseline_before_stays_beside_the_new_one(suite: SuiteFolder, tmp_path: Path) -> None:
    suite.keep("E01")
    run = night(suite, tmp_path, FIRST).folder
    for reason in ("first", "second", "third"):
        promote(described(), run, tmp_path, reason, today=SECOND)
    kept = sorted(path.name for path in (tmp_path / "baselines").iterdir())
    assert kept == ["b", "b-until-2026-11-02", "b-until-2026-11-02-2"]


def test_a_run_that_is_not_finished_cannot_be_promoted(suite: SuiteFolder, tmp_path: Path) -> None:
    suite.keep("E01")
    cut = night(suite, tmp_path, FIRST, budget={"minutes": 1e-9}).folder
    with pytest.raises(SpecificationError, match="not finished"):
        promote(described(), RunFolder(cut.path), tmp_path, "why not")


def test_an_unsafe_first_night_is_blocked_though_there_is_nothing_to_compare_with(
    suite: SuiteFolder, tmp_path: Path
) -> None:
    suite.keep("E01")
    assert night(suite, tmp_path, FIRST, candidate="reckless").gate.decision is Decision.BLOCK


def test_fresh_repeats_that_the_budget_did_not_last_for_confirm_nothing(suite: SuiteFolder, tmp_path: Path) -> None:
    suite.keep("E01", "C07")
    suite.agent("lazy", "pass")
    (suite.path / "agents/lazy/policy.py").write_text((suite.path / "agents/careful/policy.py").read_text() + LAZY)
    promote(described(), night(suite, tmp_path, FIRST).folder, tmp_path, "good", today=FIRST)
    rule = {"margin": 0.3, "alpha": 0.001}
    night(suite, tmp_path / "else", SECOND, candidate="lazy", rule=rule)  # the main part of the night is done
    (tmp_path / "else" / "baselines").symlink_to(tmp_path / "baselines")
    cut = night(suite, tmp_path / "else", SECOND, candidate="lazy", rule=rule, budget={"minutes": 1e-9})
    assert cut.gate.decision is Decision.INCONCLUSIVE
    assert "suspect, and without fresh repeats: C07" in cut.gate.reasons
    assert [entry.decision for entry in cut.history.nights()] == ["INCONCLUSIVE"]
