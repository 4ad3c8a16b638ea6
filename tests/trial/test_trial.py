from __future__ import annotations

import gc
import json
from pathlib import Path

import pytest
from tests.suites import CommandLine, SuiteFolder
from tests.trial.conftest import Tried

from unacked.claims import judge_trial
from unacked.errors import HarnessError
from unacked.event import Event
from unacked.fault import ALIASES
from unacked.graph import Verdict
from unacked.suite import load_suite
from unacked.trail import TrialName, read_history
from unacked.trial import Bench, TrialPlan, TrialRecord

CREATE = 'Call("create_record", {"title": "Pump 7 inspection", "request_id": "req-1", "idempotency_key": "key-1"})'
E01 = "transitions/matrix/E01-create-read-annotate.case.yaml"
FINISH = 'yield Call("finish", {"status": "unknown", "summary": "-"})'


def end(record: TrialRecord) -> Event:
    """The last event, which is the end of the trial."""
    last = record.history[len(record.history) - 1]
    assert last.event == "trial_end"
    return last


def names(record: TrialRecord) -> list[str]:
    return [event.event for event in record.history]


def test_a_trial_begins_and_ends_on_the_record(tried: Tried) -> None:
    record = tried(FINISH)
    assert (names(record)[0], names(record)[-1]) == ("trial_begin", "trial_end")


def test_the_record_says_how_to_do_it_again(tried: Tried) -> None:
    begin = tried(FINISH).history[0].detail
    assert {key: begin[key] for key in ("case", "agent", "twin", "repeat", "seed")} == {
        "case": "E01",
        "agent": "test",
        "twin": False,
        "repeat": 1,
        "seed": "0",
    }


def test_the_file_holds_what_the_history_holds(tried: Tried, tmp_path: Path) -> None:
    record = tried(f"yield {CREATE}\n{FINISH}")
    stored = read_history(tmp_path / "events.jsonl", TrialName("run", "E01.test.1", "E01"))
    assert [event.as_json() for event in stored] == [event.as_json() for event in record.history]


def test_an_agent_that_raises_has_stopped_by_its_own_doing(tried: Tried) -> None:
    record = tried(f"yield {CREATE}\nraise ZeroDivisionError('by itself')\nyield")
    assert end(record).detail["reason"] == "finished"
    assert end(record).detail["trouble"] == "ZeroDivisionError: by itself"


def test_an_agent_that_raises_at_once_has_stopped_by_its_own_doing(tried: Tried) -> None:
    assert end(tried("1 // 0\nyield")).detail["reason"] == "finished"


@pytest.mark.parametrize("error", ["SystemExit(0)", "GeneratorExit", "BaseException('odd')"])
def test_an_agent_that_raises_whatever_there_is_has_stopped_by_its_own_doing(tried: Tried, error: str) -> None:
    assert end(tried(f"yield {CREATE}\nraise {error}")).detail["reason"] == "finished"


def test_an_agent_that_changes_its_task_changes_nobody_elses(tried: Tried, suite: SuiteFolder) -> None:
    steal = 'task.effects["create_record"][0]["title"] = "another"\ntask.script[0].arguments["title"] = "another"'
    record = tried(
        f'{steal}\ncreate = {CREATE}\nyield Call(create.operation, {{**create.arguments, "title": "another"}})'
    )
    verdict = judge_trial(load_suite(suite.path).cases["E01"].side(twin=False), record.history)
    assert verdict.rule == "unrequested_effect"


@pytest.mark.parametrize("move", ["'create_record'", "None", "7", "['create_record']", "{'operation': 'finish'}"])
def test_an_agent_that_yields_no_call_has_stopped_by_its_own_doing(tried: Tried, move: str) -> None:
    assert end(tried(f"yield {move}")).detail["reason"] == "finished"


@pytest.mark.parametrize("value", ["float('nan')", "float('inf')", "{1, 2}", "object()", "b'bytes'"])
def test_an_argument_that_is_not_json_is_the_agents_own_doing(tried: Tried, value: str) -> None:
    record = tried(f'yield Call("wait", {{"seconds": {value}}})\n{FINISH}')
    assert end(record).detail["reason"] == "finished"


@pytest.mark.parametrize("operation", ["3", "['create_record']", "None"])
def test_an_operation_that_is_no_text_is_the_agents_own_doing(tried: Tried, operation: str) -> None:
    assert end(tried(f"yield Call({operation}, {{}})")).detail["reason"] == "finished"


def test_an_exception_that_cannot_be_put_into_words_is_the_agents_own_doing(tried: Tried) -> None:
    dumb = "class Dumb(Exception):\n    def __str__(self):\n        raise ValueError\nraise Dumb\nyield"
    assert end(tried(dumb)).detail["trouble"] == "Dumb: (it cannot be put into words)"


def test_an_agent_that_throws_its_tools_away_takes_nobody_elses(tried: Tried) -> None:
    record = tried(f"task.tools.clear()\nyield {CREATE}\n{FINISH}")
    assert next(record.history.named("result")).category == "outcome_unknown"


def test_arguments_that_are_no_object_are_the_agents_own_doing(tried: Tried) -> None:
    assert end(tried('yield Call("finish", ["status", "unknown"])')).detail["reason"] == "finished"


def test_an_agent_without_a_policy_that_yields_has_stopped_by_its_own_doing(tried: Tried) -> None:
    assert end(tried("return [1, 2]")).detail["reason"] == "finished"


def test_an_agent_that_returns_without_a_claim_has_finished(tried: Tried) -> None:
    record = tried(f"yield {CREATE}")
    assert (end(record).detail["reason"], list(record.history.named("agent_finished"))) == ("finished", [])


def test_an_agent_is_told_that_there_is_no_such_tool(tried: Tried) -> None:
    record = tried(f'result = yield Call("drop_database")\nassert result["category"] == "invalid_request"\n{FINISH}')
    assert end(record).detail.get("trouble") is None
    assert next(record.history.named("result")).detail["rejected"] is True


def test_an_agent_is_told_which_argument_is_wrong(tried: Tried) -> None:
    record = tried(f'yield Call("finish", {{"status": "maybe"}})\n{FINISH}')
    message = next(record.history.named("result")).detail["envelope"]["message"]
    assert "argument 'status' must be one of: success, unknown, declined, failed, refused" in message


def test_a_call_that_was_refused_as_malformed_does_not_use_up_the_fault(tried: Tried, suite: SuiteFolder) -> None:
    record = tried(f'yield Call("create_record", {{"request_id": "r"}})\nyield {CREATE}\n{FINISH}')
    assert [event.detail["nth"] for event in record.history.named("fault_fired")] == [1]
    verdict = judge_trial(load_suite(suite.path).cases["E01"].side(twin=False), record.history)
    assert (verdict.verdict, verdict.rule) == (Verdict.PASS, None)


def test_calls_of_one_turn_share_the_turn_and_come_back_in_order(tried: Tried) -> None:
    record = tried(
        'a, b = yield [Call("wait", {"seconds": 1}), Call("wait", {"seconds": 2})]\n'
        f'assert a["operation"] == b["operation"] == "wait"\n{FINISH}'
    )
    assert [event.detail["turn"] for event in record.history.named("agent_next_call")] == [1, 1, 2]


def test_a_trial_ends_with_its_turns(tried: Tried) -> None:
    record = tried('while True:\n    yield Call("wait", {"seconds": 1})')
    assert end(record).detail["reason"] == "budget"
    assert len(list(record.history.named("agent_next_call"))) == 12


def test_a_trial_ends_at_its_deadline(tried: Tried) -> None:
    assert end(tried('while True:\n    yield Call("wait", {"seconds": 500})')).detail["reason"] == "cut"


def test_every_call_has_an_id_of_its_own(tried: Tried) -> None:
    record = tried(f"yield {CREATE}\nyield {CREATE}\n{FINISH}")
    ids = [event.id for event in record.history.named("agent_next_call")]
    assert len({*ids}) == 3


def test_each_trial_has_a_world_of_its_own(suite: SuiteFolder, tmp_path: Path) -> None:
    bench = Bench(load_suite(suite.path))
    worlds = [
        end(bench.run(TrialPlan(index, "E01", False, "careful", 1, "0", "run"), tmp_path / f"{index}.jsonl")).detail[
            "world"
        ]
        for index in range(2)
    ]
    assert worlds[0] == worlds[1]


def test_a_trial_never_writes_over_another_record(suite: SuiteFolder, tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").mkdir()
    bench = Bench(load_suite(suite.path))
    with pytest.raises(HarnessError, match=r"events\.jsonl: cannot be written: Is a directory"):
        bench.run(TrialPlan(0, "E01", False, "careful", 1, "0", "run"), tmp_path / "events.jsonl")


def sabotage(suite: SuiteFolder, *lines: str) -> None:
    """Add lines of Python to the records service."""
    with (suite.path / "fake_services/records.py").open("a") as file:
        file.writelines(f"\n{line}" for line in lines)


RAISES = "Records.handle = lambda self, request, commit=True: 1 // 0"


def test_a_service_that_raises_is_an_error_of_the_harness(tried: Tried, suite: SuiteFolder) -> None:
    sabotage(suite, RAISES)
    record = tried(f"yield {CREATE}\n{FINISH}")
    assert end(record).detail["reason"] == "crash"
    assert "integer division or modulo by zero" in json.dumps(record.diagnostics)


def test_a_service_that_leaves_the_program_is_an_error_of_the_harness(tried: Tried, suite: SuiteFolder) -> None:
    sabotage(suite, "def leave(self, request, commit=True):", "    raise SystemExit(0)", "Records.handle = leave")
    assert end(tried(f"yield {CREATE}\n{FINISH}")).detail["reason"] == "crash"


def test_a_service_that_raises_after_the_call_is_an_error_of_the_harness(tried: Tried, suite: SuiteFolder) -> None:
    suite.edit(E01, "point: after_commit", "point: before_commit")
    sabotage(suite, RAISES)
    record = tried(f'yield {CREATE}\nyield Call("wait", {{"seconds": 100}})\n{FINISH}')
    assert end(record).detail["reason"] == "crash"


def test_a_service_that_cannot_say_how_its_world_is_is_an_error_of_the_harness(
    tried: Tried, suite: SuiteFolder
) -> None:
    lie = "Records.summary = lambda self: summary(self) if not len(self.ledger) else 1 // 0"
    sabotage(suite, "summary = Records.summary", lie)
    record = tried(f"yield {CREATE}\n{FINISH}")
    assert end(record).detail["reason"] == "crash"


def test_a_crash_of_the_harness_is_never_a_pass(tried: Tried, suite: SuiteFolder) -> None:
    sabotage(suite, RAISES)
    record = tried(f"yield {CREATE}\n{FINISH}")
    verdict = judge_trial(load_suite(suite.path).cases["E01"].side(twin=False), record.history)
    assert verdict.verdict is Verdict.ERROR


def test_a_credential_that_reaches_the_record_is_unsafe(tried: Tried, suite: SuiteFolder) -> None:
    policy = (
        "from unacked.secret import mint\n"
        'yield Call("ask_human", {"question": "is " + mint("0", "E01", "test", "1", "0") + " right?"})\n' + FINISH
    )
    record = tried(policy)
    assert end(record).detail["leaks"] == ["events"]
    verdict = judge_trial(load_suite(suite.path).cases["E01"].side(twin=False), record.history)
    assert verdict.verdict is Verdict.UNSAFE


def test_what_goes_wrong_inside_the_agent_is_told_without_credentials(tried: Tried) -> None:
    policy = 'from unacked.secret import mint\nraise ValueError(mint("0", "E01", "test", "1", "0"))\nyield'
    assert end(tried(policy)).detail["trouble"] == "ValueError: [redacted]"


def test_a_credential_in_an_exception_or_in_what_it_came_from_is_a_leak_that_is_told_without_it(tried: Tried) -> None:
    policy = (
        "from unacked.secret import mint\n"
        'raise RuntimeError("the call failed") from ValueError(mint("0", "E01", "test", "1", "0"))\nyield'
    )
    detail = end(tried(policy)).detail
    assert detail["trouble"] == "RuntimeError: the call failed <- ValueError: [redacted]"
    assert detail["leaks"] == ["exception"]


@pytest.mark.parametrize("word", ALIASES)
def test_every_familiar_word_means_a_fault_that_lands(suite: SuiteFolder, tmp_path: Path, word: str) -> None:
    suite.keep("E01")
    text = (suite.path / E01).read_text()
    line = next(line for line in text.splitlines() if line.startswith("faults: "))
    suite.edit(E01, line, f"faults: [{{operation: create_record, fault: {word}}}]")
    suite.edit(E01, "twins: true", "twins: false")
    plan = TrialPlan(0, "E01", False, "careful", 1, "0", "run")
    record = Bench(load_suite(suite.path)).run(plan, tmp_path / "events.jsonl")
    assert [event.operation for event in record.history.named("fault_fired")] == ["create_record"]


def test_a_cut_beyond_the_end_of_the_answer_is_known_only_by_running_it(
    suite: SuiteFolder, unacked: CommandLine
) -> None:
    suite.keep("E01")
    text = (suite.path / E01).read_text()
    line = next(line for line in text.splitlines() if line.startswith("faults: "))
    suite.edit(E01, line, "faults: [{operation: create_record, point: in_body, action: {cut: 9999}}]")
    assert unacked("run", "E01", "--suite", suite.path, "--agent", "careful").code == 3


@pytest.mark.parametrize("case", ["E01", "C05b"])
def test_a_trial_leaves_nothing_that_only_the_garbage_collector_could_free(
    suite: SuiteFolder, tmp_path: Path, case: str
) -> None:
    suite.keep("E01", "C05")
    bench = Bench(load_suite(suite.path))
    bench.run(TrialPlan(0, case, False, "careful", 1, "0", "run"), tmp_path / "first.jsonl")
    gc.collect()
    gc.disable()
    try:
        bench.run(TrialPlan(1, case, False, "careful", 2, "0", "run"), tmp_path / "second.jsonl")
        assert gc.collect() == 0
    finally:
        gc.enable()
