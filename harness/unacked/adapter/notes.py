"""The record of one call under test, kept in memory; and what is watched while it is made."""

from __future__ import annotations

import contextlib
import io
import logging
import ssl
import traceback
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import httpcore2

from unacked.canonical import JSON, InvalidJSON, loads
from unacked.clock import Clock
from unacked.completeness import BrokenPage, Page, read_page
from unacked.errors import HarnessError
from unacked.event import Event, History
from unacked.fault import Action
from unacked.services import Service
from unacked.tools import TOOLS
from unacked.wire import Request, Response

__all__ = ["Hung", "Notes", "Sayings", "WatchedBackend", "Witness", "listening"]


class Notes:
    """Events in order; an id keeps the operation that it began with."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._events: list[Event] = []
        self._operations: dict[str, str] = {}

    def emit(
        self,
        event: str,
        *,
        id: str | None = None,  # noqa: A002 - the field's name in the record
        operation: str | None = None,
        category: str | None = None,
        diagnostics_ref: str | None = None,
        detail: Mapping[str, JSON] | None = None,
    ) -> None:
        """Record ``event`` now."""
        if id is not None:
            operation = self._operations.setdefault(id, operation) if operation else self._operations.get(id)
        self._events.append(
            Event(self._clock.now(), event, id, operation, None, category, diagnostics_ref, detail or {})
        )

    def history(self) -> History:
        """Return the events so far."""
        return History(self._events)


class Witness:
    """A service that remembers which identities its answers named, and whose credentials it was shown."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.name, self.operations, self.host = service.name, service.operations, service.host
        self.worked_as: set[str] = set()
        self._answers: list[tuple[str | None, bytes]] = []

    def operation_of(self, method: str, path: str) -> str | None:
        """Return the operation that a request means."""
        return self.service.operation_of(method, path)

    def handle(self, request: Request, *, commit: bool = True) -> Response:
        """Let the service answer."""
        standing = self.service.credentials.standing(request.headers.get("authorization"))
        if standing is not None:
            self.worked_as.add(standing.identity)
        response = self.service.handle(request, commit=commit)
        self._answers.append((self.operation_of(request.method, request.place), response.body))
        return response

    def disturb(self, action: Action, operation: str) -> None:
        """Let the service change its rules."""
        self.service.disturb(action, operation)

    def named(self, operation: str, field: str) -> set[JSON]:
        """Return what the service's own answers to ``operation`` had in ``field``."""
        endpoint = TOOLS[operation].endpoint
        within = () if endpoint is None else endpoint.within
        bodies = [_body(body, *within) for answered, body in self._answers if answered == operation]
        rows = [row for body in bodies for row in (body, *body.get("items", ())) if isinstance(row, dict)]
        return {row[field] for row in rows if isinstance(row.get(field), str)}

    def pages(self, operation: str) -> list[Page]:
        """Return the usable pages of a collection that the service answered with, in order."""
        found = []
        for answered, body in self._answers:
            if answered == operation:
                with contextlib.suppress(BrokenPage):
                    found.append(read_page(_body(body)))
        return found


def _body(text: bytes, *within: str) -> dict[str, JSON]:
    with contextlib.suppress(InvalidJSON):
        body = loads(text)
        for step in within:
            body = body.get(step) if isinstance(body, dict) else None
        if isinstance(body, dict):
            return body
    return {}


class Hung(BaseException):
    """The call would never have ended; no Exception, lest an adapter takes it for trouble on the network."""


class WatchedBackend(httpcore2.NetworkBackend):
    """A network backend that ends calls which would last for ever; ``hung`` says that it had to."""

    def __init__(self, inner: httpcore2.NetworkBackend, clock: Clock, patience_s: float) -> None:
        self._inner, self._clock = inner, clock
        self._until_s = clock.now() + patience_s
        self.hung = False
        self._opened: list[httpcore2.NetworkStream] = []

    def close(self) -> None:
        """Close every connection that is still open, whoever forgot it."""
        for stream in self._opened:
            stream.close()

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Pass one step on the wire on, unless the call's time is over."""
        if self._clock.now() > self._until_s:
            self.hung = True
            raise Hung
        try:
            yield
        except HarnessError as error:
            if "without a timeout" not in str(error):
                raise
            self.hung = True
            raise Hung from None

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """Open a connection."""
        with self.watched():
            stream = self._inner.connect_tcp(host, port, timeout, local_address, socket_options)
        self._opened.append(stream)
        return _WatchedStream(stream, self)

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        with self.watched():
            self._inner.sleep(seconds)


class _WatchedStream(httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream, backend: WatchedBackend) -> None:
        self._inner, self._backend = inner, backend

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with self._backend.watched():
            return self._inner.read(max_bytes, timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        with self._backend.watched():
            self._inner.write(buffer, timeout)

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        with self._backend.watched():
            return _WatchedStream(self._inner.start_tls(ssl_context, server_hostname, timeout), self._backend)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class Sayings(logging.Handler):
    """What tool code says beside its result: to standard output and error, and to any logger."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.printed = io.StringIO()
        self.logged: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one log record, with the traceback that it brings."""
        self.logged.append(record.getMessage())
        if record.exc_info:
            self.logged.append("".join(traceback.format_exception(*record.exc_info)))


@contextlib.contextmanager
def listening() -> Iterator[Sayings]:
    """Keep what is said, instead of showing it, for the length of a block."""
    said, root = Sayings(), logging.getLogger()
    level = root.level
    root.addHandler(said)
    root.setLevel(min(level, logging.INFO))
    try:
        with contextlib.redirect_stdout(said.printed), contextlib.redirect_stderr(said.printed):
            yield said
    finally:
        root.setLevel(level)
        root.removeHandler(said)
