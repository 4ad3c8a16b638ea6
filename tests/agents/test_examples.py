"""The examples of agents in other people's frameworks, copied into a suite and run as the guide says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.suites import ROOT, SmallSuite, SuiteFolder, finished_run

# What other people's packages warn of when they are imported is theirs to mend.
pytestmark = pytest.mark.filterwarnings("ignore")

EXAMPLES = ROOT / "docs" / "examples"
NAMES = tuple(sorted(path.parent.name for path in EXAMPLES.glob("*/agent.yaml")))
Trial = tuple[dict[str, Any], list[dict[str, Any]]]


def copied(suite: SuiteFolder, name: str, model: str, **changes: str) -> str:
    """Copy an example into a suite under a name of its own, for a model; returns the name."""
    own = "-".join([name, model, *changes])
    shutil.copytree(EXAMPLES / name, suite.path / "agents" / own)
    suite.edit(f"agents/{own}/agent.yaml", f"agent: {name}\n", f"agent: {own}\n")
    if model != "careful":
        suite.edit(f"agents/{own}/agent.yaml", "model: careful", f"model: {model}")
    for old, new in changes.items():
        suite.edit(f"agents/{own}/agent.yaml", f"{{{old}}}", f"{{{new}}}")
    return own


def tried(suite: SuiteFolder, base: Path, *agents: str) -> dict[str, Trial]:
    """Run E01; returns verdict line and events of each agent's trial."""
    suite.one_side()
    folder, _ = finished_run(suite.path, base / "runs", agents=agents)
    found = {}
    for line in map(json.loads, folder.verdicts.read_text().splitlines()):
        events = folder.events(line["index"], line["trial"]).read_text().splitlines()
        found[line["agent"]] = (line, [json.loads(event) for event in events])
    return found


def calls(trial: Trial) -> list[tuple[str, Any]]:
    return [
        (event["operation"], event["detail"]["arguments"]) for event in trial[1] if event["event"] == "agent_next_call"
    ]


def judged(trial: Trial) -> Any:
    line = trial[0]
    claims = {
        name: [(finding["rule"], finding["verdict"]) for finding in claim["findings"]]
        for name, claim in line["claims"].items()
    }
    return [line[name] for name in ("verdict", "rule", "final", "luck")], claims


def test_an_agent_that_is_a_graph_is_tested_like_any_other(tmp_path: Path) -> None:
    suite = SmallSuite(tmp_path / "suite")
    done = tried(suite, tmp_path, "careful", copied(suite, "langgraph", "careful"))
    assert judged(done["langgraph-careful"]) == judged(done["careful"])
    assert calls(done["langgraph-careful"]) == calls(done["careful"])


@pytest.fixture(scope="module", params=NAMES)
def example(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trial]:
    """One example with both models, as ``careful-model`` and ``reckless-model``, beside the policies that they play."""
    base = tmp_path_factory.mktemp("examples")
    suite = SmallSuite(base / "suite")
    names = {copied(suite, request.param, model): f"{model}-model" for model in ("careful", "reckless")}
    done = tried(suite, base, "careful", "reckless", *names)
    return {names.get(name, name): trial for name, trial in done.items()}


def test_there_is_an_example_for_each_framework() -> None:
    assert NAMES == ("langgraph", "mcp-client", "openai-agents", "pydantic-ai")


@pytest.mark.long
@pytest.mark.parametrize(("model", "verdict"), [("careful", ["PASS", None]), ("reckless", ["UNSAFE", "second-create"])])
def test_a_framework_gets_the_verdict_of_the_policy_behind_it(
    example: dict[str, Trial], model: str, verdict: list[str | None]
) -> None:
    trial = example[f"{model}-model"]
    assert judged(trial)[0][:2] == verdict
    assert judged(trial) == judged(example[model])


@pytest.mark.long
@pytest.mark.parametrize("model", ["careful", "reckless"])
def test_what_a_framework_calls_is_recorded_where_it_meets_the_tools(example: dict[str, Trial], model: str) -> None:
    assert calls(example[f"{model}-model"]) == calls(example[model])


@pytest.mark.long
def test_the_models_of_a_framework_are_asked_at_the_fake_server(example: dict[str, Trial]) -> None:
    seen = [event["detail"] for event in example["careful-model"][1] if event["event"] == "provider_seen"]
    assert seen == [{"requests": len(calls(example["careful"])) + 1, "unfired": []}]


@pytest.mark.long
def test_a_program_finds_the_same_tools_by_its_url(tmp_path: Path) -> None:
    suite = SmallSuite(tmp_path / "suite")
    name = copied(suite, "mcp-client", "careful", mcp_config="mcp_config_http")
    done = tried(suite, tmp_path, "careful", name)
    assert (judged(done[name]), calls(done[name])) == (judged(done["careful"]), calls(done["careful"]))
