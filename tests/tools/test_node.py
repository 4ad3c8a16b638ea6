"""Tools whose service speaks MCP: what a reply must be before anything is concluded from it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.tools.bench import ROOT, TOKEN, Bench

from unacked.canonical import JSON
from unacked.clock import VirtualClock
from unacked.fault import Action, Fault, Point
from unacked.services import Service, Setting, load_service
from unacked.tools.client import ToolClient

Build = Callable[..., Bench]
TICKET = {"title": "valve 7 leaks", "request_id": "r-1"}


def node(clock: VirtualClock) -> Service:
    return load_service(ROOT / "fake_services" / "node.py")({}, Setting(clock, TOKEN))


@pytest.fixture
def on_node(client: ToolClient) -> Build:
    """Build benches on the real service ``node``."""
    return lambda *faults: Bench(client, node, faults)


def fault(operation: str, action: JSON, point: str = "in_body") -> Fault:
    return Fault(operation, Point(point), Action.parse(action))


OTHER_ID: JSON = {"replace": {"field": "id", "value": 999}}


def test_a_ticket_is_filed_and_found(on_node: Build) -> None:
    bench = on_node()

    assert bench.call("open_ticket", **TICKET).result == {"ticket_id": "tic-1"}
    assert bench.call("find_ticket", request_id="r-1").result == {"ticket_id": "tic-1", "complete": True}


def test_a_write_whose_reply_bears_another_id_may_have_been_done(on_node: Build) -> None:
    seen = on_node(fault("open_ticket", OTHER_ID)).call("open_ticket", **TICKET)

    assert (seen.category, seen.retry.value, seen.reconcile) == ("outcome_unknown", "reconcile_first", "find_ticket")
    assert (seen.failed_field, seen.effect_acknowledged) == ("/id", None)


def test_a_read_whose_reply_bears_another_id_may_be_made_again(on_node: Build) -> None:
    seen = on_node(fault("list_tools", OTHER_ID)).call("list_tools")

    assert (seen.category, seen.retry.value) == ("outcome_unknown", "within_budget")


@pytest.mark.parametrize("action", ["garbage", {"remove": "jsonrpc"}, {"remove": "result"}, {"remove": "id"}])
def test_a_write_whose_reply_cannot_be_used_may_have_been_done(on_node: Build, action: JSON) -> None:
    seen = on_node(fault("open_ticket", action)).call("open_ticket", **TICKET)

    assert (seen.category, seen.retry.value) == ("malformed_response", "reconcile_first")
    assert seen.effect_acknowledged is None


def test_a_result_without_the_identity_says_all_the_same_that_it_was_done(on_node: Build) -> None:
    lost: JSON = {"remove": "result.structuredContent.ticket_id"}
    seen = on_node(fault("open_ticket", lost)).call("open_ticket", **TICKET)

    assert (seen.category, seen.effect_acknowledged) == ("malformed_response", True)
    assert seen.failed_field == "/result/structuredContent/ticket_id"


def test_a_tool_that_is_not_there_is_refused(on_node: Build) -> None:
    assert on_node().call("query_node", tool="stauts").category == "invalid_request"


def test_a_text_in_place_of_a_result_is_no_answer_and_does_not_reach_the_agent(on_node: Build) -> None:
    text: JSON = {"replace": {"field": "result", "value": {"content": [{"type": "text", "text": "is the node up?"}]}}}
    seen = on_node(fault("query_node", text)).call("query_node", tool="status")

    assert (seen.category, seen.failed_field) == ("malformed_response", "/result/structuredContent")
    assert "node" not in seen.message


def test_every_message_has_the_id_of_its_call(on_node: Build) -> None:
    bench = on_node(fault("list_tools", {"rate_limit": 1}, "before_commit"))

    assert bench.call("list_tools").category == "rate_limited"
    assert bench.call("list_tools").category == "ok"
    assert [event.operation for event in bench.named("remote_received")] == ["list_tools", "list_tools"]
