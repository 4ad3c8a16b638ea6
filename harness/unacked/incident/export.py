"""A trial of ours as OpenTelemetry GenAI spans (OTLP JSON): what any viewer of traces shows, and we read again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from unacked.canonical import JSON, dumps
from unacked.claims import Brief
from unacked.event import Event, History
from unacked.incident.neutral import begin_of
from unacked.incident.read.otel import BEGIN, END

__all__ = ["export_spans"]

_NANO = 1_000_000_000
_APART_S = 1e-6
"""Virtual time stands still between some calls. Calls of one turn overlap, and no others do: so readers tell turns."""


def export_spans(brief: Brief, history: History, name: str) -> dict[str, JSON]:
    """Return the export of one trial: an ``invoke_agent`` span, and in it an ``execute_tool`` span for each call.

    Each member of a team has an ``invoke_agent`` span of its own below the first.

    Times are virtual and begin at zero; ids are digests of the trial's name. Nothing but what the agent saw is in it.
    """
    trace = _digest(name, 32)
    root = _digest(f"{name}/agent", 16)
    ends = [event.detail["reason"] for event in history.named("trial_end")]
    begins = [event.detail for event in history.named("trial_begin")]
    head: dict[str, JSON] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": begins[0]["agent"],
        BEGIN: dumps(begin_of(brief).as_json()),
        **({END: ends[-1]} if ends else {}),
    }
    agent = _span(trace, root, "", f"invoke_agent {begins[0]['agent']}", (0.0, history[-1].time), head)
    roots: dict[str | None, str] = {member: _digest(f"{name}/agent/{member}", 16) for member in brief.team}
    members = [
        _span(
            trace,
            span,
            root,
            f"invoke_agent {member}",
            (0.0, history[-1].time),
            {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": member},
        )
        for member, span in roots.items()
    ]
    spans = [agent, *members, *_calls(brief, history, trace, name, {None: root, **roots})]
    scope = {"scope": {"name": "unacked"}, "spans": spans}
    resource = {"attributes": _attributes({"service.name": "unacked"})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}


def _calls(brief: Brief, history: History, trace: str, name: str, roots: Mapping[str | None, str]) -> Iterator[JSON]:
    """Yield a span for each call that was one; what the tool refused as no call of its own was none."""
    results = {event.id: event for event in history.named("result")}
    rejected = {event.id for event in results.values() if event.detail.get("rejected")}
    calls = [
        event
        for event in history.named("agent_next_call")
        if not (event.id in rejected and event.operation in brief.offered(event.actor))
    ]
    turns = [(event.actor, event.detail["turn"]) for event in calls]
    begins = [event.time + number * _APART_S for number, event in enumerate(calls)]
    for number, event in enumerate(calls):
        result = None if event.id in rejected else results.get(event.id)
        together = [other for other, turn in enumerate(turns) if turn == turns[number]]
        ends = [begins[other] for other in together]
        ends += [results[calls[other].id].time for other in together if calls[other].id in results]
        yield _span(
            trace,
            _digest(f"{name}/{number}", 16),
            roots[event.actor],
            f"execute_tool {event.operation}",
            (begins[number], max(ends) + _APART_S / 10),
            _call_attributes(event, result),
        )


def _call_attributes(event: Event, result: Event | None) -> Mapping[str, JSON]:
    held: dict[str, JSON] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": event.operation,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": event.id,
        "gen_ai.tool.call.arguments": dumps(event.detail["arguments"]),
    }
    if result is not None:
        held["gen_ai.tool.call.result"] = dumps(result.detail["envelope"])
    return held


def _span(
    trace: str, span: str, parent: str, name: str, times: tuple[float, float], attributes: Mapping[str, JSON]
) -> dict[str, JSON]:
    begin, end = (str(round(time * _NANO)) for time in times)
    return {
        "traceId": trace,
        "spanId": span,
        "parentSpanId": parent,
        "name": name,
        "kind": 1,
        "startTimeUnixNano": begin,
        "endTimeUnixNano": end,
        "attributes": _attributes(attributes),
        "status": {},
    }


def _attributes(values: Mapping[str, JSON]) -> list[JSON]:
    return [{"key": key, "value": {"stringValue": str(value)}} for key, value in values.items()]


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]
