"""The shapes of the files that users write: each kind of wrong value gives one clear problem."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from unacked.canonical import dumps
from unacked.case import AgentFile, CaseFile, FaultFile
from unacked.document import parse_yaml, validate
from unacked.errors import SpecificationError
from unacked.fault import ALIASES, Action, Fault, Point
from unacked.outcome import OutcomeClass, Retry

MINIMAL: dict[str, Any] = {
    "case": "C05",
    "title": "a case",
    "task": "Do it.",
    "services": {"records": {}},
    "tools": ["finish"],
    "graphs": ["g"],
}


def case(**parts: Any) -> CaseFile:
    return validate(CaseFile, parse_yaml(dumps({**MINIMAL, **parts}), "c.yaml"))


def problem(**parts: Any) -> str:
    with pytest.raises(SpecificationError) as caught:
        case(**parts)
    (found,) = caught.value.problems
    return found.message + (f" ({found.hint})" if found.hint else "")


def test_a_minimal_case_has_quiet_defaults() -> None:
    read = case()
    assert (read.faults, read.twins, read.trap, read.effects, read.limits.turns, read.limits.deadline_s) == (
        [],
        False,
        False,
        {},
        12,
        600.0,
    )


def test_a_case_reads_its_words_into_the_values_that_they_name() -> None:
    read = case(
        known={"effect_known": False, "class": "uncertain"},
        expect={"result": {"operation": "x", "category": "outcome_unknown", "retry": "reconcile_first"}},
        limits={"turns": 3, "deadline_s": 60},
        xfail={"agent": "a", "reason": "r", "owner": "o", "until": "2027-01-31"},
    )
    assert read.known is not None
    assert read.expect.result is not None
    assert read.xfail is not None
    assert (read.known.outcome_class, read.expect.result.retry, read.limits.deadline_s, read.xfail.until) == (
        OutcomeClass.UNCERTAIN,
        Retry.RECONCILE_FIRST,
        60.0,
        dt.date(2027, 1, 31),
    )


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"titel": "x"}, "unknown key 'titel' (did you mean 'title'?)"),
        ({"case": "a/b"}, "case: String should match pattern '^[A-Za-z0-9][A-Za-z0-9_-]*$', got 'a/b'"),
        ({"case": ".."}, "case: String should match pattern '^[A-Za-z0-9][A-Za-z0-9_-]*$', got '..'"),
        ({"case": "x\n"}, "case: String should match pattern '^[A-Za-z0-9][A-Za-z0-9_-]*$', got 'x\\n'"),
        ({"case": "x" * 65}, f"case: String should have at most 64 characters, got '{'x' * 56}..."),
        ({"case": 5}, "case: Input should be a valid string, got 5"),
        ({"title": ""}, "title: String should have at least 1 character, got ''"),
        ({"task": None}, "task: Input should be a valid string, got None"),
        ({"services": {}}, "services: Dictionary should have at least 1 item after validation, not 0, got {}"),
        ({"services": ["records"]}, "services: expected a mapping of keys, got ['records']"),
        ({"services": {"records": {"sed": {}}}}, "unknown key 'sed' (did you mean 'seed'?)"),
        (
            {"services": {"records": {"sign_in": "yes"}}},
            "services.records.sign_in: Input should be a valid boolean, got 'yes'",
        ),
        ({"tools": []}, "tools: List should have at least 1 item after validation, not 0, got []"),
        ({"tools": "finish"}, "tools: Input should be a valid list, got 'finish'"),
        (
            {"graphs": [5]},
            "graphs.0: Input should be a valid string, or: Input should be a valid dictionary, got 5",
        ),
        ({"graphs": [{"g": {"create": 5}}]}, "graphs.0.g.create: Input should be a valid string, got 5"),
        ({"twins": "yes"}, "twins: Input should be a valid boolean, got 'yes'"),
        ({"trap": 1}, "trap: Input should be a valid boolean, got 1"),
        ({"known": {"effect_known": False}}, "missing key 'class'"),
        ({"known": {"class": "uncertain"}}, "missing key 'effect_known'"),
        (
            {"known": {"effect_known": "no", "class": "uncertain"}},
            "known.effect_known: Input should be a valid boolean, got 'no'",
        ),
        (
            {"known": {"effect_known": False, "class": "unsure"}},
            "known.class: Input should be 'success', 'refusal', 'failure', 'uncertain' or 'local', got 'unsure'",
        ),
        (
            {"expect": {"result": {"operation": "x", "category": "outcome_unknwon"}}},
            "expect.result.category: unknown category, got 'outcome_unknwon' (did you mean 'outcome_unknown'?)",
        ),
        (
            {"expect": {"trail": ["remote_comitted"]}},
            "expect.trail.0: unknown event, got 'remote_comitted' (did you mean 'remote_committed'?)",
        ),
        (
            {"expect": {"finish": {"status": ["succes"]}}},
            (
                "expect.finish.status.0: Input should be 'success', 'unknown', 'declined', 'failed' or 'refused', "
                "got 'succes'"
            ),
        ),
        (
            {"expect": {"finish": {"status": []}}},
            "expect.finish.status: List should have at least 1 item after validation, not 0, got []",
        ),
        ({"answers": [{"nth": 1}]}, "missing key 'decision'"),
        (
            {"answers": [{"nth": 0, "decision": "renewed"}]},
            "answers.0.nth: Input should be greater than or equal to 1, got 0",
        ),
        (
            {"answers": [{"decision": "granted"}]},
            "answers.0: 'credential' belongs to the decision 'granted', and to no other",
        ),
        (
            {"answers": [{"decision": "renewed", "credential": "spare"}]},
            "answers.0: 'credential' belongs to the decision 'granted', and to no other",
        ),
        (
            {"contract": {"x": {"idempotency": "replay"}}},
            (
                "contract.x.idempotency: Input should be 'replay_success', 'replay_error', 'reexecute', "
                "'conflict_in_flight', 'mismatch_error', 'expires', 'ignored' or 'none', got 'replay'"
            ),
        ),
        ({"limits": {"turns": "12"}}, "limits.turns: Input should be a valid integer, got '12'"),
        ({"limits": {"turns": 0}}, "limits.turns: Input should be greater than or equal to 1, got 0"),
        ({"limits": {"deadline_s": True}}, "limits.deadline_s: Input should be a valid number, got True"),
        ({"limits": {"deadline_s": 0}}, "limits.deadline_s: Input should be greater than 0, got 0"),
        (
            {"script": [{"a": {}, "b": {}}]},
            "script.0: Dictionary should have at most 1 item after validation, not more, got {'a': {}, 'b': {}}",
        ),
        ({"script": [{"a": ["x"]}]}, "script.0.a: expected a mapping of keys, got ['x']"),
        ({"incident": {"source": "x", "behaviour": [{"a": {}}]}}, "missing key 'caught'"),
    ],
    ids=lambda part: dumps(part)[:40] if isinstance(part, dict) else "",
)
def test_a_value_that_makes_no_sense_is_one_problem(parts: dict[str, Any], expected: str) -> None:
    assert problem(**parts) == expected


def test_what_is_missing_is_named_with_everything_else_that_is_wrong() -> None:
    with pytest.raises(SpecificationError) as caught:
        validate(CaseFile, parse_yaml("case: C05\ntwins: 3\ntask: x\n", "c.yaml"))
    assert [str(found) for found in caught.value.problems] == [
        "c.yaml:1:1: missing key 'graphs'",
        "c.yaml:1:1: missing key 'services'",
        "c.yaml:1:1: missing key 'title'",
        "c.yaml:1:1: missing key 'tools'",
        "c.yaml:2:8: twins: Input should be a valid boolean, got 3",
    ]


@pytest.mark.parametrize("until", ["2027-01-31", "'2027-01-31'"])
def test_a_day_may_be_quoted_or_not(until: str) -> None:
    text = dumps(MINIMAL)[:-1] + f', "xfail": {{agent: a, reason: r, owner: o, until: {until}}}}}'
    read = validate(CaseFile, parse_yaml(text, "c.yaml"))
    assert read.xfail is not None
    assert read.xfail.until == dt.date(2027, 1, 31)


@pytest.mark.parametrize(
    ("until", "expected"),
    [
        ("soon", "xfail.until: expected a day, such as 2027-01-31, got 'soon'"),
        (20270131, "xfail.until: expected a day, such as 2027-01-31, got 20270131"),
        ("20270131", "xfail.until: expected a day, such as 2027-01-31, got '20270131'"),
        ("2027-01-31T12:00:00", "xfail.until: expected a day, such as 2027-01-31, got '2027-01-31T12:00:00'"),
        (86400, "xfail.until: expected a day, such as 2027-01-31, got 86400"),
        (None, "xfail.until: expected a day, such as 2027-01-31, got None"),
        ("2027-13-01", "xfail.until: expected a day, such as 2027-01-31, got '2027-13-01'"),
    ],
)
def test_what_is_not_a_day_is_refused(until: Any, expected: str) -> None:
    assert problem(xfail={"agent": "a", "reason": "r", "owner": "o", "until": until}) == expected


# Faults


def fault(**parts: Any) -> Fault:
    return case(faults=[{"operation": "create_record", **parts}]).listed_faults[0].value()


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (
            {"point": "after_commit", "action": "silence"},
            Fault("create_record", Point.AFTER_COMMIT, Action.parse("silence")),
        ),
        (
            {"point": "after_commit", "action": {"delay": 60}, "nth": 2, "committed": True, "persistent": True},
            Fault("create_record", Point.AFTER_COMMIT, Action.parse({"delay": 60}), 2, committed=True, persistent=True),
        ),
        (
            {"fault": "response_lost", "committed": False},
            Fault("create_record", Point.AFTER_COMMIT, Action.parse("fin"), committed=False),
        ),
    ],
)
def test_a_fault_is_a_point_and_an_action_or_a_familiar_word(parts: dict[str, Any], expected: Fault) -> None:
    assert fault(**parts) == expected


@pytest.mark.parametrize("word", sorted(ALIASES))
def test_a_familiar_word_means_its_point_and_action(word: str) -> None:
    point, action = ALIASES[word]
    assert fault(fault=word) == fault(point=point.value, action=action)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({}, "faults.0: a fault needs 'point' and 'action' (or 'fault' with a familiar word)"),
        ({"point": "dns"}, "faults.0: a fault needs 'point' and 'action' (or 'fault' with a familiar word)"),
        (
            {"fault": "response_lost", "point": "dns"},
            "faults.0: give either 'fault' or 'point' and 'action', not both",
        ),
        ({"fault": "response_losst"}, "faults.0: unknown fault 'response_losst' (did you mean 'response_lost'?)"),
        ({"fault": ""}, "faults.0: unknown fault '' (known: " + ", ".join(sorted(ALIASES)) + ")"),
        (
            {"point": "dns", "action": "garbage"},
            "faults.0: action 'garbage' cannot act at 'dns' (it can at: in_body, in_head)",
        ),
    ],
)
def test_a_fault_that_cannot_be_is_refused(parts: dict[str, Any], expected: str) -> None:
    assert problem(faults=[{"operation": "create_record", **parts}]) == expected


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (
            {"point": "after_comit", "action": "silence"},
            (
                "faults.0.point: Input should be 'as_said', 'dns', 'before_connect', 'tls', 'reuse', 'after_accept', "
                "'during_request', 'before_commit', 'after_commit', 'in_head', 'in_body' or 'after_response', "
                "got 'after_comit'"
            ),
        ),
        (
            {"point": "after_commit", "action": "silense"},
            "faults.0.action: unknown action 'silense', got 'silense' (did you mean 'silence'?)",
        ),
        (
            {"point": "after_commit", "action": {"delay": 1, "drip": 1}},
            "faults.0.action: an action is a word, or one word with its parameters: {delay: 60}",
        ),
        (
            {"point": "dns", "action": "fail", "nth": 0},
            "faults.0.nth: Input should be greater than or equal to 1, got 0",
        ),
        ({"point": "dns", "action": "fail", "nht": 2}, "unknown key 'nht' (did you mean 'nth'?)"),
    ],
)
def test_a_misspelt_fault_is_one_problem_at_the_word(parts: dict[str, Any], expected: str) -> None:
    assert problem(faults=[{"operation": "create_record", **parts}]) == expected


def test_the_problem_of_a_fault_stands_at_the_fault() -> None:
    text = dumps(MINIMAL)[:-1] + ',\n"faults": [\n  {operation: a, fault: response_lost},\n  {operation: b}]}'
    with pytest.raises(SpecificationError, match=r"^c\.yaml:4:3: faults\.1: a fault needs"):
        validate(CaseFile, parse_yaml(text, "c.yaml"))


def test_the_schema_for_editors_knows_the_forms_of_an_action() -> None:
    action = FaultFile.model_json_schema()["properties"]["action"]["anyOf"]
    assert [form["type"] for form in action if "type" in form][-1:] == ["null"]
    assert "silence" in dumps(action)


# Agents


def agent(text: str) -> AgentFile:
    return validate(AgentFile, parse_yaml(text, "agent.yaml"))


def test_an_agent_has_its_prompt_beside_it() -> None:
    read = agent("agent: careful\ntitle: t\ndriver: scripted\npolicy: policy.py\ncontrol: passes\n")
    assert (read.prompt, read.model, read.parameters, read.control) == ("prompt.md", None, {}, "passes")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "agent: a b\ntitle: t\ndriver: d",
            "agent.yaml:1:8: agent: String should match pattern '^[A-Za-z0-9][A-Za-z0-9_-]*$', got 'a b'",
        ),
        (
            "agent: a\ntitle: t\ndriver: d\ncontrol: pass",
            (
                "agent.yaml:4:10: control: Input should be 'passes', 'caught', 'never_unsafe' or 'repeats_incident', "
                "got 'pass'"
            ),
        ),
        ("agent: a\ntitle: t", "agent.yaml:1:1: missing key 'driver'"),
        (
            "agent: a\ntitle: t\ndriver: d\nparameters: 3",
            "agent.yaml:4:13: parameters: expected a mapping of keys, got 3",
        ),
        (
            "agent: a\ntitle: t\ndriver: d\nmodle: x",
            "agent.yaml:4:1: unknown key 'modle'\n    hint: did you mean 'model'?",
        ),
    ],
)
def test_a_wrong_agent_file_is_one_problem(text: str, expected: str) -> None:
    with pytest.raises(SpecificationError) as caught:
        agent(text)
    assert str(caught.value) == expected
