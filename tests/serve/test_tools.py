"""Our own tools over MCP before served services: what an agent of any kind is told while a fault acts."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from tests.serve.serving import Served
from tests.serve.test_command import refused


@pytest.mark.long
@pytest.mark.parametrize("transport", ["http", "process"])
def test_an_unanswered_create_is_told_as_an_error_with_the_envelope(
    start: Callable[..., Served], transport: str
) -> None:
    served = start("--mcp")
    assert served.process.stdout is not None
    line: dict[str, Any] = json.loads(served.process.stdout.readline())
    served.arm({"operation": "create_record", "point": "after_commit", "action": "rst"})

    def way() -> AbstractAsyncContextManager[Any]:
        if transport == "http":
            return streamable_http_client(line["mcp"])
        return stdio_client(StdioServerParameters(command=line["command"], args=line["args"]))

    async def ask() -> list[tuple[bool, str]]:
        async with way() as (read, write), ClientSession(read, write, 20.0) as session:
            await session.initialize()
            made = await session.call_tool("create_record", {"title": "x", "request_id": "r1"})
            found = await session.call_tool("lookup_by_request_id", {"request_id": "r1"})
            none = await session.call_tool("drop_database", {})
            replies = [reply.model_dump(by_alias=True) for reply in (made, found, none)]
            return [(reply["isError"], reply["structuredContent"]["category"]) for reply in replies]

    assert anyio.run(ask) == [(True, "outcome_unknown"), (False, "ok"), (True, "invalid_request")]
    assert served.ask("/world")["records"]["records"] == 1
    assert served.end(signal.SIGTERM) == (0, "")


def test_tools_over_tls_are_refused_by_name() -> None:
    done = refused("--mcp", "--tls")
    assert (done.returncode, "leave --tls out" in done.stderr) == (2, True)
