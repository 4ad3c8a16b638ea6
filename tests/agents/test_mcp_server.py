"""Our MCP server, as the SDK's own client sees it over HTTP and as a process: every category, flagged and whole."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from unacked.agents import mcp_bridge
from unacked.agents.handoff import TrialOverError
from unacked.agents.mcp_offer import McpOffer
from unacked.agents.protocol import Call
from unacked.canonical import JSON
from unacked.outcome import CATEGORIES, Envelope, OutcomeClass
from unacked.tools import REGISTRY


def answer(call: Call) -> Mapping[str, JSON]:
    """Give the category that is asked for as a record's id."""
    category = call.arguments["record_id"]
    if category == "over":
        raise TrialOverError("the trial is over")
    row = CATEGORIES[category]
    return Envelope(
        category=category,
        operation=call.operation,
        retry=row.retry_read,
        correlation_id=f"cid-{category}",
        message=row.message,
    ).as_json()


@pytest.fixture(scope="module")
def offer() -> Iterator[McpOffer]:
    offered = McpOffer([REGISTRY["get_record"]], answer)
    yield offered
    offered.close()


def way(offer: McpOffer, transport: str) -> AbstractAsyncContextManager[Any]:
    if transport == "http":
        return streamable_http_client(offer.url)
    words = ["-I", str(Path(mcp_bridge.__file__)), str(offer.port), offer.secret]
    return stdio_client(StdioServerParameters(command=sys.executable, args=words))


@asynccontextmanager
async def session(offer: McpOffer, transport: str) -> AsyncIterator[ClientSession]:
    async with way(offer, transport) as (read, write), ClientSession(read, write, 10.0) as opened:
        await opened.initialize()
        yield opened


async def replies(offer: McpOffer, transport: str, names: list[str]) -> dict[str, dict[str, Any]]:
    async with session(offer, transport) as opened:
        return {
            name: (await opened.call_tool("get_record", {"record_id": name})).model_dump(by_alias=True, mode="json")
            for name in names
        }


@pytest.mark.parametrize("transport", ["http", "process"])
def test_every_failed_category_is_flagged_and_no_other(offer: McpOffer, transport: str) -> None:
    told = anyio.run(replies, offer, transport, list(CATEGORIES))
    assert {name for name, reply in told.items() if not reply["isError"]} == {
        name for name, row in CATEGORIES.items() if row.outcome_class is OutcomeClass.SUCCESS
    }
    for name, reply in told.items():
        assert reply["structuredContent"]["category"] == name
        assert json.loads(reply["content"][0]["text"]) == reply["structuredContent"]


def test_a_call_after_the_end_of_the_trial_is_flagged(offer: McpOffer) -> None:
    told = anyio.run(replies, offer, "http", ["over"])["over"]
    assert (told["isError"], told["content"][0]["text"]) == (True, "the trial is over")


def test_tools_are_listed_with_their_contract(offer: McpOffer) -> None:
    async def listed() -> list[Any]:
        async with session(offer, "http") as opened:
            return (await opened.list_tools()).tools

    (tool,) = anyio.run(listed)
    assert (tool.name, tool.input_schema["required"]) == ("get_record", ["record_id"])
