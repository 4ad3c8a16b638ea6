"""A guard on this process: while it watches, no connection leaves this machine.

An audit hook sees every connect, datagram and name look-up of this process, whichever library asks for it. What is
not for this machine is refused with an OSError, and kept: a library that swallows the error hides nothing. Processes
that are started and native code with sockets of its own are out of its sight.
"""

from __future__ import annotations

import ipaddress
import socket
import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

__all__ = ["Egress", "EgressRefusedError", "Watch", "egress_of", "guarded"]


class EgressRefusedError(PermissionError):
    """A connection to another machine was refused."""


@dataclass(frozen=True, slots=True)
class Egress:
    """An attempt to reach another machine; no port where only a name was looked up."""

    host: str
    port: str = ""

    def __str__(self) -> str:
        return f"{self.host}:{self.port}" if self.port else self.host


@dataclass
class Watch:
    """One stretch of watching: the hosts that may be reached all the same, and the attempts that were refused."""

    allowed: frozenset[str] = frozenset()
    refused: list[Egress] = field(default_factory=list)


_LOCAL_NAMES = frozenset({"", "localhost"})
_LOCAL_FAMILIES = frozenset(getattr(socket, name) for name in ("AF_UNIX", "AF_NETLINK") if hasattr(socket, name))
_ON_A_SOCKET = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_BY_NAME = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_watches: list[Watch] = []
_installed = threading.Lock()


@contextmanager
def guarded(allowed: Collection[str] = ()) -> Iterator[Watch]:
    """Refuse every attempt to reach a host that is neither this machine nor in ``allowed``, in all threads.

    Where watches are nested, the innermost decides and keeps the attempt. An address that an allowed name stands for
    is allowed from its look-up on.
    """
    if _installed.acquire(blocking=False):  # never released: a hook stays for good
        sys.addaudithook(_hook)
    watch = Watch(frozenset(allowed))
    _watches.append(watch)
    try:
        yield watch
    finally:
        _watches.remove(watch)


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if not _watches or not event.startswith("socket."):
        return
    egress, watch = egress_of(event, arguments), _watches[-1]
    if egress is None or egress.host in watch.allowed:
        return
    if event in _ON_A_SOCKET and egress.host in _addresses(watch.allowed):
        return
    watch.refused.append(egress)
    raise EgressRefusedError(f"no connection may leave this machine during a run: {egress}")


def _addresses(names: Collection[str]) -> set[str]:
    """The addresses of names that may be reached; the look-up itself passes the hook, for its names are allowed."""
    found: set[str] = set()
    for name in names:
        with suppress(OSError):
            found |= {str(address[0]) for *_, address in socket.getaddrinfo(name, None)}
    return found


def egress_of(event: str, arguments: tuple[object, ...]) -> Egress | None:
    """Return where an audit event of a socket goes, None where it stays on this machine or goes nowhere."""
    if event in _BY_NAME:
        host, port = _text(arguments[0]), arguments[1] if event == "socket.getaddrinfo" else None
        return None if _is_local(host) else Egress(host, "" if port is None else _text(port))
    if event not in _ON_A_SOCKET:
        return None
    sock, address = arguments[0], arguments[1]
    if address is None or getattr(sock, "family", None) in _LOCAL_FAMILIES:
        return None
    if not isinstance(address, tuple) or len(address) < 2:
        return Egress(_text(address))
    host = _text(address[0])
    return None if _is_local(host) else Egress(host, _text(address[1]))


def _text(value: object) -> str:
    if isinstance(value, bytes | bytearray):
        return value.decode("latin-1")
    return "" if value is None else str(value)


def _is_local(host: str) -> bool:
    if host.lower().rstrip(".") in _LOCAL_NAMES:
        return True
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    inner = getattr(address, "ipv4_mapped", None) or address
    return bool(inner.is_loopback or inner.is_unspecified)
