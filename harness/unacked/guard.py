"""A guard on this process: while it watches, no connection leaves this machine and no program is started.

An audit hook sees every connect, datagram and name look-up of this process, whichever library asks for it, and every
start of a program by ``subprocess``, ``os.system``, ``exec``, ``fork`` and ``posix_spawn``. What is not for this
machine, or was not named, is refused with an OSError, and kept: a library that swallows the error hides nothing.

Python tells a hook no more than that. Out of sight are native code with sockets or processes of its own (``ctypes``
among it), what a program does once it was allowed to start, and ``multiprocessing`` with a fresh interpreter.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Egress", "EgressRefusedError", "Start", "Watch", "egress_of", "guarded", "start_of"]


class EgressRefusedError(PermissionError):
    """A connection to another machine, or the start of a program, was refused."""


@dataclass(frozen=True, slots=True)
class Egress:
    """An attempt to reach another machine; no port where only a name was looked up."""

    host: str
    port: str = ""

    def __str__(self) -> str:
        return f"{self.host}:{self.port}" if self.port else self.host

    @property
    def told(self) -> str:
        """The attempt in words."""
        return f"a connection to {self}"


@dataclass(frozen=True, slots=True)
class Start:
    """An attempt to start a program, by its name without the folder; ``fork`` is one too."""

    program: str

    def __str__(self) -> str:
        return self.program

    @property
    def told(self) -> str:
        """The attempt in words."""
        return f"the start of {self}"


@dataclass(eq=False)
class Watch:
    """One stretch of watching: what is allowed all the same, and the attempts that were refused.

    ``allowed`` are hosts. ``programs`` are names without a folder; None allows every program.
    """

    allowed: frozenset[str] = frozenset()
    programs: frozenset[str] | None = frozenset()
    refused: list[Egress | Start] = field(default_factory=list)

    def insist(self) -> None:
        """Raise EgressRefusedError where anything was refused, whoever swallowed it."""
        if self.refused:
            raise EgressRefusedError(f"{self.refused[0].told} was refused")


_LOCAL_NAMES = frozenset({"", "localhost"})
_LOCAL_FAMILIES = frozenset(getattr(socket, name) for name in ("AF_UNIX", "AF_NETLINK") if hasattr(socket, name))
_ON_A_SOCKET = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_BY_NAME = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_STARTS: Mapping[str, int | str] = {
    "subprocess.Popen": 0,
    "os.posix_spawn": 0,
    "os.exec": 0,
    "os.spawn": 1,
    "os.startfile": 0,
    "os.system": "sh",
    "os.fork": "fork",
    "os.forkpty": "fork",
}
"""Audit events of a start: which of their arguments names the program, or what is started."""

_watches: list[Watch] = []
_installed = threading.Lock()


@contextmanager
def guarded(allowed: Collection[str] = (), *, programs: Collection[str] | None = ()) -> Iterator[Watch]:
    """Refuse every attempt to reach a host that is neither this machine nor in ``allowed``, in all threads.

    So is the start of a program that is not in ``programs``; None lets every program start.
    Where watches are nested, the innermost decides and keeps the attempt. An address that an allowed name stands for
    is allowed from its look-up on.
    """
    if _installed.acquire(blocking=False):  # never released: a hook stays for good
        sys.addaudithook(_hook)
    watch = Watch(frozenset(allowed), None if programs is None else frozenset(programs))
    _watches.append(watch)
    try:
        yield watch
    finally:
        _watches.remove(watch)


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if not _watches:
        return
    if event in _STARTS:
        _judge_start(start_of(event, arguments), _watches[-1])
    elif event.startswith("socket."):
        _judge_egress(event, arguments, _watches[-1])


def _judge_start(start: Start, watch: Watch) -> None:
    if watch.programs is None or start.program in watch.programs:
        return
    watch.refused.append(start)
    raise EgressRefusedError(f"no program may be started during a run: {start}")


def start_of(event: str, arguments: tuple[object, ...]) -> Start:
    """Return which program an audit event starts."""
    named = _STARTS[event]
    if isinstance(named, str):
        return Start(named)
    path = arguments[named]
    return Start(Path(os.fsdecode(path)).name if isinstance(path, str | bytes | os.PathLike) else str(path))


def _judge_egress(event: str, arguments: tuple[object, ...], watch: Watch) -> None:
    egress = egress_of(event, arguments)
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
