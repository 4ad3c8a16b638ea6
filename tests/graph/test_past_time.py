"""The monitor against an independent past-time formula: they agree on every random trace."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from tests.graph.past_time import FAILURE, LOCAL, REFUSAL, UNCERTAIN, Past, Step

from unacked.contract import Registry
from unacked.graph import Call, End, EndReason, Event, Graph, Result, judge_events
from unacked.graph.mutants import mutants

READ_ANSWERS = ["ok", "ok", "not_found", "not_found", "partial", "local_failure", "outcome_unknown"]
WRITE_ANSWERS = [
    "ok",
    "ok",
    "ok",
    "outcome_unknown",
    *sorted(UNCERTAIN),
    *sorted(LOCAL),
    *sorted(FAILURE),
    *sorted(REFUSAL),
]


def _write(rng: random.Random) -> Step:
    if rng.random() < 0.55:
        usual = rng.random() < 0.75
        args = {
            "title": "alpha" if usual else rng.choice(["alpha", "beta"]),
            "idempotency_key": "K1" if usual else rng.choice(["K1", "K2"]),
            "request_id": "R1" if usual else rng.choice(["R1", "R2"]),
        }
        return Step("create_record", args, rng.choice(WRITE_ANSWERS), {"record_id": rng.choice(["rec-1", "rec-2"])})
    answer = rng.choice(["ok", "ok", *WRITE_ANSWERS])
    return Step("attach_note", {"record_id": rng.choice(["rec-1", "rec-1", "rec-2"])}, answer)


def _step(rng: random.Random) -> Step:
    kind = rng.random()
    if kind < 0.5:
        return _write(rng)
    if kind < 0.8:
        fields = {"record_id": rng.choice(["rec-1", "rec-2"]), "complete": rng.choice([True, True, False])}
        request = rng.choice(["R1", "R1", "R1", "R2"])
        return Step("lookup_by_request_id", {"request_id": request}, rng.choice(READ_ANSWERS), fields)
    if kind < 0.9:
        record = rng.choice(["rec-1", "rec-2"])
        return Step("get_record", {"record_id": record}, rng.choice(READ_ANSWERS), {"notes": rng.choice([0, 1])})
    if kind < 0.98:
        return Step("ask_human", {"question": "?"}, "ok", {"decision": rng.choice(["renewed", "wait"])})
    return Step("switch_credential", {"name": "root"}, "ok")


def traces(count: int, seed: int) -> Iterator[list[Step]]:
    rng = random.Random(seed)  # noqa: S311 - traces, not secrets
    for _ in range(count):
        steps = [_step(rng) for _ in range(rng.randint(2, 11))]
        yield [*steps, Step("finish", {"status": rng.choice(["success", "unknown", "failed"])}, "ok")]


def events_of(steps: list[Step]) -> list[Event]:
    events: list[Event] = []
    for number, step in enumerate(steps):
        events.append(Call(id=f"c{number}", operation=step.operation, args=step.args, turn=number))
        events.append(Result(call=f"c{number}", category=step.category, fields=step.fields))
    return [*events, End(reason=EndReason.FINISHED)]


def disagreements(graph: Graph, registry: Registry, count: int, seed: int) -> tuple[list[str], Counter[str]]:
    """Where monitor and formulas differ on the first refused step, and how often each rule was the first."""
    found: list[str] = []
    seen: Counter[str] = Counter()
    for number, steps in enumerate(traces(count, seed)):
        idempotent = number % 3 != 0
        bound = graph.bind({}, registry, dict.fromkeys(registry, idempotent))
        violations = judge_events(events_of(steps), [bound]).violations
        last = violations[0].event // 2 if violations else len(steps)
        past = Past(steps, idempotent)
        broken = [(at, rule) for at in range(min(last + 1, len(steps))) for rule in past.broken(at)]
        expected = [(last, violations[0].rule)] if violations and violations[0].rule in past.rules else []
        seen.update(rule for _, rule in expected)
        if broken != expected:
            found.append(f"trace {number}: formulas {broken}, monitor {expected}: {steps}")
    return found, seen


@pytest.fixture(scope="module")
def graph(graphs: dict[str, Graph]) -> Graph:
    return graphs["create-outcome-unknown"]


def test_monitor_and_formulas_agree_on_two_thousand_random_traces(graph: Graph, registry: Registry) -> None:
    found, seen = disagreements(graph, registry, 2_000, seed=1)

    assert found == []
    assert set(seen) == set(Past([]).rules)


@pytest.mark.long
def test_monitor_and_formulas_agree_on_ten_thousand_random_traces(graph: Graph, registry: Registry) -> None:
    found, seen = disagreements(graph, registry, 10_000, seed=2)

    assert found == []
    assert min(seen[rule] for rule in Past([]).rules) >= 5


@pytest.mark.parametrize(
    "kind", ["drop-conjunct same-token-retry: args.idempotency_key == $token", "drop-forbid false-claim"]
)
def test_the_formulas_see_a_slip_in_the_graph(graph: Graph, registry: Registry, kind: str) -> None:
    (mutant,) = [mutant for mutant in mutants(graph, registry) if mutant.name == kind]

    assert disagreements(mutant.graph, registry, 2_000, seed=1)[0] != []


def test_the_formulas_see_a_second_create_by_themselves() -> None:
    lost = Step("create_record", {"title": "a", "idempotency_key": "K1", "request_id": "R1"}, "outcome_unknown")
    again = Step("create_record", {"title": "a", "idempotency_key": "K2", "request_id": "R1"})

    assert Past([lost, again]).broken(1) == ["second-create"]
    assert Past([lost, lost]).broken(1) == []
