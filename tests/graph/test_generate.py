"""Generated suites: what they hold, that the monitor agrees with how they were built, and what cannot be reached."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.suites import ROOT

from unacked.canonical import dumps
from unacked.contract import Registry
from unacked.graph import Call, Graph, Verdict, judge, read_traces
from unacked.graph.explore.edges import edge_operations, home, inert
from unacked.graph.generate import GeneratedSuite, Purpose, expected_lines, generate, trace_lines
from unacked.suite import load_suite
from unacked.tools import REGISTRY

Load = Callable[[str], Graph]
SHIPPED = sorted(path.stem for path in Path(ROOT, "transitions").glob("*.yaml"))
SMALL = "rate-limit"


@pytest.fixture(scope="module")
def shipped() -> Mapping[str, Graph]:
    return load_suite(ROOT, run_code=False).graphs


@pytest.fixture(scope="module")
def suites(shipped: Mapping[str, Graph]) -> Callable[[str], GeneratedSuite]:
    made: dict[str, GeneratedSuite] = {}

    def suite(name: str) -> GeneratedSuite:
        if name not in made:
            made[name] = generate(shipped[name], REGISTRY)
        return made[name]

    return suite


Suites = Callable[[str], GeneratedSuite]


@pytest.mark.long
@pytest.mark.parametrize("name", SHIPPED)
def test_the_monitor_agrees_with_how_every_trace_was_built(name: str, suites: Suites) -> None:
    disagreements = [item for item in suites(name).unreached if "the monitor says" in item.reason]

    assert disagreements == []


@pytest.mark.long
@pytest.mark.parametrize("name", SHIPPED)
def test_every_allowed_edge_is_walked_with_every_category_and_finished_honestly(name: str, suites: Suites) -> None:
    suite = suites(name)
    bound = suite.graph.bind({}, REGISTRY, dict.fromkeys(REGISTRY, True))
    wanted = {
        f"{name}/walk/{edge.id}/{category}"
        for edge, operations in edge_operations(bound).values()
        if not edge.forbid
        for operation in operations
        for category in REGISTRY[operation].categories
    }
    walks = suite.of(Purpose.WALK)

    assert wanted <= {trace.name.split(" (")[0] for trace in walks}
    assert {trace.verdict for trace in walks} == {Verdict.PASS}


@pytest.mark.parametrize("name", SHIPPED)
def test_every_forbid_is_fired_by_a_witness_under_its_own_name(name: str, suites: Suites) -> None:
    suite = suites(name)
    fired = {
        trace.name.split(" (")[0]: trace.violation for trace in suite.of(Purpose.WITNESS) if "/forbid/" in trace.name
    }

    assert fired == {f"{name}/witness/forbid/{edge.id}": edge.id for edge in suite.graph.edges() if edge.forbid}


@pytest.mark.parametrize("name", SHIPPED)
def test_every_conjunct_of_an_allowed_edge_is_broken_by_a_witness(name: str, suites: Suites) -> None:
    suite = suites(name)
    concerned = edge_operations(suite.graph.bind({}, REGISTRY, {}))
    homes = home(suite.graph)
    wanted = {
        f"{name}/witness/not/{edge.id}/{index + 1}"
        for edge in suite.graph.edges()
        if not edge.forbid and not inert(edge, homes[edge.id], [REGISTRY[word] for word in concerned[edge.id][1]])
        for index in range(len(edge.when.conjuncts))
    }
    seen = {trace.name.split(" (")[0] for trace in suite.of(Purpose.WITNESS)}

    assert wanted <= seen
    assert suite.unreached == []


def test_every_write_that_the_graph_does_not_know_has_a_witness(suites: Suites) -> None:
    suite = suites(SMALL)
    unlisted = {trace.name: trace.violation for trace in suite.of(Purpose.WITNESS) if "/unlisted/" in trace.name}
    strangers = [item.name for item in REGISTRY.values() if item.writes and item.name != "update_record"]

    assert unlisted == {f"{SMALL}/witness/unlisted/{operation}": "unlisted_operation" for operation in strangers}


def test_every_operation_is_tried_behind_every_edge_and_category(suites: Suites) -> None:
    suite = suites(SMALL)
    behind = {trace.name.split("/")[4] for trace in suite.of(Purpose.PROBE) if "/update/rate_limited/" in trace.name}
    behind -= {"rebind"}

    assert behind == {"stop", "cut", "update_record", "get_record", "wait", "finish"}


def test_names_of_traces_are_unique(suites: Suites) -> None:
    names = [trace.name for trace in suites(SMALL).traces]

    assert len(set(names)) == len(names)


def test_a_suite_can_be_written_and_judged_again(suites: Suites, shipped: Mapping[str, Graph]) -> None:
    suite = suites(SMALL)
    traces = read_traces([dumps(dict(line)) for line in trace_lines(suite)])

    judged = []
    for trace in traces:
        judgement = judge(trace, shipped, REGISTRY)
        first = next(iter(judgement.violations), None)
        judged.append(
            {
                "trace": trace.name,
                "graph": SMALL,
                "verdict": judgement.verdict.value,
                "violation": first.rule if first else None,
                "event": first.event if first else None,
            }
        )

    assert judged == [dict(line) for line in expected_lines(suite)]


def test_a_suite_is_the_same_every_time(shipped: Mapping[str, Graph]) -> None:
    once, again = (generate(shipped["plain-read"], REGISTRY) for _ in range(2))

    assert once.traces == again.traces


DEAD = """
graph: dead
states:
  s:
    allow:
      - {id: read, call: get_record, then: {ok: t, "@any": s}}
      - {id: stop, call: finish, then: {ok: done}}
    forbid:
      - {id: never, call: get_record}
      - {id: twice, call: create_record, when: [count.n > 0, count.n > 1]}
  t: {end: open, allow: [{id: round, call: get_record, then: {"@any": t}}]}
  done: {end: final}
"""


def test_what_no_trace_can_reach_is_listed_with_a_reason(load: Load, registry: Registry) -> None:
    suite = generate(load(DEAD), registry)

    unreached = {item.name: item.reason for item in suite.unreached}

    assert unreached["witness/forbid/never"] == "no call is refused by the rule"
    assert unreached["walk/read/ok"] == "from there on no allowed calls lead to an end"
    assert "never" not in suite.fired()


def test_only_the_purposes_asked_for_are_written(shipped: Mapping[str, Graph]) -> None:
    suite = generate(shipped[SMALL], REGISTRY, purposes=[Purpose.WITNESS])

    assert {trace.purpose for trace in suite.traces} == {Purpose.WITNESS}


def test_a_broken_conjunct_of_a_read_shows_in_what_is_allowed_later(suites: Suites) -> None:
    """A lookup with another request id is not refused; but a note on what it gave is."""
    (witness,) = [
        trace
        for trace in suites("create-outcome-unknown").traces
        if trace.name == "create-outcome-unknown/witness/not/reconcile/1"
    ]

    calls = [event.operation for event in witness.events if isinstance(event, Call)]

    assert calls[:2] == ["create_record", "lookup_by_request_id"]
    assert witness.violation is not None
    assert witness.event == 4


def test_behind_every_counted_call_is_a_way_into_its_limit(suites: Suites) -> None:
    limits = {trace.name for trace in suites("create-outcome-unknown").traces if "/limit/" in trace.name}

    assert {name.split(" (")[0].split("/", 3)[3] for name in limits} == {
        "create/tries",
        "same-token-retry/tries",
        "recreate/tries",
        "note/notes",
    }


def test_a_variable_that_gets_another_value_is_probed(suites: Suites) -> None:
    names = {trace.name for trace in suites("rate-limit").traces}

    assert "rate-limit/probe/retry-after-wait/rate_limited/rebind/retry_after/stop" in names
    assert "rate-limit/probe/update/call/rebind/patch/stop" in names


def test_a_forbid_that_counts_is_approached_to_its_brink(suites: Suites) -> None:
    traces = {trace.name: trace for trace in suites("rate-limit").traces}

    near, brink = (traces[f"rate-limit/probe/{kind}/too-many/1"] for kind in ("near", "brink"))

    assert len(near.events) < len(brink.events)
    assert "too-many" not in {near.violation, brink.violation}


def test_two_effects_of_a_kind_are_walked_side_by_side(suites: Suites) -> None:
    traces = {trace.name: trace for trace in suites("create-outcome-unknown").traces}

    trace = traces["create-outcome-unknown/walk/two/create_record"]

    assert trace.effects == {"create_record": [{"title": "title-1"}, {"title": "title-2"}]}
    assert trace.verdict == "PASS"
    assert traces["create-outcome-unknown/witness/orphan/attach_note"].violation == "orphan"


def test_effects_have_values_of_the_types_that_the_contract_declares(load: Load) -> None:
    text = (
        "graph: g\nthread: {name: t, key: {refund: payload}}\nstates:\n  s:\n    allow:\n"
        "      - {id: undo, call: refund, count: {n: 1}, bind: {p: payload}, then: {'@any': t}}\n"
        "  t:\n    allow:\n      - {id: stop, call: finish, then: {ok: done}}\n"
        "      - {id: again, call: refund, when: [payload == $p, count.n < 2], count: {n: 1}, then: {'@any': t}}\n"
        "  done: {end: final}\n"
    )
    suite = generate(load(text), REGISTRY)

    (trace,) = [item for item in suite.traces if "/walk/two/" in item.name]

    assert [effect["amount"] for effect in trace.effects["refund"]] == [1, 2]
    assert suite.unreached == []
