"""An MCP server over HTTP of which the tests say, byte for byte, what it does with a tool call."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["DONE", "Exchange", "ScriptedServer", "Step", "serving"]

_CAPABLE = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "scripted", "version": "1"}}
DONE = {"content": [{"type": "text", "text": "done"}], "isError": False}


class Exchange(BaseHTTPRequestHandler):
    """One request; a step performs the answer to a tool call with these methods."""

    protocol_version = "HTTP/1.1"
    server: ScriptedServer
    asked: dict[str, Any]

    def do_POST(self) -> None:
        self.asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method = self.asked["method"]
        self.server.seen.append(method)
        if method == "initialize":
            self.json(_CAPABLE, headers={"mcp-session-id": "session-1"})
        elif "id" not in self.asked:
            self.status(202)
        else:
            self.server.step(self)

    def do_GET(self) -> None:
        resumed = self.headers.get("last-event-id")
        self.server.seen.append("listen" if resumed is None else f"resume {resumed}")
        if resumed is None:
            self.status(405)
        else:
            self.events(self.reply(DONE))

    def do_DELETE(self) -> None:
        self.status(200)

    def reply(self, result: object, *, request: object = None) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": self.asked_id if request is None else request, "result": result}

    @property
    def asked_id(self) -> object:
        return self.asked["id"] if hasattr(self, "asked") else self.server.last_id

    def status(self, code: int, **headers: str) -> None:
        self.bytes(b"", code=code, headers=headers)

    def json(self, result: object, *, request: object = None, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(self.reply(result, request=request)).encode()
        self.bytes(body, headers={"content-type": "application/json", **(headers or {})})

    def bytes(self, body: bytes, *, code: int = 200, headers: dict[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in {"content-length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def events(self, *messages: object, ids: bool = False) -> None:
        """Send a stream of events, and close it."""
        self.server.last_id = self.asked_id
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for number, message in enumerate(messages, start=1):
            head = f"id: {number}\nretry: 1\n" if ids else ""
            data = "" if message is None else json.dumps(message)
            self.wfile.write(f"{head}event: message\ndata: {data}\n\n".encode())
        self.close_connection = True

    def reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.fin()

    def fin(self) -> None:
        self.close_connection = True
        self.connection.close()

    def silence(self) -> None:
        """Say nothing until the test is over."""
        self.server.over.wait(10)
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Be quiet."""


Step = Callable[[Exchange], None]


class ScriptedServer(ThreadingHTTPServer):
    """``seen`` are the methods that arrived, in order."""

    daemon_threads = True

    def __init__(self, step: Step) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.step = step
        self.seen: list[str] = []
        self.over = threading.Event()
        self.last_id: object = None
        self.url = f"http://127.0.0.1:{self.server_address[1]}/mcp"

    def handle_error(self, *_: object) -> None:
        """A connection that was broken on purpose is no error."""


@contextmanager
def serving(step: Step) -> Iterator[ScriptedServer]:
    server = ScriptedServer(step)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
