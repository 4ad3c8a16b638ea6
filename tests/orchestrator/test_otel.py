from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from tests.orchestrator.conftest import Desk, Diary

from unacked.canonical import JSON
from unacked.cli.spans import send
from unacked.errors import HarnessError
from unacked.orchestrator import Context, Retry, Task
from unacked.orchestrator.otel import export_spans


def spans_of(desk: Desk) -> list[ReadableSpan]:
    made = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(made))
    export_spans(desk.entries, provider)
    return list(made.get_finished_spans())


def test_every_attempt_is_a_span_and_its_steps_are_below_it(desk: Desk) -> None:
    async def there() -> JSON:
        return None

    async def work(context: Context) -> JSON:
        return await context.step("ask", there)

    desk.run([Task("a", work)])
    step, attempt = spans_of(desk)
    assert (step.name, attempt.name) == ("ask", "a")
    assert step.parent is not None
    assert attempt.context is not None
    assert step.parent.span_id == attempt.context.span_id
    assert f"{attempt.context.trace_id:032x}" == desk.entries[0].trace
    assert attempt.attributes is not None
    assert attempt.attributes["unacked.event"] == "succeeded"
    assert attempt.status.status_code is StatusCode.UNSET


def test_an_attempt_that_failed_is_a_span_of_its_own_with_its_error(desk: Desk, diary: Diary) -> None:
    desk.run([Task("a", diary.work(fails=1), retry=Retry(2))])
    first, second = spans_of(desk)
    assert (first.status.status_code, first.status.description) == (StatusCode.ERROR, "ValueError: not yet")
    assert second.status.status_code is StatusCode.UNSET


class _Collector(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        took = self.path == "/v1/traces" and body != b""
        self.send_response(200 if took else 400)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


def test_a_run_is_sent_to_a_collector_and_a_refusal_is_told(desk: Desk, diary: Diary) -> None:
    desk.run([Task("a", diary.work()), Task("b", diary.work())])
    with ThreadingHTTPServer(("127.0.0.1", 0), _Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        assert send(desk.entries, f"{url}/v1/traces") == 2
        with pytest.raises(HarnessError, match="the collector did not take the spans"):
            send(desk.entries, f"{url}/elsewhere")
        server.shutdown()
