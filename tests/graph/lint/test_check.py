"""Allowances, bindings of cases, and what a finding says of itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.suites import ROOT

from unacked.contract import Registry
from unacked.errors import Place, SpecificationError
from unacked.graph import Graph
from unacked.graph.lint import Finding, lint_case, lint_graph
from unacked.suite import Suite, load_suite
from unacked.tools import REGISTRY

Found = Callable[..., list[Finding]]
Load = Callable[[str], Graph]

ENDLESS = (
    "graph: g\nstates:\n  s:\n    allow:\n"
    "      - {id: u, call: update_record, then: {rate_limited: s, '@any': done}}\n"
    "      - {id: stop, call: finish, then: {ok: done}}\n  done: {end: final}\n"
)
ALLOWED = "lint:\n  allow:\n    - {id: G32, edge: u, why: an update changes nothing the second time}\n"


def test_an_allowed_finding_is_not_reported(found: Found) -> None:
    assert [item.id for item in found(ENDLESS)] == ["G32"]
    assert found(ENDLESS + ALLOWED) == []


def test_an_allowance_of_another_edge_allows_nothing_and_is_surplus(found: Found) -> None:
    findings = found(ENDLESS + ALLOWED.replace("edge: u", "edge: stop"))

    assert [(item.id, item.place.line) for item in findings] == [("G32", 5), ("G50", 10)]


def test_an_allowance_without_a_place_holds_for_the_whole_graph(found: Found) -> None:
    assert found(ENDLESS + ALLOWED.replace("edge: u, ", "")) == []


def test_an_allowance_must_say_why(load: Load) -> None:
    with pytest.raises(SpecificationError, match="why"):
        load(ENDLESS + ALLOWED.replace(", why: an update changes nothing the second time", ""))


def test_a_finding_says_where_what_by_which_way_and_what_to_do(found: Found) -> None:
    (finding,) = found(ENDLESS)

    assert str(finding) == (
        "g.yaml:5:9: error G32 endless-write: 'u' allows update_record again and again\n"
        "    shown by: update_record/rate_limited -> update_record\n"
        "    hint: count the calls and ask for count.NAME < n"
    )


def test_a_finding_is_a_json_object_too(found: Found) -> None:
    (finding,) = found(ENDLESS)

    assert finding.as_json() == {
        "id": "G32",
        "name": "endless-write",
        "level": "error",
        "file": "g.yaml",
        "line": 5,
        "column": 9,
        "graph": "g",
        "edge": "u",
        "state": "s",
        "message": "'u' allows update_record again and again",
        "way": ["update_record/rate_limited", "update_record"],
        "remedy": "count the calls and ask for count.NAME < n",
    }


def test_a_rule_counts_as_fired_where_the_given_traces_violate_it(load: Load, registry: Registry) -> None:
    text = ENDLESS.replace("  done", "    forbid: [{id: none, call: create_record}]\n  done")

    assert [item.id for item in lint_graph(load(text), registry, fired=set()) if item.id == "G40"] == ["G40"]
    assert [item.id for item in lint_graph(load(text), registry, fired={"none"}) if item.id == "G40"] == []
    assert [item.id for item in lint_graph(load(text), registry) if item.id == "G40"] == []


UNBOUND = ENDLESS.replace("states:", "roles: {up: null}\nstates:").replace("call: update_record", "call: up")


def test_an_edge_of_a_role_that_only_a_case_binds_is_alive_where_the_case_is_known(
    load: Load, registry: Registry
) -> None:
    graph = load(UNBOUND)
    bound = graph.bind({"up": "update_record"}, registry, {})

    assert [item.id for item in lint_graph(graph, registry)] == ["G23"]
    assert [item.id for item in lint_graph(graph, registry, used=[bound])] == ["G32"]


# -- cases ---------------------------------------------------------------------------------------------------

DECLINED = """
graph: {name}
states:
  s:
    allow:
      - {{id: {name}-c, call: delete_release, when: [count.n < 1], count: {{n: 1}}, then: {{ok: over, "@any": s}}}}
      - {{id: {name}-early, call: finish, when: ["args.status != 'success'"], then: {{ok: done}}}}
  over:
    allow:
      - {{id: {name}-stop, call: finish, when: ["args.status == '{status}'"], then: {{ok: done}}}}
  done: {{end: final}}
"""


def joined(load: Load, registry: Registry, *statuses: str) -> list[Finding]:
    graphs = [
        load(DECLINED.format(name=f"g{number}", status=status)).bind({}, registry, {})
        for number, status in enumerate(statuses)
    ]
    return lint_case("C99", Place("c.yaml", 1, 1), graphs, list(registry.values()))


def test_two_graphs_that_ask_for_different_claims_are_a_trap(load: Load, registry: Registry) -> None:
    *contradictions, finding = joined(load, registry, "declined", "unknown")

    assert [item.edge for item in contradictions] == ["g0-stop", "g1-stop"]
    assert finding.id == "G27"
    assert finding.graph == "g0,g1"
    assert finding.way == ("delete_release/ok",)
    assert finding.message == "case C99: in 'over' and 'over' no allowed calls lead to an end"


def test_two_graphs_that_share_a_claim_are_no_trap(load: Load, registry: Registry) -> None:
    assert joined(load, registry, "declined", "declined") == []


def test_what_one_graph_allows_and_the_other_always_forbids_is_a_contradiction(load: Load, registry: Registry) -> None:
    one = load(ENDLESS).bind({}, registry, {})
    two = load(
        "graph: h\nalways: {forbid: [{id: no-updates, call: update_record}]}\n"
        "states:\n  s:\n    end: ok\n    allow: [{id: h-stop, call: finish, then: {'@any': s}}]\n"
    ).bind({}, registry, {})

    (finding,) = lint_case("C96", Place("c.yaml"), [one, two], list(registry.values()))

    assert (finding.id, finding.edge, finding.way) == ("G25", "u", ("update_record",))
    assert finding.message == "case C96: what 'u' allows another graph always forbids by 'no-updates'"


def test_a_case_without_the_tool_that_leads_out_is_a_trap(load: Load, registry: Registry) -> None:
    text = ENDLESS.replace("call: finish", "call: ask_human").replace("'@any': done", "'@any': s")
    graph = load(text).bind({}, registry, {})
    tools = [registry[name] for name in ("update_record", "finish")]

    (finding,) = lint_case("C98", Place("c.yaml"), [graph], tools)

    assert finding.way == ()
    assert lint_case("C98", Place("c.yaml"), [graph], [*tools, registry["ask_human"]]) == []


def test_two_effects_of_one_case_must_share_a_claim(load: Load, registry: Registry) -> None:
    """One target declined, the other of unknown fate: the graph asks for two claims, and there is only one."""
    shipped = (ROOT / "transitions" / "approval-decline.yaml").read_text()
    bound = load(shipped.replace(" or args.status == 'unknown'", "")).bind({}, registry, {})

    assert lint_case("C97", Place("c.yaml"), [bound], list(registry.values())) == []
    (finding,) = lint_case("C97", Place("c.yaml"), [bound], list(registry.values()), effects=2)
    assert finding.message == "case C97: in 'declined' and 'unknown' no allowed calls lead to an end"


# -- the suite that ships ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shipped() -> Suite:
    return load_suite(ROOT, run_code=False)


GRAPHS = sorted(path.stem for path in Path(ROOT, "transitions").glob("*.yaml"))


@pytest.mark.long
@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_that_ships_is_clean(name: str, shipped: Suite) -> None:
    assert [str(item) for item in lint_graph(shipped.graphs[name], REGISTRY)] == []


@pytest.mark.long
def test_no_case_that_ships_is_a_trap(shipped: Suite) -> None:
    seen, found = set(), []
    for case in shipped.cases.values():
        for side in case.sides[:1]:
            effects = max(1, sum(map(len, side.case.effects.values())))
            alike = (tuple(side.graphs), frozenset(side.tools), effects)
            if alike not in seen:
                seen.add(alike)
                place = case.document.place()
                found += lint_case(case.name, place, side.graphs, list(side.tools.values()), effects=effects)
    assert [str(item) for item in found] == []
