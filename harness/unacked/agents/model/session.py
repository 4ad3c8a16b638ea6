"""The conversation of one trial with a model: ask, read strictly, hand on the calls, append, repeat.

What the model got wrong is the agent's and goes on the record as ``agent_erred``. What the provider got wrong
raises ProviderError. Requests that were refused for now are sent again, each time on the record, within a
budget; what the agent saw is never changed by it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from unacked.agents.model.answer import Answer, Answered, Delivery, Dialect, Setup, Stop, WrittenCall, malformed
from unacked.agents.model.price import Spent, cost_usd, price_of, serves
from unacked.agents.protocol import BudgetSpentError, Call, PastTurn, ProviderError, Reply, Seat
from unacked.canonical import JSON, InvalidJSON, digest, dumps, loads
from unacked.case import AgentFile
from unacked.tools.endpoint import argument_problem

__all__ = ["Connection", "ModelSession"]

_MOST_PAUSES = 5


class Connection(Protocol):
    """One trial's connection to a provider, through its SDK; every request is one attempt on the wire.

    ``api_version`` is what the SDK asks for, where the API has versions.
    """

    api_version: str | None

    def send(self, body: Mapping[str, JSON]) -> Delivery:
        """Send a request and return its whole answer; raises ProviderError."""
        ...

    def stream(self, body: Mapping[str, JSON], gather: Callable[..., JSON]) -> Delivery:
        """Send a request, let ``gather`` put its events together, and return that; raises ProviderError."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...


class ModelSession:
    """One model at work on one task; the same for every provider."""

    def __init__(self, file: AgentFile, setup: Setup, dialect: Dialect, connection: Connection, seat: Seat) -> None:
        self._file, self._setup, self._seat = file, setup, seat
        self._dialect, self._connection = dialect, connection
        self._messages = dialect.opening(setup)
        self._recorded = 0
        self._pending: Sequence[WrittenCall] = ()
        self._turn = 0
        self._spent = Spent()
        self._began_s = time.monotonic()
        self._waited_s = 0.0
        self._tools = {tool.name: tool for tool in setup.tools}

    def close(self, results: Sequence[Mapping[str, JSON]] = ()) -> None:  # noqa: ARG002 - the model hears no more
        """Close the connection to the provider."""
        self._connection.close()

    def recall(self, past: Sequence[PastTurn]) -> None:
        """Go on after turns that this model is told it has made; none of them is asked for or recorded."""
        for turn in past:
            self._turn += 1
            calls = [
                WrittenCall(f"call-{self._turn}-{number}", call.operation, dict(call.arguments))
                for number, call in enumerate(turn.calls, start=1)
            ]
            self._messages += self._dialect.said(calls, turn.text)
            self._messages += self._dialect.results(_answered(calls, turn.results))

    def next(self, results: Sequence[Mapping[str, JSON]]) -> Reply:
        """Tell the results of the last reply's calls, and ask for the next reply."""
        if self._pending:
            self._messages += self._dialect.results(_answered(self._pending, results))
            self._pending = ()
        self._turn += 1
        for _ in range(_MOST_PAUSES):
            answer = self._ask()
            self._messages += answer.messages
            if answer.stop is not Stop.PAUSED:
                return self._reply(answer)
        raise self._failed(malformed(f"it paused {_MOST_PAUSES} times in one turn"))

    # One reply

    def _reply(self, answer: Answer) -> Reply:
        if answer.stop is Stop.CALLS and not answer.calls:
            raise self._failed(malformed("it stopped for calls and holds none"))
        if answer.stop is Stop.ENDED and answer.calls:
            raise self._failed(malformed("it holds calls and did not stop for them"))
        if answer.stop is Stop.TRUNCATED:
            self._erred("truncated", "the reply was cut by its limit of tokens; nothing in it was carried out")
        elif answer.stop is Stop.REFUSED:
            self._erred("refused", "the model refused to answer")
        elif answer.stop is Stop.ENDED and not answer.text:
            self._erred("empty_reply", "the reply holds neither text nor a call")
        if answer.stop is not Stop.CALLS:
            return Reply(text=answer.text)
        calls = [(call, made) for call in self._once_each(answer.calls) if (made := self._made(call))]
        self._pending = [call for call, _ in calls]
        return Reply([made for _, made in calls], answer.text)

    def _once_each(self, calls: Sequence[WrittenCall]) -> Sequence[WrittenCall]:
        seen: dict[str, WrittenCall] = {}
        for call in calls:
            if call.id in seen:
                self._erred("duplicate_call_id", f"two calls have the id {call.id!r}; only the first was carried out")
            else:
                seen[call.id] = call
        return list(seen.values())

    def _made(self, call: WrittenCall) -> Call:
        """A written call as one that can be made, or refused with a reason."""
        arguments: JSON = call.arguments
        problem = None
        if isinstance(arguments, str):
            try:
                arguments = loads(arguments)
            except InvalidJSON as error:
                arguments, problem = {}, f"the arguments are not JSON: {error}"
        if not isinstance(arguments, dict):
            arguments, problem = {}, "the arguments are not a JSON object"
        if call.name not in self._tools:
            self._erred("unknown_tool", f"there is no tool {call.name!r}")
        elif problem is None and (broken := argument_problem(self._tools[call.name], arguments)):
            self._erred("invalid_arguments", f"{call.name}: {broken}")
        elif problem is not None:
            self._erred("unreadable_arguments", f"{call.name}: {problem}")
        return Call(call.name, arguments, problem)

    def _erred(self, kind: str, told: str) -> None:
        self._seat.emit("agent_erred", detail={"turn": self._turn, "kind": kind, "told": told})

    # One request, as often as it takes

    def _ask(self) -> Answer:
        body = self._dialect.request(self._setup, self._messages, stream=self._file.stream)
        for attempt in range(1, self._file.retries.attempts + 1):
            self._check_budget()
            self._record_request(body, attempt)
            try:
                return self._answer(body, attempt)
            except ProviderError as error:
                reference = self._seat.diagnose({"kind": error.kind, "told": str(error), **error.raw})
                self._wait(error, attempt, reference)
        raise AssertionError("the last attempt raises")

    def _answer(self, body: Mapping[str, JSON], attempt: int) -> Answer:
        if self._file.stream:
            delivery = self._connection.stream(body, self._dialect.gather)
        else:
            delivery = self._connection.send(body)
        answer = self._dialect.read(delivery.body)
        usd = cost_usd(answer.usage, price_of(answer.served, self._file.price))
        self._spent = self._spent.plus(answer.usage, usd)
        detail: dict[str, JSON] = {
            "turn": self._turn,
            "attempt": attempt,
            "id": answer.id,
            "request_id": delivery.request_id,
            "requested": self._setup.model,
            "served": answer.served,
            "fingerprint": answer.fingerprint,
            "stop": answer.stop.value,
            "usage": answer.usage.as_json(),
            "raw_usage": answer.raw_usage,
            "usd": usd,
            "messages": list(answer.messages),
            **({} if answer.logprobs is None else {"logprobs": answer.logprobs}),
        }
        self._seat.emit("model_answered", detail=detail)
        wanted = self._file.serves or self._setup.model.rpartition("/")[2]
        if not serves(answer.served.rpartition("/")[2], wanted):
            raise ProviderError("wrong_model", f"the provider served {answer.served!r}, not {wanted!r}")
        return answer

    def _record_request(self, body: Mapping[str, JSON], attempt: int) -> None:
        """Record what is sent: the whole of the first request, and of each later one what was added."""
        detail: dict[str, JSON] = {"turn": self._turn, "attempt": attempt, "request": digest(body)}
        if attempt == 1:
            if not self._recorded:
                detail["api_version"] = self._connection.api_version
                detail["setup"] = {name: value for name, value in body.items() if name not in ("messages", "input")}
            detail["messages"] = self._messages[self._recorded :]
            self._recorded = len(self._messages)
        self._seat.emit("model_called", detail=detail)

    def _wait(self, error: ProviderError, attempt: int, reference: str) -> None:
        """Wait before the next attempt; raises the error where there is none."""
        retries = self._file.retries
        wait_s = min(error.retry_after_s or retries.first_wait_s * 2 ** (attempt - 1), retries.longest_wait_s)
        if not error.again or attempt == retries.attempts or self._waited_s + wait_s > retries.total_wait_s:
            raise self._failed(error)
        self._waited_s += wait_s
        self._seat.emit(
            "model_retried",
            diagnostics_ref=reference or None,
            detail={"turn": self._turn, "attempt": attempt, "kind": error.kind, "told": str(error), "wait_s": wait_s},
        )
        if self._seat.provider is None:  # a fake provider's time is not real
            time.sleep(wait_s)

    def _failed(self, error: ProviderError) -> ProviderError:
        self._seat.emit("model_failed", detail={"turn": self._turn, "kind": error.kind, "told": str(error)})
        return error

    def _check_budget(self) -> None:
        budget = self._file.budget
        spent: Mapping[str, tuple[float | None, float | None]] = {
            "tokens": (self._spent.tokens, budget.tokens),
            "US dollars": (self._spent.usd, budget.usd),
            "seconds of real time": (time.monotonic() - self._began_s, budget.wall_s),
        }
        for name, (used, allowed) in spent.items():
            if allowed is not None and used is not None and used >= allowed:
                raise BudgetSpentError(f"the agent's budget of {allowed:g} {name} is spent")
        if budget.usd is not None and self._spent.usd is None:
            raise BudgetSpentError("the agent has a budget in US dollars, and what it has spent is not known")


def _answered(calls: Sequence[WrittenCall], results: Sequence[Mapping[str, JSON]]) -> list[Answered]:
    """Return calls with their results: the whole result contract as text, whatever the provider."""
    return [Answered(call, dumps(dict(result)), not result["ok"]) for call, result in zip(calls, results, strict=True)]
