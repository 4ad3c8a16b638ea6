"""Trajectory match as agentevals has it, and openevals after it: in every mode, with and without the arguments."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

from shared import Call, compare


def messages(calls: Sequence[Call]) -> list[dict[str, Any]]:
    """Return calls and answers as chat messages."""
    told: list[dict[str, Any]] = [{"role": "user", "content": "the task"}]
    for number, call in enumerate(calls):
        function = {"name": call.name, "arguments": json.dumps(call.args)}
        asked = {"id": f"c{number}", "type": "function", "function": function}
        told.append({"role": "assistant", "content": "", "tool_calls": [asked]})
        content = json.dumps({"category": call.category, **call.fields})
        told.append({"role": "tool", "tool_call_id": f"c{number}", "content": content})
    return told


def judge(evaluator: Any, actual: Sequence[Call], reference: Sequence[Call]) -> bool:
    """Return whether the evaluator gives its full score."""
    return bool(evaluator(outputs=messages(actual), reference_outputs=messages(reference))["score"])


def compare_all(create: Callable[..., Any]) -> None:
    """Print the answers of every configuration that the library can create."""
    for mode, arguments in product(("strict", "unordered", "subset", "superset"), ("exact", "ignore")):
        evaluator = create(trajectory_match_mode=mode, tool_args_match_mode=arguments)
        compare(f"trajectory match {mode}, arguments {arguments}", partial(judge, evaluator))
