"""Tools under contract as an MCP server, whatever it is reached by: what is listed, and how an envelope is replied.

``isError`` is set for every category that is no success. The whole envelope stands in the structured content and, as
JSON, in the text, for clients that read only one of the two places. It imports the MCP SDK: import it by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server

from unacked.agents.handoff import TrialOverError
from unacked.agents.protocol import Call
from unacked.canonical import JSON, dumps
from unacked.contract import Operation

__all__ = ["Answer", "tool_server"]

Answer = Callable[[Call], Mapping[str, JSON]]
"""Makes one call, in a thread that may block, and returns the envelope; raises TrialOverError where none will come."""


def tool_server(tools: Sequence[Operation], answer: Answer) -> Server[Any]:
    """Return a server that offers ``tools`` and lets ``answer`` make the calls."""
    listed = [
        types.Tool(name=tool.name, description=tool.description, input_schema=tool.input_schema()) for tool in tools
    ]

    async def list_tools(_: Any, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed)

    async def call_tool(_: Any, asked: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            envelope = await anyio.to_thread.run_sync(answer, Call(asked.name, asked.arguments or {}))
        except TrialOverError as over:
            return types.CallToolResult(content=[types.TextContent(type="text", text=str(over))], is_error=True)
        return _reply(envelope)

    return Server(
        "unacked", on_list_tools=list_tools, on_call_tool=call_tool, instructions="Tools that say what is known."
    )


def _reply(envelope: Mapping[str, JSON]) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=dumps(dict(envelope)))]
    return types.CallToolResult(content=content, structured_content=dict(envelope), is_error=not envelope["ok"])
