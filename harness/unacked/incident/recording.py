"""What somebody's trace says, and no more: calls, answers, and what each format itself tells of success.

A member that is None is not told by the trace. Nothing is filled in here; whoever needs it has to infer it with a
reason, or to ask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from unacked.canonical import JSON
from unacked.graph import Begin

__all__ = ["Answer", "RecordedCall", "Recording"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back for one call.

    ``content`` is the JSON value where the text is one, else the text. ``failed`` is the format's own flag,
    ``error`` its own word for what went wrong, ``status`` an HTTP status that the trace names, ``category`` one
    of ours. ``at`` is in seconds since the trace began.
    """

    content: JSON = None
    failed: bool | None = None
    error: str = ""
    status: int | None = None
    category: str | None = None
    retry_after_s: float | None = None
    at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """One tool call as the trace has it; ``where`` is its place in the file. Calls of a turn were decided together."""

    id: str
    name: str
    arguments: Mapping[str, JSON] | None
    turn: int
    where: str
    agent: str = "agent"
    at: float | None = None
    answer: Answer | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One trace: its calls in the order in which they were made, and what it says of the task and of its end."""

    name: str
    form: str
    calls: Sequence[RecordedCall]
    task: str = ""
    begin: Begin | None = None
    end: str | None = None
    notes: Sequence[str] = field(default=())
