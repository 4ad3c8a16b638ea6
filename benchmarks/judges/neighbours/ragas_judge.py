"""ragas: tool call accuracy, strict and flexible; it passes with its full score."""

from __future__ import annotations

import asyncio
import os
import warnings

os.environ["RAGAS_DO_NOT_TRACK"] = "true"
warnings.simplefilter("ignore")

from collections.abc import Sequence
from functools import partial

from ragas.dataset_schema import MultiTurnSample
from ragas.messages import AIMessage, HumanMessage, ToolCall
from ragas.metrics import ToolCallAccuracy, ToolCallF1
from shared import Call, compare


def tools(calls: Sequence[Call]) -> list[ToolCall]:
    """Return calls as ragas has them."""
    return [ToolCall(name=call.name, args=dict(call.args)) for call in calls]


def judge(metric: ToolCallAccuracy | ToolCallF1, actual: Sequence[Call], reference: Sequence[Call]) -> bool:
    """Return whether the metric gives its full score."""
    said = [HumanMessage(content="the task"), AIMessage(content="", tool_calls=tools(actual))]
    sample = MultiTurnSample(user_input=said, reference_tool_calls=tools(reference))
    return bool(asyncio.run(metric.multi_turn_ascore(sample)) >= 1.0)


compare("tool call accuracy, strict order", partial(judge, ToolCallAccuracy(strict_order=True)))
compare("tool call accuracy, any order", partial(judge, ToolCallAccuracy(strict_order=False)))
compare("tool call F1", partial(judge, ToolCallF1()))
