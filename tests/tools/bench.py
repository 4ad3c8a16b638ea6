"""A toolbox on the simulated wire, with the whole record of what it did."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unacked.canonical import JSON, dumps
from unacked.clock import VirtualClock
from unacked.fault import Action, Fault, FaultPlan
from unacked.outcome import Envelope
from unacked.services import Service, Setting, load_service
from unacked.tools import TOOLS, Tokens, TokenSource, Toolbox
from unacked.tools.client import ToolClient
from unacked.wire import Request, Response, SimulatedNetwork
from unacked.wire.message import Handler

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "tok_9f2c61d7a0b4e8835cd1f6a7b2093e4d5c6f7a8b"


def records(clock: VirtualClock) -> Service:
    """The service ``records`` of this checkout, holding the record rec-0 of the request req-0."""
    modes = {name: tool.operation.idempotency_mode for name, tool in TOOLS.items()}
    seed = {"records": [{"record_id": "rec-0", "title": "beta", "request_id": "req-0"}]}
    return load_service(ROOT / "fake_services" / "records.py")(seed, Setting(clock, TOKEN, modes))


class Canned:
    """A service that gives the answers that a test has put there, and keeps what it was asked."""

    name = "records"
    operations: Collection[str] = ()

    def __init__(self) -> None:
        self.received: list[Request] = []
        self.answers: list[Response] = []

    def answer(self, status: int, body: Any, *headers: tuple[str, str], cid: str | None = None) -> None:
        """Put an answer there; without ``cid`` it echoes the id of the request that it will get."""
        raw = body if isinstance(body, bytes) else dumps(body).encode()
        echo = (("x-correlation-id", cid),) if cid is not None else ()
        self.answers.append(Response(status, raw, (*echo, *headers)))

    def operation_of(self, method: str, path: str) -> str | None:  # noqa: ARG002 - the wire's interface
        return None

    def handle(self, request: Request, *, commit: bool = True) -> Response:  # noqa: ARG002 - likewise
        self.received.append(request)
        answer = self.answers.pop(0)
        if any(name == "x-correlation-id" for name, _ in answer.headers):
            return answer
        echo = ("x-correlation-id", request.correlation_id or "")
        return Response(answer.status, answer.body, (*answer.headers, echo))

    def disturb(self, action: Action, operation: str) -> None:
        raise AssertionError((action, operation))


@dataclass
class Recorded:
    """One event as it was emitted."""

    event: str
    id: str | None
    operation: str | None
    category: str | None
    diagnostics_ref: str | None
    detail: Mapping[str, JSON] = field(default_factory=dict)


class Bench:
    """One trial's tools: everything real but the service, where a test wants to give the answers itself."""

    def __init__(
        self,
        client: ToolClient,
        build: Callable[[VirtualClock], Handler],
        faults: Sequence[Fault] = (),
        tools: Collection[str] = tuple(TOOLS),
        *,
        source: Callable[[], TokenSource] = lambda: TokenSource(Tokens(TOKEN)),
        others: Callable[[], Mapping[str, Handler]] = dict,
    ) -> None:
        self.clock, self.plan = VirtualClock(), FaultPlan(faults)
        handler = build(self.clock)
        self.events: list[Recorded] = []
        self.diagnostics: list[Mapping[str, JSON]] = []
        self.network = SimulatedNetwork(self.clock, {f"{handler.name}.test": handler, **others()}, self.plan, self.emit)
        self.client = client
        client.connect(self.network.backend, self.clock)
        self.toolbox = Toolbox(
            {name: TOOLS[name] for name in tools},
            client,
            source=source(),
            emit=self.emit,
            diagnose=self.diagnose,
            aside=self.plan.aside,
        )
        self._calls = 0

    def emit(
        self,
        event: str,
        *,
        id: str | None = None,  # noqa: A002 - the name that Emit has
        operation: str | None = None,
        category: str | None = None,
        diagnostics_ref: str | None = None,
        detail: Mapping[str, JSON] | None = None,
    ) -> None:
        self.events.append(Recorded(event, id, operation, category, diagnostics_ref, dict(detail or {})))

    def diagnose(self, entry: Mapping[str, JSON]) -> str:
        self.diagnostics.append(entry)
        return f"d{len(self.diagnostics)}"

    def call(self, operation: str, **arguments: JSON) -> Envelope:
        """Make one call as the trial does; ids are cid-1, cid-2 and so on."""
        self._calls += 1
        self.plan.begin_call(operation, f"cid-{self._calls}")
        try:
            return self.toolbox.call(operation, arguments, f"cid-{self._calls}")
        finally:
            self.plan.end_call()

    def named(self, *names: str) -> list[Recorded]:
        return [event for event in self.events if event.event in names]
