"""The explorer against the monitor: two readings of the same rules, written apart, that must agree."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from unacked.contract import Registry
from unacked.graph import Call, Graph, Judgement, judge_events
from unacked.graph.explore import Alphabet, Script, Space, Step, Variant, allowed, refusal, told, variants

NAMES = [
    "auth-vs-denial",
    "create-outcome-unknown",
    "grant-unknown",
    "plain-read",
    "rate-limit",
    "rotate-unknown",
    "spend-unknown",
    "partial-list-cleanup",
    "approval-decline",
]
Load = Callable[[str], Graph]


def space_of(graph: Graph, registry: Registry, variant: Variant | None = None) -> Space:
    bound = (variant or Variant("")).bind(graph, registry)
    return Space([bound], Alphabet([bound], registry.values()))


def wandered(space: Space, rng: random.Random) -> tuple[Judgement, str | None, str]:
    """Walk at random to the first refused call; returns the monitor's judgement, the rule expected, the state."""
    situation, script, rule = space.start, Script(space.alphabet), None
    (machine,) = space.machines
    for _ in range(8):
        letter = rng.choice(list(space.letters(situation)))
        reactions = space.react(situation, letter)
        refused = refusal(machine, reactions[0], letter)
        if refused is not None and rng.random() < 0.5:
            continue
        answer = rng.choice(list(space.answers(situation, letter)))
        if refused is not None:
            script.call(letter, answer)
            rule = refused[0]
            break
        if allowed(reactions):
            arrival = space.arrive(situation, letter, reactions, answer)
            script.step(arrival.step)
            situation = arrival.target
    return judge_events(script.ended(), [machine.graph]), rule, situation[0].state


@pytest.mark.parametrize("name", NAMES)
def test_explorer_and_monitor_agree_on_random_walks(name: str, graphs: dict[str, Graph], registry: Registry) -> None:
    for variant in variants(graphs[name]):
        space, rng = space_of(graphs[name], registry, variant), random.Random(name)  # noqa: S311 - walks, not secrets
        for _ in range(150):
            judgement, rule, state = wandered(space, rng)
            assert next((item.rule for item in judgement.violations), None) == rule
            assert rule is not None or judgement.per_graph[name].threads[-1].state == state


def test_a_graph_is_explored_to_its_end(graphs: dict[str, Graph], registry: Registry) -> None:
    space = space_of(graphs["create-outcome-unknown"], registry)

    states = {local.state for (local,) in space.situations()}

    assert states == set(graphs["create-outcome-unknown"].states)
    assert space.exhaustive


def test_the_way_to_a_situation_is_a_shortest_one(graphs: dict[str, Graph], registry: Registry) -> None:
    space = space_of(graphs["create-outcome-unknown"], registry)

    noted = next(item for item in space.situations() if item[0].state == "noted")

    assert told(space.way(noted)) == ("create_record/ok", "attach_note/ok")


def test_a_way_is_cut_off_where_it_is_too_deep(graphs: dict[str, Graph], registry: Registry) -> None:
    space = space_of(graphs["create-outcome-unknown"], registry)

    assert {len(space.way(item)) for item in space.situations(2)} == {0, 1, 2}


def test_values_of_one_family_are_interchangeable(load: Load, registry: Registry) -> None:
    """The first value that is seen is always the first token: there is one situation, not one for each name."""
    text = (
        "graph: g\nstates:\n  s:\n    end: ok\n    allow:\n"
        "      - {call: create_record, bind: {k: args.idempotency_key}, then: {'@any': t}}\n"
        "  t:\n    end: ok\n    allow:\n"
        "      - {call: attach_note, when: [args.record_id == $k], then: {'@any': t}}\n"
    )
    space = space_of(load(text), registry)

    assert [dict(local.variables) for (local,) in space.situations()] == [{}, {"k": "record_id-1"}]


def test_a_step_can_be_written_with_the_values_of_the_whole_way(graphs: dict[str, Graph], registry: Registry) -> None:
    """Tokens are renamed as they are forgotten; in the trace every value keeps its name."""
    graph = graphs["create-outcome-unknown"]
    space = space_of(graph, registry)
    steps = next(space.way(item) for item in space.situations() if item[0].state == "halted_absent")
    script = Script(space.alphabet, [Step(*step) for step in steps])

    sent = [event.args.get("request_id") for event in script.events if isinstance(event, Call)]

    assert sent[0] is not None
    assert set(sent) == {sent[0]}


def test_numbers_are_tried_on_either_side_of_a_bound(load: Load, registry: Registry) -> None:
    text = (
        "graph: g\nstates:\n  s:\n    end: ok\n    allow:\n"
        "      - call: get_record\n        then:\n          ok:\n"
        "            - {to: t, when: [result.notes > 3]}\n            - {to: s}\n          '@any': s\n  t: {end: ok}\n"
    )
    space = space_of(load(text), registry)

    answers = space.alphabet.answers["get_record", "ok"]

    assert sorted(answer.fields["notes"] for answer in answers) == [2, 3, 4]


def test_time_passes_where_a_guard_looks_at_the_clock(graphs: dict[str, Graph], registry: Registry) -> None:
    space = space_of(graphs["rate-limit"], registry)

    assert {letter.wait_s for letter in space.alphabet.letters["update_record"]} == {0.0, 10.0}
    assert {letter.wait_s for letter in space.alphabet.letters["get_record"]} == {0.0}
