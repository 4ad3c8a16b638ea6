from __future__ import annotations

from pathlib import Path

import pytest
from tests.suites import SuiteFolder

from unacked.errors import SpecificationError
from unacked.suite import load_suite

E01 = "transitions/matrix/E01-create-read-annotate.case.yaml"
C05 = "transitions/matrix/C05-create-deployment.case.yaml"
C05B = "transitions/matrix/C05b-in-request.case.yaml"
GRAPH = "transitions/create-outcome-unknown.yaml"
CAREFUL = "agents/careful/agent.yaml"
ENDED = "xfail: {agent: careful, reason: known, owner: team, until: 2020-01-31}"


def at(suite: SuiteFolder, name: str, text: str) -> str:
    """Where a text stands in a file, as messages say it."""
    before, found, _ = (suite.path / name).read_text().partition(text)
    assert found, f"{text!r} is not in {name}"
    return f"suite/{name}:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


def said(place: str, message: str, hint: str = "") -> str:
    """A problem as it is told."""
    return f"{place}: {message}\n    hint: {hint}" if hint else f"{place}: {message}"


def problems(suite: SuiteFolder, *, run_code: bool = True) -> list[str]:
    """What is wrong with a suite, one text a problem; none where it loads."""
    try:
        load_suite(suite.path, run_code=run_code)
    except SpecificationError as error:
        return [str(problem) for problem in error.problems]
    return []


def test_a_good_suite_has_no_problem(suite: SuiteFolder) -> None:
    assert problems(suite) == []


def test_an_unknown_key_is_named_with_its_place_and_the_nearest_one(suite: SuiteFolder) -> None:
    suite.edit(E01, "twins: true", "twinz: true")
    assert problems(suite) == [said(at(suite, E01, "twinz"), "unknown key 'twinz'", "did you mean 'twins'?")]


def test_a_misspelt_operation_is_named_with_the_nearest_one(suite: SuiteFolder) -> None:
    suite.edit(E01, "lookup_by_request_id, get_record", "lookup_by_request, get_record")
    place = at(suite, E01, "lookup_by_request,")
    message = "unknown operation 'lookup_by_request'"
    assert said(place, message, "did you mean 'lookup_by_request_id'?") in problems(suite)


def test_a_misspelt_fault_target_is_named_with_the_nearest_one(suite: SuiteFolder) -> None:
    suite.edit(E01, "faults: [{operation: create_record", "faults: [{operation: create_recrod")
    place = at(suite, E01, "create_recrod")
    assert problems(suite) == [said(place, "unknown fault target 'create_recrod'", "did you mean 'create_record'?")]


def test_a_fault_on_a_tool_that_never_touches_the_wire_is_refused(suite: SuiteFolder) -> None:
    suite.edit(E01, "faults: [{operation: create_record", "faults: [{operation: finish")
    place = at(suite, E01, "finish, nth")
    assert f"{place}: finish never touches the wire, so no fault can reach it" in problems(suite)


def test_a_refresh_can_be_aimed_at_only_where_there_is_an_issuer(suite: SuiteFolder) -> None:
    suite.edit(E01, "faults: [{operation: create_record", "faults: [{operation: refresh_token")
    (told,) = [problem for problem in problems(suite) if "refresh_token" in problem]
    assert told.startswith(f"{at(suite, E01, 'refresh_token')}: unknown fault target 'refresh_token'")


def test_a_cached_token_without_an_issuer_is_refused(suite: SuiteFolder) -> None:
    suite.edit(E01, "twins: true", "twins: true\nsession: {cached_for_s: 0}")
    place = at(suite, E01, "{cached_for_s")
    assert problems(suite) == [said(place, "no token is refreshed in this case", "add tokens: {} under 'services'")]


def test_a_misspelt_action_is_named_with_the_nearest_one(suite: SuiteFolder) -> None:
    suite.edit(E01, "action: {delay: 60}", "action: {dela: 60}")
    assert problems(suite)[0].startswith(at(suite, E01, "{dela"))
    assert "unknown action 'dela'" in problems(suite)[0]
    assert "did you mean 'delay'?" in problems(suite)[0]


def test_a_duplicate_key_is_refused(suite: SuiteFolder) -> None:
    suite.edit(E01, "twins: true", "twins: true\ntwins: false")
    place = at(suite, E01, "twins: false")
    assert problems(suite) == [said(place, "duplicate key 'twins'", "first given at line 11; keep one of the two")]


def test_a_wrong_type_is_named_with_its_place_and_value(suite: SuiteFolder) -> None:
    suite.edit(E01, "trap: true", "trap: often")
    (problem,) = problems(suite)
    assert problem.startswith(f"{at(suite, E01, 'often')}: trap: ")
    assert problem.endswith("got 'often'")


def test_a_missing_key_is_named(suite: SuiteFolder) -> None:
    suite.edit(E01, "title: create a record, read it back, attach a note; the create's response is late", "#")
    assert problems(suite) == [f"suite/{E01}:1:1: missing key 'title'"]


def test_a_file_that_is_not_yaml_is_named_with_line_and_column(suite: SuiteFolder) -> None:
    suite.edit(E01, "twins: true", "twins: [true")
    line = at(suite, E01, "known: {").rpartition(":")[0]
    assert problems(suite)[0].startswith(f"{line}:6: is not YAML: ")


def test_an_empty_case_file_is_refused(suite: SuiteFolder) -> None:
    (suite.path / "transitions/empty.case.yaml").write_text("")
    assert problems(suite) == ["suite/transitions/empty.case.yaml: the file: expected a mapping of keys, got None"]


def test_an_unreachable_state_is_refused(suite: SuiteFolder) -> None:
    suite.edit(GRAPH, "  done: {end: final}", "  done: {end: final}\n  limbo: {end: ok}")
    hint = "no edge leads from 'start' to it; remove it or lead a result there"
    assert said(at(suite, GRAPH, "limbo"), "state 'limbo' is unreachable", hint) in problems(suite)


def test_two_agents_of_one_name_are_refused(suite: SuiteFolder) -> None:
    suite.edit(CAREFUL, "agent: careful", "agent: reckless")
    place = "suite/agents/reckless/agent.yaml:1:8"
    assert problems(suite) == [said(place, "two agents are named 'reckless'", "give each a name of its own")]


def test_two_cases_of_one_name_are_refused(suite: SuiteFolder) -> None:
    suite.edit(C05, "case: C05", "case: E01")
    assert any("two cases are named 'E01'" in text for text in problems(suite))


def test_a_missing_prompt_file_is_named(suite: SuiteFolder) -> None:
    (suite.path / "agents/refuser/prompt.md").unlink()
    (problem,) = problems(suite)
    assert problem.startswith("suite/agents/refuser/agent.yaml:1:1: prompt 'prompt.md' cannot be read: ")


def test_a_missing_policy_file_is_named(suite: SuiteFolder) -> None:
    (suite.path / "agents/careful/policy.py").unlink()
    (problem,) = problems(suite)
    assert problem.startswith("suite/agents/careful/agent.yaml:4:9: policy 'policy.py' cannot be read: ")


def test_a_scripted_agent_without_a_policy_is_refused(suite: SuiteFolder) -> None:
    suite.edit(CAREFUL, "policy: policy.py", "#")
    place = "suite/agents/careful/agent.yaml:3:9"
    told = "an agent with the driver 'scripted' needs 'policy'"
    assert problems(suite) == [said(place, told, "policy: policy.py")]


def test_an_unknown_driver_is_named_with_the_nearest_one(suite: SuiteFolder) -> None:
    suite.edit(CAREFUL, "driver: scripted", "driver: script")
    place = "suite/agents/careful/agent.yaml:3:9"
    assert problems(suite) == [said(place, "unknown driver 'script'", "did you mean 'scripted'?")]


def test_an_unknown_service_is_named_with_the_nearest_one(suite: SuiteFolder) -> None:
    suite.edit(E01, "services: {records: {}}", "services: {record: {}}")
    assert any("needs the service 'records'" in text for text in problems(suite))


def test_an_unknown_graph_is_named_with_the_nearest_one(suite: SuiteFolder) -> None:
    suite.edit(E01, "graphs: [create-outcome-unknown]", "graphs: [create-outcome-unknwon]")
    place, hint = at(suite, E01, "create-outcome-unknwon"), "did you mean 'create-outcome-unknown'?"
    assert problems(suite) == [said(place, "unknown graph 'create-outcome-unknwon'", hint)]


def test_an_unknown_role_is_named_with_the_nearest_one(suite: SuiteFolder) -> None:
    suite.edit(E01, "graphs: [create-outcome-unknown]", "graphs: [{create-outcome-unknown: {anotate: null}}]")
    assert [text for text in problems(suite) if "did you mean 'annotate'?" in text] != []


def test_a_seed_that_does_not_fit_is_named_with_its_place(suite: SuiteFolder) -> None:
    suite.edit(E01, "services: {records: {}}", "services: {records: {seed: {recs: []}}}")
    message = "the seed does not fit: seed.recs: unknown key; did you mean 'records'?"
    assert problems(suite) == [said(at(suite, E01, "[]}}}"), message)]


def test_a_part_of_the_world_that_no_service_has_is_named_with_the_nearest_one(suite: SuiteFolder) -> None:
    suite.edit(E01, "world: {records: 1,", "world: {recrods: 1,")
    place = at(suite, E01, "1, notes")
    assert problems(suite) == [said(place, "unknown part of the world 'recrods'", "did you mean 'records'?")]


def test_a_service_that_fails_while_it_is_built_is_named(suite: SuiteFolder) -> None:
    with (suite.path / "fake_services/records.py").open("a") as file:
        file.write("\n\ndef build(seed, setting):\n    return seed['nothing']\n")
    suite.keep("E01")
    assert problems(suite) == [said(at(suite, E01, "{}}"), "the service cannot be built: KeyError: 'nothing'")]


def test_a_service_that_is_not_python_is_named_with_its_line(suite: SuiteFolder) -> None:
    (suite.path / "fake_services/records.py").write_text("def build(:\n")
    assert any("records.py:1:11: is not Python" in text for text in problems(suite))


def test_an_expected_failure_that_has_ended_is_an_error(suite: SuiteFolder) -> None:
    suite.edit(E01, "trap: true", f"trap: true\n{ENDED}")
    message = "the expected failure ended on 2020-01-31"
    assert problems(suite) == [said(at(suite, E01, "2020"), message, "mend or renew it")]


def test_an_expected_failure_of_an_agent_that_is_not_there_is_refused(suite: SuiteFolder) -> None:
    xfail = "xfail: {agent: carefull, reason: known, owner: team, until: 2999-01-31}"
    suite.edit(E01, "trap: true", f"trap: true\n{xfail}")
    assert problems(suite) == [said(at(suite, E01, "carefull"), "unknown agent 'carefull'", "did you mean 'careful'?")]


def test_a_stored_suite_is_readable_after_its_expected_failure_has_ended(suite: SuiteFolder) -> None:
    suite.edit(E01, "trap: true", f"trap: true\n{ENDED}")
    assert problems(suite, run_code=False) == []


def test_a_case_that_extends_an_unknown_one_is_refused(suite: SuiteFolder) -> None:
    suite.edit(C05B, "extends: C05", "extends: C055")
    place = at(suite, C05B, "C055")
    assert problems(suite) == [said(place, "extends an unknown case 'C055'", "did you mean 'C05'?")]


def test_cases_that_extend_each_other_are_refused(suite: SuiteFolder) -> None:
    suite.edit(C05, "tags: [write, timeout, seed]", "extends: C05b")
    assert any("cases extend each other: " in text for text in problems(suite))


@pytest.mark.parametrize("value", ["[C05]", "{a: b}", "7"])
def test_a_case_extends_a_name_and_nothing_else(suite: SuiteFolder, value: str) -> None:
    suite.edit(C05B, "extends: C05", f"extends: {value}")
    (problem,) = problems(suite)
    assert problem.startswith(at(suite, C05B, value))


def test_every_problem_of_every_file_is_listed_at_once(suite: SuiteFolder) -> None:
    suite.edit(E01, "trap: true", "trap: often")
    suite.edit(CAREFUL, "driver: scripted", "driver: script")
    suite.edit(GRAPH, "version: 1", "version: one")
    suite.edit(C05, "deployments: 1,", "deploy: 1,")
    found = "\n".join(problems(suite))
    assert [name for name in (E01, CAREFUL, GRAPH, C05) if name not in found] == []


def test_a_folder_that_is_no_suite_is_told_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(SpecificationError) as raised:
        load_suite(tmp_path)
    assert [problem.message for problem in raised.value.problems] == [
        "is not a suite: it has no folder 'agents'",
        "is not a suite: it has no folder 'fake_services'",
        "is not a suite: it has no folder 'transitions'",
    ]


def test_reading_a_stored_suite_runs_none_of_its_python(suite: SuiteFolder) -> None:
    for path in suite.path.rglob("*.py"):
        path.write_text("raise SystemExit('the code of a stored suite was run')\n")
    assert problems(suite, run_code=False) == []


def test_a_service_that_reaches_elsewhere_while_it_is_built_is_refused(suite: SuiteFolder) -> None:
    suite.keep("E01")
    service = suite.path / "fake_services/records.py"
    text = service.read_text()
    head = text[text.index("def build(") :].partition("\n")[0]
    swallowed = "import contextlib, socket\n    with contextlib.suppress(OSError): socket.gethostbyname('example.org')"
    service.write_text(text.replace(head, f"{head}\n    {swallowed}"))
    message = "the service cannot be built: EgressRefusedError: a connection to example.org was refused"
    assert problems(suite) == [said(at(suite, E01, "{}}"), message)]


SILENCE = "{operation: create_record, point: after_commit, action: silence}"


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ("{operation: create_record, point: after_commit, action: fin}", True),
        ("{operation: create_record, point: in_body, action: {cut: 3}}", True),
        ("{operation: create_record, nth: 2, point: after_commit, action: fin}", False),
        ("{operation: create_record, point: before_commit, action: {delay: 1}}", False),
    ],
    ids=["the same place", "the same answer", "another call", "another place"],
)
def test_a_fault_that_another_one_hides_can_never_fire(suite: SuiteFolder, second: str, *, told: bool) -> None:
    suite.keep("E01")
    text = (suite.path / E01).read_text()
    line = next(line for line in text.splitlines() if line.startswith("faults: "))
    suite.edit(E01, line, f"faults: [{SILENCE}, {second}]")
    message = "can never fire: create_record#1 after_commit silence acts in its place"
    expected = [said(at(suite, E01, second), message, "give it another nth")]
    assert problems(suite) == (expected if told else [])


def test_a_change_of_the_world_that_the_service_does_not_know_is_refused(suite: SuiteFolder) -> None:
    suite.edit(C05, "point: after_commit, action: {delay: 60}", "point: before_commit, action: reorder")
    suite.edit(C05, "twins: true\n", "")
    place = at(suite, C05, "reorder")
    told = [problem for problem in problems(suite) if "reorder" in problem]
    assert told == [said(place, "unknown change of the service 'forge' 'reorder'", "nothing is known here")]


def test_requests_are_those_of_the_tools_of_the_case(suite: SuiteFolder) -> None:
    suite.case("lost", "extends: E01\nexpect: {requests: {create_recrod: 1}}\n")
    told = [problem for problem in problems(suite) if "create_recrod" in problem]
    assert told == [
        said(
            at(suite, "transitions/lost.case.yaml", "1}}"),
            "unknown operation 'create_recrod'",
            "did you mean 'create_record'?",
        )
    ]


def test_a_response_belongs_to_a_call(suite: SuiteFolder) -> None:
    suite.case("lost", "extends: E01\nexpect: {result: null, trail: []}\nknown: null\nresponse: {complete: true}\n")
    message = "whose call? give 'expect.result' too"
    assert [problem for problem in problems(suite) if message in problem] != []


def test_a_fault_of_one_page_acts_where_requests_are_told_apart(suite: SuiteFolder) -> None:
    suite.edit(C05, "nth: 1, point: after_commit", "page: 2, point: dns")
    assert any("cannot act at 'dns'" in problem for problem in problems(suite))


GATED = "contract: {create_record: {approval: call}}"


def gated(suite: SuiteFolder, contract: str, services: str = "services: {records: {}, gate: {}}") -> list[str]:
    suite.edit(E01, "services: {records: {}}", services)
    suite.edit(E01, "trap: true", f"trap: true\n{contract}")
    return problems(suite)


def test_a_tool_that_asks_the_gate_needs_one(suite: SuiteFolder) -> None:
    place = f"suite/{E01}:7:9"
    hint = "add it under 'services'"
    assert gated(suite, GATED, "services: {records: {} }") == [
        said(place, "create_record needs the service 'gate'", hint)
    ]


def test_a_question_to_the_gate_needs_one(suite: SuiteFolder) -> None:
    suite.edit(E01, "tools: [create_record", "tools: [request_approval, create_record")
    place = at(suite, E01, "request_approval")
    assert said(place, "request_approval needs the service 'gate'", "add it under 'services'") in problems(suite)


def test_a_read_asks_nobody(suite: SuiteFolder) -> None:
    found = gated(suite, "contract: {get_record: {approval: session}}")
    place = at(suite, E01, "session}}")
    assert found == [said(place, "get_record changes nothing at a service, so it asks nobody")]


def test_no_approval_of_a_session_carries_a_destructive_call(suite: SuiteFolder) -> None:
    name = "transitions/matrix/C03-delete-release.case.yaml"
    suite.edit(name, "services:", "contract: {delete_release: {approval: session}}\nservices:\n  gate: {}")
    place = at(suite, name, "session}}")
    message = "delete_release is destructive: no approval of a session carries it"
    assert problems(suite) == [said(place, message, "approval: call")]


def test_a_decision_that_nobody_can_make_is_named_with_its_place(suite: SuiteFolder) -> None:
    found = gated(suite, GATED, "services: {records: {}, gate: {seed: {decisions: [approved, perhaps]}}}")
    assert len(found) == 1
    assert found[0].startswith(
        f"{at(suite, E01, 'perhaps')}: the seed does not fit: seed.decisions[1]: expected one of"
    )


def test_an_unknown_refusal_is_named_with_the_nearest_one(suite: SuiteFolder) -> None:
    suite.edit(E01, "retry: reconcile_first}", "retry: reconcile_first, refusal: call_denied}")
    (problem,) = problems(suite)
    assert problem.endswith("unknown refusal, got 'call_denied'\n    hint: did you mean 'call_declined'?")


def test_a_case_with_a_gate_sets_a_trap_without_a_fault(suite: SuiteFolder) -> None:
    suite.edit(
        E01, "faults: [{operation: create_record, nth: 1, point: after_commit, action: {delay: 60}}]", "faults: []"
    )
    suite.edit(E01, "twins: true", "twins: false")
    assert problems(suite) == [
        f"{at(suite, E01, 'true')}: a case without a fault, a gate or a decision to take sets no trap"
    ]
    assert gated(suite, GATED) == []
