"""Neutral traces as recordings: they name operations and categories by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unacked.graph import Call, End, Result, Trace, read_traces
from unacked.incident.recording import Answer, RecordedCall, Recording

__all__ = ["read_neutral"]


def read_neutral(path: Path, lines: Sequence[str]) -> list[Recording]:
    """Read all traces of a file; raises SpecificationError."""
    return [_recording(trace, str(path)) for trace in read_traces(lines, name=str(path))]


def _recording(trace: Trace, file: str) -> Recording:
    answers = {event.call: event for event in trace.events if isinstance(event, Result)}
    calls, end = [], None
    for number, event in enumerate(trace.events):
        if isinstance(event, End):
            end = event.reason.value
        if isinstance(event, Call):
            calls.append(
                RecordedCall(
                    id=event.id,
                    name=event.operation,
                    arguments=dict(event.args),
                    turn=event.turn if event.turn is not None else number,
                    where=f"{file} event #{number}",
                    agent=event.agent,
                    at=event.at,
                    answer=_answer(answers.get(event.id)),
                )
            )
    return Recording(name=trace.name, form="neutral", calls=tuple(calls), begin=trace.begin, end=end)


def _answer(result: Result | None) -> Answer | None:
    if result is None:
        return None
    return Answer(
        content=dict(result.fields), category=result.category, retry_after_s=result.retry_after_s, at=result.at
    )
