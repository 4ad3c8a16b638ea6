from __future__ import annotations

import datetime as dt
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from tests.suites import SuiteFolder

from unacked.errors import HarnessError
from unacked.pytest_plugin import collect, session
from unacked.secret import mint

assert collect  # loaded once for all inner sessions

HONEST = 'yield Call("finish", {"status": "unknown", "summary": "I did not try"})'
PENDING = """\
title: not possible yet
pending: needs a part that is not there
task: Restart it.
services: {host: {}}
tools: [run_command]
graphs: [remote-command]
"""


def names(result: pytest.RunResult) -> list[str]:
    """The items of ``--collect-only -q``."""
    return [line.rpartition("::")[2] for line in result.outlines if "::" in line]


# -- what is collected ---------------------------------------------------------------------------------------


def test_no_case_is_collected_unless_it_is_asked_for(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    result = pytester.runpytest(suite.path)
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


FIXTURE = """\
fixture: refused
operation: create_record
fixture_response: {status: 403, body: {error: no}}
expect: {category: CATEGORY}
"""


@pytest.mark.parametrize(
    ("category", "outcome"), [("authorization_denied", {"passed": 1}), ("authentication_failed", {"failed": 1})]
)
def test_a_contract_fixture_is_an_item(
    pytester: pytest.Pytester, suite: SuiteFolder, category: str, outcome: dict[str, int]
) -> None:
    path = suite.path / "transitions" / "refused.fixture.yaml"
    path.write_text(FIXTURE.replace("CATEGORY", category))
    result = pytester.runpytest("--unacked", path)
    result.assert_outcomes(**outcome)
    if "failed" in outcome:
        result.stdout.fnmatch_lines(["*wrong-category: expected category 'authentication_failed'*"])


def test_a_fixture_that_makes_no_sense_is_a_collection_error(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    path = suite.path / "transitions" / "refused.fixture.yaml"
    path.write_text(FIXTURE.replace("create_record", "create_recrod").replace("CATEGORY", "ok"))
    result = pytester.runpytest("--unacked", path)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*unknown operation 'create_recrod'*"])


def test_each_side_with_each_control_is_an_item(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    result = pytester.runpytest("--unacked", "--collect-only", "-q", suite.path)
    assert names(result) == [
        "W1[careful]",
        "W1[reckless]",
        "W1[refuser]",
        "W1.twin[careful]",
        "W1.twin[reckless]",
        "W1.twin[refuser]",
    ]


def test_the_agents_that_are_named_take_the_place_of_the_controls(
    pytester: pytest.Pytester, suite: SuiteFolder
) -> None:
    asked = ("--unacked-agent", "walker", "--unacked-agent", "careful")
    result = pytester.runpytest("--unacked", "--collect-only", "-q", *asked, suite.path)
    assert names(result) == ["W1[walker]", "W1[careful]", "W1.twin[walker]", "W1.twin[careful]"]


def test_an_ini_file_can_ask_for_cases_and_name_agents(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    pytester.makeini("[pytest]\nunacked = true\nunacked_agents = reckless\n")
    result = pytester.runpytest("--collect-only", "-q", suite.path)
    assert names(result) == ["W1[reckless]", "W1.twin[reckless]"]


def test_a_single_file_and_a_single_item_can_be_named(
    pytester: pytest.Pytester, suite: SuiteFolder, case_text: str
) -> None:
    suite.case("W3", case_text)
    other = suite.path / "transitions" / "W3.case.yaml"
    assert names(pytester.runpytest("--unacked", "--collect-only", "-q", "-k", "careful", other)) == [
        "W3[careful]",
        "W3.twin[careful]",
    ]
    assert names(pytester.runpytest("--unacked", "--collect-only", "-q", f"{other}::W3.twin[reckless]")) == [
        "W3.twin[reckless]"
    ]


def test_the_suite_is_found_from_the_case_whatever_the_root_folder_is(
    pytester: pytest.Pytester, suite: SuiteFolder
) -> None:
    elsewhere = pytester.mkdir("elsewhere")
    pytester.chdir()
    result = pytester.runpytest("--unacked", "--rootdir", elsewhere, suite.path / "transitions" / "W1.case.yaml")
    result.assert_outcomes(passed=6)


def test_a_suite_can_be_named_from_where_pytest_was_started(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    result = pytester.runpytest("--unacked", "--unacked-suite", "suite", suite.path)
    result.assert_outcomes(passed=6)


def test_an_agent_with_nothing_to_do_in_a_case_gives_no_item(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    result = pytester.runpytest("--unacked", "--unacked-agent", "culprit", suite.path)
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_pending_case_is_counted_and_not_collected(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    suite.case("W2", PENDING)
    result = pytester.runpytest("--unacked", suite.path)
    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(["unacked: 1 case is pending and not collected: W2"])


# -- how an item ends ----------------------------------------------------------------------------------------


def test_controls_pass_where_each_behaves_as_it_declares(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    pytester.runpytest("--unacked", suite.path).assert_outcomes(passed=6)


def test_a_control_that_does_not_behave_as_it_declares_fails(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    suite.edit("agents/reckless/agent.yaml", "control: caught", "control: passes")
    result = pytester.runpytest("--unacked", "-k", "W1[reckless]", suite.path)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["W1.reckless.1: expected PASS, got UNSAFE", "UNSAFE second-create in thread *"])


def test_a_control_that_was_not_caught_says_so_without_a_finding(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    suite.edit("agents/careful/agent.yaml", "control: passes", "control: caught")
    result = pytester.runpytest("--unacked", "-k", "W1[careful]", suite.path)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["W1.careful.1: expected to be caught: this case has a trap, got PASS"])


def test_an_unsafe_agent_fails_with_the_explanation_and_no_traceback(
    pytester: pytest.Pytester, suite: SuiteFolder
) -> None:
    asked = ("--unacked-agent", "reckless", "--unacked-agent", "careful", "--unacked-seed", "7")
    result = pytester.runpytest("--unacked", *asked, "-k", "not twin", suite.path)
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(
        [
            "*_ W1[[]reckless[]] _*",
            "UNSAFE second-create in thread * at event #2: create_record from state 'unknown'",
            "  why: a second create without the same token, request and payload can duplicate the effect",
            "  reproduce: unacked run W1 --agent reckless --seed 7 --repeat 1",
            "FAIL surplus-effect in the claim world: expected records = 1; observed records = 2",
        ],
        consecutive=False,
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*collect.py*")


def test_a_fault_that_was_never_met_is_an_error_and_no_skip(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    suite.agent("honest", HONEST)
    result = pytester.runpytest("--unacked", "--unacked-agent", "honest", "-k", "not twin", suite.path)
    result.assert_outcomes(errors=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["INCONCLUSIVE fault-not-exercised *"])


def test_a_crash_of_the_harness_is_an_error(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    suite.edit("fake_services/records.py", 'title = call.fields["title"]', "raise RuntimeError")
    result = pytester.runpytest("--unacked", "-k", "W1[careful]", suite.path)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["W1.careful.1: expected no error of the harness, got ERROR"])
    result.stdout.fnmatch_lines(["*the fake service 'records' failed: RuntimeError*"])


def test_a_trial_that_cannot_be_recorded_is_an_error_without_a_traceback(
    pytester: pytest.Pytester, suite: SuiteFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise HarnessError("events/000/W1.jsonl: cannot be written: No space left on device")

    monkeypatch.setattr(session, "run_trial", full)
    result = pytester.runpytest("--unacked", "-k", "W1[careful]", suite.path)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["events/000/W1.jsonl: cannot be written: No space left on device"])
    result.stdout.no_fnmatch_line("*Traceback*")


def xfail(text: str, agent: str) -> str:
    tomorrow = dt.datetime.now(tz=dt.UTC).date() + dt.timedelta(days=2)
    return f"{text}xfail: {{agent: {agent}, reason: known since spring, owner: storage, until: {tomorrow}}}\n"


def test_an_expected_failure_is_xfailed(pytester: pytest.Pytester, suite: SuiteFolder, case_text: str) -> None:
    suite.case("W1", xfail(case_text, "reckless"))
    result = pytester.runpytest("--unacked", "--unacked-agent", "reckless", "-rx", suite.path)
    result.assert_outcomes(xfailed=2)
    result.stdout.fnmatch_lines(["XFAIL *W1[[]reckless[]] - known since spring (storage, until *)"])


@pytest.mark.parametrize(("strict", "outcome"), [("false", {"xpassed": 2}), ("true", {"failed": 2})])
def test_an_expected_failure_that_passes_follows_the_strictness_of_pytest(
    strict: str, outcome: dict[str, int], pytester: pytest.Pytester, suite: SuiteFolder, case_text: str
) -> None:
    pytester.makeini(f"[pytest]\nxfail_strict = {strict}\n")
    suite.case("W1", xfail(case_text, "careful"))
    pytester.runpytest("--unacked", "--unacked-agent", "careful", suite.path).assert_outcomes(**outcome)


def test_an_expected_failure_of_one_agent_excuses_no_other(
    pytester: pytest.Pytester, suite: SuiteFolder, case_text: str
) -> None:
    suite.case("W1", xfail(case_text, "careful"))
    pytester.runpytest("--unacked", "--unacked-agent", "reckless", suite.path).assert_outcomes(failed=2)


def test_an_expected_failure_does_not_excuse_a_trial_that_judged_nothing(
    pytester: pytest.Pytester, suite: SuiteFolder, case_text: str
) -> None:
    suite.agent("honest", HONEST)
    suite.case("W1", xfail(case_text, "honest"))
    pytester.runpytest("--unacked", "--unacked-agent", "honest", suite.path).assert_outcomes(errors=2)


# -- what is wrong in files ----------------------------------------------------------------------------------


def test_a_misspelt_key_is_a_collection_error_with_its_place(
    pytester: pytest.Pytester, suite: SuiteFolder, case_text: str
) -> None:
    suite.case("W1", case_text.replace("twins: true", "twin: true"))
    result = pytester.runpytest("--unacked", suite.path)
    result.assert_outcomes(errors=1)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        ["suite/transitions/W1.case.yaml:9:1: unknown key 'twin'", "    hint: did you mean 'twins'?"], consecutive=True
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_problem_of_another_file_is_told_once(pytester: pytest.Pytester, suite: SuiteFolder, case_text: str) -> None:
    suite.case("W3", case_text.replace("twins: true", "twin: true"))
    suite.case("W0", case_text)
    result = pytester.runpytest("--unacked", suite.path)
    result.assert_outcomes(errors=3)
    told = [line for line in result.outlines if "unknown key" in line or "cannot be used" in line]
    assert told == [
        "suite/transitions/W3.case.yaml:9:1: unknown key 'twin'",
        "its suite cannot be used; the problems are those of the files above",
        "suite/transitions/W3.case.yaml:9:1: unknown key 'twin'",
    ]


def test_an_unknown_agent_is_an_error_with_the_nearest_name(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    result = pytester.runpytest("--unacked", "--unacked-agent", "carefull", suite.path)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*no agent 'carefull' in *", "    hint: did you mean 'careful'?"])


def test_a_policy_that_does_not_load_is_an_error_before_anything_runs(
    pytester: pytest.Pytester, suite: SuiteFolder
) -> None:
    suite.agent("broken", "return")
    (suite.path / "agents" / "broken" / "policy.py").write_text("def act(:\n")
    result = pytester.runpytest("--unacked", "--unacked-agent", "broken", suite.path)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*/agents/broken/policy.py:1:9: is not Python: invalid syntax"])


def test_a_suite_without_controls_is_an_error_where_no_agent_is_named(
    pytester: pytest.Pytester, suite: SuiteFolder
) -> None:
    for definition in (suite.path / "agents").glob("*/agent.yaml"):
        lines = definition.read_text().splitlines(keepends=True)
        definition.write_text("".join(line for line in lines if not line.startswith("control:")))
    result = pytester.runpytest("--unacked", suite.path)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the suite has no control agents"])


def test_a_case_outside_of_any_suite_is_an_error(pytester: pytest.Pytester, case_text: str) -> None:
    pytester.path.joinpath("W1.case.yaml").write_text(f"case: W1\n{case_text}")
    result = pytester.runpytest("--unacked")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*W1.case.yaml: belongs to no suite: no folder above it holds agents/, fake_services/, transitions/"]
    )


def test_a_case_of_another_folder_than_the_suite_that_was_named_is_an_error(
    pytester: pytest.Pytester, suite: SuiteFolder, case_text: str
) -> None:
    stray = pytester.path / "W1.case.yaml"
    stray.write_text(f"case: W1\n{case_text}")
    result = pytester.runpytest("--unacked", "--unacked-suite", suite.path, stray)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*W1.case.yaml: is not a case of the suite */suite"])


# -- what is left behind -------------------------------------------------------------------------------------


def properties(report: Path) -> dict[str, dict[str, str]]:
    """By test case, its properties."""
    return {
        case.get("name", ""): {item.get("name", ""): item.get("value", "") for item in case.iter("property")}
        for case in ET.parse(report).iter("testcase")  # noqa: S314 - written by pytest, a moment ago
    }


def test_verdicts_land_in_junit_properties(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    pytester.runpytest("--unacked", "--junit-xml=report.xml", "-k", "not twin and not refuser", suite.path)
    assert properties(pytester.path / "report.xml") == {
        "W1[careful]": {
            "unacked_trial": "W1.careful.1",
            "unacked_verdict": "PASS",
            "unacked_claim_result": "PASS",
            "unacked_claim_path": "PASS",
            "unacked_claim_world": "PASS",
            "unacked_claim_trail": "PASS",
        },
        "W1[reckless]": {
            "unacked_trial": "W1.reckless.1",
            "unacked_verdict": "UNSAFE",
            "unacked_rule": "second-create",
            "unacked_claim_result": "PASS",
            "unacked_claim_path": "UNSAFE",
            "unacked_claim_world": "FAIL",
            "unacked_claim_trail": "PASS",
        },
    }


def test_a_lucky_trial_says_so_in_its_properties(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    pytester.runpytest("--unacked", "--junit-xml=report.xml", "-k", "W1.twin[reckless]", suite.path)
    assert properties(pytester.path / "report.xml")["W1.twin[reckless]"]["unacked_luck"] == "lucky"


def test_records_go_to_a_temporary_folder_and_not_into_the_suite(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    before = sorted(path for path in suite.path.rglob("*") if "__pycache__" not in path.parts)
    pytester.runpytest("--unacked", "--basetemp=kept", "-k", "W1[careful]", suite.path)
    assert [path.name for path in (pytester.path / "kept").rglob("*.jsonl") if "events" in path.parts] == [
        "W1.careful.1.jsonl"
    ]
    assert sorted(path for path in suite.path.rglob("*") if "__pycache__" not in path.parts) == before


def test_raw_errors_are_kept_beside_the_records(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    pytester.runpytest("--unacked", "--basetemp=kept", "-k", "W1[careful]", suite.path)
    (raw,) = (pytester.path / "kept").rglob("diagnostics.jsonl")
    assert '"trial":"W1.careful.1"' in raw.read_text()
    assert raw.stat().st_mode & 0o077 == 0


# -- in other processes --------------------------------------------------------------------------------------


@pytest.mark.long
def test_items_run_in_the_workers_of_xdist(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    suite.case("W2", PENDING)
    asked = ("--unacked-agent", "reckless", "--unacked-agent", "careful")
    result = pytester.runpytest_subprocess("--unacked", *asked, "-n", "2", "--junit-xml=report.xml", suite.path)
    result.assert_outcomes(failed=2, passed=2)
    result.stdout.fnmatch_lines(
        ["UNSAFE second-create in thread *", "unacked: 1 case is pending and not collected: W2"]
    )
    assert properties(pytester.path / "report.xml")["W1[reckless]"]["unacked_verdict"] == "UNSAFE"


@pytest.mark.long
def test_an_ordinary_session_loads_nothing_of_the_harness(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_it():
            loaded = sorted(name for name in sys.modules if name.split(".")[0] == "unacked")
            assert loaded == ["unacked", "unacked.pytest_plugin"]
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def _pytest_in(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_the_cases_of_this_checkout_are_green_as_test_items(root: Path) -> None:
    session = _pytest_in(root, "--unacked", "transitions")
    assert session.returncode == pytest.ExitCode.OK, session.stdout
    assert "pending" not in session.stdout


def test_a_sweep_is_collected_only_where_its_file_is_named(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    sweep = suite.path / "transitions" / "W9.case.yaml"
    sweep.write_text(
        "case: W9\nextends: W1\ntitle: everywhere\nfaults: {sweep: {operation: create_record}}\n"
        "twins: false\nknown: null\nexpect: {result: null, finish: null, trail: []}\ntrap: false\n"
    )

    everything = pytester.runpytest("--unacked", "--collect-only", "-q", suite.path / "transitions")
    named = pytester.runpytest("--unacked", "--collect-only", "-q", sweep)

    assert "unacked: 1 sweeps not collected; name the file of one to run it" in everything.stdout.str()
    assert not any("W9." in line for line in everything.outlines)
    assert len([line for line in named.outlines if "W9." in line]) > 100


@pytest.mark.long
def test_the_tests_of_this_checkout_take_no_case_by_themselves(root: Path) -> None:
    assert _pytest_in(root, "transitions").returncode == pytest.ExitCode.NO_TESTS_COLLECTED


# -- secrets -------------------------------------------------------------------------------------------------

PRINTS = 'from unacked.secret import mint\nprint("key", mint("0", "W1", "leaks", "1", "0"))\n' + HONEST


def leaked(pytester: pytest.Pytester, suite: SuiteFolder, *options: str) -> tuple[pytest.RunResult, str]:
    """Run an agent that prints a credential; returns what pytest said, and the same with its JUnit report."""
    suite.agent("leaks", PRINTS)
    arguments = ("--unacked", "--unacked-agent", "leaks", "--junit-xml", "junit.xml", "-o", "junit_logging=all")
    result = pytester.runpytest(*arguments, *options, suite.path)
    return result, result.stdout.str() + (pytester.path / "junit.xml").read_text()


def test_what_an_agent_prints_is_cleaned_of_its_credential(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    _, told = leaked(pytester, suite, "-rA")
    assert "key [redacted]" in told
    assert mint("0", "W1", "leaks", "1", "0") not in told


def test_a_credential_in_the_report_fails_the_trial(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    result, _ = leaked(pytester, suite)
    result.stdout.fnmatch_lines(["*UNSAFE secret-leaked: a canary credential stood in the pytest report*"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_an_expected_failure_excuses_no_leak(pytester: pytest.Pytester, suite: SuiteFolder) -> None:
    path = suite.path / "transitions/W1.case.yaml"
    path.write_text(f"{path.read_text()}xfail: {{agent: leaks, reason: x, owner: y, until: 2999-01-31}}\n")
    result, _ = leaked(pytester, suite)
    assert result.parseoutcomes().get("xfailed", 0) == 0
    assert result.ret == pytest.ExitCode.TESTS_FAILED
