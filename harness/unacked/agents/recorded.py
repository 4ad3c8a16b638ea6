"""The recorded driver: makes the calls that an incident's file records, whatever the tools answer."""

from __future__ import annotations

from collections.abc import Generator, Mapping

from unacked.agents.protocol import Call, Task
from unacked.canonical import JSON

__all__ = ["repeat_incident"]


def repeat_incident(task: Task) -> Generator[Call, Mapping[str, JSON], None]:
    """Repeat the recorded behaviour; ``$name`` in an argument takes the field from the results so far."""
    known: dict[str, JSON] = {}
    for step in task.behaviour:
        result = yield Call(step.operation, step.resolved(known))
        known.update(result.get("result", {}))
