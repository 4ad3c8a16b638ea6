from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_types import _v2026_07_28 as protocol

from unacked.rpc import BrokenReply, Meant, Reply, place_of, read_reply, reply

STATUS = Meant("tools/call", "status")
LIST = Meant("tools/list")


def test_a_place_names_the_method_and_the_tool() -> None:
    assert Meant.of("/mcp#tools/call/status") == STATUS
    assert Meant.of("/mcp#tools/list") == LIST
    assert Meant.of("/mcp") is None


def test_the_head_of_a_request_names_the_same_place() -> None:
    assert place_of("/mcp", STATUS.headers) == "/mcp#tools/call/status"
    assert place_of("/mcp", LIST.headers) == "/mcp#tools/list"
    assert place_of("/mcp", {}) == "/mcp"


def test_a_name_in_the_head_is_no_further_step_of_the_place() -> None:
    assert place_of("/mcp", Meant("tools/call", "a/b#c").headers) == "/mcp#tools/call/a%2Fb%23c"


def test_requests_are_what_the_protocol_asks_for() -> None:
    called = protocol.CallToolRequest.model_validate(STATUS.request({"depth": 1}, "cid-1"))
    listed = protocol.ListToolsRequest.model_validate(LIST.request({}, "cid-2"))

    assert (called.id, called.params.name, called.params.arguments) == ("cid-1", "status", {"depth": 1})
    assert listed.id == "cid-2"


@pytest.mark.parametrize(("status", "failed"), [(201, False), (404, True), (500, True)])
def test_results_of_tools_are_what_the_protocol_asks_for(status: int, failed: bool) -> None:  # noqa: FBT001 - a row of the table
    code, message = reply(STATUS, 7, status, {"state": "running"})
    read = protocol.CallToolResult.model_validate(message["result"])

    assert (code, message["jsonrpc"], message["id"], read.is_error) == (200, "2.0", 7, failed)
    assert json.loads(message["result"]["content"][0]["text"]) == read.structured_content


def test_lists_of_tools_are_what_the_protocol_asks_for() -> None:
    tool = {"name": "status", "inputSchema": {"type": "object"}}
    _, message = reply(LIST, 7, 200, {"tools": [tool], "ttlMs": 0, "cacheScope": "private"})

    assert protocol.ListToolsResultResponse.model_validate(message).result.tools[0].name == "status"


def test_arguments_that_do_not_fit_are_an_error_of_the_protocol() -> None:
    _, message = reply(STATUS, 7, 422, {"error": "unknown_tool"})

    error = protocol.JSONRPCErrorResponse.model_validate(message).error
    assert (error.code, error.message) == (-32602, "unknown_tool")


@pytest.mark.parametrize("status", [400, 401, 403, 429])
def test_what_is_refused_before_the_message_is_looked_at_is_refused_by_http(status: int) -> None:
    assert reply(STATUS, 7, status, {"error": "no"}) == (status, {"error": "no"})


@pytest.mark.parametrize("status", [200, 201, 404, 409, 424, 500])
def test_what_a_server_says_is_what_its_client_reads(status: int) -> None:
    _, message = reply(STATUS, "cid-1", status, {"error": "why"})

    said = read_reply(STATUS, "cid-1", message)
    assert said == Reply({"error": "why"}, None if status < 400 else status)


def broken(**members: Any) -> BrokenReply:
    _, message = reply(STATUS, "cid-1", 200, {"state": "running"})
    kept = {name: value for name, value in {**message, **members}.items() if value is not ...}
    with pytest.raises(BrokenReply) as caught:
        read_reply(STATUS, "cid-1", kept)
    return caught.value


@pytest.mark.parametrize("other", [999, "cid-2", ""])
def test_a_reply_under_another_id_answers_another_request(other: Any) -> None:
    assert (broken(id=other).pointer, broken(id=other).unmatched) == ("/id", True)


@pytest.mark.parametrize("none", [None, ..., True, ["cid-1"]])
def test_a_reply_without_an_id_is_none(none: Any) -> None:
    assert (broken(id=none).pointer, broken(id=none).unmatched) == ("/id", False)


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"jsonrpc": "1.0"}, "/jsonrpc"),
        ({"jsonrpc": ...}, "/jsonrpc"),
        ({"error": {"code": -32602, "message": "why"}}, "/result"),
        ({"result": ...}, "/result"),
        ({"result": []}, "/result"),
        ({"result": {"structuredContent": {}}}, "/result/content"),
        ({"result": {"content": []}}, "/result/structuredContent"),
        ({"result": {"content": [], "structuredContent": {}, "isError": "no"}}, "/result/isError"),
        ({"result": {"content": [], "structuredContent": {}, "isError": True}}, "/result/isError"),
        ({"result": {"content": [], "structuredContent": {"status": True}, "isError": True}}, "/result/isError"),
        ({"result": ..., "error": "why"}, "/error"),
        ({"result": ..., "error": {"code": "-32602", "message": "why"}}, "/error"),
        ({"result": ..., "error": {"code": -32602}}, "/error"),
        ({"result": ..., "error": {"code": -32700, "message": "why"}}, "/error/code"),
        ({"result": ..., "error": {"code": -32600, "message": "why"}}, "/error/code"),
    ],
)
def test_each_part_of_a_reply_is_held_to_the_protocol(members: dict[str, Any], pointer: str) -> None:
    assert broken(**members).pointer == pointer


@pytest.mark.parametrize(("code", "status"), [(-32602, 422), (-32601, 422), (-32603, 500), (-32000, 500), (1, 500)])
def test_few_errors_say_that_nothing_was_done(code: int, status: int) -> None:
    message = {"jsonrpc": "2.0", "id": "cid-1", "error": {"code": code, "message": "why"}}

    assert read_reply(STATUS, "cid-1", message) == Reply({"error": "why"}, status)


@pytest.mark.parametrize(
    "changed",
    [
        {"jsonrpc": "1.0"},
        {"id": None},
        {"id": True},
        {"method": "tools/list"},
        {"params": []},
        {"params": {"name": "stauts"}},
        {"params": {"name": "status", "arguments": []}},
    ],
)
def test_a_message_that_does_not_mean_what_its_head_says_has_no_arguments(changed: dict[str, Any]) -> None:
    message = STATUS.request({"depth": 1}, "cid-1")

    assert STATUS.arguments(message) == {"depth": 1}
    assert STATUS.arguments({**message, **changed}) is None
