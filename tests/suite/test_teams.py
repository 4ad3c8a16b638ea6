from __future__ import annotations

from pathlib import Path

import pytest
from tests.suites import SuiteFolder

from unacked.case import CaseFile
from unacked.errors import SpecificationError
from unacked.graph import before, team_of
from unacked.suite import LoadedCase, load_suite

M01 = "transitions/teams/M01-handed-over-unknown.case.yaml"
M03 = "transitions/teams/M03-side-by-side.case.yaml"
M04 = "transitions/teams/M04-given-back.case.yaml"


@pytest.fixture(scope="module")
def teams(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LoadedCase]:
    return dict(load_suite(kept(tmp_path_factory.mktemp("teams")).path).cases)


def kept(base: Path) -> SuiteFolder:
    suite = SuiteFolder(base / "suite")
    suite.keep("M01", "M03", "M04")
    for graph in (suite.path / "transitions").glob("*.yaml"):
        if graph.stem not in ("create-outcome-unknown", "spend-unknown"):
            graph.unlink()
    return suite


@pytest.fixture
def suite(tmp_path: Path) -> SuiteFolder:
    return kept(tmp_path)


WRONG = [
    (M01, "after: [maker]", "after: [makr]", "unknown member 'makr'\n    hint: did you mean 'maker'?"),
    (M01, "agent: careful", "agent: carful", "unknown agent 'carful'\n    hint: did you mean 'careful'?"),
    (M01, "member: noter", "member: maker", "two members are named 'maker'\n    hint: rename one"),
    (M01, "tools: [create_record]", "tools: [create_issue]", "unknown operation 'create_issue'"),
    (
        M01,
        "script: [create_record: {title:",
        "script: [create_record: {titel:",
        "argument of create_record 'titel'",
    ),
    (M01, "effects: {attach_note: [{text:", "effects: {attach_note: [{txt:", "unknown argument of attach_note 'txt'"),
    (
        M01,
        "effects: {attach_note: [{text: checked by Asha}]}",
        "effects: {}",
        "a attach_note that no effect declares",
    ),
    (
        M01,
        "trap: true\n",
        "trap: true\nscript: [finish: {status: success}]\n",
        "a team has none of its own",
    ),
    (M03, "after: [pump, valve]", "after: [reporter]", "unknown member 'reporter'"),
    (M03, "after: [pump, valve]", "after: [pump]", "reporter is one of several that end the task"),
    (
        M03,
        "    after: [pump, valve]\n",
        "",
        "is one of several that end the task, and asks",
    ),
    (M04, "after: [cashier]", "after: [refunder]", "members wait for each other: clerk, refunder"),
    (M04, "compensates: cashier", "compensates: cashir", "unknown member 'cashir'\n    hint: did you mean 'cashier'?"),
    (M04, "compensates: cashier", "compensates: clerk", "refunder would undo clerk after nobody who came after it"),
    (M04, "after: [cashier, clerk, refunder]", "after: [clerk]", "refunder begins only where something went wrong, so"),
]


@pytest.mark.parametrize(("file", "old", "new", "told"), WRONG)
def test_what_is_wrong_with_a_team_is_told_with_its_place(
    suite: SuiteFolder, file: str, old: str, new: str, told: str
) -> None:
    suite.edit(file, old, new)
    with pytest.raises(SpecificationError) as raised:
        load_suite(suite.path)
    (problem, *_) = [str(problem) for problem in raised.value.problems if told in str(problem)]
    assert problem.startswith(f"suite/{file}:")


def test_one_member_is_no_team(suite: SuiteFolder) -> None:
    text = (suite.path / M01).read_text()
    (suite.path / M01).write_text(text[: text.index("  - member: noter")])
    with pytest.raises(SpecificationError, match="one member is no team"):
        load_suite(suite.path)


def test_who_comes_before_whom_is_known_all_the_way(teams: dict[str, LoadedCase]) -> None:
    assert before(teams["M04"].file.team) == {
        "cashier": frozenset(),
        "clerk": {"cashier"},
        "refunder": {"cashier", "clerk"},
        "reporter": {"cashier", "clerk", "refunder"},
    }


def test_members_answer_for_their_own_effects_and_the_last_one_for_all(teams: dict[str, LoadedCase]) -> None:
    file = teams["M03"].file
    team = team_of(file.team, file.effects, file.tools)
    assert {name: sorted(member.effects) for name, member in team.items()} == {
        "pump": [("create_record", 0)],
        "valve": [("create_record", 1)],
        "reporter": [("create_record", 0), ("create_record", 1)],
    }


def test_who_is_followed_hands_over_and_who_is_last_finishes(teams: dict[str, LoadedCase]) -> None:
    case = teams["M01"]
    maker, noter = case.file.team
    assert list(case.part(maker).tools) == ["create_record", "hand_over"]
    assert (case.part(maker).ending, case.part(noter).ending) == ("hand_over", "finish")


def test_what_the_members_ask_for_is_asked_of_the_case(teams: dict[str, LoadedCase]) -> None:
    case: CaseFile = teams["M03"].file
    assert case.effects == {"create_record": [{"title": "Pump 7 inspection"}, {"title": "Valve 3 inspection"}]}
    assert case.own_effects == {}


def test_an_agent_that_a_case_names_is_part_of_its_pin(suite: SuiteFolder) -> None:
    old = load_suite(suite.path).pins()["cases"]
    suite.edit("agents/careful/policy.py", "IN_FLIGHT_S = 30", "IN_FLIGHT_S = 31")
    new = load_suite(suite.path).pins()["cases"]
    assert (old["M01"] == new["M01"], old["M03"] == new["M03"]) == (False, True)
