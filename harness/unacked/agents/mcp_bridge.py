"""The MCP server of a trial for agents that start one as a process: standard input and output to its socket and back.

Run by path, with the port and the trial's secret; it imports nothing but the standard library, so it starts at once.
"""

from __future__ import annotations

import socket
import sys
import threading

__all__ = ["main"]


def main(port: str, secret: str) -> None:
    """Copy bytes both ways until one side ends."""
    with socket.create_connection(("127.0.0.1", int(port))) as link:
        link.sendall(f"{secret}\n".encode())
        threading.Thread(target=_send, args=(link,), daemon=True).start()
        while data := link.recv(65536):
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()


def _send(link: socket.socket) -> None:
    for line in sys.stdin.buffer:
        link.sendall(line)
    link.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    main(*sys.argv[1:3])
