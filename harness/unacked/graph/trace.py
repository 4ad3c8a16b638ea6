"""Neutral traces: JSON lines from anywhere, judged like the harness's own trials.

    {"type": "begin", "graph": "create-outcome-unknown", "effects": {...}, "roles": {...}, "idempotent": true}
    {"type": "call", "turn": 1, "id": "e0", "agent": "a1", "operation": "create_record", "args": {}, "at": 0.0}
    {"type": "result", "call": "e0", "category": "outcome_unknown", "fields": {}, "at": 5.0, "visible_to": ["a1"]}
    {"type": "end", "reason": "finished", "at": 6.0}

A trace of several agents says in ``begin`` who of them comes after whom, and so learns what that one hands over:

    {"type": "begin", ..., "team": [{"member": "a1"}, {"member": "a2", "after": ["a1"]}]}

One trace a file, or many in one file with a ``trace`` key on every line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from unacked.canonical import JSON
from unacked.contract import Registry
from unacked.errors import Place, Problem, SpecificationError, nearest
from unacked.graph.judgement import Judgement, judge_events
from unacked.graph.model import BoundGraph, Graph
from unacked.graph.moves import Call, Effects, End, Event, Result
from unacked.graph.team import HAND_OVER, Team, team_of

__all__ = ["Begin", "MemberPart", "Trace", "TraceJudge", "bind_trace", "judge", "lines_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberPart:
    """What a trace says of one of several agents: whom it came after, which tools it had (None: all), its effects."""

    member: str
    after: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    effects: Effects = field(default_factory=dict)

    @property
    def waits_for(self) -> tuple[str, ...]:
        """Whom it came after."""
        return self.after

    def as_json(self) -> dict[str, JSON]:
        """Return it as a trace writes it."""
        return {
            "member": self.member,
            **({"after": list(self.after)} if self.after else {}),
            **({} if self.tools is None else {"tools": list(self.tools)}),
            **({"effects": _effects(self.effects)} if self.effects else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin:
    """What a trace says of itself: its graphs, the effects asked for, how roles are bound, and who works together.

    What the members of a ``team`` are asked for comes besides ``effects``.
    """

    graphs: tuple[str, ...] = ()
    effects: Effects = field(default_factory=dict)
    roles: Mapping[str, str | None] = field(default_factory=dict)
    idempotent: bool = True
    team: tuple[MemberPart, ...] = ()

    @property
    def asked(self) -> Effects:
        """All effects that are asked for, those of members last."""
        if not self.team:
            return self.effects
        asked = {name: list(effects) for name, effects in self.effects.items()}
        for part in self.team:
            for name, effects in part.effects.items():
                asked.setdefault(name, []).extend(effects)
        return asked

    def as_json(self) -> dict[str, JSON]:
        """Return it as a trace writes it."""
        return {
            "graphs": list(self.graphs),
            "idempotent": self.idempotent,
            **({"roles": dict(self.roles)} if self.roles else {}),
            **({"effects": _effects(self.effects)} if self.effects else {}),
            **({"team": [part.as_json() for part in self.team]} if self.team else {}),
        }

    def members(self, registry: Registry) -> Team:
        """Return the team as graphs judge it: empty where one agent worked alone."""
        return team_of(self.team, self.asked, registry) if self.team else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One trace; the numbers of events in messages are indexes into ``events``."""

    name: str
    begin: Begin
    events: tuple[Event, ...]
    place: Place


def lines_of(trace: Trace) -> Iterator[dict[str, JSON]]:
    """Yield a trace as the lines of the neutral format."""
    head = {"type": "begin", **trace.begin.as_json()}
    for line in (head, *map(_line_of, trace.events)):
        yield {"trace": trace.name, **line}


def _effects(effects: Effects) -> dict[str, JSON]:
    return {name: [dict(effect) for effect in asked] for name, asked in effects.items()}


def _line_of(event: Event) -> dict[str, JSON]:
    kind = {Call: "call", Result: "result", End: "end"}[type(event)]
    members = event._asdict().items()
    return {"type": kind, **{name: _plain(value) for name, value in members if value is not None}}


def _plain(value: JSON) -> JSON:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def judge(trace: Trace, graphs: Mapping[str, Graph], registry: Registry, *, default: Sequence[str] = ()) -> Judgement:
    """Judge a trace by the graphs that it names, or by those named ``default`` where it names none.

    Raises SpecificationError where a graph is unknown or a role does not fit.
    """
    return TraceJudge(graphs, registry, default=default).judge(trace)


class TraceJudge:
    """Judges one trace after another; traces that begin alike share their bound graphs.

    ``default`` names the graphs of traces that name none.
    """

    def __init__(self, graphs: Mapping[str, Graph], registry: Registry, *, default: Sequence[str] = ()) -> None:
        self._graphs, self._registry, self._default = graphs, registry, default
        self._bound: dict[object, tuple[BoundGraph, ...]] = {}

    def judge(self, trace: Trace) -> Judgement:
        """Judge a trace; raises SpecificationError where a graph is unknown or a role does not fit."""
        begin = trace.begin
        key = (begin.graphs, begin.idempotent, tuple(begin.roles.items()), tuple(begin.asked))
        bound = self._bound.get(key)
        if bound is None:
            bound = bind_trace(trace, self._graphs, self._registry, default=self._default)
            self._bound[key] = bound
        return judge_events(trace.events, bound, begin.asked, team=begin.members(self._registry))


def bind_trace(
    trace: Trace, graphs: Mapping[str, Graph], registry: Registry, *, default: Sequence[str] = ()
) -> tuple[BoundGraph, ...]:
    """Return the graphs of a trace, bound as its ``begin`` says; raises SpecificationError."""
    begin = trace.begin
    names = begin.graphs or tuple(default)
    problems = [
        Problem(trace.place, f"unknown graph {name!r}", nearest(name, graphs)) for name in names if name not in graphs
    ]
    if not names:
        problems.append(Problem(trace.place, "no graph is named", "name one in 'begin' or on the command line"))
    known = {role for name in names if name in graphs for role in graphs[name].roles}
    problems += [
        Problem(trace.place, f"no graph of this trace has a role {role!r}", nearest(role, known))
        for role in begin.roles
        if role not in known
    ]
    problems += [
        Problem(trace.place, f"effects of unknown operation {name!r}", nearest(name, registry))
        for name in begin.asked
        if name not in registry
    ]
    problems += [
        Problem(trace.place, f"member {part.member!r} has a tool {name!r} that is none", nearest(name, registry))
        for part in begin.team
        for name in part.tools or ()
        if name not in registry and name != HAND_OVER
    ]
    if problems:
        raise SpecificationError(problems)
    promise = dict.fromkeys(registry, begin.idempotent)
    return tuple(
        graphs[name].bind(
            {role: value for role, value in begin.roles.items() if role in graphs[name].roles}, registry, promise
        )
        for name in names
    )
