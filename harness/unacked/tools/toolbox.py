"""One trial's tools: checks the call, sends it once, classifies what came back, and puts it on the record.

Only a request that was refused because its token is over is sent a second time, after a refresh of the token.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from unacked.canonical import JSON
from unacked.contract import Operation
from unacked.errors import HarnessError
from unacked.event import Emit
from unacked.marker import Order
from unacked.outcome import CATEGORIES, Envelope, Retry
from unacked.tools.classify import Finding, classify, envelope
from unacked.tools.client import Exchange, ToolClient
from unacked.tools.endpoint import Endpoint, Shell, Tool, argument_problem
from unacked.tools.evidence import Evidence
from unacked.tools.gate import Answer, Gate, process_session
from unacked.tools.remote import RemoteClient, RemoteExchange, classify_remote, order_of
from unacked.tools.scan import Scan
from unacked.tools.token import REFRESH, TokenSource, is_over

__all__ = ["Aside", "Diagnose", "Toolbox"]

Aside = Callable[[str, str], AbstractContextManager[None]]
"""Announces a further request of a call: its operation and its id."""

Diagnose = Callable[[Mapping[str, JSON]], str]
"""Keeps a raw error out of everybody's sight and returns the reference under which it is kept."""


@dataclass(frozen=True, slots=True)
class _Request:
    """One request as it is sent, and sent again: the same names, and the same bytes but for the id of a message."""

    operation: Operation
    endpoint: Endpoint
    arguments: Mapping[str, JSON]
    url: str


class Toolbox:
    """The tools that a case offers, bound to one network and one credential.

    ``tools`` maps operation names to tools, only those that the case offers. ``source`` holds the bearer
    credential that requests carry, which is never part of a result. ``aside`` is told of every request that a
    tool makes beside the call's own: its operation and id, for as long as it lasts. ``session`` is to whom approvals
    belong: this process, unless it is said otherwise. Without ``evidence`` a destructive call is not asked for any:
    where one call stands alone, there can be none. ``remote`` carries the orders of tools that use a shell.
    """

    def __init__(
        self,
        tools: Mapping[str, Tool],
        client: ToolClient,
        *,
        source: TokenSource,
        emit: Emit,
        diagnose: Diagnose,
        aside: Aside = lambda *_: nullcontext(),
        evidence: Evidence | None = None,
        session: str | None = None,
        remote: RemoteClient | None = None,
    ) -> None:
        self.tools = tools
        self.source = source
        self._client = client
        self._emit = emit
        self._diagnose = diagnose
        self._aside = aside
        self._evidence = evidence
        self._remote = remote
        self._gate = Gate(client, emit, session or process_session())

    def call(self, name: str, arguments: Mapping[str, JSON], correlation_id: str) -> Envelope:
        """Make one call of an operation that leaves the harness; the result is on the record when this returns."""
        tool = self.tools[name]
        if tool.local:
            raise ValueError(f"{name} never leaves the harness; the trial itself answers it")
        problem = self._problem_of(tool, arguments, correlation_id)
        if problem is not None:
            refusal = refused_locally(tool.operation, problem, correlation_id)
            self.answer(refusal, rejected=True)
            return refusal
        if tool.at_gate:
            action = self.tools[str(arguments["action"])].operation
            asked = self._gate.request(action, arguments, correlation_id, self.source.tokens.access)
            return self._ended_at_gate(asked, tool.operation, correlation_id)
        if (lacking := self._lacking(tool, arguments)) is not None:
            refusal = envelope(lacking, tool.operation, correlation_id, settles=None)
            self.answer(refusal)
            return refusal
        if tool.approval is None:
            return self._sent(tool, arguments, correlation_id)
        permission = self._gate.use(tool, arguments, correlation_id, self.source.tokens.access)
        if permission.refusal is not None:
            return self._ended_at_gate(permission, tool.operation, correlation_id)
        result = self._sent(tool, arguments, correlation_id)
        if result.category == "local_failure":
            self._gate.give_back(permission, correlation_id, self.source.tokens.access)
        return result

    def _lacking(self, tool: Tool, arguments: Mapping[str, JSON]) -> Finding | None:
        """What the evidence seen so far lacks for a call that rests on a complete inventory."""
        needed = tool.endpoint is not None and tool.endpoint.needs_inventory
        return self._evidence.lacking(arguments) if self._evidence and needed else None

    def _problem_of(self, tool: Tool, arguments: Mapping[str, JSON], correlation_id: str) -> str | None:
        """What keeps a call from being made, in words fit for the agent."""
        problem = argument_problem(tool.operation, arguments)
        if problem is not None:
            return problem
        return self._approval_problem(arguments) if tool.at_gate else _problem(tool, arguments, correlation_id)

    def _approval_problem(self, asked: Mapping[str, JSON]) -> str | None:
        action = self.tools.get(str(asked["action"]))
        if action is None or not action.operation.writes:
            return "argument 'action' must name a tool of this task that changes something"
        problem = argument_problem(action.operation, asked["arguments"]) if asked.get("arguments") else None
        return None if problem is None else f"in argument 'arguments', {problem}"

    def _ended_at_gate(self, answer: Answer, operation: Operation, correlation_id: str) -> Envelope:
        """The result of a call that ends at the gate: an approval, or a refusal after which nothing was sent."""
        result = answer.envelope(operation, correlation_id)
        reference = self._kept(_told(answer.exchange), Finding(answer.category), operation.name, correlation_id)
        self.answer(result, diagnostics_ref=reference)
        return result

    def _sent(self, tool: Tool, arguments: Mapping[str, JSON], correlation_id: str) -> Envelope:
        """Send what a call asks for and put on the record what came of it."""
        operation = tool.operation
        if tool.shell is not None:
            finding, reference = self._order(operation, tool.shell, arguments, correlation_id)
        else:
            assert tool.endpoint is not None  # noqa: S101 - what is not local and no question to the gate has one
            finding, reference = self._asked(operation, tool.endpoint, arguments, correlation_id)
        if self._evidence is not None and finding.page is not None:
            self._evidence.learn(operation, arguments, finding.page)
        result = envelope(finding, operation, correlation_id, settles=self._settling(operation, arguments))
        self.answer(result, diagnostics_ref=reference)
        return result

    def _asked(
        self, operation: Operation, endpoint: Endpoint, arguments: Mapping[str, JSON], correlation_id: str
    ) -> tuple[Finding, str | None]:
        """Send one request, or follow the cursors of a scan, whose later pages each have an id of their own."""
        asked = dict(arguments)
        scan = Scan(endpoint.service, cap=endpoint.pages, deadline_s=arguments.get("deadline_s"))
        page_id = correlation_id
        while True:
            began_s = self._client.now()
            request = _Request(operation, endpoint, asked, endpoint.url(asked))
            finding, reference = self._carry_out(request, page_id)
            if endpoint.pages == 1:
                return finding, reference
            scan.take(finding, self._client.now() - began_s)
            if scan.cursor is None:
                return scan.finding(), reference
            page_id = f"{correlation_id}.{scan.pages + 1}"
            asked |= {"cursor": scan.cursor, "deadline_s": scan.left_s}

    def _order(
        self, operation: Operation, shell: Shell, arguments: Mapping[str, JSON], correlation_id: str
    ) -> tuple[Finding, str | None]:
        """Send a command to a host, once."""
        if self._remote is None:
            raise HarnessError(f"nothing carries the orders of {operation.name}")
        order = self._composed(arguments, correlation_id)
        detail = {"service": shell.service, "operation_id": order.operation_id}
        self._emit("request_constructed", id=correlation_id, operation=operation.name, detail=detail)
        self._emit("dispatch_started", id=correlation_id, operation=operation.name)
        exchange = self._remote(arguments["host"], order)
        if exchange.timed_out:
            self._timed_out(operation.name, correlation_id, exchange.stage.name, exchange.elapsed_s)
        finding = self._proven(exchange, order)
        return finding, self._kept(exchange.as_json(), finding, operation.name, correlation_id)

    def _composed(self, arguments: Mapping[str, JSON], correlation_id: str) -> Order:
        return order_of(arguments, correlation_id)

    def _proven(self, exchange: RemoteExchange, order: Order) -> Finding:
        return classify_remote(exchange, order)

    def _carry_out(self, request: _Request, correlation_id: str) -> tuple[Finding, str | None]:
        """Send a request; where the token is over, refresh it, once, and send the very same request again.

        A 401 is a definite refusal: nothing was done, so even a write may be sent once more. No other answer
        is, and a second 401 is final: whoever refreshes again would go round in circles.
        """
        operation = request.operation.name
        refreshed = self.source.is_stale(self._client.now())
        if refreshed and (refusal := self._refresh(correlation_id)) is not None:
            return refusal, None
        finding, exchange = self._attempt(request, correlation_id)
        if not is_over(exchange, finding) or not self.source.can_refresh:
            return finding, self._kept(_told(exchange), finding, operation, correlation_id)
        if not refreshed and self._refresh(correlation_id) is None:
            again = f"{correlation_id}.again"
            with self._aside(operation, again):
                finding, exchange = self._attempt(request, again)
            refreshed = True
        if refreshed and is_over(exchange, finding):
            self.source.let_go()
        return finding, self._kept(_told(exchange), finding, operation, correlation_id)

    def _attempt(self, request: _Request, correlation_id: str) -> tuple[Finding, Exchange]:
        """Send a request once, and find out what its answer proves."""
        content = request.endpoint.content(request.arguments, correlation_id)
        headers = {"authorization": f"Bearer {self.source.tokens.access}"} | request.endpoint.headers(request.arguments)
        key = request.arguments.get(request.operation.idempotency or "")
        if content:
            headers["content-type"] = "application/json"
        if key is not None:
            headers["idempotency-key"] = str(key)
        exchange = self._dispatch(request, headers, content, correlation_id)
        target = request.arguments.get(request.operation.target or "")
        return classify(exchange, request.operation, request.endpoint, correlation_id, target), exchange

    def _refresh(self, call_id: str) -> Finding | None:
        """Refresh the access token; returns what is to be said of the call where that did not work.

        The exchange is one of its own: with its own id, its own faults, and an event that tells what came of it.
        """
        if not self.source.can_refresh:
            return Finding("authentication_failed")
        operation, endpoint = REFRESH.operation, REFRESH.endpoint
        assert endpoint is not None  # noqa: S101 - it stands in the table
        correlation_id, asked_at_s = f"{call_id}.refresh", self._client.now()
        request = _Request(operation, endpoint, {}, endpoint.url({}))
        headers = {"content-type": "application/x-www-form-urlencoded"}
        with self._aside(operation.name, correlation_id):
            exchange = self._dispatch(request, headers, self.source.content(), correlation_id)
        finding = classify(exchange, operation, endpoint, correlation_id)
        means = self.source.learn(finding, asked_at_s)
        self._emit(
            "token_refreshed",
            id=correlation_id,
            operation=operation.name,
            category=finding.category,
            diagnostics_ref=self._kept(_told(exchange), finding, operation.name, correlation_id),
        )
        return None if means is None else Finding(means, retry_after_s=finding.retry_after_s)

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
            headers={"authorization": f"Bearer {self.source.tokens.access}", "x-correlation-id": correlation_id},
            content=b"",
        )
        return exchange.status == 200

    def _dispatch(self, request: _Request, headers: Mapping[str, str], content: bytes, correlation_id: str) -> Exchange:
        endpoint, operation = request.endpoint, request.operation.name
        self._emit(
            "request_constructed",
            id=correlation_id,
            operation=operation,
            detail={"service": endpoint.service, "method": endpoint.method, "path": endpoint.path},
        )
        self._emit("dispatch_started", id=correlation_id, operation=operation)
        exchange = self._client.send(
            endpoint.method,
            request.url,
            headers={**headers, "x-correlation-id": correlation_id},
            content=content,
        )
        if exchange.timed_out:
            self._timed_out(operation, correlation_id, exchange.phase.name, exchange.elapsed_s)
        return exchange

    def _timed_out(self, operation: str, correlation_id: str, phase: str, elapsed_s: float) -> None:
        detail = {"phase": phase.lower(), "elapsed_s": round(elapsed_s, 6)}
        self._emit("client_timeout", id=correlation_id, operation=operation, detail=detail)

    def _kept(self, told: Mapping[str, JSON], finding: Finding, operation: str, correlation_id: str) -> str | None:
        """Keep the raw answer, where it was no success; returns the reference under which it is kept."""
        if CATEGORIES[finding.category].outcome_class == "success":
            return None
        return self._diagnose(
            {
                "id": correlation_id,
                "operation": operation,
                "category": finding.category,
                **told,
                "failed_field": finding.failed_field,
                "expected": finding.expected,
                "timeouts_s": self._client.timeouts.as_json(),
            }
        )


def _told(exchange: Exchange) -> dict[str, JSON]:
    """An exchange as the diagnostics keep it."""
    body = exchange.body or b""
    return {
        "phase": exchange.phase.name.lower(),
        "sent_bytes": exchange.sent_bytes,
        "elapsed_s": round(exchange.elapsed_s, 6),
        "status": exchange.status,
        "headers": dict(exchange.headers or {}),
        "body": body[:4096].decode("utf-8", "backslashreplace"),
        "error": None if exchange.error is None else [type(exchange.error).__name__, str(exchange.error)],
    }


def _problem(tool: Tool, arguments: Mapping[str, JSON], correlation_id: str) -> str | None:
    """What keeps arguments of the right types from being sent, in words fit for the agent, or None."""
    if tool.shell is not None:
        return order_of(arguments, correlation_id).problem()
    return None if tool.endpoint is None else tool.endpoint.problem(arguments)


def refused_locally(operation: Operation, problem: str, correlation_id: str) -> Envelope:
    """The result of a call that breaks the tool's own contract: nothing was sent."""
    return Envelope(
        category="invalid_request",
        operation=operation.name,
        retry=Retry.NEVER,
        correlation_id=correlation_id,
        message=f"The tool refused the call: {problem}. Nothing was sent.",
    )
