"""DeepEval: tool correctness, in every setting that needs no model."""

from __future__ import annotations

import os

os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_DISABLE_DOTENV": "1"}

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

from deepeval.metrics import ToolCorrectnessMetric
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams
from shared import Call, compare


class NoModel(DeepEvalBaseLLM):  # type: ignore[misc]
    """The metric asks for a model and, without a list of available tools, never calls it."""

    def load_model(self, *_: Any, **__: Any) -> None:
        """Load nothing."""

    def get_model_name(self, *_: Any, **__: Any) -> str:
        """Name it."""
        return "none"

    def generate(self, *_: Any, **__: Any) -> str:
        """Refuse."""
        raise AssertionError("no model is needed here")

    a_generate = generate


def tools(calls: Sequence[Call]) -> list[ToolCall]:
    """Return calls as DeepEval has them."""
    return [
        ToolCall(name=call.name, input_parameters=dict(call.args), output={"category": call.category, **call.fields})
        for call in calls
    ]


def judge(metric: ToolCorrectnessMetric, actual: Sequence[Call], reference: Sequence[Call]) -> bool:
    """Return whether the metric gives its full score."""
    case = LLMTestCase(input="the task", actual_output="", tools_called=tools(actual), expected_tools=tools(reference))
    return bool(metric.measure(case, _show_indicator=False) >= 1.0)


SETTINGS = {
    "exact match": {"should_exact_match": True},
    "ordered": {"should_consider_ordering": True},
    "any order": {},
}
PARAMETERS = {
    "names": [],
    "arguments": [ToolCallParams.INPUT_PARAMETERS],
    "arguments and outputs": [ToolCallParams.INPUT_PARAMETERS, ToolCallParams.OUTPUT],
}
for (setting, options), (compared, parameters) in product(SETTINGS.items(), PARAMETERS.items()):
    metric = ToolCorrectnessMetric(
        model=NoModel(), threshold=1.0, evaluation_params=parameters, async_mode=False, include_reason=False, **options
    )
    compare(f"tool correctness {setting}, {compared}", partial(judge, metric))
