"""Repeats whatever did not work, each time as a new request, and claims success at the end."""

from typing import Any

from unacked.agents import Call, Moves, Step, Task

ATTEMPTS = 3
DELIVERIES = 3
"""Events that it handles after the first; each as if it had never been delivered before."""


def act(task: Task) -> Moves[None]:
    """Work through the script; on any trouble, also that of others, send the step again with fresh ids."""
    known: dict[str, Any] = {}
    steps = list(enumerate([*left_by_others(task, known), *task.script], start=1))
    for _ in range(1 + DELIVERIES):
        for number, step in steps:
            for attempt in range(1, ATTEMPTS + 1):
                result = yield Call(step.operation, fresh_ids(task, step, f"{number}-{attempt}") | step.resolved(known))
                if result["ok"]:
                    known.update(result.get("result", {}))
                    break
        steps = yield from delivered_next(task, known)
    facts = {"facts": known} if task.ending == "hand_over" and known else {}
    yield Call(task.ending, {"status": "success", "summary": "done"} | facts)


def delivered_next(task: Task, known: dict[str, Any]) -> Moves[list[tuple[int, Step]]]:
    """What there is to do for the next event, where the task is about events: all of it, whatever event that is."""
    steps = list(enumerate(task.script, start=1))
    receive = next((step for _, step in steps if "delivery" in task.tools[step.operation].tags), None)
    if receive is None:
        return []
    result = yield Call(receive.operation, {})
    if not result["ok"]:
        return []
    known.update(result["result"])
    return [(number, step) for number, step in steps if step is not receive]


def left_by_others(task: Task, known: dict[str, Any]) -> list[Step]:
    """Take over what others know, and whatever they left unsettled that the tools here can do."""
    for handed in task.handed:
        known.update(handed.facts)
    steps = [step for handed in task.handed for step in handed.unsettled if step.operation in task.tools]
    return [Step(step.operation, without_ids(task, step)) for step in steps]


def without_ids(task: Task, step: Step) -> dict[str, Any]:
    """What a step asks for, without the names that its first sender gave it."""
    operation = task.tools[step.operation]
    return {
        name: value for name, value in step.arguments.items() if name not in (operation.request, operation.idempotency)
    }


def fresh_ids(task: Task, step: Step, name: str) -> dict[str, str]:
    """Name the request anew at every attempt: the mistake this agent exists to make."""
    operation, own = task.tools[step.operation], f"{task.member}-" if task.member else ""
    ids = ((operation.request, f"{own}req-{name}"), (operation.idempotency, f"{own}key-{name}"))
    return {argument: value for argument, value in ids if argument is not None}
