from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.suites import SmallSuite, SuiteFolder, finished_run

OPERATIONS = {
    "anthropic": "messages",
    "openai-chat": "chat_completions",
    "openai-responses": "responses",
    "litellm": "chat_completions",
}
DRIVERS = tuple(OPERATIONS)


@dataclass(frozen=True)
class Trial:
    """One trial of E01: its verdict line and its events."""

    line: Mapping[str, Any]
    events: list[Mapping[str, Any]]

    def details(self, *names: str) -> list[Mapping[str, Any]]:
        return [event["detail"] for event in self.events if event["event"] in names]

    def kinds(self, name: str) -> list[str]:
        return [detail["kind"] for detail in self.details(name)]

    def rules(self, claim: str = "trail") -> list[str]:
        judged = self.line["exercised"] if claim == "exercised" else self.line["claims"][claim]
        return [finding["rule"] for finding in judged["findings"]]


Tried = Callable[..., dict[str, Trial]]


def trials(suite: SuiteFolder, out: Path, *agents: str, **more: Any) -> dict[str, Trial]:
    """Run E01 with some agents; returns the trials by agent."""
    suite.one_side()
    folder, _ = finished_run(suite.path, out, agents=agents, **more)
    found = {}
    for line in map(json.loads, folder.verdicts.read_text().splitlines()):
        written = folder.events(line["index"], line["trial"]).read_text()
        found[line["agent"]] = Trial(line, [json.loads(text) for text in written.splitlines()])
    return found


@pytest.fixture(scope="session")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """Run trials of E01 with models that have quirks, or whose providers have faults.

    ``tried(name={"driver": ..., "quirk" or "fault": ..., other fields})`` runs all of them as one run.
    """

    def run(**agents: Mapping[str, str]) -> dict[str, Trial]:
        base = tmp_path_factory.mktemp("tried")
        suite = SmallSuite(base / "suite")
        for name, given in agents.items():
            more = dict(given)
            driver, quirk, fault = more.pop("driver"), more.pop("quirk", ""), more.pop("fault", "")
            if quirk:
                more["provider"] = f"{{service: model, seed: {{quirks: [{{{quirk}}}]}}}}"
            elif fault:
                more["provider"] = f"{{service: model, faults: [{{operation: {OPERATIONS[driver]}, {fault}}}]}}"
            suite.model(name, driver, **more)
        return trials(suite, base / "runs", *agents)

    return run
