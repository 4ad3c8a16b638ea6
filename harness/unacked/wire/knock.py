"""Who knocks at a port that answers nobody: a black hole without a firewall.

A port whose queue of connections is full lets every further client wait in the middle of its handshake.
Clients on this machine can be seen waiting there, in the kernel's table of connections, which is what a
receipt needs. All of it is Linux only, and needs no privilege.
"""

from __future__ import annotations

import contextlib
import ctypes
import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["BlackHole", "can_be_silent", "deaf_to", "waiting"]

_TABLE = Path("/proc/net/tcp")
_SYN_SENT = "02"
_BACKLOG = 100
_SO_ATTACH_FILTER, _SO_DETACH_FILTER = 26, 27  # asm-generic/socket.h; the socket module lacks them
_LOAD_HALF_WORD, _JUMP_IF_EQUAL, _RETURN = 0x28, 0x15, 0x06  # linux/bpf_common.h


def can_be_silent() -> bool:
    """Whether this machine can let a port be silent, and see who waits there."""
    return sys.platform == "linux" and _TABLE.exists()


def waiting(port: int) -> frozenset[int]:
    """Return the ports from which clients wait at this moment for ``port`` to answer."""
    found = set()
    for line in _TABLE.read_text(encoding="ascii").splitlines()[1:]:
        _, local, remote, state = line.split()[:4]
        if state == _SYN_SENT and int(remote.rpartition(":")[2], 16) == port:
            found.add(int(local.rpartition(":")[2], 16))
    return frozenset(found)


class BlackHole:
    """A listening socket that answers nobody until ``close``; nobody may accept from it meanwhile."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        listener.listen(0)  # such a queue holds one connection: the filler
        self._filler = socket.socket()
        self._filler.setblocking(False)
        self._filler.connect_ex(listener.getsockname())
        self.own_port: int = self._filler.getsockname()[1]

    def close(self) -> None:
        """Let the port answer again; those who wait get through when they knock again, after a second."""
        self._filler.close()
        self._listener.listen(_BACKLOG)


@contextlib.contextmanager
def deaf_to(listener: socket.socket, port: int) -> Iterator[None]:
    """Let ``listener`` hear nothing of the client at ``port``, and everybody else as usual."""
    source_port = struct.pack("=HBBI", _LOAD_HALF_WORD, 0, 0, 0)  # the first field of a TCP header
    program = (
        source_port
        + struct.pack("=HBBI", _JUMP_IF_EQUAL, 0, 1, port)
        + struct.pack("=HBBI", _RETURN, 0, 0, 0)
        + struct.pack("=HBBI", _RETURN, 0, 0, 0xFFFFFFFF)
    )
    memory = ctypes.create_string_buffer(program)
    listener.setsockopt(
        socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HP", len(program) // 8, ctypes.addressof(memory))
    )
    try:
        yield
    finally:
        listener.setsockopt(socket.SOL_SOCKET, _SO_DETACH_FILTER, 0)
