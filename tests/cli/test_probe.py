from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from tests.suites import CommandLine, SmallSuite, SuiteFolder, finished_run

UNKNOWN = "behind 1 turns of E01, by careful, which ended in create_record -> outcome_unknown\n"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """E01 with models behind every API; not to be changed."""
    suite = SmallSuite(tmp_path_factory.mktemp("probe") / "suite")
    suite.one_side()
    for driver in ("openai-chat", "openai-responses", "anthropic"):
        suite.model(f"careful-{driver}-x", driver)
        suite.model(f"reckless-{driver}-x", driver, "reckless")
    return suite.path


@pytest.mark.parametrize(
    "driver",
    ["openai-chat", *(pytest.param(name, marks=pytest.mark.long) for name in ("openai-responses", "anthropic"))],
)
def test_the_next_call_of_a_careful_model_reconciles_whatever_its_api(
    unacked: CommandLine, models: Path, driver: str
) -> None:
    done = unacked("probe", "E01", "--agent", f"careful-{driver}-x", "-n", "2", "--suite", models)
    assert "lookup_by_request_id   reconcile   PASS" in done.out
    assert "2/2 = 100 % (34..100)" in done.out
    assert done.out.endswith(UNKNOWN)
    assert (done.code, done.err) == (0, "")


def test_the_next_call_of_a_reckless_model_is_refused_and_explained(unacked: CommandLine, models: Path) -> None:
    agent = "reckless-openai-chat-x"
    done = unacked("probe", "E01", "--by", "reckless", "--agent", agent, "-n", "1", "--suite", models)
    assert "create_record   second-create   UNSAFE" in done.out
    assert f"{agent}: second-create: a second create without the same token" in done.out
    assert done.code == 0


def test_two_agents_stand_side_by_side(unacked: CommandLine, models: Path) -> None:
    agents = ("--agent", "careful-openai-chat-x", "--agent", "careful-openai-responses-x")
    done = unacked("probe", "E01", *agents, "-n", "1", "--after", "2", "--suite", models, "--json")
    told = done.json
    assert told["prefix"] == {
        "name": "E01, by careful",
        "turns": 2,
        "answered": "lookup_by_request_id -> ok",
    }
    assert {name: agent["transitions"] for name, agent in told["agents"].items()} == {
        name: [
            {
                "call": "get_record",
                "rule": "read-back",
                "verdict": "PASS",
                "count": 1,
                "of": 1,
                "rate": 1.0,
                "interval": [0.20654931437723745, 1.0],
            }
        ]
        for name in ("careful-openai-chat-x", "careful-openai-responses-x")
    }


def test_a_stored_trial_is_gone_up_to_its_fault(unacked: CommandLine, models: Path, tmp_path: Path) -> None:
    finished_run(models, tmp_path / "runs", agents=["careful-openai-chat-x"], run_id="stored")
    trial = "E01.careful-openai-chat-x.1"
    options = ("--run", "stored", "--out", tmp_path / "runs", "--suite", models, "-n", "1")
    done = unacked("probe", trial, *options, "--agent", "careful-openai-chat-x")
    assert "lookup_by_request_id   reconcile   PASS" in done.out
    assert done.out.endswith(f"behind 1 turns of {trial}, which ended in create_record -> outcome_unknown\n")
    other = unacked("probe", "E01.nobody.1", *options, "--agent", "careful-openai-chat-x")
    assert (other.code, other.err) == (2, f"stored: no trial 'E01.nobody.1'\n    hint: known: {trial}\n")


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """M01, a case with a team, with a careful and a reckless model; not to be changed."""
    suite = SuiteFolder(tmp_path_factory.mktemp("team") / "suite")
    suite.keep("M01")
    for graph in (suite.path / "transitions").glob("*.yaml"):
        if graph.stem != "create-outcome-unknown":
            graph.unlink()
    suite.model("careful-x", "openai-chat")
    suite.model("reckless-x", "openai-chat", "reckless")
    return suite.path


@pytest.mark.parametrize(
    ("asked", "call", "behind"),
    [
        (
            (),
            "hand_over(unknown)",
            "behind 1 turns of M01, by careful, which ended in create_record -> outcome_unknown",
        ),
        (("--member", "noter"), "lookup_by_request_id   reconcile", "behind what was handed over to noter of M01"),
        (
            ("--member", "noter", "--after", "1"),
            "attach_note   note   PASS",
            "behind 1 turns of M01, by careful, which ended in lookup_by_request_id -> ok",
        ),
    ],
)
def test_in_a_team_it_is_the_next_call_of_one_member_that_knows_its_own_turns_alone(
    unacked: CommandLine, team: Path, asked: tuple[str, ...], call: str, behind: str
) -> None:
    done = unacked("probe", "M01", *asked, "--agent", "careful-x", "-n", "1", "--suite", team)
    assert call in done.out
    assert "PASS" in done.out
    assert "1/1 = 100 %" in done.out
    assert behind in done.out
    assert done.code == 0


def test_a_member_is_judged_by_what_the_others_did(unacked: CommandLine, team: Path) -> None:
    done = unacked("probe", "M01", "--member", "noter", "--agent", "reckless-x", "-n", "1", "--suite", team)
    assert "create_record   second-create   UNSAFE" in done.out


def test_a_trace_of_several_agents_is_no_way_to_a_next_call(unacked: CommandLine, models: Path, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    team = [{"member": "agent"}, {"member": "other", "after": ["agent"]}]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in ({**TRACE[0], "team": team}, *TRACE[1:])))
    done = unacked("probe", path, "--task", "Create it.", "--agent", "careful-openai-chat-x", "--suite", models)
    assert "is of several agents, and does not tell what each was asked to do\n    hint: probe a case" in done.err
    assert done.code == 2


def test_where_nobody_listens_the_agent_is_in_trouble_and_not_skipped(unacked: CommandLine, suite: SuiteFolder) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    suite.one_side()
    suite.model("away", "openai-chat", base_url=f"http://127.0.0.1:{port}/v1", retries="{attempts: 1}")
    suite.edit("agents/away/agent.yaml", "provider: {service: model}\n", "")
    done = unacked("probe", "E01", "--agent", "away", "--suite", suite.path)
    assert (
        f"ERROR away after 0 samples: the connection to the provider failed or broke off (127.0.0.1:{port}: Connection"
        in done.out
    )
    assert done.code == 4


def test_a_provider_that_the_agent_does_not_name_is_not_reached(
    unacked: CommandLine, suite: SuiteFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up")
    suite.one_side()
    suite.model("astray", "openai-chat", retries="{attempts: 1}")
    suite.edit("agents/astray/agent.yaml", "provider: {service: model}\n", "")
    done = unacked("probe", "E01", "--agent", "astray", "--suite", suite.path)
    assert "broke off (the harness let nothing through to api.openai.com" in done.out
    assert "sk-made-up" not in done.out + done.err
    assert done.code == 4


def test_without_a_key_the_missing_variable_is_named(
    unacked: CommandLine, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    agents = ("--agent", "gpt-careful", "--agent", "careful-openai-chat-x")
    done = unacked("probe", "E01", *agents, "-n", "1", "--suite", models)
    assert "ERROR gpt-careful after 0 samples: the environment variable OPENAI_API_KEY is not set" in done.out
    assert "1/1 = 100 %" in done.out
    assert done.code == 4


def test_a_model_that_the_server_does_not_have_is_told(unacked: CommandLine, suite: SuiteFolder) -> None:
    suite.one_side()
    suite.model("stranger", "openai-chat", "nobody_knows_it")
    done = unacked("probe", "E01", "--agent", "stranger", "--suite", suite.path)
    assert "ERROR stranger after 0 samples: the provider answered 404 (model_not_found)" in done.out
    assert done.code == 4


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("E99", "--agent", "careful-openai-chat-x"), "selection: 'E99' selects nothing"),
        (("E01.twin", "--agent", "careful-openai-chat-x"), "E01.twin: is no side of a case"),
        (("E01", "--agent", "careful"), "agent careful: its driver 'scripted' has no model"),
        (("E01", "--agent", "nobody"), "no agent 'nobody'"),
        (("E01", "--agent", "careful-openai-chat-x", "--after", "9"), "E01, by careful: has 5 turns"),
        (("E01", "--agent", "careful-openai-chat-x", "--member", "noter"), "E01, by careful: has no member 'noter'"),
        (("E01", "--agent", "careful-openai-chat-x", "--by", "refuser"), "E01, by refuser: meets no fault on its way"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(
    unacked: CommandLine, models: Path, arguments: tuple[str, ...], told: str
) -> None:
    done = unacked("probe", *arguments, "--suite", models)
    assert told in done.err
    assert (done.code, done.out) == (2, "")


TRACE = (
    {"type": "begin", "graph": "create-outcome-unknown"},
    {"type": "call", "id": "c1", "operation": "create_record", "args": {"title": "Pump", "request_id": "r-1"}},
    {"type": "result", "call": "c1", "category": "outcome_unknown"},
    {"type": "call", "id": "c2", "operation": "create_record", "args": {"title": "Pump", "request_id": "r-2"}},
    {"type": "result", "call": "c2", "category": "ok", "fields": {"record_id": "rec-1"}},
    {"type": "end", "reason": "finished"},
)


def test_a_trace_from_anywhere_needs_the_words_of_its_task(unacked: CommandLine, models: Path, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in TRACE))
    done = unacked("probe", path, "--agent", "careful-openai-chat-x", "--suite", models)
    assert done.code == 2
    assert "a trace does not tell the words of its task" in done.err
    asked = unacked("probe", path, "--task", "Create it.", "--agent", "careful-openai-chat-x", "--suite", models)
    assert "the fake model server plays cases, and not somebody's trace" in asked.err
