from __future__ import annotations

import pytest
from tests.suites import SuiteFolder

from unacked.engine import RunRequest, make_plan
from unacked.errors import SpecificationError
from unacked.suite import load_suite


def test_policies_that_do_not_load_are_told_before_anything_runs(suite: SuiteFolder) -> None:
    for name in ("broken", "empty"):
        suite.agent(name, "return")
    (suite.path / "agents" / "broken" / "policy.py").write_text("def act(:\n")
    (suite.path / "agents" / "empty" / "policy.py").write_text("")
    with pytest.raises(SpecificationError) as caught:
        make_plan(load_suite(suite.path), RunRequest((), ("broken", "empty")))
    assert [problem.message for problem in caught.value.problems] == [
        "is not Python: invalid syntax",
        "defines no policy",
    ]


def test_the_policy_of_an_agent_that_does_not_run_is_not_loaded(suite: SuiteFolder) -> None:
    suite.agent("broken", "return")
    (suite.path / "agents" / "broken" / "policy.py").write_text("def act(:\n")
    assert make_plan(load_suite(suite.path), RunRequest(("E01",), ("careful",))).agents == ["careful"]
