"""One trial's tools: checks the call, sends it once, classifies what came back, and puts it on the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from unacked.canonical import JSON
from unacked.contract import Operation
from unacked.event import Emit
from unacked.outcome import CATEGORIES, Envelope, Retry
from unacked.tools.classify import Finding, classify, envelope
from unacked.tools.client import Exchange, ToolClient
from unacked.tools.endpoint import Endpoint, Tool, argument_problem

__all__ = ["Diagnose", "Toolbox"]

Diagnose = Callable[[Mapping[str, JSON]], str]
"""Keeps a raw error out of everybody's sight and returns the reference under which it is kept."""


class Toolbox:
    """The tools that a case offers, bound to one network and one credential.

    ``tools`` maps operation names to tools, only those that the case offers. ``token`` is the bearer
    credential that requests carry; it may be exchanged between calls and is never part of a result.
    """

    def __init__(
        self, tools: Mapping[str, Tool], client: ToolClient, *, token: str, emit: Emit, diagnose: Diagnose
    ) -> None:
        self.tools = tools
        self.token = token
        self._client = client
        self._emit = emit
        self._diagnose = diagnose

    def call(self, name: str, arguments: Mapping[str, JSON], correlation_id: str) -> Envelope:
        """Make one call of an operation that has an endpoint; the result is on the record when this returns."""
        tool = self.tools[name]
        operation, endpoint = tool.operation, tool.endpoint
        if endpoint is None:
            raise ValueError(f"{name} has no endpoint; the trial itself answers it")
        problem = argument_problem(operation, arguments) or endpoint.problem(arguments)
        if problem is not None:
            refusal = refused_locally(operation, problem, correlation_id)
            self.answer(refusal, rejected=True)
            return refusal
        self._emit(
            "request_constructed",
            id=correlation_id,
            operation=name,
            detail={"service": endpoint.service, "method": endpoint.method, "path": endpoint.path},
        )
        exchange = self._dispatch(operation, endpoint, arguments, correlation_id)
        finding = classify(exchange, operation, endpoint, correlation_id, arguments.get(operation.target or ""))
        result = envelope(finding, operation, correlation_id, settles=self._settling(operation, arguments))
        reference = None
        if CATEGORIES[finding.category].outcome_class != "success":
            reference = self._diagnose(self._diagnostics(exchange, finding, operation, correlation_id))
        self.answer(result, diagnostics_ref=reference)
        return result

    def _settling(self, operation: Operation, arguments: Mapping[str, JSON]) -> str | None:
        """The operation that finds out what became of a call: its lookup, else the same call under an honoured key."""
        if operation.reconcile in self.tools:
            return operation.reconcile
        has_key = operation.idempotency is not None and arguments.get(operation.idempotency) is not None
        return operation.name if has_key and operation.idempotency_mode.honoured else None

    def answer(self, result: Envelope, *, diagnostics_ref: str | None = None, rejected: bool = False) -> None:
        """Put a result on the record exactly as the agent will see it.

        ``rejected`` marks a call that broke the tool's own contract, so that nothing was done at all.
        """
        detail: dict[str, JSON] = {"envelope": result.as_json()}
        if rejected:
            detail["rejected"] = True
        self._emit(
            "result",
            id=result.correlation_id,
            operation=result.operation,
            category=result.category,
            diagnostics_ref=diagnostics_ref,
            detail=detail,
        )

    def sign_in(self, endpoint_host: str, correlation_id: str) -> bool:
        """Use the credential once before the task begins; returns whether the service accepted it."""
        exchange = self._client.send(
            "GET",
            f"https://{endpoint_host}/v1/session",
            headers={"authorization": f"Bearer {self.token}", "x-correlation-id": correlation_id},
            content=b"",
        )
        return exchange.status == 200

    def _dispatch(
        self, operation: Operation, endpoint: Endpoint, arguments: Mapping[str, JSON], correlation_id: str
    ) -> Exchange:
        headers = {"authorization": f"Bearer {self.token}", "x-correlation-id": correlation_id}
        content = endpoint.content(arguments)
        if content:
            headers["content-type"] = "application/json"
        key = arguments.get(operation.idempotency or "")
        if key is not None:
            headers["idempotency-key"] = str(key)
        self._emit("dispatch_started", id=correlation_id, operation=operation.name)
        exchange = self._client.send(endpoint.method, endpoint.url(arguments), headers=headers, content=content)
        if exchange.timed_out:
            self._emit(
                "client_timeout",
                id=correlation_id,
                operation=operation.name,
                detail={"phase": exchange.phase.name.lower(), "elapsed_s": round(exchange.elapsed_s, 6)},
            )
        return exchange

    def _diagnostics(
        self, exchange: Exchange, finding: Finding, operation: Operation, correlation_id: str
    ) -> dict[str, JSON]:
        body = exchange.body or b""
        return {
            "id": correlation_id,
            "operation": operation.name,
            "category": finding.category,
            "phase": exchange.phase.name.lower(),
            "sent_bytes": exchange.sent_bytes,
            "elapsed_s": round(exchange.elapsed_s, 6),
            "status": exchange.status,
            "headers": dict(exchange.headers or {}),
            "body": body[:4096].decode("utf-8", "backslashreplace"),
            "error": None if exchange.error is None else [type(exchange.error).__name__, str(exchange.error)],
            "failed_field": finding.failed_field,
            "expected": finding.expected,
            "timeouts_s": self._client.timeouts.as_json(),
        }


def refused_locally(operation: Operation, problem: str, correlation_id: str) -> Envelope:
    """The result of a call that breaks the tool's own contract: nothing was sent."""
    return Envelope(
        category="invalid_request",
        operation=operation.name,
        retry=Retry.NEVER,
        correlation_id=correlation_id,
        message=f"The tool refused the call: {problem}. Nothing was sent.",
    )
