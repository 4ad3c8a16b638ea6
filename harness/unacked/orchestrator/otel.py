"""A run as spans of OpenTelemetry: one for each attempt at a task, one below it for each step. The extra ``otel``.

The spans bear the run's own trace id, so all parts of a run that was resumed are one trace. Nothing is sent that the
caller's tracer provider does not send.
"""

from __future__ import annotations

from collections.abc import Iterable

from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, Span, SpanContext, Status, StatusCode, TraceFlags, Tracer

from unacked.orchestrator.lifecycle import Event, State
from unacked.orchestrator.records import Entry

__all__ = ["Spans", "export_spans"]

_NS = 1_000_000_000


class Spans:
    """Makes spans of entries, as they come; a Journal can be given this as ``told``."""

    def __init__(self, provider: trace.TracerProvider) -> None:
        self._tracer: Tracer = provider.get_tracer("unacked")
        self._attempts: dict[str, Span] = {}

    def __call__(self, entry: Entry) -> None:
        """Hear of one entry."""
        if entry.kind == Event.START:
            self._attempts[entry.task] = self._begun(entry)
        elif entry.kind == "step_ended":
            self._step(entry)
        elif entry.task in self._attempts and entry.detail.get("state") not in (None, State.RUNNING):
            self._ended(entry, self._attempts.pop(entry.task))

    def _begun(self, entry: Entry) -> Span:
        root = SpanContext(int(entry.trace, 16), int(entry.trace[:16], 16), is_remote=True, trace_flags=TraceFlags(1))
        context = trace.set_span_in_context(NonRecordingSpan(root))
        attributes = {"unacked.run": entry.run, "unacked.task": entry.task, **_plain(entry)}
        return self._tracer.start_span(entry.task, context, start_time=_ns(entry.at), attributes=attributes)

    def _step(self, entry: Entry) -> None:
        attempt = self._attempts.get(entry.task)
        if attempt is not None:
            context = trace.set_span_in_context(attempt)
            name = str(entry.detail["key"]).partition(":")[0]
            began = _ns(entry.at - entry.detail["duration_s"])
            self._tracer.start_span(name, context, start_time=began, attributes=_plain(entry)).end(_ns(entry.at))

    @staticmethod
    def _ended(entry: Entry, span: Span) -> None:
        span.set_attributes({"unacked.event": entry.kind, **_plain(entry)})
        if entry.detail.get("error") is not None:
            span.set_status(Status(StatusCode.ERROR, str(entry.detail["error"])))
        span.end(_ns(entry.at))


def export_spans(entries: Iterable[Entry], provider: trace.TracerProvider) -> None:
    """Make spans of a stored run."""
    spans = Spans(provider)
    for entry in entries:
        spans(entry)


def _plain(entry: Entry) -> dict[str, str | bool | int | float]:
    return {
        f"unacked.{name}": value for name, value in entry.detail.items() if isinstance(value, str | bool | int | float)
    }


def _ns(at: float) -> int:
    return int(at * _NS)
