"""What the MCP SDK's own client makes of a server's trouble, row by row of docs/mcp.md."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping

import anyio
import mcp_types as types
import pytest
from mcp import ClientSession, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.memory import create_client_server_memory_streams
from tests.adapter.scripted_mcp import DONE, ScriptedServer, Step, serving
from tests.suites import ROOT

from unacked.agents.mcp_server import tool_server
from unacked.agents.protocol import Call
from unacked.canonical import JSON
from unacked.tools import REGISTRY

PAGE = (ROOT / "docs" / "mcp.md").read_text()
ROWS = re.findall(r"^\| (.+) \| (result|-\d+|\w+Error) \| (\d+) \|$", PAGE, flags=re.MULTILINE)
HTML = b"<html>Sign in</html>"


def answers(status: int) -> Step:
    return lambda exchange: exchange.status(status)


DOES: Mapping[str, Step] = {
    "replies": lambda exchange: exchange.json(DONE),
    'replies with the text "Error: request failed" and no flag': lambda exchange: exchange.json(
        {"content": [{"type": "text", "text": "Error: request failed"}]}
    ),
    "replies twice": lambda exchange: exchange.events(exchange.reply(DONE), exchange.reply(DONE)),
    "closes the event stream after an event with an id": lambda exchange: exchange.events(None, ids=True),
    "closes the event stream without an event": lambda exchange: exchange.events(),
    "says nothing": lambda exchange: exchange.silence(),
    "replies under another id": lambda exchange: exchange.json(DONE, request=999),
    **{f"answers {status}": answers(status) for status in (401, 403, 429, 500, 503)},
    "answers 404: the session is gone": answers(404),
    "answers 202": answers(202),
    "answers with a page of HTML": lambda exchange: exchange.bytes(HTML, headers={"content-type": "text/html"}),
    "answers with broken JSON": lambda exchange: exchange.bytes(b"{", headers={"content-type": "application/json"}),
    "redirects to itself with 307": lambda exchange: exchange.status(307, location="/mcp"),
    "resets the connection": lambda exchange: exchange.reset(),
    "closes the connection": lambda exchange: exchange.fin(),
}


PATIENCE_S = 20.0
NO_PATIENCE_S = 0.2
HANG = {"says nothing", "replies under another id"}


async def ask(session: ClientSession, patience_s: float) -> str:
    asked = types.CallToolRequest(params=types.CallToolRequestParams(name="get_record", arguments={"record_id": "r"}))
    try:
        result = await session.send_request(asked, types.CallToolResult, patience_s)
    except MCPError as error:
        return str(error.code)
    assert not result.is_error
    return "result"


async def call(url: str, patience_s: float) -> str:
    async with streamable_http_client(url) as (read, write), ClientSession(read, write, PATIENCE_S) as session:
        await session.initialize()
        return await ask(session, patience_s)


def told(server: ScriptedServer, patience_s: float = PATIENCE_S) -> str:
    """What one call gives: a result, the code of an error, or the name of what it raises."""
    try:
        return anyio.run(call, server.url, patience_s)
    except BaseExceptionGroup as group:
        return " ".join(sorted({type(error).__name__ for error in leaves(group)}))


def leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from leaves(error)
        else:
            yield error


@pytest.mark.parametrize(("does", "gives", "calls"), ROWS, ids=[row[0] for row in ROWS])
def test_the_client_gives_what_the_page_says(does: str, gives: str, calls: str) -> None:
    with serving(DOES[does]) as server:
        seen = told(server, NO_PATIENCE_S if does in HANG else PATIENCE_S)
        assert (seen, server.seen.count("tools/call")) == (gives, int(calls))


def test_every_way_is_on_the_page() -> None:
    assert [row[0] for row in ROWS] == list(DOES)


def test_a_broken_stream_is_resumed_and_the_call_is_not_made_again() -> None:
    with serving(DOES["closes the event stream after an event with an id"]) as server:
        told(server)
    assert server.seen[-2:] == ["tools/call", "resume 1"]


def test_a_timeout_asks_the_server_to_cancel() -> None:
    with serving(DOES["says nothing"]) as server:
        told(server, NO_PATIENCE_S)
    assert server.seen[-2:] == ["tools/call", "notifications/cancelled"]


def test_a_cancelled_call_may_still_be_carried_out() -> None:
    given_up, carried_out = threading.Event(), []

    def answer(call: Call) -> Mapping[str, JSON]:
        given_up.wait(10)
        carried_out.append(call.operation)
        return {"ok": True, "category": "ok"}

    async def give_up() -> str:
        server = tool_server(list(REGISTRY.values()), answer)
        async with create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as tasks:
            tasks.start_soon(server.run, *theirs, server.create_initialization_options())
            async with ClientSession(*ours, PATIENCE_S) as session:
                await session.initialize()
                outcome = await ask(session, 0.05)
            given_up.set()
            tasks.cancel_scope.cancel()
        return outcome

    assert (anyio.run(give_up), carried_out) == ("-32001", ["get_record"])
