"""What every API of a model means alike: calls as they were written, why the reply stopped, and what it used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Protocol

from unacked.agents.protocol import ProviderError
from unacked.canonical import JSON
from unacked.contract import Operation

__all__ = ["Answer", "Answered", "Delivery", "Dialect", "Setup", "Stop", "Usage", "WrittenCall", "malformed", "member"]


class Stop(StrEnum):
    """Why a reply ended."""

    CALLS = "calls"
    ENDED = "ended"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    PAUSED = "paused"


@dataclass(frozen=True, slots=True)
class Setup:
    """What stays the same in every request of one trial; ``tools`` are the contracts that the case offers."""

    model: str
    prompt: str
    task: str
    tools: Sequence[Operation]
    parameters: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call as the model wrote it: ``arguments`` is JSON text, or a value where the API has no text for it."""

    id: str
    name: str
    arguments: JSON


@dataclass(frozen=True, slots=True)
class Answered:
    """A written call and the text of its result; ``failed``: the result is no success."""

    call: WrittenCall
    text: str
    failed: bool


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one reply; None is unknown. Cached and written ones are part of the input, thinking of the output."""

    input_tokens: int
    output_tokens: int
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None

    def as_json(self) -> dict[str, JSON]:
        """Return the counts by name."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Answer:
    """One reply of a model. ``messages`` go into the next request as they came, byte for byte the same JSON."""

    id: str
    served: str
    stop: Stop
    calls: Sequence[WrittenCall]
    text: str
    messages: Sequence[JSON]
    usage: Usage
    raw_usage: JSON
    fingerprint: str | None = None
    logprobs: JSON = None
    """What the API says of the tokens that it might have written, where the request asked for it."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What an SDK brought: the answer's JSON before the SDK made objects of it, and the provider's request id."""

    body: JSON
    request_id: str | None = None


class Dialect(Protocol):
    """One API as pure functions from JSON to JSON."""

    operation: str
    """What the fake model server calls it."""

    def opening(self, setup: Setup) -> list[JSON]:
        """Return the messages that a conversation begins with."""
        ...

    def request(self, setup: Setup, messages: Sequence[JSON], *, stream: bool) -> dict[str, Any]:
        """Return the whole body of the next request."""
        ...

    def read(self, body: JSON) -> Answer:
        """Read an answer; raises ProviderError where it breaks the API's own rules."""
        ...

    def results(self, answered: Sequence[Answered]) -> list[JSON]:
        """Return the messages that tell the results of one reply's calls, all of them, in order."""
        ...

    def said(self, calls: Sequence[WrittenCall], text: str) -> list[JSON]:
        """Return the messages of a reply with these calls, their arguments given as objects, as if it had come."""
        ...

    def gather(self, events: Iterable[JSON]) -> JSON:
        """Put a stream together; raises ProviderError where it ended before its last event."""
        ...


def malformed(told: str) -> ProviderError:
    """Return the error of an answer that breaks its API's rules."""
    return ProviderError("malformed_answer", f"the provider's answer cannot be used: {told}")


def incomplete(told: str) -> ProviderError:
    """Return the error of a stream that ended before its last event; the same request may be sent again."""
    return ProviderError("cut_stream", f"the provider's stream ended early: {told}", again=True)


def member(value: JSON, name: str, kind: type, *, of: str) -> Any:
    """Return a member of an object; raises ProviderError where it is missing or of another type."""
    found = value.get(name) if isinstance(value, dict) else None
    if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
        raise malformed(f"{of}.{name} is {_shown(found)}, expected {_KINDS[kind]}")
    return found


def count(value: JSON, name: str) -> int | None:
    """Return a count of tokens that an answer may leave out."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def used(value: JSON, sent: str, written: str) -> tuple[int, int]:
    """Return the tokens of input and output; a request without any input is none, so the count is missing."""
    tokens = member(value, sent, int, of="usage"), member(value, written, int, of="usage")
    if tokens[0] < 1 or tokens[1] < 0:
        raise malformed(f"usage counts {tokens[0]} tokens of input and {tokens[1]} of output")
    return tokens


def _shown(value: JSON) -> str:
    return f"a {type(value).__name__}" if value is not None else "missing"


_KINDS: Mapping[type, str] = {str: "a text", list: "a list", dict: "an object", int: "a whole number"}
