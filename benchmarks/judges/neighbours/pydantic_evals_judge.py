"""pydantic-evals: its evaluators of tool calls, on a span tree as an instrumented agent leaves it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from pydantic_evals.evaluators import (
    ArgumentCorrectness,
    EvaluatorContext,
    MaxToolCalls,
    ToolCorrectness,
    TrajectoryMatch,
)
from pydantic_evals.otel.span_tree import SpanNode, SpanTree
from shared import Call, cases, compare, tell

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def context(calls: Sequence[Call]) -> EvaluatorContext[object, object, object]:
    """Return what an evaluator is given."""
    tree = SpanTree()
    tree.add_spans([_span(number, call) for number, call in enumerate(calls, start=1)])
    return EvaluatorContext(
        name="case",
        inputs=None,
        metadata=None,
        expected_output=None,
        output=None,
        duration=1.0,
        _span_tree=tree,
        attributes={},
        metrics={},
    )


def _span(number: int, call: Call) -> SpanNode:
    return SpanNode(
        name=f"execute_tool {call.name}",
        trace_id=1,
        span_id=number,
        parent_span_id=None,
        start_timestamp=BEGAN + timedelta(seconds=number),
        end_timestamp=BEGAN + timedelta(seconds=number, milliseconds=1),
        attributes={"gen_ai.tool.name": call.name, "gen_ai.tool.call.arguments": json.dumps(call.args)},
    )


def matches(order: str, actual: Sequence[Call], reference: Sequence[Call]) -> bool:
    """The names, in this order."""
    evaluator = TrajectoryMatch(expected_trajectory=[call.name for call in reference], order=order)  # type: ignore[arg-type]
    return evaluator.evaluate(context(actual)).value == 1.0


def correct(actual: Sequence[Call], reference: Sequence[Call]) -> bool:
    """The names, as a multiset."""
    return bool(ToolCorrectness([call.name for call in reference]).evaluate(context(actual)).value)


def correct_arguments(actual: Sequence[Call], reference: Sequence[Call]) -> bool:
    """The names in exact order, and the arguments of every call of the reference."""
    if not matches("exact", actual, reference):
        return False
    seen: dict[str, int] = {}
    for call in reference:
        occurrence = seen[call.name] = seen.get(call.name, -1) + 1
        evaluator = ArgumentCorrectness(call.name, dict(call.args), match_mode="exact", occurrence=occurrence)
        if not evaluator.evaluate(context(actual)).value:
            return False
    return True


for order in ("exact", "in_order", "any_order"):
    compare(f"trajectory match {order}", lambda actual, reference, order=order: matches(order, actual, reference))
compare("tool correctness", correct)
compare("trajectory match exact + argument correctness", correct_arguments)
for case in cases():
    most = max(len(reference.calls) for reference in case.references)
    evaluator = MaxToolCalls(most)
    tell(
        "max tool calls, as many as the longest reference",
        case,
        passes=bool(evaluator.evaluate(context(case.calls)).value),
    )
