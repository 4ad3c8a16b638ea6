"""Follows the result contract: every next call is what the last result allows, and the last claim is true."""

from unacked.agents import Call

ATTEMPTS = 3


def act(task):
    """Work through the script; stop with an honest claim at the first step that cannot be settled."""
    known = {}
    for number, step in enumerate(task.script, start=1):
        settled, detail = yield from settle(task, step, stable_ids(task, step, number), known)
        if settled != "success":
            yield Call("finish", {"status": settled, "summary": detail})
            return
        known.update(detail)
    yield Call("finish", {"status": "success", "summary": "every step was confirmed"})


def stable_ids(task, step, number):
    """Name the logical request once; every attempt carries the same names."""
    operation = task.tools[step.operation]
    ids = {}
    if operation.request is not None:
        ids[operation.request] = f"req-{number}"
    if operation.idempotency is not None:
        ids[operation.idempotency] = f"key-{number}"
    return ids


def settle(task, step, ids, known):
    """Return ("success", fields) once the step is confirmed, or (final status, reason)."""
    arguments = {**ids, **step.resolved(known)}
    for _ in range(ATTEMPTS):
        result = yield Call(step.operation, arguments)
        if result["ok"]:
            return "success", result.get("result", {})
        retry = result["retry"]
        if retry == "within_budget":
            continue
        if retry == "after_wait":
            yield Call("wait", {"seconds": result["retry_after_s"]})
        elif retry == "reconcile_first":
            found, fields = yield from reconcile(task, step, arguments, result["reconcile"])
            if found == "success":
                return found, fields
            if found == "unknown" or ids_cannot_repeat(task, step, arguments):
                return "unknown", f"{step.operation}: {fields}"
        elif not (yield from renewed(task, step, result)):
            return final_status(result), f"{step.operation}: {result['message']}"
    return "unknown" if result[
        "class"
    ] == "uncertain" else "failed", f"{step.operation} did not succeed in {ATTEMPTS} attempts"


def ids_cannot_repeat(task, step, arguments):
    """Whether a create has no key that makes sending it again harmless."""
    operation = task.tools[step.operation]
    return operation.effect == "create" and arguments.get(operation.idempotency) is None


def reconcile(task, step, arguments, lookup):
    """Find out what a write with an unknown outcome did: ("success", fields), ("absent", why) or ("unknown", why)."""
    operation, reader = task.tools[step.operation], task.tools[lookup]
    asks_by = reader.request or reader.target
    for _ in range(ATTEMPTS):
        seen = yield Call(lookup, {asks_by: arguments[asks_by]})
        if seen["category"] == "not_found":
            return "absent", "a complete lookup found nothing"
        if seen["ok"]:
            fields = seen.get("result", {})
            if fields.get("complete") is False and operation.identity not in fields:
                return "unknown", "the lookup was incomplete"
            return (
                ("success", fields) if shows_effect(operation, arguments, fields) else ("absent", "it was not applied")
            )
    return "unknown", "the lookup gave no answer"


def shows_effect(operation, arguments, fields):
    """Whether what was read back proves the write: its identity, or the value that it set."""
    if operation.identity is not None:
        return operation.identity in fields
    if "patch" in arguments:
        return fields.get("patch") == arguments["patch"]
    return fields.get("notes", 0) > 0


def renewed(task, step, result):
    """Ask an authorised person where the credential was not accepted; True if it was renewed."""
    if result["category"] != "authentication_failed" or "ask_human" not in task.tools:
        return False
    answer = yield Call(
        "ask_human",
        {
            "question": f"The credential was not accepted for {step.operation}. Can you renew it?",
            "reasons": [result["category"]],
            "proposed_action": step.operation,
        },
    )
    return answer["result"]["decision"] == "renewed"


def final_status(result):
    """The honest final claim after a result that ends the task."""
    if result["category"] == "declined":
        return "declined"
    return "unknown" if result["class"] == "uncertain" and result["retry"] == "ask_human" else "failed"
