from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unacked.clock import VirtualClock
from unacked.rpc import Meant
from unacked.services import SeedError, Service, Setting, load_service
from unacked.wire.message import Request, Response

FOLDER = Path(__file__).parents[2] / "fake_services"


class Client:
    """Sends JSON-RPC messages; the id of each is 7."""

    def __init__(self, seed: dict[str, Any]) -> None:
        self.service: Service = load_service(FOLDER / "node.py")(seed, Setting(VirtualClock(), "tok"))

    def raw(self, meant: Meant, message: Any, *, commit: bool = True, **headers: str) -> Response:
        headers = {**meant.headers, "authorization": "Bearer tok", "x-correlation-id": "c-1", **headers}
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.service.handle(Request("POST", "/mcp", "", headers, body), commit=commit)

    def call(self, name: str, **arguments: Any) -> Any:
        """Call a tool; returns the whole message."""
        meant = Meant("tools/call", name)
        return json.loads(self.raw(meant, {**meant.request(arguments, ""), "id": 7}).body)

    def said(self, name: str, **arguments: Any) -> Any:
        """Call a tool; returns what its result says."""
        return self.call(name, **arguments)["result"]["structuredContent"]


@pytest.fixture
def node() -> Client:
    return Client({"tickets": [{"ticket_id": "t-0", "title": "pump 2 hums", "request_id": "req-0"}]})


def test_a_reply_bears_the_id_of_its_request_and_the_answer_twice(node: Client) -> None:
    said = {"ticket_id": "tic-1", "title": "valve 7 leaks", "replayed": False, "correlation_id": "c-1"}

    message = node.call("create_ticket", title="valve 7 leaks", request_id="req-1")

    text = message["result"]["content"][0].pop("text")
    assert json.loads(text) == said
    assert message == {
        "jsonrpc": "2.0",
        "id": 7,
        "result": {
            "resultType": "complete",
            "content": [{"type": "text"}],
            "structuredContent": said,
            "isError": False,
        },
    }


def test_the_same_ticket_twice_is_two_tickets_and_the_world_shows_it(node: Client) -> None:
    for _ in range(2):
        node.call("create_ticket", title="valve 7 leaks", request_id="req-1")

    assert node.service.summary() == {"tickets": 3, "restarts": 0, "duplicate_tickets": 1}


def test_a_ticket_is_found_by_the_request_that_filed_it(node: Client) -> None:
    assert node.said("find_ticket", request_id="req-0")["items"] == [{"ticket_id": "t-0"}]
    assert node.said("find_ticket", request_id="req-1") == {"items": [], "complete": True, "correlation_id": "c-1"}


def test_a_restart_is_counted_and_status_shows_it(node: Client) -> None:
    node.call("restart_node", node_id="node-1")

    assert node.said("status") == {"state": "running", "restarts": 1, "correlation_id": "c-1"}


def test_a_restart_of_another_node_fails_as_a_result(node: Client) -> None:
    result = node.call("restart_node", node_id="node-2")["result"]

    assert (result["isError"], result["structuredContent"]) == (True, {"error": "no_such_node", "status": 404})
    assert node.service.summary()["restarts"] == 0


def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(node: Client) -> None:
    assert node.call("stauts") == {
        "jsonrpc": "2.0",
        "id": 7,
        "error": {"code": -32602, "message": "unknown_tool", "data": {"error": "unknown_tool"}},
    }


def test_an_argument_that_is_missing_is_an_error_of_the_protocol(node: Client) -> None:
    error = node.call("create_ticket")["error"]

    assert (error["code"], error["data"]) == (-32602, {"error": "invalid_request", "field": "title"})


def test_every_tool_is_listed_under_its_own_name(node: Client) -> None:
    meant = Meant("tools/list")
    listed = json.loads(node.raw(meant, meant.request({}, "c-1")).body)["result"]["tools"]

    assert {tool["name"]: tool["inputSchema"]["required"] for tool in listed} == {
        "create_ticket": ["title"],
        "find_ticket": ["request_id"],
        "restart_node": ["node_id"],
        "status": [],
    }


def test_a_message_that_means_something_else_than_its_head_changes_nothing(node: Client) -> None:
    message = Meant("tools/call", "status").request({}, "c-1")
    answer = node.raw(Meant("tools/call", "restart_node"), message)

    assert (answer.status, json.loads(answer.body)) == (400, {"error": "invalid_message"})
    assert node.service.summary()["restarts"] == 0


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"7"])
def test_what_is_no_message_is_refused_by_http(node: Client, body: bytes) -> None:
    assert node.raw(Meant("tools/call", "status"), body).status == 400


def test_a_credential_that_is_not_known_is_refused_by_http(node: Client) -> None:
    meant = Meant("tools/call", "status")
    assert node.raw(meant, meant.request({}, "c-1"), authorization="Bearer other").status == 401


def test_without_a_commit_the_reply_is_the_same_and_nothing_is_filed(node: Client) -> None:
    meant = Meant("tools/call", "create_ticket")
    message = meant.request({"title": "valve 7 leaks"}, "c-1")
    first, second = (node.raw(meant, message, commit=commit) for commit in (False, True))

    assert first.body == second.body
    assert node.service.summary()["tickets"] == 2


def test_a_request_whose_head_names_no_method_has_no_route(node: Client) -> None:
    headers = {"authorization": "Bearer tok"}
    assert node.service.handle(Request("POST", "/mcp", "", headers, b"{}")).status == 404


def test_a_node_needs_a_name() -> None:
    with pytest.raises(SeedError) as caught:
        Client({"node_id": ""})
    assert str(caught.value) == "seed.node_id: expected a non-empty string, got ''"
