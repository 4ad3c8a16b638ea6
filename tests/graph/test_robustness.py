"""Nothing that a model sends may stop the monitor."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unacked.contract import Registry
from unacked.graph import Call, End, EndReason, Event, Graph, Result, judge_events, render

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
NAMES = (
    "title",
    "idempotency_key",
    "request_id",
    "record_id",
    "release_id",
    "target",
    "ids",
    "status",
    "cursor",
    "patch",
)
ARGS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=5)
FIELDS = st.dictionaries(st.sampled_from(("record_id", "items", "retry_after", "complete", "approval_id")), VALUES)


@pytest.mark.long
@given(data=st.data())
def test_any_json_in_calls_and_results_is_judged_and_explained(
    graphs: dict[str, Graph], registry: Registry, data: st.DataObject
) -> None:
    graph = graphs[data.draw(st.sampled_from(sorted(graphs)))]
    events: list[Event] = []
    for index in range(data.draw(st.integers(1, 5))):
        operation = registry[data.draw(st.sampled_from(sorted(registry)))]
        args: dict[str, Any] = data.draw(ARGS)
        category = data.draw(st.sampled_from(sorted(operation.categories)))
        turn = data.draw(st.integers(0, 2))
        events.append(Call(id=f"c{index}", operation=operation.name, args=args, turn=turn, at=float(index)))
        events.append(Result(call=f"c{index}", category=category, fields=data.draw(FIELDS), at=float(index)))
    events.append(End(reason=EndReason.FINISHED))
    effects = data.draw(st.sampled_from([{}, {"create_record": [{"title": "a"}, {"title": "b"}]}]))
    judgement = judge_events(events, [graph.bind({}, registry, {})], effects)
    if judgement.explanation is not None:
        text = render(judgement.explanation)
        assert all(char == "\n" or char.isprintable() for char in text)
