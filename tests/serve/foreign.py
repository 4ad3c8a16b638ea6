"""Services that speak as stripe, SQS and GitHub do, as far as one call of their own SDKs needs it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import md5
from urllib.parse import parse_qs

from unacked.canonical import JSON
from unacked.contract import Idempotency
from unacked.serve.offer import Offer
from unacked.services import Call, Field, Result, Route, Service, Setting
from unacked.wire.message import Request, Response

__all__ = ["OFFER"]


class Charges(Service):
    """Takes a form, as stripe sends it; keys are honoured."""

    name = "charges"

    def handle(self, request: Request, *, commit: bool = True) -> Response:
        given = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
        return super().handle(replace(request, body=json.dumps(given).encode()), commit=commit)

    def charge(self, call: Call) -> Result:
        self.state["made"].append(self.ids.new("ch"))
        made = self.state["made"][-1]
        return Result(200, {"id": made, "object": "charge", "amount": int(str(call.fields["amount"]))}, committed=True)

    def summary(self) -> dict[str, JSON]:
        return {"charges": len(self.state["made"])}

    routes = (
        Route("charge", "POST", "/v1/charges", charge, fields={"amount": Field(), "currency": Field()}, keyed=True),
    )


class Queue(Service):
    """Takes a message in the JSON protocol of SQS; who signed it, is not looked at."""

    name = "queue"

    def __init__(self, setting: Setting, state: dict[str, list[str]]) -> None:
        super().__init__(setting, state)
        self._authorization = f"Bearer {setting.token}"

    def handle(self, request: Request, *, commit: bool = True) -> Response:
        signed = {**request.headers, "authorization": self._authorization}
        return super().handle(replace(request, headers=signed), commit=commit)

    def send_message(self, call: Call) -> Result:
        self.state["sent"].append(self.ids.new("m"))
        body = str(call.fields["MessageBody"])
        digest = md5(body.encode(), usedforsecurity=False).hexdigest()
        return Result(200, {"MessageId": self.state["sent"][-1], "MD5OfMessageBody": digest}, committed=True)

    def summary(self) -> dict[str, JSON]:
        return {"messages": len(self.state["sent"])}

    routes = (Route("send_message", "POST", "/", send_message, fields={"QueueUrl": Field(), "MessageBody": Field()}),)


class Hub(Service):
    """Opens issues for whoever brings a token, as GitHub calls it."""

    name = "hub"

    def handle(self, request: Request, *, commit: bool = True) -> Response:
        scheme, _, token = request.headers["authorization"].partition(" ")
        assert scheme == "token"
        return super().handle(
            replace(request, headers={**request.headers, "authorization": f"Bearer {token}"}), commit=commit
        )

    def open_issue(self, call: Call) -> Result:
        self.state["opened"].append(call.fields["title"])
        return Result(201, {"number": len(self.state["opened"]), "title": call.fields["title"]}, committed=True)

    def summary(self) -> dict[str, JSON]:
        return {"issues": len(self.state["opened"])}

    routes = (Route("open_issue", "POST", "/repos/o/r/issues", open_issue, fields={"title": Field()}),)


def _charges(_: Mapping[str, JSON], setting: Setting) -> Service:
    return Charges(setting, {"made": []})


def _queue(_: Mapping[str, JSON], setting: Setting) -> Service:
    return Queue(setting, {"sent": []})


def _hub(_: Mapping[str, JSON], setting: Setting) -> Service:
    return Hub(setting, {"opened": []})


OFFER = Offer({"charges": _charges, "queue": _queue, "hub": _hub}, idempotency={"charge": Idempotency.REPLAY_SUCCESS})
