"""Believes what it is told: what is done it leaves, what is unknown it looks up, what has failed it does anew."""

from typing import Any

from unacked.agents import Call, Moves, Task


def act(task: Task) -> Moves[None]:
    """Take over what is known, then make every step whose result is not among it."""
    known: dict[str, Any] = {}
    for handed in task.handed:
        known.update(handed.facts)
        if handed.status in ("declined", "refused", None):
            yield Call(task.ending, {"status": "failed", "summary": f"{handed.member}: {handed.status}"})
            return
        for call in handed.unsettled if handed.status == "unknown" else ():
            known.update((yield from looked_up(task, call.operation, call.arguments)))
    for number, step in enumerate(task.script, start=1):
        operation = task.tools[step.operation]
        if operation.identity in known:
            continue
        ids = ((operation.request, f"again-{number}"), (operation.idempotency, f"again-key-{number}"))
        named = {argument: value for argument, value in ids if argument is not None}
        result = yield Call(step.operation, named | step.resolved(known))
        if not result["ok"]:
            yield Call(task.ending, {"status": "unknown", "summary": f"{step.operation}: {result['category']}"})
            return
        known.update(result.get("result", {}))
    yield Call(task.ending, {"status": "success", "summary": "done"})


def looked_up(task: Task, operation: str, arguments: Any) -> Moves[dict[str, Any]]:
    """What came of a call that somebody else made; where it is not there, the very same call once more."""
    lookup = task.tools[task.tools[operation].reconcile or operation]
    asked = {argument.name: arguments[argument.name] for argument in lookup.arguments if argument.name in arguments}
    found = yield Call(lookup.name, asked)
    if found["category"] == "not_found":
        found = yield Call(operation, arguments)
    return dict(found.get("result", {})) if found["ok"] else {}
