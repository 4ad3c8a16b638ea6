"""Generated traces as values: what each is for, and what it must get."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from unacked.canonical import JSON
from unacked.errors import Place
from unacked.graph.explore import Variant
from unacked.graph.model import Graph
from unacked.graph.monitor import Effects
from unacked.graph.moves import Event
from unacked.graph.trace import Begin, Trace, lines_of
from unacked.graph.verdict import Verdict

__all__ = [
    "GeneratedSuite",
    "GeneratedTrace",
    "Purpose",
    "Unreached",
    "expected_lines",
    "trace_lines",
]


class Purpose(StrEnum):
    """What a generated trace is for."""

    WALK = "walk"
    WITNESS = "witness"
    PROBE = "probe"


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedTrace:
    """One trace with what it must get; ``event`` is the index of the first refused call.

    ``states`` are those in which it makes a call or ends.
    """

    name: str
    purpose: Purpose
    variant: Variant
    events: tuple[Event, ...]
    verdict: Verdict
    violation: str | None
    event: int | None
    states: frozenset[str]
    effects: Effects = field(default_factory=dict)
    """What the task asks for, where several threads are meant."""
    blame: str | None = None
    """Who is to blame for the first violation, where that is what the trace is about."""
    twin: tuple[Event, ...] = ()
    """Of a planted mistake: the same way up to it, and from there the shortest honest end."""


@dataclass(frozen=True, slots=True)
class Unreached:
    """Something that no trace could be made for, and why."""

    name: str
    reason: str


@dataclass(slots=True)
class GeneratedSuite:
    """All traces of one graph."""

    graph: Graph
    traces: list[GeneratedTrace] = field(default_factory=list)
    unreached: list[Unreached] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    """The values that stand for any others; whatever else is compared is meant as it is."""

    def of(self, purpose: Purpose) -> list[GeneratedTrace]:
        """Return the traces of one purpose."""
        return [trace for trace in self.traces if trace.purpose is purpose]

    def fired(self) -> frozenset[str]:
        """Return every rule that some trace violates."""
        return frozenset(trace.violation for trace in self.traces if trace.violation is not None)


def trace_lines(suite: GeneratedSuite) -> Iterator[Mapping[str, JSON]]:
    """Yield every line of the suite's neutral traces."""
    for item in suite.traces:
        begin = Begin(
            graphs=(suite.graph.name,),
            effects=item.effects,
            roles=item.variant.roles,
            idempotent=item.variant.idempotent,
        )
        yield from lines_of(Trace(name=item.name, begin=begin, events=item.events, place=Place(suite.graph.file)))


def expected_lines(suite: GeneratedSuite) -> Iterator[Mapping[str, JSON]]:
    """Yield for each trace what it must get."""
    for trace in suite.traces:
        yield {
            "trace": trace.name,
            "graph": suite.graph.name,
            "verdict": trace.verdict.value,
            "violation": trace.violation,
            "event": trace.event,
        }
