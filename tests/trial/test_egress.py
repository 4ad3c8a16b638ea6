"""An agent that reaches for another machine: refused, kept, and an ERROR, whatever its library makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.suites import SuiteFolder, finished_run
from tests.trial.conftest import Tried

from unacked.claims import Brief, judge_trial
from unacked.engine import read_verdicts
from unacked.suite import load_suite
from unacked.trial import Bench, TrialPlan, TrialRecord

FINISH = 'yield Call("finish", {"status": "unknown", "summary": "-"})'


def swallowed(attempt: str) -> str:
    """A policy that takes no notice of what becomes of the attempt."""
    return f"import socket, sys\ntry:\n    {attempt}\nexcept OSError:\n    pass\n{FINISH}"


CONNECT = 'socket.create_connection(("192.0.2.1", 443), timeout=1)'
ATTEMPTS = [
    (CONNECT, "192.0.2.1:443"),
    ('socket.getaddrinfo("example.org", 443)', "example.org:443"),
    ('socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53))', "192.0.2.1:53"),
]


@pytest.fixture
def brief(small_suite: Path) -> Brief:
    """The case E01 as it is judged."""
    return load_suite(small_suite).cases["E01"].side(twin=False)


def findings(brief: Brief, record: TrialRecord) -> list[tuple[str, str, str]]:
    found = judge_trial(brief, record.history).findings
    return [(item.rule, item.verdict.value, item.observed) for item in found if item.rule == "egress"]


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("attempt", "host"), ATTEMPTS, ids=["connect", "name", "datagram"])
def test_an_attempt_is_an_error_even_where_the_agent_swallows_it(
    tried: Tried, brief: Brief, attempt: str, host: str
) -> None:
    record = tried(swallowed(attempt))
    assert findings(brief, record) == [("egress", "ERROR", f"a connection to {host} was refused")]


def test_an_attempt_that_ends_the_agent_is_an_error_too(tried: Tried, brief: Brief) -> None:
    record = tried(f"import socket\n{CONNECT}\n{FINISH}")
    assert findings(brief, record) == [("egress", "ERROR", "a connection to 192.0.2.1:443 was refused")]
    assert record.history[len(record.history) - 1].detail["trouble"].startswith("EgressRefusedError: ")


def test_an_agent_may_reach_this_machine(tried: Tried, brief: Brief) -> None:
    served = (
        'with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()): pass'
    )
    record = tried(f"import socket\n{served}\n{FINISH}")
    assert findings(brief, record) == []


def test_a_host_that_the_agent_s_definition_names_is_reached(suite: SuiteFolder, brief: Brief, tmp_path: Path) -> None:
    # Only what an audit hook is told of a look-up: nothing leaves this machine.
    asked = 'sys.audit("socket.getaddrinfo", "models.example", 443, 0, 0, 0)'
    suite.agent("test", swallowed(asked), hosts="[models.example]")
    plan = TrialPlan(0, "E01", twin=False, agent="test", repeat=1, seed="0", run="run")
    record = Bench(load_suite(suite.path)).run(plan, tmp_path / "events.jsonl")
    assert findings(brief, record) == []


def test_one_trial_s_attempt_harms_no_other(suite: SuiteFolder, tmp_path: Path) -> None:
    suite.agent("caller", swallowed('socket.getaddrinfo("example.org", 443)'))
    folder, plan = finished_run(suite.path, tmp_path / "runs", ["C01", "E01"], agents=["caller", "careful"])
    verdicts = {line["trial"]: (line["verdict"], line["rule"]) for line in read_verdicts(folder, plan.run)}
    assert verdicts == {
        "C01.caller.1": ("ERROR", "egress"),
        "C01.careful.1": ("PASS", None),
        "E01.caller.1": ("ERROR", "egress"),
        "E01.careful.1": ("PASS", None),
        "E01.twin.caller.1": ("ERROR", "egress"),
        "E01.twin.careful.1": ("PASS", None),
    }


# -- programs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attempt",
    ['subprocess.run(["true"])', 'os.system("true")', 'os.posix_spawn("/bin/true", ["true"], {})', "os.fork()"],
)
def test_a_program_that_an_agent_starts_is_an_error(tried: Tried, brief: Brief, attempt: str) -> None:
    record = tried(f"import os, subprocess\n{swallowed(attempt)}")
    ((rule, verdict, observed),) = findings(brief, record)
    assert (rule, verdict) == ("egress", "ERROR")
    assert observed in [f"the start of {name} was refused" for name in ("true", "sh", "fork")]


def test_a_program_that_the_agent_s_definition_names_is_started(
    suite: SuiteFolder, brief: Brief, tmp_path: Path
) -> None:
    suite.agent(
        "test", 'import subprocess\nassert subprocess.run(["true"]).returncode == 0\n' + FINISH, programs="['true']"
    )
    plan = TrialPlan(0, "E01", twin=False, agent="test", repeat=1, seed="0", run="run")
    record = Bench(load_suite(suite.path)).run(plan, tmp_path / "events.jsonl")
    assert findings(brief, record) == []
    assert record.history[len(record.history) - 1].detail["reason"] == "finished"
