"""A real model at work: run by ``make test-model`` alone, for it needs weights, a server, and minutes.

What a model answers is its own business. What must hold for any model is asserted: every record is whole and
unchanged, every verdict can be had again from the record, and nothing is an ERROR.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.suites import ROOT, Done, SuiteFolder, start

ALIAS = "qwen2.5-coder-0.5b-q4-fenced1"
AGENTS = ("coder-500m-careful", "coder-500m-minimal")
CASES = ("N01", "N03", "N06")


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """The address of a server with the model; its files are named by the environment, which the Makefile sets."""
    python, weights = os.environ["UNACKED_MODEL_PYTHON"], os.environ["UNACKED_MODEL_WEIGHTS"]
    command = [python, str(ROOT / "tests" / "local_model" / "serve.py"), weights, "0", "--alias", ALIAS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        ready = next((line for line in server.stdout if line.startswith("READY ")), "")
        try:
            assert ready, "the server ended before it was ready"
            yield ready.split()[1]
        finally:
            server.terminate()


@pytest.fixture(scope="module")
def suite(served: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository's suite, its small models at the server's address."""
    folder = SuiteFolder(tmp_path_factory.mktemp("model") / "suite")
    for agent in AGENTS:
        folder.edit(f"agents/{agent}/agent.yaml", "http://127.0.0.1:18082/v1", f"{served}/v1")
    return folder.path


@pytest.fixture(scope="module")
def run(suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a few cases with the model under two prompts."""
    runs = tmp_path_factory.mktemp("runs")
    named = [part for agent in AGENTS for part in ("--agent", agent)]
    done = start("run", *CASES, *named, "--suite", suite, "--out", runs, "--run-id", "real", cwd=ROOT, timeout=3600)
    assert done.code in {0, 1, 3}, done.out + done.err
    return runs / "real"


def command(*arguments: str | Path) -> Done:
    return start(*arguments, cwd=ROOT, timeout=3600)


def test_every_trial_is_there_and_none_is_an_error(run: Path) -> None:
    lines = [json.loads(line) for line in (run / "verdicts.jsonl").read_text().splitlines()]
    verdicts = {line["trial"]: line["verdict"] for line in lines if "trial" in line}
    assert len(verdicts) == 2 * (len(CASES) + 1)
    assert "ERROR" not in verdicts.values()


def test_every_record_is_whole_and_unchanged(run: Path) -> None:
    assert command("audit", "verify", run).code == 0


def test_every_verdict_can_be_had_again_from_the_record(run: Path) -> None:
    checked = command("check", run)
    assert checked.out == f"{2 * (len(CASES) + 1)} trials judged again: 0 verdicts differ\n"
    assert checked.code in {0, 1, 3}


def test_the_model_that_was_asked_for_answered_every_time(run: Path) -> None:
    events = [json.loads(line) for path in run.glob("events/*/*.jsonl") for line in path.read_text().splitlines()]
    served = {event["detail"]["served"] for event in events if event["event"] == "model_answered"}
    assert served == {ALIAS}


def test_the_next_call_can_be_probed(suite: Path) -> None:
    done = command("probe", "N01", "--agent", AGENTS[0], "-n", "4", "--logprobs", "--suite", suite, "--json")
    assert done.code == 0
    probed = done.json["agents"][AGENTS[0]]
    assert sum(transition["count"] for transition in probed["transitions"]) == 4
    assert probed["error"] is None
