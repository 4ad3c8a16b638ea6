"""The simulated network: keep-alive, reuse, time, late effects, and what is no fault at all."""

from __future__ import annotations

from typing import Any

import pytest

from unacked.errors import HarnessError

REUSED = "request+ content+ head+ body+"
FRESH = "tcp+ tls+ request+ content+ head+ body+"


def test_a_call_without_a_fault_is_received_committed_and_answered(wire: Any) -> None:
    one = wire()
    seen = one.call()
    assert (seen.status, seen.body) == (201, b'{"correlation_id":"c-0001","id":"rec-1"}')
    assert (seen.phases, seen.elapsed_s) == (FRESH, 0.003)
    assert [(event.time, event.event, event.id, event.detail) for event in one.events] == [
        (
            0.002,
            "remote_received",
            "c-0001",
            {"service": "records", "method": "POST", "path": "/v1/records", "bytes": 13},
        ),
        (0.002, "remote_committed", "c-0001", {"service": "records"}),
        (0.002, "remote_responded", "c-0001", {"status": 201, "bytes": 40}),
    ]


def test_the_service_sees_method_path_query_headers_and_body(wire: Any) -> None:
    one = wire()
    one.call(params={"limit": "2"}, content=b"abc")
    (request,) = one.service.received
    assert (request.method, request.path, request.query, request.body) == ("POST", "/v1/records", "limit=2", b"abc")
    assert request.headers["host"] == "records.test"
    assert request.headers["x-correlation-id"] == "c-0001"


def test_a_read_commits_nothing(wire: Any) -> None:
    one = wire()
    assert one.call("count_records").body == b'{"count":0}'
    assert one.named("remote_committed") == []


def test_the_second_call_reuses_the_connection_and_takes_one_latency(wire: Any) -> None:
    one = wire()
    one.call()
    seen = one.call(call_id="c-0002")
    assert (seen.phases, seen.elapsed_s) == (REUSED, 0.001)


def test_a_body_sent_in_many_pieces_arrives_whole(wire: Any) -> None:
    one = wire()
    one.call(content=b"x" * 200_000)
    assert len(one.service.received[0].body) == 200_000


def test_a_large_answer_is_read_in_pieces(wire: Any, fault: Any) -> None:
    text = "x" * 200_000
    assert wire(fault("in_body", {"body": text})).call().body == text.encode()


def test_another_body_can_echo_the_id_of_the_request(wire: Any, fault: Any) -> None:
    seen = wire(fault("in_body", {"body": '{"id":"$correlation_id"}'})).call(call_id="c-0007")
    assert seen.body == b'{"id":"c-0007"}'


@pytest.mark.parametrize(
    ("action", "error", "elapsed_s"),
    [("fin", "RemoteProtocolError", 0.001), ("rst", "ReadError", 0.001), ("silence", "ReadTimeout", 5.0)],
)
def test_a_reuse_fault_acts_when_the_client_writes_on_a_kept_connection(
    wire: Any, fault: Any, action: str, error: str, elapsed_s: float
) -> None:
    one = wire(fault("reuse", action, nth=2))
    one.call()
    seen = one.call(call_id="c-0002")
    assert (seen.error, seen.phases, seen.elapsed_s) == (error, "request+ content+ headx", elapsed_s)
    assert one.receipts == [{"point": "reuse", "action": action, "nth": 2, "committed": False}]
    assert one.service.records == 1


@pytest.mark.parametrize("action", ["fin", "rst", "silence", "stale_response"])
def test_a_reuse_fault_without_a_kept_connection_leaves_no_receipt(wire: Any, fault: Any, action: str) -> None:
    one = wire(fault("reuse", action))
    assert one.call().status == 201
    assert one.receipts == []
    assert len(one.plan.unfired) == 1


def test_an_eager_answer_on_a_kept_connection_repeats_an_earlier_one_before_the_request_is_read(
    wire: Any, fault: Any
) -> None:
    one = wire(fault("reuse", "eager_response", nth=2))
    one.call()
    seen = one.call(call_id="c-0002")
    assert (seen.body, seen.phases, seen.elapsed_s) == (b'{"correlation_id":"c-0001","id":"rec-1"}', REUSED, 0.0)
    assert one.service.records == 2


def test_a_connection_with_a_stale_answer_is_not_used_again(wire: Any, fault: Any) -> None:
    one = wire(fault("reuse", "stale_response", nth=2))
    one.call()
    one.call(call_id="c-0002")
    seen = one.call(call_id="c-0003")
    assert (seen.body, seen.phases) == (b'{"correlation_id":"c-0003","id":"rec-3"}', FRESH)


@pytest.mark.parametrize(
    ("point", "action", "phases"),
    [
        ("dns", "fail", "tcpx"),
        ("before_connect", "refuse", "tcpx"),
        ("tls", "rst", "tcp+ tlsx"),
        ("after_accept", "rst", "tcp+ tls+ request+ content+ headx"),
    ],
)
def test_a_kept_connection_does_not_hide_a_fault_of_connecting(
    wire: Any, fault: Any, point: str, action: str, phases: str
) -> None:
    one = wire(fault(point, action, nth=2))
    one.call()
    assert one.call(call_id="c-0002").phases == phases
    assert one.plan.unfired == ()


@pytest.mark.parametrize("action", ["fin", "rst"])
def test_a_connection_closed_after_its_answer_is_replaced(wire: Any, fault: Any, action: str) -> None:
    one = wire(fault("after_response", action))
    assert one.call().status == 201
    assert one.receipts == [{"point": "after_response", "action": action, "nth": 1, "committed": True}]
    assert one.call(call_id="c-0002").phases == FRESH


def test_a_client_that_asks_for_it_gets_the_connection_closed(wire: Any) -> None:
    one = wire()
    one._client.headers["connection"] = one._async_client.headers["connection"] = "close"
    one.call()
    assert one.call(call_id="c-0002").phases == FRESH


def test_a_silent_service_does_not_close_even_a_connection_that_is_to_be_closed(wire: Any, fault: Any) -> None:
    one = wire(fault("after_commit", "silence"))
    one._client.headers["connection"] = one._async_client.headers["connection"] = "close"
    assert one.call().error == "ReadTimeout"


def test_a_fault_for_a_call_that_never_comes_leaves_no_receipt(wire: Any, fault: Any) -> None:
    one = wire(fault("after_commit", "fin", nth=2), fault("after_commit", "fin", operation="delete_record"))
    assert one.call().status == 201
    assert one.receipts == []
    assert [str(item) for item in one.plan.unfired] == [
        "create_record#2 after_commit fin",
        "delete_record#1 after_commit fin",
    ]


def test_a_fault_acts_only_in_the_call_that_it_names(wire: Any, fault: Any) -> None:
    one = wire(fault("after_commit", "fin", nth=2))
    statuses = [one.call(call_id=f"c-{n}").status for n in range(3)]
    assert statuses == [201, None, 201]


def test_a_persistent_fault_acts_in_every_call_from_its_first(wire: Any, fault: Any) -> None:
    one = wire(fault("before_commit", {"status": 503}, nth=2, persistent=True))
    assert [one.call(call_id=f"c-{n}").status for n in range(4)] == [201, 503, 503, 503]
    assert [receipt["nth"] for receipt in one.receipts] == [2, 3, 4]


def test_a_persistent_fault_acts_at_each_request_of_one_call(wire: Any, fault: Any) -> None:
    one = wire(fault("before_commit", {"redirect": 307}, persistent=True))
    assert one.call(follow_redirects=True).error == "TooManyRedirects"
    assert len(one.named("remote_received")) == len(one.receipts) == 21


def test_a_transient_fault_spares_a_second_request_of_the_same_call(wire: Any, fault: Any) -> None:
    one = wire(fault("before_commit", "redirect"))
    assert one.call(follow_redirects=True).status == 201
    assert len(one.named("remote_received")) == 2
    assert len(one.receipts) == 1


@pytest.mark.parametrize(
    ("point", "action"),
    [
        ("in_body", {"cut": 40}),
        ("in_head", {"cut": 4000}),
        ("in_body", {"remove": "nothing_of_that_name"}),
        ("in_body", {"replace": {"field": "items.0.id", "value": 1}}),
    ],
)
def test_a_fault_that_cannot_act_on_the_answer_leaves_no_receipt_and_no_trace(
    wire: Any, fault: Any, point: str, action: Any
) -> None:
    one = wire(fault(point, action, committed=False))
    assert one.call().body == b'{"correlation_id":"c-0001","id":"rec-1"}'
    assert (one.receipts, one.service.records) == ([], 1)


def test_a_service_side_fault_is_told_to_the_service_which_answers_by_its_own_rules(wire: Any, fault: Any) -> None:
    one = wire(fault("before_commit", {"rate_limit": 30}))
    assert one.call().status == 429
    assert one.service.disturbed == [("rate_limit", "create_record")]
    assert one.receipts == [{"point": "before_commit", "action": "rate_limit", "nth": 1, "committed": False}]


# Late things


def test_a_delay_shorter_than_the_timeout_only_takes_time(wire: Any, fault: Any) -> None:
    one = wire(fault("after_commit", {"delay": 2}))
    seen = one.call()
    assert (seen.status, seen.elapsed_s) == (201, 2.003)
    assert [event.time for event in one.named("remote_committed", "remote_responded")] == [0.002, 2.002]
    assert [event.detail for event in one.named("response_write_delayed")] == [{"seconds": 2}]


def test_an_answer_that_nobody_waits_for_is_not_recorded_as_given(wire: Any, fault: Any) -> None:
    one = wire(fault("after_commit", {"delay": 60}))
    one.call()
    one.network.pass_until(100)
    assert one.named("remote_responded") == []


def test_a_delay_before_the_commit_makes_the_effect_happen_after_the_deadline(wire: Any, fault: Any) -> None:
    one = wire(fault("before_commit", {"delay": 60}))
    seen = one.call()
    assert (seen.error, seen.elapsed_s, one.service.records) == ("ReadTimeout", 5.002, 0)
    assert one.network.pending == (60.002,)
    one.clock.advance(60)
    one.network.settle()
    assert one.service.records == 1
    assert [(event.id, event.detail) for event in one.named("remote_committed")] == [
        ("c-0001", {"service": "records", "at": 60.002})
    ]


def test_a_lookup_finds_a_late_effect_only_once_it_has_happened(wire: Any, fault: Any) -> None:
    one = wire(fault("before_commit", {"delay": 60}))
    one.call()
    early = one.call("count_records", "c-0002")
    one.clock.advance(60)
    late = one.call("count_records", "c-0003")
    assert (early.body, late.body) == (b'{"count":0}', b'{"count":1}')


def test_a_late_effect_happens_while_another_call_waits_across_its_moment(wire: Any, fault: Any) -> None:
    one = wire(fault("before_commit", {"delay": 7}), fault("after_commit", "silence", operation="count_records"))
    one.call()
    assert one.call("count_records", "c-0002").elapsed_s == 5.002
    assert [(event.time, event.id) for event in one.named("remote_committed")] == [(7.002, "c-0001")]


def test_a_delay_before_the_commit_that_the_client_waits_for_is_answered(wire: Any, fault: Any) -> None:
    one = wire(fault("before_commit", {"delay": 2}))
    seen = one.call()
    assert (seen.status, seen.elapsed_s) == (201, 2.003)
    assert [event.time for event in one.named("remote_committed", "remote_responded")] == [2.002, 2.002]


# What is the harness's own fault


def test_waiting_for_ever_is_an_error_of_the_harness_not_a_loop(wire: Any, fault: Any) -> None:
    one = wire(fault("after_commit", "silence"))
    with pytest.raises(HarnessError, match="without a timeout, and nothing will ever come"):
        one.call(timeout=None)


def test_interim_answers_without_end_never_time_out_until_the_wire_gives_up(wire: Any, fault: Any) -> None:
    one = wire(fault("in_head", "interim_forever"))
    with pytest.raises(HarnessError, match="for 3600 virtual seconds: it has no total deadline"):
        one.call()
    assert one.receipts == [{"point": "in_head", "action": "interim_forever", "nth": 1, "committed": True}]


def test_an_unknown_host_is_an_error_that_names_the_known_ones(wire: Any) -> None:
    one = wire()
    one._client.base_url = one._async_client.base_url = "https://record.test"
    with pytest.raises(
        HarnessError, match=r"no fake service answers for the host 'record\.test'; did you mean 'records"
    ):
        one.call()


def test_a_timeout_shorter_than_the_latency_is_a_connect_timeout(wire: Any) -> None:
    seen = wire().call(timeout=0.0005)
    assert (seen.error, seen.phases) == ("ConnectTimeout", "tcpx")


def test_a_read_timeout_shorter_than_the_latency_is_a_read_timeout(wire: Any) -> None:
    one = wire()
    one.call()
    seen = one.call(call_id="c-0002", timeout=0.0005)
    assert (seen.error, seen.phases) == ("ReadTimeout", "request+ content+ headx")
