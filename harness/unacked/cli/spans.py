"""Sending a run to a collector of OpenTelemetry. The extra ``otel``; imported by name, where it is wanted."""

from __future__ import annotations

from collections.abc import Iterable

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from unacked.errors import HarnessError
from unacked.orchestrator import Entry
from unacked.orchestrator.otel import export_spans

__all__ = ["send"]

_TIMEOUT_S = 10.0


def send(entries: Iterable[Entry], url: str) -> int:
    """Send a run as spans to ``url``, such as ``http://127.0.0.1:4318/v1/traces``; returns how many.

    Raises HarnessError where the collector does not take them.
    """
    made = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource.create({"service.name": "unacked"}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(made))
    export_spans(entries, provider)
    spans = made.get_finished_spans()
    exporter = OTLPSpanExporter(endpoint=url, timeout=_TIMEOUT_S)
    try:
        if exporter.export(spans) is not SpanExportResult.SUCCESS:
            raise HarnessError(f"{url}: the collector did not take the spans")
    finally:
        exporter.shutdown()  # type: ignore[no-untyped-call]
    return len(spans)
