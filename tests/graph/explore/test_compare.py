"""Two graphs side by side: the shortest way that they judge differently, or the proof that there is none."""

from __future__ import annotations

from collections.abc import Callable

from unacked.contract import Registry
from unacked.graph import Graph
from unacked.graph.explore import Alphabet, compare, told

Load = Callable[[str], Graph]

TEXT = """
graph: g
states:
  s:
    allow:
      - {{id: first, call: create_record, when: [count.n < {limit}], count: {{n: 1}}, then: {{"@any": s}}}}
      - {{id: stop, call: finish, then: {{ok: done}}}}
  done: {{end: {end}}}
"""


def compared(load: Load, registry: Registry, one: str, two: str, depth: int | None = None) -> object:
    pair = [load(text).bind({}, registry, {}) for text in (one, two)]
    found = compare(pair, Alphabet(pair, registry.values()), depth=depth)
    if found.difference is None:
        return "the same" if found.complete else "too much"
    return told(found.difference.steps, found.difference.letter), found.difference.said


def test_a_limit_that_is_one_too_low_shows_at_its_boundary(load: Load, registry: Registry) -> None:
    found = compared(load, registry, TEXT.format(limit=2, end="final"), TEXT.format(limit=1, end="final"))

    assert found == (("create_record/accepted", "create_record"), ("", "not_in_expected_set"))


def test_a_difference_behind_the_depth_is_not_looked_for(load: Load, registry: Registry) -> None:
    one, two = TEXT.format(limit=3, end="final"), TEXT.format(limit=2, end="final")

    assert compared(load, registry, one, two, depth=1) == "the same"
    assert compared(load, registry, one, two, depth=2) != "the same"


def test_another_end_shows_without_a_call(load: Load, registry: Registry) -> None:
    found = compared(load, registry, TEXT.format(limit=2, end="final"), TEXT.format(limit=2, end="ok"))

    assert found == (("finish(status)/ok",), ("final", "ok"))


def test_a_graph_is_the_same_as_itself(load: Load, registry: Registry) -> None:
    text = TEXT.format(limit=2, end="final")

    assert compared(load, registry, text, text) == "the same"
