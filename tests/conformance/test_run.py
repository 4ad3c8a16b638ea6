"""Real commands: the planted orchestrator as a program, and programs that do not do as they should."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from unacked.conformance.adapter import Adapter, load_adapter
from unacked.conformance.check import Finding, Pace, Status
from unacked.conformance.checks import CHECKS
from unacked.conformance.processes import Processes
from unacked.conformance.run import Report, check_orchestrator, chosen_checks
from unacked.errors import ExitCode, SpecificationError

Checked = Callable[..., Report]

PLANTED = """
orchestrator: planted
commands:
  start: ["{python}", -m, unacked.conformance.planted, start, "{plan}", "{state}", FAULT]
  resume: ["{python}", -m, unacked.conformance.planted, resume, "{plan}", "{state}", FAULT]
claims: [order, resume]
beat_s: 0.1
"""


def adapter(folder: Path, text: str) -> Adapter:
    file = folder / "it.yaml"
    file.write_text(text)
    return load_adapter(str(file))


@pytest.fixture
def checked(tmp_path: Path) -> Checked:
    """``checked(text, "C1", ...)``: the report of some checks of an adapter."""

    def check(text: str, *names: str) -> Report:
        told: list[Finding] = []
        report = check_orchestrator(adapter(tmp_path, text), chosen_checks(names), tmp_path / "work", told.append)
        assert sorted(told, key=lambda finding: finding.check) == report.findings
        return report

    return check


def test_an_orchestrator_that_goes_on_where_it_was_passes(checked: Checked) -> None:
    report = checked(PLANTED.replace(", FAULT", ""), "C1", "G1")
    assert [(finding.check, finding.status) for finding in report.findings] == [
        ("C1", Status.PASS),
        ("G1", Status.NOT_CLAIMED),
    ]
    assert report.exit_code is ExitCode.PASS


def test_one_that_repeats_a_finished_step_fails(checked: Checked) -> None:
    report = checked(PLANTED.replace("FAULT", "C1"), "C1")
    (finding,) = report.findings
    assert finding.status is Status.FAIL
    assert "the resumed run began ['b', 'c', 'd', 'e'], not ['c', 'd', 'e']" in finding.explanation
    assert report.exit_code is ExitCode.FAIL


INTERRUPTED = PLANTED.replace("beat_s: 0.1", "beat_s: 0.1\nstart_s: 0.4\npatience_s: 4.0")


def test_one_that_is_interrupted_and_goes_on_with_that_row_passes(checked: Checked) -> None:
    (finding,) = checked(INTERRUPTED.replace(", FAULT", ""), "C9").findings
    assert finding.status is Status.PASS
    assert "ten rows, each processed once" in finding.explanation


def test_one_that_takes_what_was_interrupted_for_done_fails(checked: Checked) -> None:
    (finding,) = checked(INTERRUPTED.replace("FAULT", "C9"), "C9").findings
    assert finding.status is Status.FAIL
    assert ", 'row-4' has no end, and yet line 9 (begin of 'row-5', attempt 1" in finding.explanation


def test_a_command_that_runs_on_when_it_is_interrupted_exercises_nothing(checked: Checked, tmp_path: Path) -> None:
    program = """
import json, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
plan = json.load(open(sys.argv[1]))
for step in plan["steps"][:4]:
    subprocess.run([*plan["probe"], step["id"], "null", "[]"])
time.sleep(60)
"""
    (tmp_path / "it.py").write_text(program)
    start = 'start: ["{python}", "{here}/it.py", "{plan}"], resume: ["true"]'
    paced = "beat_s: 0.05\nstart_s: 0.2\npatience_s: 1.0\n"
    (finding,) = checked(f"orchestrator: it\ncommands: {{{start}}}\nclaims: [resume]\n{paced}", "C9").findings
    assert finding.status is Status.NOT_EXERCISED
    assert finding.explanation.startswith("the command of line ")
    assert finding.explanation.endswith(") was interrupted, and ran on")


def test_a_command_that_does_not_exist_exercises_nothing(checked: Checked) -> None:
    report = checked("orchestrator: it\ncommands: {start: [no-such-program]}\nclaims: [order]\n", "S1")
    (finding,) = report.findings
    assert finding.status is Status.NOT_EXERCISED
    assert finding.explanation == "no-such-program: cannot be started: No such file or directory"
    assert report.exit_code is ExitCode.INCONCLUSIVE


def test_a_command_that_fails_is_quoted(checked: Checked) -> None:
    text = 'orchestrator: it\ncommands: {start: ["{python}", -c, \'raise SystemExit("no disk")\']}\nclaims: [order]\n'
    (finding,) = checked(text, "S1").findings
    assert finding.explanation == "no step ever began; start (exit status 1: no disk)"


def test_a_probe_that_has_left_its_command_exercises_nothing(checked: Checked, tmp_path: Path) -> None:
    program = """
import json, subprocess, sys
plan = json.load(open(sys.argv[1]))
for step in plan["steps"]:
    subprocess.run([*plan["probe"], step["id"], "null", "[]"], start_new_session=True)
"""
    (tmp_path / "it.py").write_text(program)
    start = 'start: ["{python}", "{here}/it.py", "{plan}"], resume: ["true"]'
    text = f"orchestrator: it\ncommands: {{{start}}}\nclaims: [resume]\nbeat_s: 0.1\n"
    (finding,) = checked(text, "C1").findings
    assert finding.status is Status.NOT_EXERCISED
    assert finding.explanation.startswith("line 6 (kill of 'c', attempt 1, in command ")
    assert finding.explanation.endswith(
        ") ran in a session of its own, so that its command could not be killed with it"
    )


def test_a_service_that_does_not_listen_exercises_nothing(checked: Checked) -> None:
    service = 'service: ["{python}", -c, \'raise SystemExit("no port {port}".split()[0])\']'
    text = f'orchestrator: it\ncommands: {{start: ["true"], {service}}}\nclaims: [order, parallel]\n'
    report = checked(text, "S1", "S2")
    assert [finding.status for finding in report.findings] == [Status.NOT_EXERCISED] * 2
    assert report.findings[0].explanation.startswith("the service does not listen on port ")
    assert report.findings[0].explanation.endswith(": no")


def test_a_missing_package_exercises_nothing(checked: Checked) -> None:
    (finding,) = checked(PLANTED + "requires: [no-such-thing]\n", "C1").findings
    assert finding.status is Status.NOT_EXERCISED
    assert finding.explanation == "needs no-such-thing: install it with: pip install no-such-thing"


def test_where_nothing_is_claimed_nothing_is_proven(checked: Checked) -> None:
    assert checked(PLANTED, "G1").exit_code is ExitCode.INCONCLUSIVE


def test_a_check_that_nobody_knows_is_refused_with_the_nearest() -> None:
    with pytest.raises(SpecificationError, match=r"checks: no check 'C99'\n"):
        chosen_checks(["C1", "C99"])


@pytest.mark.long
def test_a_check_that_is_ended_leaves_no_process_behind(tmp_path: Path) -> None:
    told = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(600)"
    (tmp_path / "it.yaml").write_text(
        f'orchestrator: it\ncommands: {{start: ["{{python}}", -c, "{told}"]}}\nclaims: [order]\n'
    )
    words = [sys.executable, "-m", "unacked", "orchestrator", "check", "it.yaml", "--only", "S1", "--keep", "kept"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as check:
        while not (pids := [file for file in tmp_path.glob("kept/it/*/state/pid") if file.read_text()]):
            assert check.poll() is None
        check.terminate()
        _, said = check.communicate(timeout=60)
    assert (check.returncode, said.strip()) == (130, "interrupted")
    with pytest.raises(ProcessLookupError):
        os.kill(int(pids[0].read_text()), 0)


def test_commands_that_begin_at_once_have_an_output_each(tmp_path: Path) -> None:
    it = adapter(tmp_path, 'orchestrator: it\ncommands: {start: ["{python}", -c, "print(1)"]}\nclaims: [order]\n')
    (scenario,) = CHECKS["S1"].scenarios(Pace(0.1))

    async def begin() -> list[str]:
        stage = Processes(it, scenario, tmp_path / "run", "run", None)
        await asyncio.gather(stage.begin("start", 0), stage.begin("start", 0))
        while any(command.status is None for command in stage.commands()):
            await stage.changed(1)
        await stage.close()
        return sorted(file.read_text() for file in (tmp_path / "run").glob("*-start.txt"))

    assert asyncio.run(begin()) == ["1\n", "1\n"]
