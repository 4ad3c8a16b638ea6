"""The same case gives the same verdict through every driver, over real SDKs and real sockets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.agents.model.conftest import DRIVERS, Trial, trials
from tests.suites import SmallSuite, finished_run

from unacked.canonical import digest, dumps

PLAIN = ("anthropic", "openai-chat", "openai-responses")


def told(trial: Trial) -> Mapping[str, Any]:
    """A verdict without what names its trial: claims, rules, luck, the final claim."""
    line = {key: trial.line[key] for key in ("verdict", "rule", "final", "luck", "exercised")}
    claims = {
        claim: [(finding["rule"], finding["verdict"]) for finding in judged["findings"]]
        for claim, judged in trial.line["claims"].items()
    }
    return {**line, "claims": claims}


def calls(trial: Trial) -> list[tuple[str, Any]]:
    return [
        (event["operation"], event["detail"]["arguments"])
        for event in trial.events
        if event["event"] == "agent_next_call"
    ]


def requests(trial: Trial) -> tuple[int, int]:
    """Requests to the model on the record, and those that the server counted."""
    return len(trial.details("model_called")), trial.details("provider_seen")[0]["requests"]


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trial]:
    """E01 with the two policies: scripted, and behind three SDKs, plain and streaming."""
    base = tmp_path_factory.mktemp("drivers")
    suite = SmallSuite(base / "suite")
    names = ["careful", "reckless"]
    for driver in PLAIN:
        for policy in ("careful", "reckless"):
            names.append(suite.model(f"{policy}-{driver}-plain", driver, policy))
            names.append(suite.model(f"{policy}-{driver}-stream", driver, policy, stream="true"))
    return trials(suite, base / "runs", *names)


@pytest.mark.parametrize("policy", ["careful", "reckless"])
@pytest.mark.parametrize("driver", PLAIN)
@pytest.mark.parametrize("mode", ["plain", "stream"])
def test_a_policy_gets_the_same_verdict_behind_an_sdk_as_by_itself(
    tried: dict[str, Trial], policy: str, driver: str, mode: str
) -> None:
    behind = tried[f"{policy}-{driver}-{mode}"]
    assert told(behind) == told(tried[policy])
    assert calls(behind) == calls(tried[policy])


def test_the_careful_policy_passes_and_the_reckless_one_is_caught(tried: dict[str, Trial]) -> None:
    verdicts = {name: (trial.line["verdict"], trial.line["rule"]) for name, trial in tried.items()}
    assert set(verdicts.values()) == {("PASS", None), ("UNSAFE", "second-create")}
    assert verdicts["careful-anthropic-plain"] == ("PASS", None)
    assert verdicts["reckless-openai-responses-stream"] == ("UNSAFE", "second-create")


@pytest.mark.parametrize("driver", PLAIN)
@pytest.mark.parametrize("mode", ["plain", "stream"])
def test_every_recorded_request_is_one_attempt_on_the_wire(tried: dict[str, Trial], driver: str, mode: str) -> None:
    assert requests(tried[f"careful-{driver}-{mode}"]) == (5, 5)


def sent(trial: Trial) -> list[Mapping[str, Any]]:
    """Every request as the record tells it: what stays the same, and all messages so far."""
    called = trial.details("model_called")
    setup: Mapping[str, Any] = called[0]["setup"]
    told: list[Any] = []
    bodies: list[Mapping[str, Any]] = []
    for detail in called:
        told += detail["messages"]
        bodies.append({**setup, "input" if "instructions" in setup else "messages": list(told)})
    return bodies


def results_in(body: Mapping[str, Any]) -> list[str]:
    """The texts of tools' results in a request, whatever the API."""
    texts = []
    for message in body.get("messages") or body["input"]:
        blocks = message["content"] if isinstance(message.get("content"), list) else [message]
        for block in blocks:
            if block.get("type") == "tool_result" or message.get("role") == "tool":
                texts.append(block["content"])
            elif block.get("type") == "function_call_output":
                texts.append(block["output"])
    return texts


@pytest.mark.parametrize("driver", PLAIN)
@pytest.mark.parametrize("mode", ["plain", "stream"])
def test_the_record_holds_every_request_to_the_last_byte(tried: dict[str, Trial], driver: str, mode: str) -> None:
    trial = tried[f"careful-{driver}-{mode}"]
    assert [digest(body) for body in sent(trial)] == [detail["request"] for detail in trial.details("model_called")]


@pytest.mark.parametrize("driver", PLAIN)
@pytest.mark.parametrize("mode", ["plain", "stream"])
def test_what_a_model_was_sent_are_the_very_results_on_the_record_and_each_stays(
    tried: dict[str, Trial], driver: str, mode: str
) -> None:
    trial = tried[f"careful-{driver}-{mode}"]
    recorded = [dumps(detail["envelope"]) for detail in trial.details("result")]
    assert recorded[0].startswith('{"category":"outcome_unknown","class":"uncertain","correlati')
    assert [results_in(body) for body in sent(trial)] == [recorded[:count] for count in range(5)]


def test_the_record_names_who_served_and_what_was_used(tried: dict[str, Trial]) -> None:
    answered = tried["careful-openai-chat-plain"].details("model_answered")[0]
    assert (answered["requested"], answered["served"], answered["fingerprint"]) == (
        "careful",
        "careful-20260115",
        "fp_fake",
    )
    assert (answered["id"], answered["request_id"], answered["stop"]) == ("chatcmpl-1", "req_1", "calls")
    assert answered["usage"]["output_tokens"] == answered["raw_usage"]["completion_tokens"] == 19
    assert answered["usd"] is None


def test_a_verdict_line_says_what_its_trial_used(tried: dict[str, Trial]) -> None:
    use = tried["careful-anthropic-plain"].line["model"]
    assert (use["requests"], use["answers"], use["served"], use["usd"]) == (5, 5, ["careful-20260115"], None)
    assert "model" not in tried["careful"].line


@pytest.mark.long
def test_litellm_gives_the_same_verdicts(tmp_path: Path) -> None:
    suite = SmallSuite(tmp_path / "suite")
    names = ["careful", "reckless"]
    for policy in ("careful", "reckless"):
        names.append(suite.model(f"{policy}-by-openai", "litellm", policy))
        names.append(suite.model(f"{policy}-by-anthropic", "litellm", model=f"anthropic/{policy}", stream="true"))
    done = trials(suite, tmp_path / "runs", *names)
    for policy in ("careful", "reckless"):
        for route in ("by-openai", "by-anthropic"):
            assert told(done[f"{policy}-{route}"]) == told(done[policy])
            assert calls(done[f"{policy}-{route}"]) == calls(done[policy])
    for trial in (done["careful-by-openai"], done["careful-by-anthropic"]):
        recorded = [dumps(detail["envelope"]) for detail in trial.details("result")]
        assert [results_in(body) for body in sent(trial)] == [recorded[:count] for count in range(5)]
    assert requests(done["careful-by-openai"]) == requests(done["careful-by-anthropic"]) == (5, 5)


@pytest.mark.long
@pytest.mark.parametrize("driver", DRIVERS)
def test_every_case_of_the_matrix_gets_the_same_verdict_through_every_driver(driver: str, tmp_path: Path) -> None:
    suite = SmallSuite(tmp_path / "suite")
    names = [
        "careful",
        "reckless",
        *(suite.model(f"{policy}-model", driver, policy) for policy in ("careful", "reckless")),
    ]
    lines = {}
    folder, _ = finished_run(suite.path, tmp_path / "runs", agents=names)
    for line in map(json.loads, folder.verdicts.read_text().splitlines()):
        lines[line["agent"], line["case"], line["twin"]] = (line["verdict"], line["rule"], line["final"], line["luck"])
    for policy in ("careful", "reckless"):
        for (agent, case, twin), verdict in lines.items():
            if agent == policy:
                assert lines[f"{policy}-model", case, twin] == verdict, (case, twin)
