"""Cases with remote commands: which faults they can have, and what they need."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.suites import CommandLine, SuiteFolder

from unacked.errors import SpecificationError
from unacked.suite import load_suite

C06 = "transitions/matrix/C06-restart-service.case.yaml"
FAULT = "{operation: run_command, nth: 1, point: before_commit, action: rst, committed: true}"


@pytest.fixture
def hosts(tmp_path: Path) -> SuiteFolder:
    suite = SuiteFolder(tmp_path / "suite")
    suite.keep("C06", "E01")
    for graph in (suite.path / "transitions").glob("*.yaml"):
        if graph.stem not in ("remote-command", "create-outcome-unknown"):
            graph.unlink()
    return suite


def problems(suite: SuiteFolder) -> list[str]:
    with pytest.raises(SpecificationError) as caught:
        load_suite(suite.path)
    return [str(problem) for problem in caught.value.problems]


def test_a_fault_of_requests_is_refused_for_a_remote_command(hosts: SuiteFolder) -> None:
    hosts.edit(C06, FAULT, "{operation: run_command, point: in_body, action: html}")
    (problem,) = problems(hosts)
    assert "run_command cannot meet 'html' at 'in_body'\n    hint: at this point it can meet: cut, garbage" in problem


def test_a_fault_of_remote_commands_is_refused_for_a_request(hosts: SuiteFolder) -> None:
    hosts.edit(C06, FAULT, "{operation: command_status, point: before_commit, action: no_marker}")
    assert "'no_marker' can act on a remote command only, not on command_status" in problems(hosts)[0]


def test_nothing_can_have_started_before_the_order_was_sent(hosts: SuiteFolder) -> None:
    hosts.edit(C06, FAULT, "{operation: run_command, point: after_accept, action: rst, committed: true}")
    assert "run_command sends its order later than at 'after_accept'" in problems(hosts)[0]


def test_a_remote_command_is_not_swept(hosts: SuiteFolder) -> None:
    hosts.case(
        "W1",
        "extends: C06\nfaults: {sweep: {operation: run_command}}\ntwins: false\nknown: null\n"
        "expect: {result: null, trail: []}\ntrap: false\n",
    )
    assert "run_command is a remote command; only requests are swept" in problems(hosts)[0]


@pytest.mark.parametrize("status", ["0", "256", "-1", "true", "1.5"])
def test_an_exit_status_is_a_number_from_1_to_255(hosts: SuiteFolder, status: str) -> None:
    hosts.edit(C06, "action: rst", f"action: {{exit: {status}}}")
    assert "exit_status is an exit status from 1 to 255" in problems(hosts)[0]


@pytest.fixture
def without_asyncssh(monkeypatch: pytest.MonkeyPatch) -> None:
    find: Callable[[str], ModuleSpec | None] = find_spec
    found = {"asyncssh": None}
    monkeypatch.setattr("unacked.suite.suite.find_spec", lambda name: found.get(name, find(name)))


@pytest.mark.usefixtures("without_asyncssh")
def test_without_the_extra_the_cases_are_left_out_aloud(
    unacked: CommandLine, hosts: SuiteFolder, tmp_path: Path
) -> None:
    done = unacked("run", "--suite", hosts.path, "--agent", "careful", "--out", tmp_path / "runs")
    assert (done.code, "not selected, pending: C06" in done.out) == (0, True)
    listed = unacked("list", "--suite", hosts.path)
    assert "1 cases ready, 1 pending" in listed.out


@pytest.mark.usefixtures("without_asyncssh")
def test_without_the_extra_a_case_that_is_named_is_a_usage_error(unacked: CommandLine, hosts: SuiteFolder) -> None:
    done = unacked("run", "C06", "--suite", hosts.path)
    assert done.code == 2
    assert "C06 cannot be run yet: it needs the extra 'ssh': pip install 'unacked[ssh]'" in done.err


def test_other_cases_do_not_pay_for_asyncssh(hosts: SuiteFolder, tmp_path: Path) -> None:
    arguments = ["run", "E01", "--agent", "careful", "--suite", str(hosts.path), "--out", str(tmp_path / "runs")]
    wrapped = f"import sys; sys.argv = ['unacked', *{arguments!r}]\ntry:\n    from unacked.cli import main; main()\n"
    wrapped += "except SystemExit as end:\n    assert not end.code, end.code\nassert 'asyncssh' not in sys.modules\n"
    done = subprocess.run([sys.executable, "-c", wrapped], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
