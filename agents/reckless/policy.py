"""Repeats whatever did not work, each time as a new request, and claims success at the end."""

from unacked.agents import Call

ATTEMPTS = 3


def act(task):
    """Work through the script; on any trouble send the step again with fresh ids."""
    known = {}
    for number, step in enumerate(task.script, start=1):
        for attempt in range(1, ATTEMPTS + 1):
            result = yield Call(step.operation, {**fresh_ids(task, step, number, attempt), **step.resolved(known)})
            if result["ok"]:
                known.update(result.get("result", {}))
                break
    yield Call("finish", {"status": "success", "summary": "done"})


def fresh_ids(task, step, number, attempt):
    """Name the request anew at every attempt: the mistake this agent exists to make."""
    operation = task.tools[step.operation]
    ids = {}
    if operation.request is not None:
        ids[operation.request] = f"req-{number}-{attempt}"
    if operation.idempotency is not None:
        ids[operation.idempotency] = f"key-{number}-{attempt}"
    return ids
