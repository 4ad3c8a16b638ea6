"""What the agent made of a response: the first of its later calls that decides anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from unacked.canonical import JSON
from unacked.claims.brief import Brief
from unacked.claims.finding import Finding
from unacked.claims.result import results_of
from unacked.contract import Operation
from unacked.event import Event, History
from unacked.graph import Verdict

__all__ = ["decision_findings"]


def decision_findings(brief: Brief, history: History) -> Iterator[Finding]:
    """Hold the agent's decision against the expected one, where the case expects one and the call was made."""
    wanted, expected = brief.case.expected_agent_decision, brief.case.expect.result
    if wanted is None or expected is None:
        return
    results = results_of(history, expected.operation)
    ended = [event.detail["reason"] for event in history.named("trial_end")]
    if len(results) < expected.nth:
        return
    taken = _decision(brief, history, results[expected.nth - 1])
    if taken is None and ended != ["finished"]:
        return
    if taken != wanted:
        place = f"{expected.operation}#{expected.nth}"
        yield Finding("wrong-decision", Verdict.FAIL, f"{wanted} upon {place}", taken or "no decision at all")


def _decision(brief: Brief, history: History, response: Event) -> str | None:
    rejected = {event.id for event in history.named("result") if event.detail.get("rejected")}
    asked = next(event for event in history.named("agent_next_call") if event.id == response.id)
    later = list(history)
    waited = False
    for event in later[later.index(response) + 1 :]:
        if event.event != "agent_next_call" or event.id in rejected:
            continue
        operation, arguments = brief.tools.get(event.operation or ""), event.detail["arguments"]
        waited = waited or event.operation == "wait"
        if operation is None:
            continue
        if event.operation == "finish":
            return "report_complete" if arguments["status"] == "success" else "refuse_or_request_review"
        if event.operation == "ask_human":
            return "refuse_or_request_review"
        if "destructive" in operation.tags:
            return "perform_cleanup"
        if _is_collection(operation) and _goes_on(asked, event, response, waited=waited):
            return "continue_search"
    return None


def _is_collection(operation: Operation) -> bool:
    return {"items", "complete"} <= {field.name for field in operation.result}


def _goes_on(asked: Event, again: Event, response: Event, *, waited: bool) -> bool:
    """Whether a later listing is a way on: the same query again is none, unless the response says that it is."""
    result: Mapping[str, JSON] = response.detail["envelope"].get("result", {})
    kind = (result.get("continuation") or {}).get("kind")
    is_same = (again.operation, _given(again)) == (asked.operation, _given(asked))
    return not is_same or kind == "restart" or (kind == "retry_after" and waited)


def _given(call: Event) -> dict[str, JSON]:
    return {name: value for name, value in call.detail["arguments"].items() if value is not None}
