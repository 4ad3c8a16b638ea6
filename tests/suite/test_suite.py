from __future__ import annotations

from pathlib import Path

import pytest
from tests.suites import ROOT, SuiteFolder

from unacked.contract import Idempotency
from unacked.errors import SpecificationError
from unacked.suite import Suite, load_suite, packaged_suite

E01 = "transitions/matrix/E01-create-read-annotate.case.yaml"


@pytest.fixture(scope="module")
def loaded() -> Suite:
    return load_suite(ROOT)


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """A suite of two cases, of which E01 cannot be run yet."""
    folder = SuiteFolder(tmp_path_factory.mktemp("waiting") / "suite")
    folder.keep("C01", "E01")
    folder.edit(E01, "trap: true", "pending: not yet")
    return load_suite(folder.path)


def selected(suite: Suite, *words: str) -> list[str]:
    return [case.name for case in suite.select(words)]


def refused(suite: Suite, *words: str) -> list[str]:
    with pytest.raises(SpecificationError) as raised:
        suite.select(words)
    return [str(problem) for problem in raised.value.problems]


def test_no_words_select_every_case_that_can_be_run(waiting: Suite) -> None:
    assert selected(waiting) == ["C01"]


def test_a_name_selects_its_case_once(loaded: Suite) -> None:
    assert selected(loaded, "C05", "C05") == ["C05"]


def test_a_pattern_selects_every_case_that_fits(loaded: Suite) -> None:
    assert selected(loaded, "C05*") == ["C05", "C05a", "C05b", "C05c", "C05d"]


def test_a_tag_selects_the_cases_that_carry_it(loaded: Suite) -> None:
    assert selected(loaded, "tag:flagship") == ["E01"]


def test_a_pattern_leaves_out_a_case_that_cannot_be_run_yet(waiting: Suite) -> None:
    assert selected(waiting, "[CE]01") == ["C01"]


def test_a_case_that_is_named_and_cannot_be_run_yet_is_refused(waiting: Suite) -> None:
    assert refused(waiting, "E01") == ["selection: E01 cannot be run yet: not yet"]


def test_a_tag_of_cases_that_cannot_be_run_yet_is_refused(waiting: Suite) -> None:
    assert refused(waiting, "tag:flagship") == ["selection: E01 cannot be run yet: not yet"]


@pytest.mark.parametrize(("words", "pending"), [((), ["E01"]), (("[CE]01",), ["E01"]), (("C01",), [])])
def test_what_is_selected_and_cannot_be_run_yet_is_told(waiting: Suite, words: list[str], pending: list[str]) -> None:
    assert [case.name for case in waiting.pending(words)] == pending


def test_a_word_that_selects_nothing_is_refused_with_the_nearest_one(loaded: Suite) -> None:
    assert refused(loaded, "tag:flagshop") == [
        "selection: 'tag:flagshop' selects nothing\n    hint: did you mean 'tag:flagship'?"
    ]


def test_every_word_that_selects_nothing_is_told_at_once(loaded: Suite) -> None:
    assert len(refused(loaded, "X1", "E01", "X2")) == 2


def test_a_suite_without_cases_has_nothing_to_select(suite: SuiteFolder) -> None:
    suite.keep("none")
    assert "the suite holds no cases" in refused(load_suite(suite.path))[0]


def test_a_suite_of_pending_cases_has_nothing_to_select(suite: SuiteFolder) -> None:
    suite.keep("E01")
    suite.edit(E01, "trap: true", "pending: not yet")
    assert refused(load_suite(suite.path)) == ["selection: E01 cannot be run yet: not yet"]


def test_an_unknown_agent_is_refused_with_the_nearest_name(loaded: Suite) -> None:
    with pytest.raises(SpecificationError, match=r"did you mean 'careful'\?"):
        loaded.agent("carefull")


def test_the_controls_are_the_agents_whose_behaviour_is_declared(loaded: Suite) -> None:
    assert [agent.name for agent in loaded.controls()] == ["careful", "culprit", "reckless", "refuser"]


def test_an_agent_that_repeats_incidents_takes_incidents_only(loaded: Suite) -> None:
    culprit = loaded.agents["culprit"]
    assert [culprit.takes(loaded.cases[name]) for name in ("E01", "I-head-then-stall")] == [False, True]


def test_a_case_without_twins_has_one_side(loaded: Suite) -> None:
    with pytest.raises(KeyError, match=r"C01\.twin is no side of this case"):
        loaded.cases["C01"].side(twin=True)


def test_the_twin_of_a_committed_fault_is_not_committed(loaded: Suite) -> None:
    case = loaded.cases["E01"]
    assert [case.side(twin=twin).faults[0].commits for twin in (False, True)] == [True, False]


def test_a_case_may_declare_another_contract_than_the_tool(loaded: Suite) -> None:
    case = loaded.cases["I-held-connection"]
    assert case.idempotency()["create_record"] is Idempotency.IGNORED


def test_a_copied_suite_has_the_same_pins(suite: SuiteFolder, tmp_path: Path) -> None:
    loaded = load_suite(suite.path)
    loaded.copy_to(tmp_path / "copy")
    assert load_suite(tmp_path / "copy").pins() == loaded.pins()


def test_a_copied_suite_holds_no_bytecode_and_nothing_hidden(suite: SuiteFolder, tmp_path: Path) -> None:
    (suite.path / "agents/__pycache__").mkdir()
    (suite.path / "agents/.secret").write_text("-")
    load_suite(suite.path).copy_to(tmp_path / "copy")
    copied = {path.name for path in (tmp_path / "copy/agents").iterdir()}
    assert copied == {path.name for path in (suite.path / "agents").iterdir()} - {"__pycache__", ".secret"}
    assert copied >= {"careful", "culprit", "prompts", "reckless", "refuser", "walker"}


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("agents/prompts/careful.md", "agents"),
        ("agents/careful/policy.py", "agents"),
        ("fake_services/records.py", "services"),
    ],
)
def test_a_byte_more_in_a_pinned_file_changes_its_pin_and_no_other(suite: SuiteFolder, name: str, part: str) -> None:
    before = load_suite(suite.path).pins()
    with (suite.path / name).open("a") as file:
        file.write("\n")
    after = load_suite(suite.path).pins()
    assert [key for key in before if before[key] != after[key]] == [part]


def test_a_comment_in_a_case_changes_no_pin(suite: SuiteFolder) -> None:
    before = load_suite(suite.path).pins()
    suite.edit(E01, "trap: true", "trap: true  # of course")
    assert load_suite(suite.path).pins() == before


def test_a_case_is_pinned_with_the_case_that_it_extends(suite: SuiteFolder) -> None:
    before = load_suite(suite.path).pins()["cases"]
    suite.edit("transitions/matrix/C05-create-deployment.case.yaml", "at revision r42 once", "at revision r43 once")
    after = load_suite(suite.path).pins()["cases"]
    assert [name for name in before if before[name] != after[name]] == ["C05", "C05a", "C05b", "C05c", "C05d"]


def test_the_suite_of_the_current_folder_comes_first(suite: SuiteFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(suite.path)
    assert packaged_suite() == suite.path


def test_the_suite_of_the_package_is_used_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert packaged_suite() == ROOT
