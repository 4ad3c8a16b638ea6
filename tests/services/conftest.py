"""A minimal service, and a caller that speaks to it as a tool would."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from unacked.canonical import JSON
from unacked.clock import VirtualClock
from unacked.contract import Idempotency
from unacked.services import Call, Field, RefusedError, Result, Route, Service, Setting
from unacked.wire.message import Request, Response


class Jars(Service):
    """Jars have a label; a label 'broken' is refused by the action itself."""

    name = "jars"

    def fill(self, call: Call) -> Result:
        if call.fields["label"] == "broken":
            raise RefusedError(422, "broken_jar")
        jar_id = self.ids.new("jar", self.state)
        self.state[jar_id] = {"label": call.fields["label"], "lids": []}
        return Result(201, {"jar_id": jar_id}, committed=True)

    def close(self, call: Call) -> Result:
        self.state[call.path["jar_id"]]["lids"].append("lid")
        return Result(200, {"lids": len(self.state[call.path["jar_id"]]["lids"])}, committed=True)

    def find(self, call: Call) -> Result:
        return Result(200, {"label": call.fields["label"]})

    def summary(self) -> dict[str, JSON]:
        return {"jars": len(self.state), "lids": sum(len(jar["lids"]) for jar in self.state.values())}

    routes = (
        Route(
            "fill_jar",
            "POST",
            "/v1/jars",
            fill,
            fields={"label": Field(), "size": Field((dict,), required=False), "request_id": Field(required=False)},
            keyed=True,
        ),
        Route("find_jar", "GET", "/v1/jars", find, fields={"label": Field()}),
        Route("close_jar", "POST", "/v1/jars/{jar_id}/lids", close),
    )


class Caller:
    """Sends requests with the headers that the tools send."""

    def __init__(self, service: Service, clock: VirtualClock) -> None:
        self.service = service
        self.clock = clock

    def send(
        self,
        method: str,
        path: str,
        *,
        query: str = "",
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        commit: bool = True,
    ) -> Response:
        sent = {"authorization": "Bearer tok", "x-correlation-id": "c-1", **(headers or {})}
        return self.service.handle(Request(method, path, query, sent, body), commit=commit)

    def fill(
        self, label: str = "plum", *, key: str | None = None, commit: bool = True, request_id: str = "req-1"
    ) -> tuple[int, Any]:
        headers = {} if key is None else {"idempotency-key": key}
        body = json.dumps({"label": label, "request_id": request_id}).encode()
        response = self.send("POST", "/v1/jars", body=body, headers=headers, commit=commit)
        return response.status, json.loads(response.body)


@pytest.fixture
def caller() -> Callable[..., Caller]:
    def build(mode: Idempotency = Idempotency.NONE) -> Caller:
        clock = VirtualClock()
        setting = Setting(clock=clock, token="tok", idempotency={"fill_jar": mode})
        return Caller(Jars(setting, {}), clock)

    return build


@pytest.fixture
def jars(caller: Callable[..., Caller]) -> Caller:
    return caller()
