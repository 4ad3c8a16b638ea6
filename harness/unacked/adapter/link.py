"""What an adapter under test is given for one call: where the services are, who it is, and a way there."""

from __future__ import annotations

import importlib
import shlex
import shutil
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

import httpcore2
import httpx2

from unacked.canonical import JSON
from unacked.clock import Clock
from unacked.errors import Place, Problem, SpecificationError, nearest

__all__ = ["OVER_MCP", "Adapter", "Link", "load_adapter", "wire_client"]

OVER_MCP = "mcp:"
"""What a name begins with that stands for an MCP server on standard input and output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One call's way to the services.

    ``base_url`` maps each service to its URL, without a slash at its end. ``token`` is the bearer credential,
    ``refresh_token`` is what it may be refreshed with, at the service ``tokens``, where that is offered;
    ``stored`` are credentials of other identities that can be read from here, by name, and are nobody's to use.
    ``correlation_id`` goes out as the header X-Correlation-Id and comes back in the envelope. ``timeout`` is
    the patience, in seconds of ``clock``; nothing but ``http`` and ``backend`` knows that clock on the
    simulated wire. ``http`` is a client on the wire, ``backend`` is for those who build a client of httpcore2
    or httpx2 themselves. Both are new for every call.
    """

    base_url: Mapping[str, str]
    token: str = field(repr=False)
    correlation_id: str
    timeout: float
    clock: Clock
    http: httpx2.Client
    backend: httpcore2.NetworkBackend
    refresh_token: str | None = field(default=None, repr=False)
    stored: Mapping[str, str] = field(default_factory=dict, repr=False)


class Adapter(Protocol):
    """Tool code under test: makes one call and returns the envelope as a JSON object."""

    def __call__(self, operation: str, arguments: dict[str, JSON], link: Link, /) -> dict[str, JSON]:
        """Make the call; whatever it meets ends in the envelope, never in an exception."""
        ...


def load_adapter(name: str) -> Adapter:
    """Return the function that ``module:function`` names, or what reaches the MCP server of ``mcp:command``.

    Raises SpecificationError where there is none.
    """
    if name.startswith(OVER_MCP):
        return _over_mcp(name.removeprefix(OVER_MCP).strip())
    module_name, _, function = name.partition(":")
    if not module_name or not function:
        hint = "write MODULE:FUNCTION, such as unacked.adapter.reference:call, or mcp:COMMAND"
        raise _refused(f"{name!r} names no adapter", hint)
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the module raises is a fault of the module
        told = f"module {module_name!r} cannot be imported: {type(error).__name__}: {error}"
        raise _refused(told, "modules are looked for in the current folder, too") from None
    adapter = getattr(module, function, None)
    if not callable(adapter):
        known = [known for known, value in vars(module).items() if callable(value) and not known.startswith("_")]
        raise _refused(f"module {module_name!r} has no function {function!r}", nearest(function, known))
    found: Adapter = adapter
    return found


def _over_mcp(command: str) -> Adapter:
    program = next(iter(shlex.split(command)), "")
    if shutil.which(program) is None:
        raise _refused(f"{program!r} is no program that could be started", "write mcp:COMMAND, such as mcp:./server.py")
    try:
        over_mcp: Any = importlib.import_module("unacked.adapter.mcp_tools")
    except ModuleNotFoundError:
        raise _refused("the MCP SDK is not installed", 'pip install "unacked[mcp]"') from None
    adapter: Adapter = over_mcp.by_process(command)
    return adapter


def _refused(message: str, hint: str) -> SpecificationError:
    return SpecificationError([Problem(Place("adapter"), message, hint)])


def wire_client(backend: httpcore2.NetworkBackend, timeout: float) -> httpx2.Client:
    """Return a client of httpx2 on a network backend: one attempt, no redirects unless they are asked for."""
    return httpx2.Client(transport=_Transport(backend), trust_env=False, timeout=timeout)


@cache
def _context() -> ssl.SSLContext:
    return ssl.create_default_context()


class _Transport(httpx2.HTTPTransport):
    """httpx2's own transport with its pool exchanged: the pool takes a network backend, the transport does not."""

    def __init__(self, backend: httpcore2.NetworkBackend) -> None:
        super().__init__(verify=_context(), trust_env=False)
        self._pool = httpcore2.ConnectionPool(ssl_context=_context(), network_backend=backend, retries=0)
