"""The adapter against answers mocked by respx, which replaces the pool that the client sends through."""

from __future__ import annotations

import httpcore2
import pytest
import respx
from tests.tools.bench import TOKEN, Bench

URL = "https://records.test/v1/records"
CREATE = {"title": "alpha", "request_id": "R1", "idempotency_key": "K1"}


def test_a_mocked_answer_goes_through_the_whole_adapter(bench: Bench, httpx2_mock: respx.Router) -> None:
    route = httpx2_mock.post(URL).respond(
        201, json={"record_id": "rec-9", "correlation_id": "cid-1"}, headers={"x-correlation-id": "cid-1"}
    )
    seen = bench.call("create_record", **CREATE)
    assert (seen.category, seen.result) == ("ok", {"record_id": "rec-9"})
    (call,) = route.calls
    assert (call.request.headers["authorization"], call.request.content) == (
        f"Bearer {TOKEN}",
        b'{"request_id":"R1","title":"alpha"}',
    )


@pytest.mark.parametrize("status", [307, 408, 429, 503])
def test_no_mocked_answer_makes_the_adapter_send_again(bench: Bench, httpx2_mock: respx.Router, status: int) -> None:
    route = httpx2_mock.route(host="records.test").respond(status, headers={"location": URL, "retry-after": "0"})
    assert bench.call("create_record", **CREATE).ok is False
    assert route.call_count == 1


def test_an_error_raised_where_no_byte_was_written_is_a_local_failure_whatever_its_class(
    bench: Bench, httpx2_mock: respx.Router
) -> None:
    # respx stands above the network backend, which counts the bytes: here nothing really left.
    httpx2_mock.post(URL).mock(side_effect=httpcore2.ReadTimeout)
    assert bench.call("create_record", **CREATE).category == "local_failure"
