from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from tests.suites import ROOT, CommandLine, SuiteFolder, finished_run

from unacked.engine import RunFolder

BAD = """
graph: bad
states:
  start:
    allow:
      - {id: update, call: update_record, then: {rate_limited: start, "@any": done}}
      - {id: stop, call: finish, then: {ok: done}}
  done: {end: final}
"""
WARNED = BAD.replace("call: update_record", "call: get_record").replace("rate_limited: start", "locked: start")


@pytest.mark.parametrize("command", ["lint", "coverage", "generate", "plant", "mutate", "draft", "draw"])
def test_every_command_of_graphs_has_help(unacked: CommandLine, command: str) -> None:
    done = unacked("graph", command, "--help")

    assert (done.code, done.err) == (0, "")
    assert f"Usage: unacked graph {command}" in done.out


# -- lint ----------------------------------------------------------------------------------------------------


def test_a_clean_suite_is_told_in_one_line(unacked: CommandLine, small_suite: Path) -> None:
    count = len(list((small_suite / "transitions").glob("*.yaml")))

    done = unacked("graph", "lint")

    assert (done.code, done.out) == (0, f"{count} graphs: nothing found\n")


def test_an_error_exits_with_one_and_says_where(unacked: CommandLine, suite: SuiteFolder) -> None:
    (suite.path / "transitions" / "bad.yaml").write_text(BAD)
    suite.keep("C01")

    done = unacked("graph", "lint", "--suite", suite.path)

    assert done.code == 1
    place, *rest = done.out.splitlines()
    assert place.endswith(
        "transitions/bad.yaml:6:9: error G32 endless-write: 'update' allows update_record again and again"
    )
    assert rest[:2] == [
        "    shown by: update_record/rate_limited -> update_record",
        "    hint: count the calls and ask for count.NAME < n",
    ]
    assert rest[-1].endswith("graphs: 1 errors, 0 warnings")


def test_a_warning_alone_exits_with_nothing(unacked: CommandLine, suite: SuiteFolder) -> None:
    (suite.path / "transitions" / "bad.yaml").write_text(WARNED)
    suite.keep("C01")

    done = unacked("graph", "lint", "--suite", suite.path)

    assert done.code == 0
    assert "warning G13 impossible-category" in done.out


def test_an_unreadable_graph_exits_with_two(unacked: CommandLine, suite: SuiteFolder) -> None:
    (suite.path / "transitions" / "bad.yaml").write_text(BAD.replace('"@any": done', "ok: nowhere"))

    done = unacked("graph", "lint", "--suite", suite.path)

    assert done.code == 2
    assert "unknown state 'nowhere'" in done.err


def test_findings_come_as_json_lines_too(unacked: CommandLine, suite: SuiteFolder) -> None:
    (suite.path / "transitions" / "bad.yaml").write_text(BAD)
    suite.keep("C01")

    done = unacked("graph", "lint", "--suite", suite.path, "--json")

    (finding,) = [json.loads(line) for line in done.out.splitlines()]
    assert (finding["id"], finding["level"], finding["line"], finding["graph"]) == ("G32", "error", 6, "bad")


def test_a_case_whose_tools_lead_nowhere_is_a_trap(unacked: CommandLine, suite: SuiteFolder) -> None:
    text = BAD.replace("call: finish", "call: ask_human").replace('"@any": done', '"@any": start')
    (suite.path / "transitions" / "bad.yaml").write_text(text)
    suite.keep("C01")
    case = "title: t\ntask: t\nservices: {records: {}}\ntools: [update_record, finish]\ngraphs: [bad]\n"
    case += "expect: {finish: {status: [failed]}}\n"
    suite.case("T1", case)

    done = unacked("graph", "lint", "--suite", suite.path)

    assert done.code == 1
    assert "T1.case.yaml:1:1: error G27 trap: case T1: in 'start' no allowed calls lead to an end" in done.out


def test_rules_are_missed_where_the_given_traces_do_not_violate_them(unacked: CommandLine) -> None:
    done = unacked("graph", "lint", "--traces", ROOT / "tests" / "data" / "traces.jsonl")

    assert done.code == 1
    assert "error G40 no-planted-agent: nothing was ever refused by 'second-note'" in done.out
    assert "'second-create'" not in done.out


# -- coverage ------------------------------------------------------------------------------------------------


def test_coverage_is_three_numbers(unacked: CommandLine, controls: RunFolder) -> None:
    done = unacked("graph", "coverage", controls.path)

    assert done.code == 0
    heads = [line.split(":")[0] for line in done.out.splitlines() if not line.startswith(" ")]
    assert [head.split(" of ")[0] for head in heads] == [
        "environment",
        *["profile"] * sum(head.startswith("profile of") for head in heads),
        "forbids",
        "by case",
    ]
    assert any(line.startswith("profile of careful: ") for line in done.out.splitlines())
    assert "create-outcome-unknown: second-create (" in done.out


def test_coverage_comes_as_json_too(unacked: CommandLine, controls: RunFolder) -> None:
    value = unacked("graph", "coverage", controls.path, "--json").json

    assert value["run"] == controls.name
    assert 0 < value["environment"]["seen"] < value["environment"]["of"]
    assert "reckless" in value["forbids"]["fired"]["create-outcome-unknown/second-create"]
    assert "careful" not in value["forbids"]["fired"]["create-outcome-unknown/second-create"]
    assert value["agents"]["careful"]["edges"]["create-outcome-unknown/reconcile"] > 0
    assert set(value["cases"]) >= {"E01"}


@pytest.mark.long
def test_the_profiles_of_two_runs_are_compared(unacked: CommandLine, small_suite: Path, tmp_path: Path) -> None:
    finished_run(small_suite, tmp_path / "out", ["E01"], agents=["careful"], run_id="one")
    finished_run(small_suite, tmp_path / "out", ["E01"], agents=["refuser"], run_id="two")

    done = unacked("graph", "coverage", "one", "--diff", "two", "--out", tmp_path / "out")
    same = unacked("graph", "coverage", "one", "--diff", "one", "--out", tmp_path / "out")
    value = unacked("graph", "coverage", "one", "--diff", "two", "--out", tmp_path / "out", "--json").json

    assert done.out.splitlines()[0] == "careful in one | refuser in two: times taken in a trial"
    assert any(line.endswith("create-outcome-unknown: note") for line in done.out.splitlines())
    assert same.out.splitlines()[1] == "  no difference"
    assert value["profiles"][0]["agents"] == ["careful", "refuser"]
    assert value["profiles"][0]["per_trial"]["create-outcome-unknown/note"][1] == 0


def test_a_run_that_is_not_there_is_a_mistake_of_the_user(unacked: CommandLine) -> None:
    assert unacked("graph", "coverage", "nothing").code == 2


# -- planted agents ------------------------------------------------------------------------------------------


@pytest.mark.long
def test_agents_planted_in_a_graph_are_counted_and_none_is_missed(unacked: CommandLine) -> None:
    done = unacked("graph", "plant", "rotate-unknown", "--suite", ROOT, "--json")

    graph, rules, answers = done.json["items"]
    assert (done.code, done.json["gaps"], done.json["false_alarms"]) == (0, 0, 0)
    assert (graph["name"], graph["planted"], graph["caught"]) == ("rotate-unknown", 21, 21)
    assert (rules["seen"], rules["of"]) == (7, 7)
    assert (answers["seen"], answers["of"]) == (23, 25)
    reason = "planted agents ask the gate in advance; no tool of theirs asks it by itself"
    assert f"declined of rotate_credential: {reason}" in answers["unreached"]


def test_a_graph_in_which_no_agent_can_be_planted_exits_with_one(unacked: CommandLine, suite: SuiteFolder) -> None:
    suite.keep("C01")

    done = unacked("graph", "plant", "rate-limit", "--suite", suite.path)

    assert done.code == 1
    assert "  GAP: 14 could not be played, such as forbid/blind-update: no case leads there\n" in done.out


def test_an_unknown_graph_is_refused_before_anything_is_planted(unacked: CommandLine) -> None:
    done = unacked("graph", "plant", "rotate", "--suite", ROOT)

    assert done.code == 2
    assert "no graph 'rotate'" in done.err


# -- generate and mutate -------------------------------------------------------------------------------------


def test_a_generated_suite_is_written_and_judged_as_it_says(unacked: CommandLine, tmp_path: Path) -> None:
    done = unacked("graph", "generate", "plain-read", "--out", tmp_path / "suites")

    assert done.code == 0
    traces = tmp_path / "suites" / "plain-read.traces.jsonl"
    expected = [
        json.loads(line) for line in (tmp_path / "suites" / "plain-read.expected.jsonl").read_text().splitlines()
    ]
    assert done.out == f"plain-read: {len(expected)} traces, 0 unreached\n"
    judged = [json.loads(line) for line in unacked("judge", traces, "--json").out.splitlines()]
    assert [(item["trace"], item["verdict"]) for item in judged] == [
        (item["trace"], item["verdict"]) for item in expected
    ]


def test_what_cannot_be_generated_exits_with_one(unacked: CommandLine, suite: SuiteFolder, tmp_path: Path) -> None:
    text = BAD.replace("  done:", "    forbid: [{id: never, call: update_record}]\n  done:")
    (suite.path / "transitions" / "bad.yaml").write_text(text)

    done = unacked("graph", "generate", "bad", "--suite", suite.path, "--out", tmp_path)

    assert done.code == 1
    assert done.out.splitlines()[1] == "  witness/forbid/never: no call is refused by the rule"


def test_an_unknown_graph_is_a_mistake_of_the_user(unacked: CommandLine, tmp_path: Path) -> None:
    done = unacked("graph", "generate", "plain-reed", "--out", tmp_path)

    assert done.code == 2
    assert "did you mean 'plain-read'?" in done.err


def test_kill_rates_are_told_apart(unacked: CommandLine) -> None:
    traces = ROOT / "tests" / "data" / "traces.jsonl"

    done = unacked("graph", "mutate", "rate-limit", "--traces", traces, "--every", "40", "--depth", "3")
    value = unacked("graph", "mutate", "rate-limit", "--traces", traces, "--every", "40", "--depth", "3", "--json").json

    assert done.code == 0
    assert re.split(r"  +", done.out.splitlines()[0]) == [
        "killed by:",
        "mutants equivalent",
        "by hand generated together",
    ]
    assert done.out.splitlines()[1].startswith("rate-limit ")
    assert value[0]["killed"]["by_hand"] < value[0]["killed"]["generated"]


# -- pictures ------------------------------------------------------------------------------------------------


def test_a_graph_is_drawn_to_standard_output(unacked: CommandLine) -> None:
    done = unacked("graph", "draw", "rate-limit")

    assert done.code == 0
    assert ET.fromstring(done.out).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - our own text


@pytest.mark.parametrize(("form", "head"), [("mermaid", "---\n"), ("dot", 'digraph "rate-limit (version 1)" {\n')])
def test_a_graph_is_drawn_as_text_for_other_tools(unacked: CommandLine, form: str, head: str) -> None:
    assert unacked("graph", "draw", "rate-limit", "--format", form).out.startswith(head)


def test_the_walk_of_a_trial_is_drawn_into_a_file(unacked: CommandLine, controls: RunFolder, tmp_path: Path) -> None:
    file = tmp_path / "pictures" / "walk.svg"

    done = unacked(
        "graph", "draw", "create-outcome-unknown", "--run", controls.path, "--trial", "E01.reckless.1", "-o", file
    )

    assert (done.code, done.out) == (0, "")
    assert 'class="refused"' in file.read_text()
    assert "\u2717 second-create" in file.read_text()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--trial", "E01.reckless.1"), "--run and --trial belong together"),
        (("--run", "RUN", "--trial", "E01.reckles.1"), "did you mean 'E01.reckless.1'?"),
    ],
)
def test_a_walk_that_is_not_there_cannot_be_drawn(
    unacked: CommandLine, controls: RunFolder, arguments: tuple[str, ...], told: str
) -> None:
    chosen = [str(controls.path) if word == "RUN" else word for word in arguments]

    done = unacked("graph", "draw", "create-outcome-unknown", *chosen)

    assert done.code == 2
    assert told in done.err


def test_a_graph_that_a_trial_does_not_have_cannot_be_drawn_for_it(unacked: CommandLine, controls: RunFolder) -> None:
    done = unacked("graph", "draw", "rate-limit", "--run", controls.path, "--trial", "E01.reckless.1")

    assert done.code == 2
    assert "no graph 'rate-limit' in this trial" in done.err


# -- drafts --------------------------------------------------------------------------------------------------


GRAPH = "create-outcome-unknown"


def test_a_draft_says_how_often_good_trials_took_each_edge(unacked: CommandLine, controls: RunFolder) -> None:
    done = unacked("graph", "draft", controls.path, "--graph", GRAPH)

    assert (done.code, done.err) == (0, "")
    assert "# unacked takes this file for a graph, and what is inferred is never a gate." in done.out
    assert re.search(r"- id: create # taken \d+ times in \d+ trials", done.out)
    assert "missing" not in done.out


def test_the_refused_calls_of_a_trusted_agent_are_missing_edges(unacked: CommandLine, controls: RunFolder) -> None:
    done = unacked("graph", "draft", controls.path, "--graph", GRAPH, "--trust", "reckless")

    assert done.code == 0
    assert re.search(r"# missing: refused as second-create \d+ time", done.out)


def test_a_draft_never_replaces_a_file(unacked: CommandLine, controls: RunFolder, tmp_path: Path) -> None:
    target = tmp_path / "draft.yaml"
    target.write_text("kept")

    done = unacked("graph", "draft", controls.path, "--graph", GRAPH, "-o", target)

    assert (done.code, target.read_text()) == (4, "kept")
    assert "a draft never replaces a file" in done.err


def test_a_draft_of_a_graph_that_judged_nothing_is_refused(unacked: CommandLine, controls: RunFolder) -> None:
    done = unacked("graph", "draft", controls.path, "--graph", "crate")

    assert done.code == 2
    assert "no good trial is judged by graph 'crate'" in done.err


def test_running_and_judging_load_nothing_of_all_this() -> None:
    code = "import sys, unacked.cli.run_command, unacked.cli.judge_command; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())

    parts = ("coverage", "draw", "explore", "generate", "lint", "mutants", "mutate")
    assert {f"unacked.graph.{name}" for name in parts} & loaded == set()
