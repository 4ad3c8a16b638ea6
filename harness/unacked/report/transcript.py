"""One trial as a story: what the agent called, what the tool said, and what the service knew."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
        counts = event.id not in rejected or event.operation not in brief.tools
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
    text = f"{printable(event.operation or '')}({arguments_text(event.detail['arguments'])})"
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
    prefix = f"{event.time:>9.3f}           "
    if event.event in _REMOTE:
        of = "" if event.id is None or call_of(event.id) == event.id else f" {event.operation}"
        yield Text(f"{prefix}service: {_REMOTE[event.event]}{printable(of)}", style="cyan")
    elif event.event == "fault_fired":
        detail = event.detail
        side = "committed" if detail.get("committed") else "not committed"
        yield Text(f"{prefix}fault:   {detail.get('action')} at {detail.get('point')} ({side})", style="magenta")
    elif event.event == "client_timeout":
        yield Text(f"{prefix}tool:    gave up waiting", style="dim")
    elif event.event == "token_refreshed":
        yield Text(f"{prefix}tool:    refreshed its token: {event.category}", style="dim")
    elif event.event == "gate_asked":
        yield Text(f"{prefix}tool:    asks the gate", style="dim")
    elif event.event == "approval_requested":
        action = event.detail.get("action", event.operation)
        asked = (action, event.detail.get("target"), event.detail.get("lasts"))
        words = " ".join(str(word) for word in asked if word is not None)
        yield Text(f"{prefix}person:  asked: {printable(words)}", style="blue")
    elif event.event == "approval_decided":
        yield Text(f"{prefix}person:  {printable(str(event.detail['decision']))}", style="blue")
    elif event.event == "agent_message":
        yield Text(f"{prefix}agent:   {printable(str(event.detail['text']))}", style="dim")
    elif event.event in _OF_THE_MODEL:
        yield _model(event, prefix)
    elif event.event == "trial_end":
        trouble = f" ({printable(event.detail['trouble'])})" if "trouble" in event.detail else ""
        world = arguments_text(event.detail["world"])
        yield Text(f"{event.time:>9.3f}  end: {event.detail['reason']}{trouble}; world: {world}")


_OF_THE_MODEL = frozenset({"agent_erred", "model_retried", "model_failed"})


def _model(event: Event, prefix: str) -> Text:
    """What went wrong with a model, or between it and the trial."""
    told = printable(str(event.detail["told"]))
    if event.event == "agent_erred":
        return Text(f"{prefix}agent:   {event.detail['kind']}: {told}", style="yellow")
    if event.event == "model_retried":
        return Text(f"{prefix}model:   {told}; again after {event.detail['wait_s']:g} s", style="dim")
    return Text(f"{prefix}model:   {told}", style="red")
