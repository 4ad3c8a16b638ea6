"""Every problem of a graph file, with its place. All files are called g.yaml."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from unacked.contract import Registry
from unacked.errors import SpecificationError
from unacked.graph import Graph

Load = Callable[[str], Graph]

GOOD = """\
graph: g
version: 1
roles: {create: create_record, lookup: lookup_by_request_id}
thread: {name: t, key: {create: payload}, handles: {request: [args.request_id]}}
states:
  start:
    allow:
      - id: create
        call: create
        when: [is_set(args.request_id), count.tries < 3]
        count: {tries: 1}
        bind: {rid: args.request_id}
        then: {ok: done, "@any": start}
    forbid:
      - {id: noted, call: attach_note, why: not yet}
  done:
    end: ok
    allow:
      - {id: fin, call: finish, then: {ok: [{to: done, when: [$rid != None]}, {to: done}]}}
"""


def problems(load: Load, text: str) -> list[str]:
    with pytest.raises(SpecificationError) as caught:
        load(text)
    return [f"{problem.place}: {problem.message} ({problem.hint})" for problem in caught.value.problems]


def test_a_good_file_loads(load: Load) -> None:
    graph = load(GOOD)
    assert graph.name == "g"
    assert list(graph.states) == ["start", "done"]
    assert [edge.id for edge in graph.edges()] == ["create", "noted", "fin"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("why: not yet", "wy: x", "g.yaml:15:40: unknown key 'wy' (did you mean 'why'?)"),
        ("version: 1", "version: one", "g.yaml:2:10: version: Input should be a valid integer, got 'one' ()"),
        (
            "end: ok",
            "end: okay",
            "g.yaml:17:10: states.done.end: Input should be 'open', 'ok' or 'final', got 'okay' ()",
        ),
        (
            "create: create_record",
            "create: create_recrod",
            "g.yaml:3:17: role 'create': unknown operation 'create_recrod' (did you mean 'create_record'?)",
        ),
        (
            "call: attach_note",
            "call: atach_note",
            "g.yaml:15:27: unknown role or operation 'atach_note' (did you mean 'attach_note'?)",
        ),
        (
            "        call: create\n",
            "        call: creat\n",
            "g.yaml:9:15: unknown role or operation 'creat' (did you mean 'create'?)",
        ),
        (
            "call: attach_note",
            'call: "@destructiv"',
            "g.yaml:15:27: selector '@destructiv' selects no operation (did you mean '@destructive'?)",
        ),
        ("{ok: done,", "{ok: don,", "g.yaml:13:20: unknown state 'don' (did you mean 'done'?)"),
        ("[{to: done, when", "[{to: dine, when", "g.yaml:19:50: unknown state 'dine' (did you mean 'done'?)"),
        ("{ok: done,", "{okk: done,", "g.yaml:13:16: unknown category 'okk' (did you mean 'ok'?)"),
        ('"@any": start', '"@eny": start', "g.yaml:13:26: unknown class '@eny' (did you mean '@any'?)"),
        (
            "count.tries < 3",
            "count.tries <<< 3",
            "g.yaml:10:41: guard 'count.tries <<< 3', column 15: is not an expression: invalid syntax ()",
        ),
        (
            "is_set(args.request_id)",
            "is_sett(args.request_id)",
            (
                "g.yaml:10:16: guard 'is_sett(args.request_id)', column 1: unknown function 'is_sett'"
                " (did you mean 'is_set'?)"
            ),
        ),
        (
            "is_set(args.request_id)",
            "is_set(args.requestid)",
            "g.yaml:10:16: create_record has no argument 'requestid' (did you mean 'request_id'?)",
        ),
        (
            "rid: args.request_id",
            "rid: args.request",
            "g.yaml:12:21: create_record has no argument 'request' (did you mean 'request_id'?)",
        ),
        (
            "rid: args.request_id",
            "rid: arg.request_id",
            (
                "g.yaml:12:21: 'arg.request_id' is not the path of a value (known: now, since, agent, turn, payload,"
                " target, request, operation, $<variable>, args.<field>, result.<field>)"
            ),
        ),
        ("$rid != None", "$rif != None", "g.yaml:19:63: $rif is never bound (did you mean 'rid'?)"),
        (
            "count.tries < 3",
            "result.x == 1",
            "g.yaml:10:41: result.x is not known yet when a call is judged (move it under 'then')",
        ),
        (
            "count.tries < 3",
            "bound('creat')",
            "g.yaml:10:41: guard \"bound('creat')\": unknown role 'creat' (did you mean 'create'?)",
        ),
        ("id: noted", "id: create", "g.yaml:15:14: edge id 'create' is taken (first given at line 8)"),
        (
            "{to: done}]",
            "{to: done, when: [turn > 1]}]",
            "g.yaml:19:44: ok: only guarded alternatives (leave the last one without 'when')",
        ),
        (
            '        then: {ok: done, "@any": start}\n',
            "",
            "g.yaml:8:9: edge 'create' has no 'then' (say where each category leads, or write '@any')",
        ),
        ("why: not yet", "then: {ok: done}", "g.yaml:15:46: forbid 'noted' leads nowhere (remove 'then')"),
        (
            "{create: payload}",
            "{creat: payload}",
            "g.yaml:4:32: unknown role or operation 'creat' (did you mean 'create'?)",
        ),
    ],
)
def test_a_mistake_is_told_with_its_place(load: Load, old: str, new: str, problem: str) -> None:
    assert GOOD.count(old) == 1
    assert problem in problems(load, GOOD.replace(old, new))


def test_a_category_of_the_contract_that_no_edge_covers_is_told(load: Load) -> None:
    assert problems(load, GOOD.replace('"@any": start', '"@refusal": start, "@uncertain": start')) == [
        (
            "g.yaml:13:9: edge 'create' does not say what follows create_record: confirmed_failure, local_failure,"
            " rate_limited (name each category, its class ('@refusal', '@failure', '@uncertain', '@local') or '@any')"
        )
    ]


def test_not_found_is_no_refusal_of_a_read(load: Load) -> None:
    text = GOOD.replace("{id: fin, call: finish, then: {ok:", '{id: look, call: lookup, then: {"@refusal": done, ok:')
    assert "create_record" not in problems(load, text)[0]
    assert (
        "lookup_by_request_id: local_failure, malformed_response, not_found, outcome_unknown" in problems(load, text)[0]
    )


def test_an_unreachable_state_is_told(load: Load) -> None:
    (problem,) = problems(load, GOOD + "  island: {end: final}\n")
    assert problem.startswith("g.yaml:20:3: state 'island' is unreachable (no edge leads from 'start' to it")


def test_all_problems_of_a_file_are_told_at_once_in_the_order_of_the_file(load: Load) -> None:
    text = GOOD.replace("why: not yet", "wy: x").replace("{ok: done,", "{ok: don,").replace("count.tries < 3", "x ==")
    assert [line.split(": ")[0] for line in problems(load, text)] == ["g.yaml:10:41", "g.yaml:13:20", "g.yaml:15:40"]


def test_a_file_without_states_is_told(load: Load) -> None:
    assert problems(load, "graph: g\n") == ["g.yaml:1:1: missing key 'states' ()"]


def test_a_file_that_is_no_mapping_is_told(load: Load) -> None:
    assert problems(load, "- x\n") == ["g.yaml:1:1: the file: expected a mapping of keys, got ['x'] ()"]


@pytest.fixture
def bind_problem(graphs: dict[str, Graph], registry: Registry) -> Callable[[dict[str, str | None]], str]:
    def told(roles: dict[str, str | None]) -> str:
        with pytest.raises(SpecificationError) as caught:
            graphs["create-outcome-unknown"].bind(roles, registry, {})
        return str(caught.value.problems[0])

    return told


def test_a_role_that_the_graph_does_not_have_cannot_be_bound(
    bind_problem: Callable[[dict[str, str | None]], str],
) -> None:
    assert bind_problem({"lookp": None}) == (
        "create-outcome-unknown.yaml: graph 'create-outcome-unknown' has no role 'lookp'\n"
        "    hint: did you mean 'lookup'?"
    )


def test_a_role_cannot_be_bound_to_an_operation_that_is_not_there(
    bind_problem: Callable[[dict[str, str | None]], str],
) -> None:
    assert "role 'create' is bound to unknown operation 'create_recrod'" in bind_problem({"create": "create_recrod"})


def test_a_role_cannot_be_bound_to_an_operation_that_lacks_an_argument(
    bind_problem: Callable[[dict[str, str | None]], str],
) -> None:
    problem = bind_problem({"create": "run_command"})
    assert "edge 'create' reads args.idempotency_key, which run_command does not have" in problem


def test_an_argument_that_only_an_unbound_role_asks_for_may_be_lacking(
    graphs: dict[str, Graph], registry: Registry
) -> None:
    graph = graphs["rate-limit"]
    with pytest.raises(SpecificationError, match=r"edge 'update' reads args.patch, which attach_note does not have"):
        graph.bind({"update": "attach_note"}, registry, {})

    assert "attach_note" in graph.bind({"update": "attach_note", "read": None}, registry, {}).table["start"]


def test_an_unbound_role_takes_its_edges_away(graphs: dict[str, Graph], registry: Registry) -> None:
    bound = graphs["create-outcome-unknown"].bind({"annotate": None, "read": None}, registry, {})
    assert "attach_note" not in bound.alphabet
    assert "get_record" not in bound.table["created"]


def test_a_graph_is_a_networkx_graph(graphs: dict[str, Graph]) -> None:
    network = graphs["create-outcome-unknown"].network()
    assert network.nodes["noted"]["end"] == "ok"
    assert network.nodes["start"]["start"] is True
    moves = {(data["edge"], data["category"], to) for _, to, data in network.out_edges("unknown", data=True)}
    assert ("reconcile", "ok", "created") in moves
    assert ("second-create", "!", "unknown") in moves


def test_the_category_wins_over_its_class_and_any_is_the_rest(graphs: dict[str, Graph], registry: Registry) -> None:
    step = graphs["create-outcome-unknown"].bind({}, registry, {}).table["start"]["create_record"].allow[0]
    to = {category: targets[0].to for category, targets in step.then.items()}
    assert to["authentication_failed"] == "halted"
    assert to["authorization_denied"] == "denied"
    assert to["not_found"] == "denied"
    assert to["conflict"] == "unknown"
    assert to["rate_limited"] == "start"
