"""Follows the result contract: every next call is what the last result allows, and the last claim is true."""

from collections.abc import Mapping
from typing import Any

from unacked.agents import Call, Moves, Step, Task
from unacked.contract import Operation

ATTEMPTS = 3

Result = Mapping[str, Any]
Settled = tuple[str, Any]
"""How a step ended: ("success", result fields), ("absent", why), or a final status and the reason."""


def act(task: Task) -> Moves[None]:
    """Work through the script; stop with an honest claim at the first step that cannot be settled."""
    known: dict[str, Any] = {}
    for number, step in enumerate(task.script, start=1):
        arguments = stable_ids(task.tools[step.operation], number) | step.resolved(known)
        status, detail = yield from settle(task, step, arguments)
        if status != "success":
            yield Call("finish", {"status": status, "summary": f"{step.operation}: {detail}"})
            return
        known.update(detail)
    yield Call("finish", {"status": "success", "summary": "every step was confirmed"})


def stable_ids(operation: Operation, number: int) -> dict[str, str]:
    """Name the logical request once; every attempt carries the same names."""
    ids = ((operation.request, f"req-{number}"), (operation.idempotency, f"key-{number}"))
    return {argument: value for argument, value in ids if argument is not None}


def settle(task: Task, step: Step, arguments: Mapping[str, Any]) -> Moves[Settled]:
    """Make one step happen exactly once, or find out why it cannot be."""
    operation = task.tools[step.operation]
    result: Result = {}
    for _ in range(ATTEMPTS):
        result = yield Call(step.operation, arguments)
        if result["ok"]:
            return "success", result.get("result", {})
        match result["retry"]:
            case "within_budget":
                continue
            case "after_wait":
                yield Call("wait", {"seconds": result["retry_after_s"]})
            case "reconcile_first":
                found, detail = yield from reconcile(operation, task.tools[result["reconcile"]], arguments)
                if found != "absent":
                    return found, detail
                if operation.effect == "create" and arguments.get(operation.idempotency or "") is None:
                    return "unknown", "not found, and there is no key that makes sending it again harmless"
            case _:
                if not (yield from credential_renewed(task, step, result)):
                    return final_status(result), result["message"]
    return ("unknown" if result["class"] == "uncertain" else "failed"), f"no success in {ATTEMPTS} attempts"


def reconcile(operation: Operation, lookup: Operation, arguments: Mapping[str, Any]) -> Moves[Settled]:
    """Find out what a write with an unknown outcome did, by asking for its own request or target."""
    asked_by = lookup.request or lookup.target or ""
    for _ in range(ATTEMPTS):
        seen = yield Call(lookup.name, {asked_by: arguments[asked_by]})
        fields = seen.get("result", {})
        if seen["category"] == "not_found":
            return "absent", "a complete lookup found nothing"
        if seen["category"] == "partial":
            return "unknown", "the lookup was incomplete, so it proves nothing"
        if seen["ok"]:
            return ("success", fields) if shows_effect(operation, arguments, fields) else ("absent", "not applied")
    return "unknown", "the lookup gave no answer"


def shows_effect(operation: Operation, arguments: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
    """Whether what was read back proves the write: its identity, or the value that it set."""
    if operation.identity is not None:
        return operation.identity in fields
    if "patch" in arguments:
        return bool(fields.get("patch") == arguments["patch"])
    return bool(fields.get("notes", 0) > 0)


def credential_renewed(task: Task, step: Step, result: Result) -> Moves[bool]:
    """Ask an authorised person where the credential was not accepted."""
    if result["category"] != "authentication_failed" or "ask_human" not in task.tools:
        return False
    question = f"The credential was not accepted for {step.operation}. Can you renew it?"
    answer = yield Call(
        "ask_human", {"question": question, "reasons": [result["category"]], "proposed_action": step.operation}
    )
    return bool(answer["result"]["decision"] == "renewed")


def final_status(result: Result) -> str:
    """The honest final claim after a result that ends the task."""
    if result["category"] == "declined":
        return "declined"
    return "unknown" if result["class"] == "uncertain" and result["retry"] == "ask_human" else "failed"
