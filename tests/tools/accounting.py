"""A directory without a wire: the tools' own code over the fake service, and whoever tampers with its pages between."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from unacked.canonical import JSON
from unacked.clock import VirtualClock
from unacked.outcome import Envelope
from unacked.services import Setting, load_service
from unacked.tools import TOOLS, Evidence, Timeouts, Tokens, TokenSource, Toolbox
from unacked.tools.client import Exchange, Phase, ToolClient
from unacked.wire import Request

DIRECTORY = Path(__file__).parents[2] / "fake_services" / "directory.py"
Tamper = Callable[[int, dict[str, Any]], None]
"""Is told the number of a page, 1-based, and may change its body before the tool sees it."""
Change = Callable[[int, Any], None]
"""Is told the number of the page that is about to be asked for, and may change the service's world."""


class Shelf:
    """The tools on one directory; ``pages`` counts its answers."""

    def __init__(self, seed: Mapping[str, JSON], *, change: Change | None = None, tamper: Tamper | None = None) -> None:
        self.clock = VirtualClock()
        self.service: Any = load_service(DIRECTORY)(seed, Setting(self.clock, "tok"))
        self.events: list[str] = []
        self.evidence = Evidence()
        self.pages = 0
        self._calls = 0
        self._change, self._tamper = change, tamper
        self._toolbox = Toolbox(
            TOOLS,
            _NoWire(self),
            source=TokenSource(Tokens("tok")),
            emit=lambda event, **_: self.events.append(event),
            diagnose=lambda _: "d1",
            evidence=self.evidence,
        )

    def call(self, operation: str, **arguments: JSON) -> Envelope:
        """Make one call."""
        self._calls += 1
        return self._toolbox.call(operation, arguments, f"c-{self._calls}")

    def answer(self, request: Request) -> Exchange:
        """Let the service answer one request."""
        self.pages += 1
        self.clock.advance(0.5)
        if self._change is not None:
            self._change(self.pages, self.service)
        response = self.service.handle(request)
        content = response.body
        if self._tamper is not None and response.status == 200:
            body = json.loads(content)
            self._tamper(self.pages, body)
            content = json.dumps(body).encode()
        return Exchange(Phase.COMPLETE, 1, 0.5, response.status, dict(response.headers), content)

    def held(self, snapshot: JSON) -> set[str]:
        """The ids that a snapshot of the service holds."""
        return {row["id"] for row in self.service.state["snapshots"][snapshot]["rows"]}

    def standing(self, scope: str, kind: str = "account") -> set[str]:
        """The ids of everything in a scope now, whoever may see it."""
        rows = self.service.state["rows"].values()
        return {row["id"] for row in rows if (row["scope"], row["kind"], row["archived"]) == (scope, kind, False)}


class _NoWire(ToolClient):
    """The tools' client with the wire cut out."""

    def __init__(self, shelf: Shelf) -> None:
        self.timeouts = Timeouts()
        self._shelf = shelf

    def now(self) -> float:
        return self._shelf.clock.now()

    def send(self, method: str, url: str, *, headers: Mapping[str, str], content: bytes) -> Exchange:
        path, _, query = url.removeprefix("https://directory.test").partition("?")
        return self._shelf.answer(Request(method, path, query, dict(headers), content))
