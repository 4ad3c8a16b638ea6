"""Neutral traces: JSON lines from anywhere, read strictly and judged like the harness's own trials.

    {"type": "begin", "graph": "create-outcome-unknown", "effects": {...}, "roles": {...}, "idempotent": true}
    {"type": "call", "turn": 1, "id": "e0", "agent": "a1", "operation": "create_record", "args": {}, "at": 0.0}
    {"type": "result", "call": "e0", "category": "outcome_unknown", "fields": {}, "at": 5.0, "visible_to": ["a1"]}
    {"type": "end", "reason": "finished", "at": 6.0}

One trace a file, or many in one file with a ``trace`` key on every line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from unacked.canonical import JSON, InvalidJSON, loads
from unacked.contract import Registry
from unacked.errors import Place, Problem, SpecificationError, nearest
from unacked.graph.judgement import Judgement, judge_events
from unacked.graph.model import BoundGraph, Graph
from unacked.graph.moves import Call, End, Event, Result
from unacked.graph.verdict import EndReason
from unacked.outcome import CATEGORIES

__all__ = ["Begin", "Trace", "bind_trace", "judge", "lines_of", "read_traces"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin:
    """What a trace says of itself: its graphs, the effects asked for, how roles are bound."""

    graphs: tuple[str, ...] = ()
    effects: Mapping[str, Sequence[Mapping[str, JSON]]] = field(default_factory=dict)
    roles: Mapping[str, str | None] = field(default_factory=dict)
    idempotent: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One trace; the numbers of events in messages are indexes into ``events``."""

    name: str
    begin: Begin
    events: tuple[Event, ...]
    place: Place


def lines_of(trace: Trace) -> Iterator[dict[str, JSON]]:
    """Yield a trace as the lines of the neutral format."""
    begin = trace.begin
    head: dict[str, JSON] = {"type": "begin", "graphs": list(begin.graphs), "idempotent": begin.idempotent}
    if begin.roles:
        head["roles"] = dict(begin.roles)
    if begin.effects:
        head["effects"] = {name: [dict(effect) for effect in effects] for name, effects in begin.effects.items()}
    for line in (head, *map(_line_of, trace.events)):
        yield {"trace": trace.name, **line}


def _line_of(event: Event) -> dict[str, JSON]:
    kind = {Call: "call", Result: "result", End: "end"}[type(event)]
    members = {item.name: getattr(event, item.name) for item in fields(event)}
    return {"type": kind, **{name: _plain(value) for name, value in members.items() if value is not None}}


def _plain(value: JSON) -> JSON:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def judge(trace: Trace, graphs: Mapping[str, Graph], registry: Registry, *, default: Sequence[str] = ()) -> Judgement:
    """Judge a trace by the graphs that it names, or by those named ``default`` where it names none.

    Raises SpecificationError where a graph is unknown or a role does not fit.
    """
    return judge_events(trace.events, bind_trace(trace, graphs, registry, default=default), trace.begin.effects)


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
        for name in begin.effects
        if name not in registry
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


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    trace: str | None = None


class _BeginLine(_Line):
    type: Literal["begin"]
    graph: str | None = None
    graphs: list[str] = []
    effects: dict[str, list[dict[str, Any]]] = {}
    roles: dict[str, str | None] = {}
    idempotent: bool = True


class _CallLine(_Line):
    type: Literal["call"]
    id: str
    operation: str
    args: dict[str, Any] = {}
    turn: int | None = None
    agent: str = "agent"
    at: float = 0.0


class _ResultLine(_Line):
    type: Literal["result"]
    call: str
    category: str
    fields: dict[str, Any] = {}
    at: float = 0.0
    visible_to: list[str] | None = None
    retry_after_s: float | None = None


class _EndLine(_Line):
    type: Literal["end"]
    reason: Annotated[EndReason, Field(strict=False)]
    at: float = 0.0


_AnyLine = Annotated[_BeginLine | _CallLine | _ResultLine | _EndLine, Field(discriminator="type")]
_LINE: TypeAdapter[_AnyLine] = TypeAdapter(_AnyLine)


def read_traces(source: Path | Iterable[str], *, name: str = "trace") -> list[Trace]:
    """Read all traces of a file, or of lines that messages call ``name``.

    Raises SpecificationError with the place of every line that is not strict JSON, not of the format, or
    does not fit the lines before it.
    """
    if isinstance(source, Path):
        name = str(source)
        try:
            source = source.read_bytes().decode("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else f"is not UTF-8 (byte {error.start})"
            raise SpecificationError([Problem(Place(name), f"cannot be read: {reason}")]) from None
    reader = _Reader(name)
    for number, text in enumerate(source, start=1):
        if text.strip():
            reader.add(text, Place(name, number, 1))
    if not reader.open and not reader.problems:
        reader.problems.append(Problem(Place(name), "holds no trace"))
    if reader.problems:
        raise SpecificationError(reader.problems)
    return [draft.trace() for draft in reader.open.values()]


@dataclass(slots=True)
class _Draft:
    """A trace as far as it was read."""

    name: str
    place: Place
    begin: Begin = field(default_factory=Begin)
    begun: bool = False
    events: list[Event] = field(default_factory=list)
    waiting: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)

    def trace(self) -> Trace:
        return Trace(name=self.name, begin=self.begin, events=tuple(self.events), place=self.place)


class _Reader:
    """Sorts lines into traces, and notes what is wrong with them."""

    def __init__(self, name: str) -> None:
        self.problems: list[Problem] = []
        self.open: dict[str, _Draft] = {}
        self._name = name

    def add(self, text: str, place: Place) -> None:
        try:
            line = _LINE.validate_python(loads(text))
        except InvalidJSON as error:
            self.problems.append(Problem(place, f"is not strict JSON: {error}"))
            return
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                self.problems.append(Problem(place, _reason(detail["loc"], detail["msg"], detail["type"])))
            return
        key = self._name if line.trace is None else line.trace
        draft = self.open.setdefault(key, _Draft(key, place))
        if draft.events and isinstance(draft.events[-1], End):
            self._problem(place, "stands after the end of its trace", "give each trace its own 'trace' key")
        elif isinstance(line, _BeginLine):
            self._begin(draft, line, place)
        elif isinstance(line, _CallLine):
            self._call(draft, line, place)
        elif isinstance(line, _ResultLine):
            self._result(draft, line, place)
        else:
            draft.events.append(End(reason=line.reason, at=line.at))

    def _begin(self, draft: _Draft, line: _BeginLine, place: Place) -> None:
        if draft.begun or draft.events:
            self._problem(place, "'begin' is not the first line of its trace")
        draft.begun = True
        graphs = (*([line.graph] if line.graph else []), *line.graphs)
        draft.begin = Begin(graphs=graphs, effects=line.effects, roles=line.roles, idempotent=line.idempotent)

    def _call(self, draft: _Draft, line: _CallLine, place: Place) -> None:
        if line.id in draft.calls:
            self._problem(place, f"call id {line.id!r} is taken")
        draft.calls.add(line.id)
        draft.waiting.add(line.id)
        draft.events.append(
            Call(
                id=line.id,
                operation=line.operation,
                args=line.args,
                turn=line.turn,
                agent=line.agent,
                at=line.at,
            )
        )

    def _result(self, draft: _Draft, line: _ResultLine, place: Place) -> None:
        if line.call not in draft.waiting:
            known = "has its result already" if line.call in draft.calls else "was never made"
            self._problem(place, f"call {line.call!r} {known}")
        if line.category not in CATEGORIES:
            self._problem(place, f"unknown category {line.category!r}", nearest(line.category, CATEGORIES))
        draft.waiting.discard(line.call)
        draft.events.append(
            Result(
                call=line.call,
                category=line.category,
                fields=line.fields,
                at=line.at,
                visible_to=None if line.visible_to is None else tuple(line.visible_to),
                retry_after_s=line.retry_after_s,
            )
        )

    def _problem(self, place: Place, message: str, hint: str = "") -> None:
        self.problems.append(Problem(place, message, hint))


def _reason(location: Sequence[str | int], message: str, kind: str) -> str:
    """Say what is wrong with a line, in words of the format."""
    where = ".".join(
        str(part) for part in location if part not in ("begin", "call", "result", "end") or len(location) == 1
    )
    if kind == "extra_forbidden":
        return f"unknown key {where!r}"
    if kind == "missing":
        return f"missing key {where!r}"
    if kind.startswith("union_tag"):
        return "'type' must be one of begin, call, result, end"
    return f"{where}: {message}" if where else message
