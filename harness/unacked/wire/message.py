"""What a fake service sees of a request, and what it answers; framing and faults are the wire's business."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from unacked.fault import Action
from unacked.rpc import place_of

__all__ = ["Handler", "Request", "Response"]


@dataclass(frozen=True, slots=True)
class Request:
    """One whole request; ``path`` is without the query, header names are lower case, both decoded as Latin-1."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def place(self) -> str:
        """The path, and behind a ``#`` what the head says besides: the method and tool of a JSON-RPC message."""
        return place_of(self.path, self.headers)

    @property
    def correlation_id(self) -> str | None:
        """The id under which the events of this request are recorded, as the service saw it."""
        return self.headers.get("x-correlation-id")


@dataclass(frozen=True, slots=True)
class Response:
    """One answer; the content length is added by the wire. ``committed``: this request changed durable state."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    committed: bool = False


class Handler(Protocol):
    """A fake service as the wire knows it."""

    @property
    def name(self) -> str:
        """The service's name in events, such as ``records``."""
        ...

    @property
    def operations(self) -> Collection[str]:
        """The names of everything that can be asked of it."""
        ...

    def operation_of(self, method: str, path: str) -> str | None:
        """Return the operation that a request means, None where no route matches; ``path`` is its ``place``."""
        ...

    def handle(self, request: Request, *, commit: bool = True) -> Response:
        """Answer one request; without ``commit`` the answer is byte-identical, but the state keeps no trace of it."""
        ...

    def disturb(self, action: Action, operation: str) -> None:
        """Change the service's own rules before the next request, as ``rate_limit`` or ``deny`` ask."""
        ...
