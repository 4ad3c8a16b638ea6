"""google-adk: the trajectory evaluator, in each of its match types."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from google.adk.evaluation.eval_case import IntermediateData, Invocation
from google.adk.evaluation.eval_metrics import EvalMetric, ToolTrajectoryCriterion
from google.adk.evaluation.trajectory_evaluator import TrajectoryEvaluator
from google.genai import types
from shared import Call, compare

CONTENT = types.Content(role="user", parts=[types.Part(text="the task")])


def invocation(calls: Sequence[Call]) -> Invocation:
    """Return calls as one invocation."""
    uses = [types.FunctionCall(name=call.name, args=dict(call.args)) for call in calls]
    return Invocation(user_content=CONTENT, intermediate_data=IntermediateData(tool_uses=uses))


def judge(evaluator: TrajectoryEvaluator, actual: Sequence[Call], reference: Sequence[Call]) -> bool:
    """Return whether the evaluator gives its full score."""
    result = evaluator.evaluate_invocations([invocation(actual)], [invocation(reference)])
    return bool(result.overall_score == 1.0)


for kind in ToolTrajectoryCriterion.MatchType:
    criterion = ToolTrajectoryCriterion(threshold=1.0, match_type=kind)
    metric = EvalMetric(metric_name="tool_trajectory_avg_score", threshold=1.0, criterion=criterion)
    compare(f"tool trajectory {kind.name.lower()}", partial(judge, TrajectoryEvaluator(eval_metric=metric)))
