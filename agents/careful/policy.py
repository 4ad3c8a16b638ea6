"""Follows the result contract: every next call is what the last result allows, and the last claim is true."""

from collections.abc import Mapping
from typing import Any

from unacked.agents import Call, Moves, Step, Task
from unacked.approval import PAUSES, WAYS_OUT
from unacked.contract import Operation

ATTEMPTS = 3
"""Calls of one step; a write that carries no key gets one fewer."""
LONGEST_WAIT_S = 3600
"""A service that wants to be left alone for longer is not waited for: that is said, and the task ends."""
IN_FLIGHT_S = 30
"""How long an earlier attempt of the same request, or a command that has started, is given to end."""

Result = Mapping[str, Any]
Numbered = list[tuple[int, Step]]
"""Steps of the script, each with its number there."""
Settled = tuple[str, Any]
"""How a step ended: ("success", result fields), ("absent", why), ("started", why), or a final status and the reason."""


def act(task: Task) -> Moves[None]:
    """Work through the script; stop with an honest claim at the first step that cannot be settled."""
    known: dict[str, Any] = {}
    status, detail = yield from take_over(task, known)
    if status != "success":
        yield Call(task.ending, {"status": status, "summary": detail} | told(task, known, status))
        return
    steps, handled = list(enumerate(task.script, start=1)), set[str]()
    while steps:
        status, detail, last = yield from work_through(task, steps, known)
        if status == "failed" and task.undo:
            status = yield from take_back(task, known)
        if status != "success":
            summary = f"{last.operation}: {detail}"
            yield Call(task.ending, {"status": status, "summary": summary} | told(task, known, status, last))
            return
        steps = yield from delivered_next(task, known, handled)
    yield Call(task.ending, {"status": "success", "summary": "every step was confirmed"} | told(task, known))


def work_through(task: Task, steps: Numbered, known: dict[str, Any]) -> Moves[tuple[str, Any, Step]]:
    """Make steps happen one after the other; the last one that was tried says how it ended."""
    detail: Any = {}
    last = steps[0][1]
    for number, step in steps:
        arguments = stable_ids(task, step, number) | step.resolved(known)
        if "ids" in arguments and not arguments["ids"]:
            continue
        last = Step(step.operation, arguments)
        status, detail = yield from settle(task, step, arguments)
        if status == "success" and detail.get("complete") is False:
            status, detail = yield from see_all(task, step, arguments, detail)
        if status != "success":
            return status, detail, last
        known.update(detail)
    return "success", detail, last


def delivered_next(task: Task, known: dict[str, Any], handled: set[str]) -> Moves[Numbered]:
    """Receive what else is delivered, where the task is about that; an event that was handled is only acknowledged.

    Whether it was goes by its id alone: how often it was delivered says nothing of what was done for it.
    """
    receive = receiving(task)
    if receive is None:
        return []
    handled.add(known["event_id"])
    result = yield Call(receive.operation, {})
    if result["category"] == "not_found":
        return []
    status, event = ("success", result["result"]) if result["ok"] else (yield from settle(task, receive, {}))
    if status != "success":
        return []
    known.update(event)
    steps = [(number, step) for number, step in enumerate(task.script, start=1) if step is not receive]
    if event["event_id"] not in handled:
        return steps
    return [(number, step) for number, step in steps if "acknowledgement" in task.tools[step.operation].tags]


def receiving(task: Task) -> Step | None:
    """The step of the script by which events are received."""
    return next((step for step in task.script if "delivery" in task.tools[step.operation].tags), None)


def take_over(task: Task, known: dict[str, Any]) -> Moves[Settled]:
    """Take over what others know; find out first what became of the calls that they left unsettled."""
    for handed in task.handed:
        known.update(handed.facts)
    for handed in task.handed:
        status, detail = handed.status or "unknown", f"{handed.member} told {handed.status}: {handed.summary}"
        for call in handed.unsettled if status == "unknown" else ():
            status, detail = yield from settle_for_another(task, call)
            if status != "success":
                return status, f"{call.operation}: {detail}"
            known.update(detail)
        if status != "success" and task.compensates is None:
            return ("unknown" if status == "unknown" else "failed"), detail
    return "success", {}


def settle_for_another(task: Task, call: Step) -> Moves[Settled]:
    """Find out what became of a call that another made; where it is not there, make that very call once more."""
    operation = task.tools.get(call.operation)
    lookup = task.tools.get(operation.reconcile or "") if operation is not None else None
    if operation is None or lookup is None:
        return "unknown", "left unsettled, and nothing here can find out"
    status, detail = yield from reconcile(task, operation, lookup, call.arguments)
    if status == "absent" and task.compensates is None and harmless_again(operation, call.arguments):
        return (yield from settle(task, call, call.arguments))
    return {"absent": "failed", "started": "unknown"}.get(status, status), detail


def told(task: Task, known: Mapping[str, Any], status: str = "success", last: Step | None = None) -> dict[str, Any]:
    """What those who come after need: the facts, and the very call whose outcome is not known."""
    if task.ending != "hand_over":
        return {}
    open_call = last if status == "unknown" else None
    unsettled = [{"operation": open_call.operation, "arguments": dict(open_call.arguments)}] if open_call else []
    return {name: value for name, value in (("facts", dict(known)), ("unsettled", unsettled)) if value}


def take_back(task: Task, known: Mapping[str, Any]) -> Moves[str]:
    """Undo what was done before a step that failed, in the order of the task; what was not done has no undo."""
    for number, step in enumerate(task.undo, start=len(task.script) + 1):
        arguments = stable_ids(task, step, number) | step.resolved(known)
        if None in arguments.values():
            continue
        status, _ = yield from settle(task, step, arguments)
        if status != "success":
            return "unknown"
    return "failed"


def stable_ids(task: Task, step: Step, number: int) -> dict[str, str]:
    """Name the logical request once; every attempt carries the same names."""
    operation, own = task.tools[step.operation], f"{task.member}-" if task.member else ""
    ids = ((operation.request, f"{own}req-{number}"), (operation.idempotency, f"{own}key-{number}"))
    return {argument: value for argument, value in ids if argument is not None}


def settle(task: Task, step: Step, arguments: Mapping[str, Any]) -> Moves[Settled]:
    """Make one step happen exactly once, or find out why it cannot be."""
    operation = task.tools[step.operation]
    doubt = False
    attempts = ATTEMPTS - 1 if operation.writes and operation.idempotency is None else ATTEMPTS
    for _ in range(attempts):
        result = yield Call(step.operation, arguments)
        if result["ok"]:
            return approved_in_full(arguments, result.get("result", {}))
        doubt = doubt or (operation.writes and result["class"] == "uncertain")
        match result["retry"]:
            case "within_budget":
                continue
            case "after_wait" if result["retry_after_s"] <= LONGEST_WAIT_S:
                yield Call("wait", {"seconds": result["retry_after_s"]})
            case "reconcile_first" | "poll" if (
                result["reconcile"] == step.operation or "acknowledgement" in operation.tags
            ):
                yield from give_time(task, result)
            case "reconcile_first" | "poll" | "ask_human":
                found, detail = yield from find_out(task, operation, arguments, result)
                if found != "absent":
                    return found, detail
                doubt = False
            case _:
                if not (yield from reopened(task, step, arguments, result)):
                    return final_status(result, doubt=doubt), result["message"]
    return ("unknown" if doubt else "failed"), f"no success in {attempts} attempts"


def see_all(task: Task, step: Step, arguments: Mapping[str, Any], page: Result) -> Moves[Settled]:
    """Look until everything has been seen, by the ways that the results name; else show a person what is missing."""
    if "next_line" in page:
        return (yield from read_on(task, step, arguments, page))
    if "items" not in page:
        return (
            "failed",
            f"incomplete: {', '.join(f'{name} {state}' for name, state in page.items() if 'state' in name)}",
        )
    seen, tried = list(page["items"]), set[str]()
    while not page["complete"]:
        way = page["continuation"] or {"kind": "none"}
        asked = next_look(arguments, way)
        if asked is None or way["kind"] in tried:
            return (yield from show_gap(task, step, page, len(seen)))
        if way["kind"] not in ("next_cursor", "next_offset"):
            tried.add(way["kind"])
        if way["kind"] == "retry_after" and way["seconds"] <= LONGEST_WAIT_S:
            yield Call("wait", {"seconds": way["seconds"]})
        status, page = yield from settle(task, step, asked)
        if status != "success":
            return status, page
        goes_on = asked.get("cursor") is not None or asked.get("offset")
        seen = [*seen, *page["items"]] if goes_on else list(page["items"])
    return "success", {**page, "items": seen}


def read_on(task: Task, step: Step, arguments: Mapping[str, Any], part: Result) -> Moves[Settled]:
    """Read a file to its end; what a part shows beyond its own lines is a notice, and is none of the file."""
    lines = part["text"].split("\n")[: part["returned"]]
    while not part["complete"]:
        status, part = yield from settle(task, step, {**arguments, "from_line": part["next_line"]})
        if status != "success":
            return status, part
        lines += part["text"].split("\n")[: part["returned"]]
    return "success", {**part, "text": "\n".join(lines)}


def next_look(arguments: Mapping[str, Any], way: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The next question on a way that a result names; None where it leads nowhere."""
    anew = {name: value for name, value in arguments.items() if name not in ("cursor", "offset")}
    match way["kind"]:
        case "next_cursor" | "retry_after":
            return {**anew, "cursor": way["next_cursor"]}
        case "next_offset":
            return {**arguments, "offset": way["offset"]}
        case "retry_with_deadline":
            return {**arguments, "deadline_s": way["minimum_seconds"]}
        case "restart":
            return anew
    return None


def show_gap(task: Task, step: Step, page: Result, returned: int) -> Moves[Settled]:
    """Show a person what is missing where one is asked at all; nothing is done on the strength of what was not seen."""
    missing = f"incomplete after {returned} items: {', '.join(page['reasons'])}"
    action = next((later.operation for later in task.script if task.tools[later.operation].writes), None)
    if "ask_human" in task.tools and (action is not None or PAUSES.keys() & page["reasons"]):
        yield Call(
            "ask_human",
            {
                "question": f"{step.operation} is {missing}. What now?",
                "proposed_action": action or "none",
                "scope": step.arguments["scope"],
                "reasons": page["reasons"],
                "returned": returned,
                "targets": [],
                "options": list(WAYS_OUT),
            },
        )
    return "refused", missing


def approved_in_full(arguments: Mapping[str, Any], fields: Mapping[str, Any]) -> Settled:
    """A step is done, unless it was to get an approval and a person approved less than the task needs."""
    if fields.get("narrower") and fields["lasts"] == arguments.get("lasts", "call"):
        return "declined", "a person approved less than the task asks for"
    return "success", fields


def give_time(task: Task, result: Result) -> Moves[None]:
    """Before the very same request is sent again: let an earlier attempt end that is still in flight."""
    if result["category"] == "conflict" and "wait" in task.tools:
        yield Call("wait", {"seconds": IN_FLIGHT_S})


def find_out(task: Task, operation: Operation, arguments: Mapping[str, Any], result: Result) -> Moves[Settled]:
    """Find out what became of a write; "absent" says that the same request may be sent again."""
    found = ""
    if result["retry"] in ("reconcile_first", "poll") and result["reconcile"] in task.tools:
        found, detail = yield from reconcile(task, operation, task.tools[result["reconcile"]], arguments)
        if found != "started" and (found != "absent" or harmless_again(operation, arguments)):
            return found, detail
    if "ask_human" not in task.tools:
        return "unknown", result["message"]
    if result["class"] == "failure":
        yield Call("ask_human", {"question": f"{operation.name} cannot be done: {result['message']} Can you help?"})
        return "failed", result["message"]
    question = f"The outcome of {operation.name} is not known and nothing can find it out. Was it done?"
    answer = yield Call(
        "ask_human", {"question": question, "reasons": [result["category"]], "proposed_action": operation.name}
    )
    match answer["result"]["decision"]:
        case "done":
            return "success", {}
        case "not_done" if found == "started":
            return "failed", "a person said that it was not done, and what has started is not started again"
        case "not_done":
            return "absent", "a person said that it was not done"
    return "unknown", result["message"]


def harmless_again(operation: Operation, arguments: Mapping[str, Any]) -> bool:
    """Whether the same request may be sent again after a complete lookup that can still race the first one."""
    has_key = arguments.get(operation.idempotency or "") is not None
    if "snapshot" in arguments:
        return False
    match operation.effect:
        case "create":
            return has_key
        case "spend":
            return has_key and operation.idempotency_mode.honoured
    return True


def reconcile(task: Task, operation: Operation, lookup: Operation, arguments: Mapping[str, Any]) -> Moves[Settled]:
    """Find out what a write with an unknown outcome did, by asking for its own request or target."""
    asked = {argument.name: arguments[argument.name] for argument in lookup.arguments if argument.name in arguments}
    started, doubt = "", "the lookup gave no answer"
    for _ in range(ATTEMPTS):
        seen = yield Call(lookup.name, asked)
        fields = seen.get("result", {})
        if seen["retry"] == "after_wait" and seen["retry_after_s"] <= LONGEST_WAIT_S:
            yield Call("wait", {"seconds": seen["retry_after_s"]})
        if seen["category"] == "not_found":
            return "absent", "a complete lookup found nothing"
        if seen["category"] == "partial":
            doubt = "the lookup was incomplete, so it proves nothing"
            if "wait" in task.tools:
                yield Call("wait", {"seconds": IN_FLIGHT_S})
            continue
        if seen["ok"] and "completed" in fields:
            if fields["completed"] and fields["exit_status"] == 0:
                return "success", fields
            started = f"it has started, and its exit status is {fields['exit_status']}"
            if fields["completed"]:
                break
            yield Call("wait", {"seconds": IN_FLIGHT_S})
        elif seen["ok"]:
            return ("success", fields) if shows_effect(operation, arguments, fields) else ("absent", "not applied")
    return ("started", started) if started else ("unknown", doubt)


def shows_effect(operation: Operation, arguments: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
    """Whether what was read back proves the write: its identity, or the value that it set."""
    if operation.identity is not None:
        return operation.identity in fields
    if "ids" in arguments:
        return not {item["id"] for item in fields["items"]} & set(arguments["ids"])
    if "scopes" in fields:
        is_wanted = "destructive" not in operation.tags
        return (arguments["scope"] in fields["scopes"]) is is_wanted
    if "patch" in arguments:
        return bool(fields.get("patch") == arguments["patch"])
    return bool(fields.get("notes", 0) > 0)


def reopened(task: Task, step: Step, arguments: Mapping[str, Any], result: Result) -> Moves[bool]:
    """Whether a person, or time, has taken away what a refusal rests on, so that the same call may be made again."""
    tags = task.tools[step.operation].tags
    match result["category"]:
        case "not_found" if "delivery" in tags and "wait" in task.tools:
            yield Call("wait", {"seconds": IN_FLIGHT_S})
            return True
        case "invalid_request" if "acknowledgement" in tags:
            return (yield from delivered_again(task, arguments))
        case "authentication_failed" if "ask_human" in task.tools:
            return (yield from credential_given(task, step, result))
        case "locked" if "ask_human" in task.tools and step.operation == "request_approval":
            return (yield from unlocked(step, result))
    return False


def delivered_again(task: Task, arguments: Mapping[str, Any]) -> Moves[bool]:
    """Whether an event that could not be acknowledged any more has come again, so that it can be."""
    receive = receiving(task)
    if receive is None:
        return False
    for _ in range(ATTEMPTS):
        status, event = yield from settle(task, receive, {})
        if status != "success" or event["event_id"] == arguments["event_id"]:
            return bool(status == "success")
    return False


def unlocked(step: Step, result: Result) -> Moves[bool]:
    """Ask a person to unlock the gate; nobody else can."""
    answer = yield Call(
        "ask_human",
        {
            "question": f"The gate is locked, so nobody can approve {step.arguments['action']}. Can you unlock it?",
            "reasons": [result["category"]],
            "proposed_action": step.operation,
        },
    )
    return bool(answer["result"]["decision"] == "unlocked")


def credential_given(task: Task, step: Step, result: Result) -> Moves[bool]:
    """Ask an authorised person where the credential was not accepted; take another one only if they name it."""
    question = f"The credential was not accepted for {step.operation}. Can you renew it?"
    answer = yield Call(
        "ask_human", {"question": question, "reasons": [result["category"]], "proposed_action": step.operation}
    )
    decided = answer["result"]
    if decided["decision"] == "granted" and "switch_credential" in task.tools:
        yield Call("switch_credential", {"name": decided["credential"]})
        return True
    return bool(decided["decision"] == "renewed")


def final_status(result: Result, *, doubt: bool) -> str:
    """The honest final claim after a result that ends the task; an earlier attempt may still be in doubt."""
    if doubt:
        return "unknown"
    return "declined" if result["category"] == "declined" else "failed"
