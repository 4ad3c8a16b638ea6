"""A caller for the fake services of this checkout."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unacked.clock import VirtualClock
from unacked.contract import Idempotency
from unacked.services import Service, Setting, load_service
from unacked.wire.message import Request, Response

FOLDER = Path(__file__).parents[2] / "fake_services"


class Caller:
    """Sends requests with the headers that the tools send; answers are (status, body)."""

    clock: VirtualClock
    """The clock of the service, where ``start`` began it."""

    def __init__(self, service: Service) -> None:
        self.service = service

    def raw(self, method: str, target: str, body: Any = None, *, commit: bool = True) -> Response:
        path, _, query = target.partition("?")
        headers = {"authorization": "Bearer tok", "x-correlation-id": "c-1", "idempotency-key": f"{target} {body}"}
        encoded = b"" if body is None else json.dumps(body).encode()
        return self.service.handle(Request(method, path, query, headers, encoded), commit=commit)

    def __call__(self, method: str, target: str, body: Any = None) -> tuple[int, Any]:
        response = self.raw(method, target, body)
        return response.status, json.loads(response.body)


@pytest.fixture
def start() -> Callable[..., Caller]:
    def start(name: str, seed: dict[str, Any], **modes: Idempotency) -> Caller:
        setting = Setting(clock=(clock := VirtualClock()), token="tok", idempotency=modes)
        caller = Caller(load_service(FOLDER / f"{name}.py")(seed, setting))
        caller.clock = clock
        return caller

    return start
