from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from tests.incident.spans import CANARY, EMAIL, KEY, Spans, forty_calls
from tests.suites import CommandLine, SuiteFolder, finished_run

from unacked.document import read_yaml
from unacked.suite import load_suite


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return forty_calls().write(tmp_path / "trace.json")


def test_from_forty_calls_to_an_incident_of_the_suite_by_what_each_command_says_is_next(
    unacked: CommandLine, suite: SuiteFolder, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(trace.parent)
    own = f"--suite {suite.path}"
    typed = [f"unacked incident new trace.json --slug again --source 'on call' {own}"]
    done = []

    while typed[-1]:
        done.append(unacked(*shlex.split(typed[-1])[1:]))
        last = done[-1].out.splitlines()[-1]
        typed.append(last.removeprefix("next: ") if last.startswith("next: ") else "")

    assert typed[1:] == [
        f"unacked incident minimize I-again.case.yaml {own}",
        f"unacked incident verify I-again.case.yaml {own}",
        f"unacked incident add I-again.case.yaml {own}",
        f"unacked run I-again --agent culprit {own}",
        "",
    ]
    assert [each.code for each in done] == [0, 0, 0, 0, 1]
    (added,) = (suite.path / "transitions/incidents").glob("*-again.case.yaml")
    incident = load_suite(suite.path).cases["I-again"].file.incident
    assert incident is not None
    assert incident.source == "on call"
    assert len(incident.behaviour) <= 4
    assert incident.provenance is not None
    assert incident.provenance.calls == 40
    assert f"{incident.provenance.added}-again.case.yaml" == added.name
    texts = [each.out + each.err for each in done]
    texts += [path.read_text() for path in (added, *trace.parent.glob("*.yaml"), *Path("runs").rglob("*.jsonl"))]
    for secret in (CANARY, EMAIL, KEY, "Lovelace", "corp.example"):
        assert not [text for text in texts if secret in text]


def test_what_the_trace_does_not_say_is_asked_for_in_the_mapping(unacked: CommandLine, tmp_path: Path) -> None:
    spans = Spans().call("frobnicate", {"a": 1}, "well").call("frobnicate", {"a": 1}, "well")
    case = tmp_path / "a.case.yaml"

    asked = unacked("incident", "new", spans.write(tmp_path / "a.json"), "--to", case)

    mapping = tmp_path / "a.mapping.yaml"
    assert asked.code == 2
    assert f"{mapping}:4:16: which operation is 'frobnicate'?" in asked.err
    assert "what is known after call e0? a text without a flag" in asked.err
    assert not case.exists()

    text = mapping.read_text().replace("operation: ask", "operation: create_record")
    text = text.replace("arguments: {}", "arguments: {title: a}").replace(
        "category: ask", "category: outcome_unknown", 1
    )
    mapping.write_text(text.replace("category: ask", "category: ok"))
    answered = unacked("incident", "new", tmp_path / "a.json", "--mapping", mapping, "--to", case)

    assert answered.code == 0
    assert "second-create catches the 2 recorded calls" in answered.out


def test_a_mapping_with_unknown_names_is_told_with_its_places(
    unacked: CommandLine, trace: Path, tmp_path: Path
) -> None:
    mapping = tmp_path / "m.yaml"
    mapping.write_text("mapping: 1\noperations:\n  a: {operation: create_recrod}\ncalls:\n  e0: {category: fine}\n")

    told = unacked("incident", "new", trace, "--mapping", mapping).err

    assert "m.yaml:3:18: unknown operation 'create_recrod'\n    hint: did you mean 'create_record'?" in told
    assert "m.yaml:5:18: unknown category 'fine'" in told


def test_a_mapping_without_a_tool_of_the_trace_is_told(unacked: CommandLine, trace: Path, tmp_path: Path) -> None:
    mapping = tmp_path / "m.yaml"
    mapping.write_text("mapping: 1\noperations: {}\ncalls: {}\n")

    told = unacked("incident", "new", trace, "--mapping", mapping)

    assert told.code == 2
    assert "the mapping has no tool 'create_record'" in told.err


def test_an_incident_that_is_not_verified_is_not_added(
    unacked: CommandLine, suite: SuiteFolder, tmp_path: Path
) -> None:
    held = suite.path / "transitions/incidents/2026-01-read-timeout-retried.case.yaml"
    case = tmp_path / "a.case.yaml"
    case.write_text(held.read_text().replace("caught: second-create", "caught: false-claim"))

    told = unacked("incident", "add", case, "--slug", "other", "--suite", suite.path)

    assert told.code == 2
    assert "is not verified: I-other: false-claim catches the recorded behaviour: second-create does" in told.err
    assert not list((suite.path / "transitions/incidents").glob("*other*"))


def test_an_incident_is_not_added_twice(unacked: CommandLine, suite: SuiteFolder) -> None:
    held = suite.path / "transitions/incidents/2026-01-read-timeout-retried.case.yaml"

    told = unacked("incident", "add", held, "--suite", suite.path)

    assert told.code == 2
    assert "the suite has a case 'I-read-timeout-retried' already" in told.err


def test_a_retired_incident_is_run_no_longer_and_keeps_its_reason(unacked: CommandLine, suite: SuiteFolder) -> None:
    done = unacked("incident", "retire", "I-held-connection", "--reason", "the tool is gone", "--suite", suite.path)

    assert done.code == 0
    assert "I-held-connection" not in load_suite(suite.path).cases
    kept = suite.path / "transitions/incidents/2026-03-held-connection.retired.yaml"
    assert read_yaml(kept).value["retired"]["reason"] == "the tool is gone"
    listed = {each["case"]: each for each in unacked("incident", "list", "--json", "--suite", suite.path).json}
    assert listed["I-held-connection"]["retired"] == "the tool is gone"
    assert listed["I-read-timeout-retried"]["retired"] is None


def test_retiring_needs_a_reason_and_an_incident(unacked: CommandLine, suite: SuiteFolder) -> None:
    assert unacked("incident", "retire", "I-held-connection", "--reason", " ").code == 2
    told = unacked("incident", "retire", "I-held-conection", "--reason", "r", "--suite", suite.path)
    assert told.code == 2
    assert "did you mean 'I-held-connection'?" in told.err


def test_verify_exits_with_1_and_says_what_failed(unacked: CommandLine, suite: SuiteFolder, tmp_path: Path) -> None:
    held = suite.path / "transitions/incidents/2026-01-read-timeout-retried.case.yaml"
    case = tmp_path / "a.case.yaml"
    case.write_text(held.read_text().replace("caught: second-create", "caught: false-claim"))

    done = unacked("incident", "verify", case)

    assert done.code == 1
    assert "FAIL I-read-timeout-retried: false-claim catches the recorded behaviour (second-create does)" in done.out
    assert unacked("incident", "verify", "I-read-timeout-retried", "--json").json[0]["verified"] is True


@pytest.mark.parametrize("command", ["new", "import", "minimize", "verify", "add"])
def test_a_file_that_is_not_there_is_told_in_words(unacked: CommandLine, command: str) -> None:
    done = unacked("incident", command, "nothing-here")

    assert done.code == 2
    assert "nothing-here" in done.err


@pytest.mark.parametrize("agent", ["culprit", "careful"])
@pytest.mark.parametrize("twin", ["", ".twin"])
def test_a_run_of_ours_exported_and_imported_again_has_the_same_verdict_and_rule(
    unacked: CommandLine, small_suite: Path, tmp_path: Path, agent: str, twin: str
) -> None:
    cases = (
        "I-read-timeout-retried",
        "I-held-connection",
        "I-zone-left-out-of-state",
        "I-planned-again-with-a-new-key",
    )
    folder, _ = finished_run(small_suite, tmp_path / "runs", cases, agents=["culprit", "careful"])
    lines = {line["trial"]: line for line in map(json.loads, folder.verdicts.read_text().splitlines())}

    for case in cases:
        trial = f"{case}{twin}.{agent}.1"
        spans, neutral = tmp_path / f"{trial}.otlp.json", tmp_path / f"{trial}.jsonl"
        assert unacked("incident", "export", folder.path, trial, "--to", spans).code == 0
        assert unacked("incident", "import", spans, "--to", neutral).code == 0
        judged = unacked("judge", neutral, "--json").json

        path = lines[trial]["claims"]["path"]
        assert judged["verdict"] == path["verdict"]
        assert judged["violation"] == (path["findings"][0]["rule"] if path["findings"] else None)


def test_what_a_library_wrote_is_judged_as_a_neutral_trace(unacked: CommandLine, root: Path, tmp_path: Path) -> None:
    neutral = tmp_path / "a.jsonl"
    imported = unacked("incident", "import", root / "tests/data/incident/pydantic-ai.otlp.json", "--to", neutral)

    assert imported.code == 0
    judged = unacked("judge", neutral, "--graph", "create-outcome-unknown", "--json")
    assert judged.code == 1


def test_an_incident_that_extends_another_case_is_minimized_whole(
    unacked: CommandLine, suite: SuiteFolder, tmp_path: Path
) -> None:
    case = tmp_path / "a.case.yaml"
    case.write_text(
        "case: I-a\ntitle: a\nextends: C05\ntags: [incident]\nincident:\n  source: somewhere\n  caught: second-create\n"
        "  behaviour:\n"
        "    - create_deployment: {service: billing, revision: r42, request_id: a, idempotency_key: a}\n"
        "    - create_deployment: {service: billing, revision: r42, request_id: b, idempotency_key: b}\n"
        "    - finish: {status: success}\n"
    )

    assert unacked("incident", "minimize", case, "--suite", suite.path).code == 0

    value = read_yaml(case).value
    assert "extends" not in value
    assert len(value["incident"]["behaviour"]) == 2
    assert unacked("incident", "verify", case, "--suite", suite.path).code == 0


@pytest.mark.parametrize("command", ["minimize", "verify", "add"])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- a\n", "a.case.yaml"),
        ("case: I-a\nincident: {source: s, caught: r, behaviour: []}\n", "a.case.yaml:2:"),
        ("case: I-a\nincident: [", "a.case.yaml:3:1: is not YAML"),
    ],
)
def test_a_file_that_is_no_incident_is_told_with_its_place(
    unacked: CommandLine, tmp_path: Path, command: str, text: str, told: str
) -> None:
    case = tmp_path / "a.case.yaml"
    case.write_text(text)

    done = unacked("incident", command, case)

    assert done.code == 2
    assert told in done.err


def test_where_no_graph_fits_a_draft_is_proposed_that_catches_it_once_a_person_takes_it(
    unacked: CommandLine, suite: SuiteFolder, tmp_path: Path
) -> None:
    suite.keep("C01")
    (suite.path / "transitions/create-outcome-unknown.yaml").unlink()
    spans = Spans().call("send_report", {"subject": "valve"}, error="timed out")
    trace = spans.call("send_report", {"subject": "valve"}, {"id": "R-2", "sent": True}).write(tmp_path / "trace.json")
    case, draft = tmp_path / "a.case.yaml", tmp_path / "a.draft.yaml"
    own = ("--to", case, "--suite", suite.path)

    refused = unacked("incident", "new", trace, *own)

    assert (refused.code, case.exists()) == (2, False)
    assert "no case of the suite judges create_record" in refused.err
    assert f"a draft is in {draft}: read it" in refused.err

    (suite.path / "transitions/draft.yaml").write_text(draft.read_text())
    mapping = tmp_path / "a.mapping.yaml"
    mapping.write_text(mapping.read_text() + "graphs: [draft-create-record]\n")
    taken = unacked("incident", "new", trace, *own, "--mapping", mapping)
    assert (taken.code, taken.out.splitlines()[-2]) == (0, f"{case}: write-again catches the 2 recorded calls")


def test_a_case_may_be_made_inside_the_suite(unacked: CommandLine, suite: SuiteFolder, trace: Path) -> None:
    own = ("--suite", suite.path)
    case = suite.path / "transitions/a.case.yaml"

    made = unacked("incident", "new", trace, "--slug", "a", "--to", case, *own)

    assert (made.code, made.err) == (0, "")
    assert case.with_name("a.mapping.yaml").is_file()
    assert "I-a " in unacked("incident", "list", *own).out
    refused = unacked("incident", "add", case, *own)
    assert refused.code == 2
    assert "the suite has a case 'I-a' already\n    hint: it is this very one: there is nothing to add" in refused.err


def test_a_draft_of_a_graph_is_no_graph_before_a_person_takes_it(
    unacked: CommandLine, suite: SuiteFolder, tmp_path: Path
) -> None:
    suite.keep("C01")
    (suite.path / "transitions/create-outcome-unknown.yaml").unlink()
    spans = Spans().call("send_report", {"subject": "valve"}, error="timed out")
    trace = spans.call("send_report", {"subject": "valve"}, {"id": "R-2", "sent": True}).write(tmp_path / "trace.json")

    unacked("incident", "new", trace, "--to", suite.path / "transitions/a.case.yaml", "--suite", suite.path)

    assert (suite.path / "transitions/a.draft.yaml").is_file()
    assert "draft-create-record" not in load_suite(suite.path).graphs


def test_answers_in_a_mapping_are_not_written_over(unacked: CommandLine, trace: Path, tmp_path: Path) -> None:
    case, mapping = tmp_path / "a.case.yaml", tmp_path / "a.mapping.yaml"
    unacked("incident", "new", trace, "--to", case)
    answered = mapping.read_text() + "claim: success\n"
    mapping.write_text(answered)

    refused = unacked("incident", "new", trace, "--to", case)

    assert refused.code == 2
    assert f"hint: go on with it: unacked incident new {trace} --to {case} --mapping {mapping}" in refused.err
    assert mapping.read_text() == answered


def test_what_to_type_after_the_questions_of_a_mapping_is_told(unacked: CommandLine, tmp_path: Path) -> None:
    trace = Spans().call("frobnicate", {"a": 1}, "well").write(tmp_path / "a b.json")

    asked = unacked("incident", "new", trace, "--slug", "x", "--to", tmp_path / "a.case.yaml")

    again = f"unacked incident new '{trace}' --slug x --to {tmp_path / 'a.case.yaml'}"
    assert f"hint: answer there, then: {again} --mapping {tmp_path / 'a.mapping.yaml'}" in asked.err


def test_an_incident_that_stands_elsewhere_in_the_suite_is_minimized_by_name(
    unacked: CommandLine, suite: SuiteFolder
) -> None:
    held = suite.path / "transitions/incidents/2026-01-read-timeout-retried.case.yaml"
    moved = held.rename(suite.path / "transitions/matrix/mine.case.yaml")

    done = unacked("incident", "minimize", "I-read-timeout-retried", "--suite", suite.path)

    assert done.code == 0
    assert str(moved) in done.out
    assert "I-read-timeout-retried " in unacked("incident", "list", "--suite", suite.path).out


def test_in_a_new_suite_a_graph_of_the_same_effect_is_bound_to_what_the_trace_has(
    unacked: CommandLine, tmp_path: Path, root: Path
) -> None:
    own, case = ("--suite", tmp_path / "mine"), tmp_path / "a.case.yaml"
    assert unacked("init", tmp_path / "mine").code == 0

    made = unacked("incident", "new", root / "tests/data/incident/anthropic.json", "--to", case, *own)

    assert "graph: create-outcome-unknown, for no case is about create_issue, and its first write is one" in made.out
    bound = {"create": "create_issue", "lookup": "find_issue", "annotate": None, "read": None}
    assert read_yaml(case).value["graphs"] == [{"create-outcome-unknown": bound}]
    assert unacked("incident", "verify", case, *own).code == 0


def test_a_list_among_the_arguments_stays_one_and_becomes_a_text_where_one_is_wanted(
    unacked: CommandLine, tmp_path: Path
) -> None:
    spans = Spans().call("archive_accounts", {"ids": ["a-1", "a-2"], "snapshot": ["s", 1]}, {"archived": 2})

    imported = unacked("incident", "import", spans.write(tmp_path / "a.json"))

    call = next(line for line in map(json.loads, imported.out.splitlines()) if line["type"] == "call")
    assert (call["args"]["ids"], call["args"]["snapshot"]) == (["a-1", "a-2"], '["s",1]')
