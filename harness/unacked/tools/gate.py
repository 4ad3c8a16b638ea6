"""The tools' side of the approval gate: nothing is sent before it lets the call through.

It fails closed. Whatever is no usable approval is a refusal: an answer that breaks off, a gate that cannot be
reached, an approval of somebody else's question.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from unacked.approval import REFUSALS, Lasts
from unacked.canonical import JSON, InvalidJSON, dumps, loads
from unacked.contract import Argument, Effect, Operation
from unacked.event import Emit
from unacked.outcome import CATEGORIES, Envelope
from unacked.tools.client import Exchange, Phase, ToolClient
from unacked.tools.endpoint import Tool

__all__ = ["GATE_HOST", "TOOLS", "Answer", "Gate", "process_session"]

GATE_HOST = "gate.test"
_NONCE = secrets.token_hex(16)

TOOLS = (
    Tool(
        Operation(
            name="request_approval",
            effect=Effect.CONTROL,
            description="Ask a person to approve one action before you take it. Show what is missing and what else "
            "could be done.",
            arguments=(
                Argument("action", description="The tool that you want to call."),
                Argument("target", description="What it would act on."),
                Argument("reasons", "array", required=False, description="Why the evidence is incomplete, if it is."),
                Argument("scope", required=False, description="The scope that was looked at."),
                Argument("options", "array", required=False, description="The ways out besides yes and no."),
                Argument("returned", "integer", required=False, description="How many items were returned."),
                Argument("targets", "array", required=False, description="Everything that would be changed."),
                Argument(
                    "arguments",
                    "object",
                    required=False,
                    description="The arguments of the call, where it takes more than its target.",
                ),
                Argument("lasts", required=False, choices=tuple(Lasts), description="Default: for one call."),
            ),
            result=(
                Argument("approval_id"),
                Argument("action"),
                Argument("lasts", choices=tuple(Lasts)),
                Argument("narrower", "boolean", description="Whether less was approved than was asked for."),
            ),
            categories=frozenset({"approved", "declined", "locked"}),
            target="target",
            target_class="approval",
        ),
        at_gate=True,
    ),
)


def process_session() -> str:
    """Name the session of this process: no other process has the same, a forked one neither."""
    return f"ses-{os.getpid()}-{_NONCE}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the gate said: ``refusal`` is None where it let the call through. ``prompted``: a person was asked."""

    exchange: Exchange
    refusal: str | None
    approved: Mapping[str, JSON] = field(default_factory=dict)
    prompted: bool = False

    @property
    def category(self) -> str:
        """The category of a result that ends here."""
        return "approved" if self.refusal is None else REFUSALS[self.refusal].category

    @classmethod
    def of(cls, exchange: Exchange, action: str, correlation_id: str) -> Answer:
        """Read the gate's answer to a question about ``action``; anything but an approval of it, in full, is none."""
        body = _body(exchange, correlation_id)
        prompted = body.get("prompted") is True
        is_ours = body.get("correlation_id") == correlation_id and body.get("action") == action
        if exchange.status == 200 and is_ours and _is_approval(body):
            return cls(exchange, None, {name: body[name] for name in _APPROVED}, prompted)
        code = body.get("error")
        if exchange.status in (403, 423) and isinstance(code, str) and code in REFUSALS:
            return cls(exchange, code, prompted=prompted)
        return cls(exchange, "gate_unusable")

    def envelope(self, operation: Operation, correlation_id: str) -> Envelope:
        """Return the result of a call that ends at the gate."""
        message = CATEGORIES["approved"].message if self.refusal is None else REFUSALS[self.refusal].message
        return Envelope(
            category=self.category,
            operation=operation.name,
            retry=CATEGORIES[self.category].retry_write,
            correlation_id=correlation_id,
            message=message,
            result=self.approved,
            refusal=self.refusal,
        )


_APPROVED = ("approval_id", "action", "lasts", "narrower")
_SHOWN = ("reasons", "scope", "options", "returned", "targets")


def _body(exchange: Exchange, correlation_id: str) -> Mapping[str, JSON]:
    headers = exchange.headers or {}
    if exchange.phase is not Phase.COMPLETE or headers.get("x-correlation-id") != correlation_id:
        return {}
    try:
        body = loads(exchange.body or b"")
    except InvalidJSON:
        return {}
    return body if isinstance(body, dict) else {}


def _is_approval(body: Mapping[str, JSON]) -> bool:
    approval_id = body.get("approval_id")
    has_id = isinstance(approval_id, str) and approval_id != "" and "error" not in body
    return has_id and body.get("lasts") in list(Lasts) and isinstance(body.get("narrower"), bool)


class Gate:
    """The gate as one process sees it: every approval belongs to its session, which ends with it."""

    def __init__(self, client: ToolClient, emit: Emit, session: str) -> None:
        self._client = client
        self._emit = emit
        self._session = session

    def request(self, action: Operation, asked: Mapping[str, JSON], correlation_id: str, token: str) -> Answer:
        """Ask a person in advance to approve one action, and show them what the agent wants shown."""
        arguments = asked.get("arguments") or ({action.target: asked["target"]} if action.target else {})
        shown = {name: asked[name] for name in _SHOWN if asked.get(name) is not None}
        body = {**self._asked(action, arguments, asked.get("lasts") or Lasts.CALL.value), **shown}
        self._emit("dispatch_started", id=correlation_id, operation="request_approval")
        exchange = self._send("POST", "/v1/approvals", body, correlation_id, token)
        answer = Answer.of(exchange, action.name, correlation_id)
        return self._told(answer, body, "request_approval", correlation_id)

    def use(self, tool: Tool, arguments: Mapping[str, JSON], correlation_id: str, token: str) -> Answer:
        """Ask whether one call may be sent, as the last thing before it is; that uses its approval up."""
        assert tool.approval is not None  # noqa: S101 - other tools ask nobody
        body = self._asked(tool.operation, arguments, tool.approval.value)
        if arguments.get("approval_id") is not None:
            body["approval_id"] = arguments["approval_id"]
        own_id = self._own_id("gate", "use_approval", correlation_id)
        answer = Answer.of(self._send("POST", "/v1/uses", body, own_id, token), tool.operation.name, own_id)
        return self._told(answer, body, tool.operation.name, correlation_id)

    def give_back(self, used: Answer, correlation_id: str, token: str) -> None:
        """Give back the use of an approval whose call was never sent."""
        own_id = self._own_id("back", "give_back_approval", correlation_id)
        self._send("DELETE", f"/v1/uses/{used.approved['approval_id']}", {"session": self._session}, own_id, token)

    def _own_id(self, suffix: str, operation: str, correlation_id: str) -> str:
        """Name a question of the tool's own, so that the gate's ledger and the service's hold different ids."""
        own_id = f"{correlation_id}.{suffix}"
        self._emit("gate_asked", id=own_id, operation=operation)
        return own_id

    def _asked(self, operation: Operation, arguments: Mapping[str, JSON], lasts: str) -> dict[str, JSON]:
        payload = {name: value for name, value in operation.payload(arguments).items() if name != "approval_id"}
        asked = {"session": self._session, "action": operation.name, "arguments": payload, "lasts": lasts}
        return asked if operation.target is None else {**asked, "target": arguments.get(operation.target)}

    def _told(self, answer: Answer, asked: Mapping[str, JSON], operation: str, correlation_id: str) -> Answer:
        """Put on the record what a person was shown, if one was asked, and what the gate said of the call."""
        decision: dict[str, JSON] = {"decision": answer.refusal or "approved", **answer.approved}
        if answer.prompted:
            shown = {name: value for name, value in asked.items() if name != "session"}
            self._emit("approval_requested", id=correlation_id, operation=operation, detail=shown)
            self._emit("approval_decided", id=correlation_id, operation=operation, detail=decision)
        self._emit("gate_answered", id=correlation_id, operation=operation, detail=decision)
        return answer

    def _send(self, method: str, path: str, body: Mapping[str, JSON], correlation_id: str, token: str) -> Exchange:
        headers = {
            "authorization": f"Bearer {token}",
            "x-correlation-id": correlation_id,
            "content-type": "application/json",
        }
        return self._client.send(method, f"https://{GATE_HOST}{path}", headers=headers, content=dumps(body).encode())
