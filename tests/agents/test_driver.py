from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from tests.suites import CommandLine, SuiteFolder, finished_run

from unacked.agents import extra_problem, misfits
from unacked.case import AgentFile
from unacked.clock import MonotonicClock
from unacked.errors import SpecificationError
from unacked.services import Setting, load_service
from unacked.suite import load_suite
from unacked.wire.loopback import LoopbackServer


def agent(**given: Any) -> AgentFile:
    return AgentFile(agent="a", title="a", **given)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"driver": "scripted"}, [("driver", "an agent with the driver 'scripted' needs 'policy'")]),
        ({"driver": "anthropic"}, [("driver", "an agent with the driver 'anthropic' needs 'model'")]),
        ({"driver": "python"}, [("driver", "an agent with the driver 'python' needs 'function'")]),
        ({"driver": "command"}, [("driver", "an agent with the driver 'command' needs 'command'")]),
        ({"driver": "replay"}, [("driver", "an agent with the driver 'replay' needs 'replay'")]),
        (
            {"driver": "graph-walk", "stream": True, "function": "a:b"},
            [
                ("function", "means nothing to the driver 'graph-walk'"),
                ("stream", "means nothing to the driver 'graph-walk'"),
            ],
        ),
        ({"driver": "openai-chat", "model": "m", "stream": True, "base_url": "http://127.0.0.1:1/v1"}, []),
        ({"driver": "python", "function": "a:b", "model": "m", "timeout_s": 5.0}, []),
    ],
)
def test_a_driver_needs_one_field_and_refuses_those_of_others(given: Any, told: list[tuple[str, str]]) -> None:
    assert [(field, message) for field, message, _ in misfits(agent(**given))] == told


@pytest.mark.parametrize(
    ("driver", "package"), [("anthropic", "anthropic"), ("litellm", "litellm"), ("command", "mcp")]
)
def test_an_extra_that_is_not_installed_is_named_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, driver: str, package: str
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    problem = extra_problem(agent(driver=driver))
    assert problem is not None
    assert (problem.message, problem.hint) == (
        f"its driver {driver!r} needs the package {package!r}, which is not installed",
        f"pip install 'unacked[{package}]'",
    )


def test_a_scripted_agent_needs_no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    assert extra_problem(agent(driver="scripted")) is None


BAD_PROVIDERS = {
    "service": ("{service: modle}", "unknown service 'modle'\n    hint: did you mean 'model'?"),
    "quirk": (
        "{service: model, seed: {quirks: [{nth: 1, quirk: emty}]}}",
        "the seed does not fit: seed.quirks[0]: expected",
    ),
    "target": (
        "{service: model, faults: [{operation: mesages, point: after_commit, action: rst}]}",
        "unknown fault target 'mesages'\n    hint: did you mean 'messages'?",
    ),
    "place": (
        "{service: model, faults: [{operation: messages, point: dns, action: fail}]}",
        "cannot exist on the loopback wire: the client is given an address, so no name is ever looked up",
    ),
}


def test_fake_providers_that_cannot_be_are_all_told_with_their_places(suite: SuiteFolder) -> None:
    suite.one_side()
    for name, (provider, _) in BAD_PROVIDERS.items():
        suite.model(name, "anthropic", provider=provider)
    with pytest.raises(SpecificationError) as raised:
        load_suite(suite.path)
    for name, (_, told) in BAD_PROVIDERS.items():
        assert f"agents/{name}/agent.yaml:5:" in str(raised.value)
        assert told in str(raised.value)


def test_a_missing_key_is_an_error_that_names_the_variable(
    suite: SuiteFolder, unacked: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    suite.one_side()
    done = unacked("run", "--suite", suite.path, "--agent", "claude-careful", "--out", tmp_path / "runs")
    assert done.code == 4
    assert "the environment variable ANTHROPIC_API_KEY is not set: claude-careful needs the key" in done.out


def test_a_server_that_is_not_there_is_an_error(suite: SuiteFolder, tmp_path: Path) -> None:
    suite.one_side()
    retries = "{attempts: 2, first_wait_s: 0.0}"
    suite.model("lost", "openai-chat", base_url="http://127.0.0.1:9/v1", retries=retries)
    suite.edit("agents/lost/agent.yaml", "provider: {service: model}\n", "")
    folder, _ = finished_run(suite.path, tmp_path / "runs", agents=["lost"])
    line = json.loads(folder.verdicts.read_text())
    assert line["verdict"] == "ERROR"
    observed = [finding["observed"] for finding in line["claims"]["trail"]["findings"]]
    assert observed == [
        "no_connection: the connection to the provider failed or broke off (127.0.0.1:9: Connection refused)"
    ]


def test_a_users_own_key_stands_in_no_file_of_the_run(
    suite: SuiteFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-live-0123456789abcdef"
    monkeypatch.setenv("MY_KEY", key)
    suite.one_side()
    # The fake server refuses the key and repeats it, as real ones do.
    suite.model("own", "openai-chat", key_variable="MY_KEY")
    service = load_service(suite.path / "fake_services" / "model.py")({}, Setting(MonotonicClock(), "another"))
    with LoopbackServer([service]) as server:
        base_url = f"base_url: {server.url('model')}/v1\n"
        suite.edit("agents/own/agent.yaml", "provider: {service: model}\n", base_url)
        folder, _ = finished_run(suite.path, tmp_path / "runs", agents=["own"])
    line = json.loads(folder.verdicts.read_text())
    assert (line["verdict"], line["claims"]["trail"]["findings"][0]["observed"]) == (
        "ERROR",
        "refused_key: the provider answered 401 (authentication_error): refused key",
    )
    assert "[redacted]" in folder.diagnostics.read_text()
    assert [path for path in folder.path.rglob("*") if path.is_file() and key.encode() in path.read_bytes()] == []


def test_sdks_are_recorded_with_the_run_and_settings_are_pinned(suite: SuiteFolder, tmp_path: Path) -> None:
    suite.one_side()
    names = [suite.model("plain", "anthropic"), suite.model("streams", "anthropic", stream="true")]
    folder, _ = finished_run(suite.path, tmp_path / "runs", agents=names)
    manifest = folder.manifest()
    assert {"anthropic", "httpx2"} <= set(manifest["environment"]["packages"])
    assert "openai" not in manifest["environment"]["packages"]
    assert "model" in manifest["pins"]["services"]
    pins = manifest["pins"]["agents"]
    assert pins["plain"]["prompt"] == pins["streams"]["prompt"]
    assert pins["plain"]["setting"] != pins["streams"]["setting"]
    use = folder.read_json(folder.summary)["models"]["plain"]
    assert (use["requests"], use["served"], use["usd"]) == (5, ["careful-20260115"], None)


def test_an_agent_may_start_itself_and_an_sdk_may_ask_what_machine_this_is() -> None:
    assert agent(driver="command", command=["/opt/bin/agent", "-x"], programs=["git"]).starts == ["git", "agent"]
    assert agent(driver="anthropic", model="m").starts == ["uname"]
    assert agent(driver="scripted", policy="policy.py").starts == []
