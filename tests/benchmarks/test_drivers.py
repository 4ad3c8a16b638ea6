from __future__ import annotations

from pathlib import Path

import pytest
from tests.benchmarks.test_judges import ROOT, module
from tests.suites import SmallSuite

from unacked.agents.model import APIS
from unacked.suite import load_suite

DRIVERS = module("benchmark_of_the_drivers", ROOT / "benchmarks" / "drivers.py")


@pytest.mark.parametrize(
    "driver", ["openai-chat", *(pytest.param(name, marks=pytest.mark.long) for name in APIS if name != "openai-chat")]
)
def test_both_sides_send_every_request_of_the_recorded_trial(tmp_path: Path, driver: str) -> None:
    suite = SmallSuite(tmp_path / "suite")
    name = suite.model("measured", driver)
    loaded = load_suite(suite.path)
    stage = DRIVERS.Stage(loaded, loaded.cases[DRIVERS.CASE], loaded.agent(name), tmp_path)
    recorded = DRIVERS.record(stage, 1)
    assert (len(recorded.bodies), len(recorded.results)) == (4, 4)
    assert DRIVERS.bare(stage, recorded, 1) > 0
    assert DRIVERS.turns(stage, recorded, 1) > 0
