"""One trial as a story: what the agent called, what the tool said, and what the service knew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from rich.text import Text

from unacked.canonical import JSON
from unacked.claims import Brief, path_judgement
from unacked.event import Event, History, call_of
from unacked.report.text import arguments_text, printable

__all__ = ["transcript"]

_REMOTE = {
    "remote_received": "received",
    "remote_started": "started a command",
    "remote_ended": "ended a command",
    "remote_committed": "committed",
    "remote_responded": "answered",
    "response_write_delayed": "holds its answer back",
}


def transcript(brief: Brief, history: History, clean: Callable[[JSON], JSON] = lambda detail: detail) -> Iterator[Text]:
    """Yield the lines of a trial; refused calls are marked, the numbers are those of the explanation.

    ``clean`` takes credentials out of the details of an event, before any of them is cut to fit a line.
    """
    refused = {violation.event: violation.rule for violation in path_judgement(brief, history).violations}
    rejected = {event.id for event in history.named("result") if event.detail.get("rejected")}
    number = 0
    for event in (event._replace(detail=clean(event.detail)) for event in history):
        counts = event.id not in rejected or event.operation not in brief.offered(event.actor)
        if event.event == "agent_next_call":
            yield _call(event, number if counts else None, refused.get(number) if counts else None)
            number += counts
        elif event.event == "result":
            yield _result(event, number if event.id not in rejected else None)
            number += event.id not in rejected
        else:
            yield from _aside(event)


def _call(event: Event, number: int | None, rule: str | None) -> Text:
    label = "   " if number is None else f"#{number:<2}"
    line = Text(f"{event.time:>9.3f}  {label} ")
    who = "" if event.actor is None else f"{printable(event.actor)}: "
    text = f"{who}{printable(event.operation or '')}({arguments_text(event.detail['arguments'])})"
    line.append(text, style="bold red" if rule else "bold")
    if rule:
        line.append(f"   <== {rule}", style="bold red")
    return line


def _result(event: Event, number: int | None) -> Text:
    envelope = event.detail["envelope"]
    label = "   " if number is None else f"#{number:<2}"
    line = Text(f"{event.time:>9.3f}  {label}   -> ")
    line.append(str(event.category), style="green" if envelope["ok"] else "yellow")
    if envelope.get("result"):
        line.append(f" {arguments_text(envelope['result'])}")
    if envelope.get("refusal"):
        line.append(f" ({envelope['refusal']})", style="yellow")
    if envelope["retry"] != "none":
        line.append(f"   retry: {envelope['retry']}", style="dim")
    return line


def _aside(event: Event) -> Iterator[Text]:
    """Tell what happened besides calls and results: who did what, in a line of its own."""
    if event.event == "trial_end":
        trouble = f" ({printable(event.detail['trouble'])})" if "trouble" in event.detail else ""
        world = arguments_text(event.detail["world"])
        yield Text(f"{event.time:>9.3f}  end: {event.detail['reason']}{trouble}; world: {world}")
        return
    told = _told(event)
    if told is not None:
        who, words, style = told
        yield Text(f"{event.time:>9.3f}           {f'{who}:':<8} {words}", style=style)


def _told(event: Event) -> tuple[str, str, str] | None:
    """Who did something, what it was, and its style; None where nobody needs to be told."""
    detail = event.detail
    match event.event:
        case name if name in _REMOTE:
            of = "" if event.id is None or call_of(event.id) == event.id else f" {event.operation}"
            return "service", f"{_REMOTE[name]}{printable(of)}", "cyan"
        case "fault_fired":
            side = "committed" if detail.get("committed") else "not committed"
            return "fault", f"{detail.get('action')} at {detail.get('point')} ({side})", "magenta"
        case "approval_requested":
            asked = (detail.get("action", event.operation), detail.get("target"), detail.get("lasts"))
            return "person", printable(f"asked: {' '.join(str(word) for word in asked if word is not None)}"), "blue"
        case "approval_decided":
            return "person", printable(str(detail["decision"])), "blue"
        case "agent_message":
            return "agent", printable(str(detail["text"])), "dim"
        case "member_begin":
            return "team", printable(f"{event.actor} begins, driven by {detail['agent']}"), "blue"
        case "member_end":
            trouble = f": {detail['trouble']}" if "trouble" in detail else ""
            return "team", printable(f"{event.actor} has ended ({detail['reason']}{trouble})"), "blue"
        case name if name in _OF_THE_TOOL:
            return "tool", f"{_OF_THE_TOOL[name]}{event.category or ''}", "dim"
        case name if name in _OF_THE_MODEL:
            return _model(event)
    return None


_OF_THE_TOOL: Mapping[str, str] = {
    "client_timeout": "gave up waiting",
    "token_refreshed": "refreshed its token: ",
    "gate_asked": "asks the gate",
}
_OF_THE_MODEL = frozenset({"agent_erred", "model_retried", "model_failed"})


def _model(event: Event) -> tuple[str, str, str]:
    """What went wrong with a model, or between it and the trial."""
    told = printable(str(event.detail["told"]))
    if event.event == "agent_erred":
        return "agent", f"{event.detail['kind']}: {told}", "yellow"
    if event.event == "model_retried":
        return "model", f"{told}; again after {event.detail['wait_s']:g} s", "dim"
    return "model", told, "red"
