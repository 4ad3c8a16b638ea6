"""A case's tools as an MCP server, over streamable HTTP and for the bridge to standard input and output.

It imports the MCP SDK, so it is imported by name. One server lives for one trial, in a thread of its own; a call waits
there until the trial has answered it.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress

import anyio
import uvicorn
from mcp.server.stdio import stdio_server

from unacked.agents.mcp_server import Answer, tool_server
from unacked.contract import Operation

__all__ = ["McpOffer"]

_PATIENCE_S = 10.0


class McpOffer:
    """Offers tools until it is closed; ``url`` is for HTTP, ``port`` and ``secret`` are for the bridge."""

    def __init__(self, tools: Sequence[Operation], answer: Answer) -> None:
        self.secret = secrets.token_hex(16)
        self._server = tool_server(tools, answer)
        self._http, self._bridged = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
        self.port: int = self._bridged.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._http.getsockname()[1]}/{self.secret}/mcp"
        app = self._server.streamable_http_app(streamable_http_path=f"/{self.secret}/mcp", json_response=True)
        self._web = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1))
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="mcp", daemon=True)
        self._thread.start()
        self._ready.wait(_PATIENCE_S)

    def close(self) -> None:
        """Close every connection."""
        self._web.should_exit = True
        self._thread.join(_PATIENCE_S)

    async def _serve(self) -> None:
        self._links: set[socket.socket] = set()
        self._bridged.setblocking(False)
        accepting = asyncio.create_task(self._accept())
        self._ready.set()
        try:
            await self._web.serve(sockets=[self._http])
        finally:
            accepting.cancel()
            with suppress(asyncio.CancelledError):
                await accepting
            self._bridged.close()
            for link in tuple(self._links):
                with suppress(OSError):
                    link.shutdown(socket.SHUT_RDWR)

    async def _accept(self) -> None:
        async with asyncio.TaskGroup() as talks:
            while True:
                link, _ = await asyncio.get_running_loop().sock_accept(self._bridged)
                talks.create_task(self._talk(link))

    async def _talk(self, link: socket.socket) -> None:
        """Serve one process that stands for this server."""
        link.setblocking(True)
        self._links.add(link)
        with link, link.makefile("r", encoding="utf-8") as heard, link.makefile("w", encoding="utf-8") as said:
            given = await anyio.to_thread.run_sync(heard.readline)
            if hmac.compare_digest(given.strip().encode(), self.secret.encode()):
                async with stdio_server(anyio.wrap_file(heard), anyio.wrap_file(said)) as (reading, writing):
                    await self._server.run(reading, writing, self._server.create_initialization_options())
        self._links.discard(link)
