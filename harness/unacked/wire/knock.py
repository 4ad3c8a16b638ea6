"""Who knocks at a port that answers nobody: the black hole of a machine without a firewall.

A port whose queue of connections is full lets every further one wait in the middle of its handshake. That
can be seen in the kernel's table of connections, which is what a receipt needs; so it is Linux only.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path

__all__ = ["BlackHole", "can_be_silent"]

_TABLE = Path("/proc/net/tcp")
_SYN_SENT = "02"
_BACKLOG = 100


def can_be_silent() -> bool:
    """Whether this machine can let a port be silent, and see who waits there."""
    return sys.platform == "linux" and _TABLE.exists()


class BlackHole:
    """A listening socket that answers nobody until ``close``; nobody may accept from it meanwhile."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._port: int = listener.getsockname()[1]
        listener.listen(0)
        self._fillers = [self._filler()]
        while self._reaches():  # a queue of length 0 holds one connection; kernels have differed on that
            self._fillers.append(self._filler())
        self.own_ports = frozenset(filler.getsockname()[1] for filler in self._fillers)

    def _filler(self) -> socket.socket:
        filler = socket.socket()
        filler.setblocking(False)
        filler.connect_ex(self._listener.getsockname())
        return filler

    def _reaches(self) -> bool:
        """Whether the latest filler got into the queue, so that the next one may as well."""
        return self._fillers[-1].getsockname()[1] not in self._waiting()

    def knocking(self) -> frozenset[int]:
        """Return the ports from which clients wait for an answer at this moment."""
        return self._waiting() - self.own_ports

    def _waiting(self) -> frozenset[int]:
        found = set()
        for line in _TABLE.read_text(encoding="ascii").splitlines()[1:]:
            _, local, remote, state = line.split()[:4]
            if state == _SYN_SENT and int(remote.rpartition(":")[2], 16) == self._port:
                found.add(int(local.rpartition(":")[2], 16))
        return frozenset(found)

    def close(self) -> None:
        """Let the port answer again; those who still wait get through when they knock again, after a second."""
        for filler in self._fillers:
            filler.close()
        self._listener.listen(_BACKLOG)
