"""The service that speaks MCP, as the SDK's own client sees it on real sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from tests.serve.serving import ROOT

from unacked.fault import Action, Fault, Point
from unacked.serve import Offer, Stand, offer_suite
from unacked.suite import load_suite
from unacked.wire.loopback import LoopbackServer

Serving = tuple[Stand, LoopbackServer]


@pytest.fixture(scope="module")
def offer() -> Offer:
    return offer_suite(load_suite(ROOT))


@pytest.fixture
def serving(offer: Offer) -> Iterator[Serving]:
    stand = Stand(offer)
    with stand.serving() as server:
        yield stand, server


@asynccontextmanager
async def opened(stand: Stand) -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {stand.credential}"}
    async with httpx2.AsyncClient(headers=headers) as http:
        way = streamable_http_client(f"{stand.url('node')}/mcp", http_client=http)
        async with Client(way, mode="2026-07-28", read_timeout_seconds=0.5) as client:
            yield client


def ask(stand: Stand, use: Callable[[Client], Awaitable[Any]]) -> Any:
    async def asked() -> Any:
        async with opened(stand) as client:
            try:
                return await use(client)
            except MCPError as error:
                return error.message

    return anyio.run(asked)


async def call(client: Client, name: str, **arguments: str) -> Any:
    return await client.call_tool(name, arguments)


def test_tools_are_listed_and_called(serving: Serving) -> None:
    stand, _ = serving

    listed = ask(stand, lambda client: client.list_tools())
    filed = ask(stand, partial(call, name="create_ticket", title="valve 7 leaks"))

    assert [tool.name for tool in listed.tools] == ["create_ticket", "find_ticket", "restart_node", "status"]
    assert (filed.is_error, filed.structured_content["ticket_id"]) == (False, "tic-1")
    assert stand.calls["open_ticket"] == 1


def test_a_tool_that_is_not_there_is_an_error(serving: Serving) -> None:
    stand, _ = serving
    assert ask(stand, partial(call, name="stauts")) == "unknown_tool"


def test_a_reply_under_another_id_is_none_to_the_client_though_the_ticket_is_filed(serving: Serving) -> None:
    stand, server = serving
    server.arm(Fault("open_ticket", Point.IN_BODY, Action.parse({"replace": {"field": "id", "value": 999}})))

    told = ask(stand, partial(call, name="create_ticket", title="valve 7 leaks"))
    server.settle()

    assert told == "Request 'tools/call' timed out"
    assert stand.services["node"].summary()["tickets"] == 1
    assert stand.calls == {"open_ticket": 1}
