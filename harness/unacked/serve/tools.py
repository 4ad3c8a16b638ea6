"""Our own tools before served services, as an MCP server: what an agent of any kind calls while faults act.

It imports the MCP SDK, so it is imported by name.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import httpcore2

from unacked.agents import Call, mcp_bridge
from unacked.agents.mcp_offer import McpOffer
from unacked.canonical import JSON
from unacked.clock import MonotonicClock
from unacked.marker import Order
from unacked.outcome import Envelope, Retry
from unacked.serve.stand import Stand
from unacked.tools import TOOLS, Evidence, Tokens, TokenSource, Toolbox
from unacked.tools.client import Timeouts
from unacked.tools.relocated import RelocatedClient
from unacked.tools.remote import RemoteExchange

if TYPE_CHECKING:
    from unacked.wire.ssh_door import SSHDoor

__all__ = ["ServedTools"]

_TIMEOUT_S = 5.0


class ServedTools:
    """The tools of a stand's services, until it is closed; a stand must be serving."""

    def __init__(self, stand: Stand) -> None:
        client = RelocatedClient(_TIMEOUT_S)
        client.base_url = {name: stand.url(name) for name in stand.services}
        client.connect(httpcore2.SyncBackend(), MonotonicClock())
        refresh = next(iter(stand.refresh_tokens.values()), None)
        self._doors = {door.name: door for door in stand.doors}
        self._token = stand.credential
        self._line = threading.Lock()
        self._tools = {
            name: tool
            for name, tool in TOOLS.items()
            if tool.service in stand.services and (tool.shell is None or self._doors)
        }
        self._toolbox = Toolbox(
            self._tools,
            client,
            source=TokenSource(Tokens(self._token, refresh)),
            emit=_ignore,
            diagnose=lambda _: "not kept",
            evidence=Evidence(),
            remote=self._send_order,
        )
        self._offer = McpOffer([tool.operation for tool in self._tools.values()], self._answer)

    def as_json(self) -> dict[str, JSON]:
        """Return where the server is: its URL for streamable HTTP, and the program that stands for it."""
        words = ["-I", str(Path(mcp_bridge.__file__).resolve()), str(self._offer.port), self._offer.secret]
        return {"mcp": self._offer.url, "command": sys.executable, "args": list(words)}

    def close(self) -> None:
        """Close every connection."""
        self._offer.close()

    def _answer(self, call: Call) -> Mapping[str, JSON]:
        correlation_id = f"cid-{secrets.token_hex(8)}"
        if call.operation not in self._tools:
            return _no_such_tool(call.operation, correlation_id).as_json()
        with self._line:  # one client, one call at a time
            return self._toolbox.call(call.operation, call.arguments, correlation_id).as_json()

    def _send_order(self, host: str, order: Order) -> RemoteExchange:
        # Only stands with hosts have doors, and those have the extra ``ssh``.
        import asyncssh  # noqa: PLC0415

        from unacked.tools.ssh import Access, send_order  # noqa: PLC0415

        door: SSHDoor | None = self._doors.get(host)
        key = asyncssh.import_public_key(next(iter(self._doors.values())).host_key)
        # A host that nobody knows is at a port that nobody has.
        access = Access(host_key=key, token=self._token, address="127.0.0.1", port=door.port if door else 1)
        patience = Timeouts(_TIMEOUT_S, _TIMEOUT_S, _TIMEOUT_S, 2 * _TIMEOUT_S)
        return asyncio.run(send_order(host, order, access, patience))


def _no_such_tool(name: str, correlation_id: str) -> Envelope:
    message = "There is no such tool. Nothing was sent."
    return Envelope(
        category="invalid_request",
        operation=name,
        retry=Retry.NEVER,
        correlation_id=correlation_id,
        message=message,
    )


def _ignore(event: str, **_: object) -> None:
    """Record nothing: what happened stands in the services' ledgers."""
