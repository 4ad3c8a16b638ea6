"""One trial as a story in lanes: who did what when, what the tools said and what the services knew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unacked.canonical import JSON, dumps
from unacked.claims import CLAIMS, Brief, path_judgement
from unacked.contract import Operation
from unacked.event import EVENTS, Event, History
from unacked.graph import Judgement
from unacked.graph.draw import picture, render_svg, walk_of
from unacked.outcome import CATEGORIES
from unacked.report.findings import findings_text

__all__ = ["LANES", "Account", "Drawing", "Moment", "Story", "cleaned", "story"]

LANES = ("agent", "tool", "wire", "service")
"""The columns of a time line."""

_LONGEST = 400
"""Characters of a text before it is cut; the whole of it is in the record."""
_MOST_MOMENTS = 400
"""Moments of one time line before the rest is only counted."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened. ``number`` is that of the explanations; ``rule`` is set where a call was refused."""

    time: float
    lane: str
    text: str
    kind: str = ""
    number: int | None = None
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """What a tool claimed of one call, and what the ledger holds of it."""

    number: int | None
    call: str
    category: str
    claimed: str
    ledger: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """A graph with the walked path and the refused step, as SVG without a style."""

    graph: str
    svg: str


@dataclass(frozen=True, slots=True)
class Story:
    """Everything that a page tells of a trial; ``expected`` and ``world`` are the remote state, wanted and found."""

    line: Mapping[str, JSON]
    task: Sequence[str]
    claims: Sequence[tuple[str, str]]
    findings: Sequence[str]
    moments: Sequence[Moment]
    left_out: int
    accounts: Sequence[Account]
    final: str
    expected: str
    world: str
    drawings: Sequence[Drawing]


def story(
    brief: Brief,
    history: History,
    line: Mapping[str, JSON],
    clean: Callable[[JSON], JSON] = lambda detail: detail,
    suite: Path | None = None,
) -> Story:
    """Return the story of a trial; ``line`` is its line of ``verdicts.jsonl``.

    ``clean`` takes credentials out of the details of an event, before any of them is cut; ``suite`` is the one that
    must be named to run the trial again, if any.
    """
    judgement = path_judgement(brief, history)
    clear = cleaned(history, clean)
    numbers = _numbers(brief, clear)
    moments = list(_moments(clear, numbers, judgement))
    ended = next((event.detail for event in clear.named("trial_end")), {})
    return Story(
        line,
        brief.case.task.strip().splitlines(),
        [(name, line["claims"][name]["verdict"]) for name in CLAIMS],
        findings_text(line, suite).splitlines(),
        moments[:_MOST_MOMENTS],
        max(0, len(moments) - _MOST_MOMENTS),
        list(_accounts(brief, clear, numbers)),
        _final(clear),
        _values(brief.case.expect.world),
        _values(ended.get("world", {})),
        list(_drawings(brief, judgement)),
    )


def cleaned(history: History, clean: Callable[[JSON], JSON]) -> History:
    """Return a history with every detail cleaned, before any of it is cut."""
    return History([event._replace(detail=clean(event.detail)) for event in history])


# -- the time line ---------------------------------------------------------------------------------------------


def _numbers(brief: Brief, history: History) -> dict[tuple[str, str | None], int]:
    """The numbers by which explanations call calls and results, by name and id; what is no move has none."""
    rejected = {event.id for event in history.named("result") if event.detail.get("rejected")}
    moves = (
        event
        for event in history.named("agent_next_call", "result")
        if event.id not in rejected
        or (event.event == "agent_next_call" and event.operation not in brief.offered(event.actor))
    )
    return {(event.event, event.id): number for number, event in enumerate(moves)}


_Numbers = Mapping[tuple[str, str | None], int]


def _moments(history: History, numbers: _Numbers, judgement: Judgement) -> Iterator[Moment]:
    refused = {violation.event: violation.rule for violation in judgement.violations}
    for event in history:
        number = numbers.get((event.event, event.id))
        if event.event == "agent_next_call":
            yield _call(event, number, None if number is None else refused.get(number))
        elif event.event == "result":
            yield _result(event, number)
        else:
            yield _other(event)


def _call(event: Event, number: int | None, rule: str | None) -> Moment:
    who = "" if event.actor is None else f"{event.actor}: "
    text = f"{who}{event.operation}({_values(event.detail['arguments'])})"
    return Moment(event.time, "agent", text, "refused" if rule else "call", number, rule)


def _result(event: Event, number: int | None) -> Moment:
    envelope = event.detail["envelope"]
    told = [str(event.category)]
    if envelope.get("result"):
        told.append(_values(envelope["result"]))
    if envelope.get("refusal"):
        told.append(f"refusal: {_cut(str(envelope['refusal']))}")
    if envelope["retry"] != "none":
        told.append(f"retry: {envelope['retry']}")
    return Moment(event.time, "tool", f"says {'; '.join(told)}", "ok" if envelope["ok"] else "not-ok", number)


def _other(event: Event) -> Moment:
    detail = event.detail
    match event.event:
        case "fault_fired":
            side = "committed" if detail.get("committed") else "not committed"
            text = f"fault: {detail.get('action')} at {detail.get('point')} ({side})"
            return Moment(event.time, "wire", text, "fault")
        case "agent_message":
            return Moment(event.time, "agent", _cut(f"writes: {detail.get('text')}"))
        case "trial_end":
            trouble = f" ({detail['trouble']})" if "trouble" in detail else ""
            return Moment(event.time, "agent", f"the trial ends: {detail.get('reason')}{trouble}", "end")
        case "trial_begin":
            return Moment(event.time, "agent", "the trial begins", "end")
        case "member_begin":
            return Moment(event.time, "agent", f"{event.actor} begins, driven by {detail.get('agent')}")
        case "remote_committed":
            return Moment(event.time, "service", f"committed{_with(detail)}", "committed")
        case name:
            lane = _LANE_OF.get(name) or _LANE_OF.get(name.partition("_")[0], "tool")
            came = f": {event.category}" if event.category else ""
            return Moment(event.time, lane, f"{_NAMES.get(name, name.replace('_', ' '))}{came}{_with(detail)}")


def _with(detail: Mapping[str, JSON]) -> str:
    """The details of an event; a request is told as ``service METHOD path``."""
    request = " ".join(_cut(str(detail[name])) for name in _REQUEST if name in detail)
    rest = _values({name: value for name, value in detail.items() if name not in (*_REQUEST, "bytes")})
    told = ", ".join(part for part in (request, rest) if part)
    return f": {told}" if told else ""


_REQUEST = ("service", "method", "path")

_LANE_OF = {
    "agent": "agent",
    "approval": "agent",
    "handed_over": "agent",
    "member": "agent",
    "dispatch_started": "wire",
    "model": "agent",
    "provider": "service",
    "remote": "service",
    "response_write_delayed": "service",
}
"""By the name of an event, or by its first word; the tool for all others."""

_NAMES = {
    "client_timeout": "gives up waiting",
    "dispatch_started": "the request leaves",
    "remote_ended": "ended a command",
    "remote_received": "received",
    "remote_responded": "answered",
    "remote_started": "started a command",
    "request_constructed": "builds the request",
    "response_write_delayed": "holds its answer back",
}
assert set(_NAMES) <= set(EVENTS)  # noqa: S101 - a table of names that must exist


# -- claims against the ledger ---------------------------------------------------------------------------------


def _accounts(brief: Brief, history: History, numbers: _Numbers) -> Iterator[Account]:
    for event in history.named("result"):
        operation = brief.tools.get(event.operation or "")
        around = history.of(event.id or "")
        if operation is not None and any(each.event.startswith(("remote_", "request_")) for each in around):
            yield _account(event, operation, around, numbers.get(("agent_next_call", event.id)))


def _account(event: Event, operation: Operation, around: Sequence[Event], number: int | None) -> Account:
    row = CATEGORIES.get(event.category or "")
    claimed = "" if row is None else "the effect is known" if row.effect_known else "the effect is not known"
    return Account(number, operation.name, str(event.category), claimed, _ledger(around, operation))


def _ledger(around: Sequence[Event], operation: Operation) -> str:
    committed = [event.time for event in around if event.event == "remote_committed"]
    if committed:
        return f"committed at {', '.join(f'{time:.3f} s' for time in committed)}"
    received = any(event.event == "remote_received" for event in around)
    if not received:
        return "no request was received"
    return "received, nothing committed" if operation.writes else "received; a read changes nothing"


def _final(history: History) -> str:
    claims = [event.detail for event in history.named("agent_finished")]
    return _values(claims[-1]) if claims else "none"


# -- graphs ----------------------------------------------------------------------------------------------------


def _drawings(brief: Brief, judgement: Judgement) -> Iterator[Drawing]:
    """The graph that refused a step; without one, the first graph that was walked at all."""
    walked = [graph for graph in brief.graphs if judgement.per_graph[graph.name].walked]
    first = judgement.violation.graph if judgement.violation is not None else None
    wanted = [graph for graph in brief.graphs if graph.name == first] or walked[:1]
    for graph in wanted:
        if judgement.per_graph[graph.name].threads:
            drawn = picture(graph, walk_of(judgement, graph.name))
            yield Drawing(graph.name, render_svg(drawn, styled=False))


# -- texts -----------------------------------------------------------------------------------------------------


def _values(values: Mapping[str, JSON]) -> str:
    return ", ".join(f"{name}={_cut(dumps(value))}" for name, value in values.items())


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}… ({len(text):,} characters, all of them in the record)"
