"""MCP servers under test: each call is made by the SDK's own client, and every message of both sides is looked at.

The client hides what a server does wrong: it drops a second reply, and waits for ever for one with another id. It
imports the MCP SDK, so it is imported by name.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from tempfile import TemporaryFile
from typing import Any

import anyio
import mcp_types as types
from mcp import ClientSession, MCPError, StdioServerParameters, stdio_client
from mcp.server.lowlevel import Server
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage

from unacked.adapter.link import Adapter, Link
from unacked.adapter.replies import Misreply, read_reply
from unacked.agents.mcp_server import tool_server
from unacked.agents.protocol import Call
from unacked.canonical import JSON, dumps
from unacked.tools import REGISTRY

__all__ = ["Alter", "by_process", "in_memory"]

Alter = Callable[[dict[str, JSON]], Sequence[dict[str, JSON]]]
"""What becomes of a reply to ``tools/call`` on its way: JSON-RPC messages; where there are none, the session ends."""
Connect = Callable[[Link], AbstractAsyncContextManager[Any]]
"""Opens a way to a server for one call; yields the stream to read from and the stream to write to."""

_PATIENCE_S = 15.0


def in_memory(inner: Adapter, alter: Alter) -> Adapter:
    """Return an adapter that reaches ``inner`` through an MCP server in this process, and replies as altered."""
    failures: list[BaseException] = []

    @asynccontextmanager
    async def connect(link: Link) -> AsyncIterator[Any]:
        def answer(call: Call) -> Mapping[str, JSON]:
            try:
                return inner(call.operation, dict(call.arguments), link)
            except BaseException as error:  # noqa: BLE001 - what a tool raises is for whoever called the adapter
                failures.append(error)
                raise RuntimeError("the tool has failed") from None

        server = tool_server(list(REGISTRY.values()), answer)
        async with create_client_server_memory_streams() as (ours, (read, write)), anyio.create_task_group() as tasks:
            tasks.start_soon(_serve, server, read, write)
            yield ours
            tasks.cancel_scope.cancel()

    def call(operation: str, arguments: dict[str, JSON], link: Link, /) -> dict[str, JSON]:
        failures.clear()
        outcome = anyio.run(_converse, connect, operation, arguments, link, alter)
        if failures:
            raise failures[0]
        return _envelope(outcome)

    return call


async def _serve(server: Server[Any], read: Any, write: Any) -> None:
    await server.run(read, write, server.create_initialization_options())


def by_process(command: str) -> Adapter:
    """Return an adapter that starts ``command`` for each call, as an MCP server on standard input and output.

    The link is in its environment: ``UNACKED_URL_<SERVICE>``, ``UNACKED_TOKEN``, ``UNACKED_REFRESH_TOKEN`` where there
    is one, ``UNACKED_CORRELATION_ID`` and ``UNACKED_TIMEOUT_S``.
    """
    program, *words = shlex.split(command)

    @asynccontextmanager
    async def connect(link: Link) -> AsyncIterator[Any]:
        server = StdioServerParameters(command=program, args=words, env=_told(link))
        with TemporaryFile("w+", encoding="utf-8", errors="backslashreplace") as errors:
            try:
                async with stdio_client(server, errors) as streams:
                    yield streams
            finally:
                errors.seek(0)
                sys.stderr.write(errors.read())

    def call(operation: str, arguments: dict[str, JSON], link: Link, /) -> dict[str, JSON]:
        return _envelope(anyio.run(_converse, connect, operation, arguments, link, _unaltered))

    return call


def _told(link: Link) -> dict[str, str]:
    told = {
        **{f"URL_{name.upper()}": url for name, url in link.base_url.items()},
        "TOKEN": link.token,
        "CORRELATION_ID": link.correlation_id,
        "TIMEOUT_S": f"{link.timeout:g}",
    }
    if link.refresh_token is not None:
        told["REFRESH_TOKEN"] = link.refresh_token
    return {f"UNACKED_{name}": value for name, value in told.items()}


def _unaltered(reply: dict[str, JSON]) -> Sequence[dict[str, JSON]]:
    return [reply]


def _envelope(outcome: Misreply | Mapping[str, JSON]) -> dict[str, JSON]:
    if isinstance(outcome, Misreply):
        raise outcome
    return read_reply(outcome)


async def _converse(
    connect: Connect, operation: str, arguments: dict[str, JSON], link: Link, alter: Alter
) -> Misreply | Mapping[str, JSON]:
    """Make one call in a session of its own; returns the result as JSON-RPC has it, or what was wrong."""
    async with connect(link) as (read, write):
        tap = _Tap(alter)
        to_client, heard = anyio.create_memory_object_stream[SessionMessage | Exception](16)
        said, to_server = anyio.create_memory_object_stream[SessionMessage](16)
        async with to_client, heard, said, to_server, anyio.create_task_group() as tasks:
            tasks.start_soon(tap.outward, to_server, write)
            tasks.start_soon(tap.inward, read, to_client)
            session = ClientSession(heard, said, read_timeout_seconds=_PATIENCE_S)
            outcome = await _ask(session, tap, operation, arguments)
            tasks.cancel_scope.cancel()
    return tap.misreply or outcome


async def _ask(
    session: ClientSession, tap: _Tap, operation: str, arguments: dict[str, JSON]
) -> Misreply | Mapping[str, JSON]:
    outcome: Misreply | Mapping[str, JSON] = Misreply("no-reply", "the session was broken off")
    with tap.scope:
        async with session:
            asked = types.CallToolRequest(params=types.CallToolRequestParams(name=operation, arguments=arguments))
            try:
                await session.initialize()
                result = await session.send_request(asked, types.CallToolResult)
            except MCPError as error:
                return _of_error(error)
            outcome = result.model_dump(by_alias=True, mode="json", exclude_none=True)
            with suppress(MCPError):  # what was said after the reply comes before the answer to this
                await session.send_ping()
    return outcome


def _of_error(error: MCPError) -> Misreply:
    if error.code in (types.CONNECTION_CLOSED, types.REQUEST_TIMEOUT):
        return Misreply("no-reply", "the session ended" if error.code == types.CONNECTION_CLOSED else "time is up")
    return Misreply("error-without-envelope", f"the JSON-RPC error {error.code}", reply=str(error))


class _Tap:
    """Lets messages through both ways and keeps count; ends ``scope`` where the client would wait in vain."""

    def __init__(self, alter: Alter) -> None:
        self.scope = anyio.CancelScope()
        self.misreply: Misreply | None = None
        self._alter = alter
        self._asked: dict[JSON, str] = {}
        self._replied: Counter[JSON] = Counter()

    async def outward(self, source: Any, sink: Any) -> None:
        """Pass on what the client says."""
        async for item in source:
            if isinstance(item.message, types.JSONRPCRequest):
                self._asked[item.message.id] = item.message.method
            await sink.send(item)

    async def inward(self, source: Any, sink: Any) -> None:
        """Pass on what the server says; its end ends what waits for it."""
        async for item in source:
            if isinstance(item, Exception):
                await sink.send(item)
                continue
            messages = self._altered(item.message)
            if not messages:
                break
            for message in messages:
                self._count(message)
                with suppress(anyio.BrokenResourceError):
                    await sink.send(SessionMessage(message))
        await sink.aclose()

    def _altered(self, message: types.JSONRPCMessage) -> Sequence[types.JSONRPCMessage]:
        if not isinstance(message, types.JSONRPCResponse) or self._asked.get(message.id) != "tools/call":
            return [message]
        reply = message.model_dump(by_alias=True, mode="json", exclude_none=True)
        return [types.jsonrpc_message_adapter.validate_python(changed, by_name=False) for changed in self._alter(reply)]

    def _count(self, message: types.JSONRPCMessage) -> None:
        if not isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            return
        self._replied[message.id] += 1
        if message.id not in self._asked:
            self._object("wrong-reply-id", f"a reply to the request {dumps(message.id)}, which nobody made")
            self.scope.cancel()
        elif self._replied[message.id] > 1:
            self._object("duplicate-reply", f"{self._replied[message.id]} replies to one request")

    def _object(self, rule: str, observed: str) -> None:
        self.misreply = self.misreply or Misreply(rule, observed)
