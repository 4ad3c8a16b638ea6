"""No trial leaves anything behind: in one process, in any order, each trial is the same as alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.suites import ROOT

from unacked.engine import RunRequest, make_plan
from unacked.suite import load_suite
from unacked.trial import Bench


@pytest.mark.long
def test_every_trial_is_the_same_in_whatever_order_they_are_run(tmp_path: Path) -> None:
    suite = load_suite(ROOT)
    bench, trials = Bench(suite), make_plan(suite, RunRequest()).trials
    forwards = {trial.name: bench.run(trial, tmp_path / f"{trial.name}.1").head for trial in trials}
    backwards = {trial.name: bench.run(trial, tmp_path / f"{trial.name}.2").head for trial in reversed(trials)}
    assert {name: head for name, head in forwards.items() if backwards[name] != head} == {}
