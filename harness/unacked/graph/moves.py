"""The moves of a trace: the agent's calls, the environment's results, and the end.

Whoever has a history of tool calls (a trial of this harness, an importer) turns it into these values and
has it judged. The number of an event in messages is its index in the sequence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from unacked.canonical import JSON
from unacked.graph.verdict import EndReason

__all__ = ["Call", "Effects", "End", "Event", "Result"]

Effects = Mapping[str, Sequence[Mapping[str, JSON]]]
"""By operation, what the task asks for: the arguments that matter of each effect."""


class Call(NamedTuple):
    """The agent calls a tool at ``at`` seconds. Calls of one agent with one ``turn`` were decided together."""

    id: str
    operation: str
    args: Mapping[str, JSON]
    turn: int | None = None
    """None: a turn of its own."""
    agent: str = "agent"
    at: float = 0.0


class Result(NamedTuple):
    """The answer to the call with the id ``call``; ``visible_to`` None means the caller alone."""

    call: str
    category: str
    fields: Mapping[str, JSON] = MappingProxyType({})
    at: float = 0.0
    visible_to: tuple[str, ...] | None = None
    retry_after_s: float | None = None


class End(NamedTuple):
    """The trial is over."""

    reason: EndReason
    at: float = 0.0


Event = Call | Result | End
