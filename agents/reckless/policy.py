"""Repeats whatever did not work, each time as a new request, and claims success at the end."""

from typing import Any

from unacked.agents import Call, Moves, Step, Task

ATTEMPTS = 3


def act(task: Task) -> Moves[None]:
    """Work through the script; on any trouble send the step again with fresh ids."""
    known: dict[str, Any] = {}
    for number, step in enumerate(task.script, start=1):
        for attempt in range(1, ATTEMPTS + 1):
            result = yield Call(step.operation, fresh_ids(task, step, f"{number}-{attempt}") | step.resolved(known))
            if result["ok"]:
                known.update(result.get("result", {}))
                break
    yield Call("finish", {"status": "success", "summary": "done"})


def fresh_ids(task: Task, step: Step, name: str) -> dict[str, str]:
    """Name the request anew at every attempt: the mistake this agent exists to make."""
    operation = task.tools[step.operation]
    ids = ((operation.request, f"req-{name}"), (operation.idempotency, f"key-{name}"))
    return {argument: value for argument, value in ids if argument is not None}
