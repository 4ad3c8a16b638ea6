"""Reads neutral traces strictly, one after another, in memory that does not grow with the file.

A trace is handed over as soon as its end was read. What is wrong with any line is told with its place, all of it
at once; a trace that a problem came before is not handed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from unacked.canonical import InvalidJSON, loads
from unacked.errors import Place, Problem, SpecificationError, nearest
from unacked.graph.moves import Call, End, Event, Result
from unacked.graph.team import before
from unacked.graph.trace import Begin, MemberPart, Trace
from unacked.graph.verdict import EndReason
from unacked.outcome import CATEGORIES

__all__ = ["read_traces", "stream_traces"]

_MOST_PROBLEMS = 1000
"""After so many the file is given up: it is of another kind."""


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    trace: str | None = None


class _PartOfTeam(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    member: str = Field(min_length=1)
    after: list[str] = Field(default_factory=list)
    tools: list[str] | None = None
    effects: dict[str, list[dict[str, Any]]] = Field(default_factory=dict)

    def value(self) -> MemberPart:
        tools = None if self.tools is None else tuple(self.tools)
        return MemberPart(member=self.member, after=tuple(self.after), tools=tools, effects=self.effects)


class _BeginLine(_Line):
    type: Literal["begin"]
    graph: str | None = None
    graphs: list[str] = Field(default_factory=list)
    effects: dict[str, list[dict[str, Any]]] = Field(default_factory=dict)
    roles: dict[str, str | None] = Field(default_factory=dict)
    idempotent: bool = True
    team: list[_PartOfTeam] = Field(default_factory=list)


class _CallLine(_Line):
    type: Literal["call"]
    id: str
    operation: str
    args: dict[str, Any] = Field(default_factory=dict)
    turn: int | None = None
    agent: str = "agent"
    at: float = 0.0


class _ResultLine(_Line):
    type: Literal["result"]
    call: str
    category: str
    fields: dict[str, Any] = Field(default_factory=dict)
    at: float = 0.0
    visible_to: list[str] | None = None
    retry_after_s: float | None = None


class _EndLine(_Line):
    type: Literal["end"]
    reason: Annotated[EndReason, Field(strict=False)]
    at: float = 0.0


_AnyLine = Annotated[_BeginLine | _CallLine | _ResultLine | _EndLine, Field(discriminator="type")]
_LINE: TypeAdapter[_AnyLine] = TypeAdapter(_AnyLine)
_validated = _LINE.validator.validate_python


def read_traces(source: Path | Iterable[str | bytes], *, name: str = "trace") -> list[Trace]:
    """Read all traces of a file, or of lines that messages call ``name``, in the order in which they begin.

    Raises SpecificationError like ``stream_traces``.
    """
    return sorted(stream_traces(source, name=name), key=lambda trace: trace.place.line)


def stream_traces(source: Path | Iterable[str | bytes], *, name: str = "trace") -> Iterator[Trace]:
    """Yield the traces of a file, or of lines that messages call ``name``, each as soon as it ends.

    Those without an end come last. Raises SpecificationError at the end with the place of every line that is not
    strict JSON, not of the format, or does not fit the lines before it; from the first such line on no trace is
    yielded. What is kept of an ended trace is its name.
    """
    if isinstance(source, Path):
        name, source = str(source), _lines_of_file(source)
    reader = _Reader(name)
    for number, text in enumerate(source, start=1):
        ended = reader.add(text, number) if text and not text.isspace() else None
        if ended is not None:
            yield ended
        if len(reader.problems) >= _MOST_PROBLEMS:
            reader.problems.append(Problem(Place(name, number, 1), "too many problems; the rest was not read"))
            break
    yield from reader.rest()


def _lines_of_file(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise SpecificationError([Problem(Place(str(path)), f"cannot be read: {error.strerror}")]) from None


@dataclass(slots=True)
class _Draft:
    """A trace as far as it was read. ``answered`` says of each call whether its result was seen."""

    name: str
    line: int
    begin: Begin = field(default_factory=Begin)
    begun: bool = False
    events: list[Event] = field(default_factory=list)
    answered: dict[str, bool] = field(default_factory=dict)


class _Reader:
    """Sorts lines into traces, and notes what is wrong with them."""

    def __init__(self, name: str) -> None:
        self.problems: list[Problem] = []
        self._name = name
        self._open: dict[str, _Draft] = {}
        self._ended: set[str] = set()
        self._number = 0

    def add(self, text: str | bytes, number: int) -> Trace | None:
        """Read one line, and return the trace that it ends."""
        self._number = number
        try:
            line: _AnyLine = _validated(loads(text))
        except InvalidJSON as error:
            self._problem(f"is not strict JSON: {error}")
            return None
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                self._problem(_reason(detail["loc"], detail["msg"], detail["type"]))
            return None
        key = self._name if line.trace is None else line.trace
        draft = self._open.get(key)
        if draft is None:
            if key in self._ended:
                self._problem("stands after the end of its trace", "give each trace its own 'trace' key")
                return None
            draft = self._open[key] = _Draft(key, number)
        if isinstance(line, _CallLine):
            self._call(draft, line)
        elif isinstance(line, _ResultLine):
            self._result(draft, line)
        elif isinstance(line, _BeginLine):
            self._begin(draft, line)
        else:
            draft.events.append(End(reason=line.reason, at=line.at))
            return self._end(draft)
        return None

    def rest(self) -> Iterator[Trace]:
        """Yield the traces that never ended; raises SpecificationError where anything was wrong."""
        if not self._open and not self._ended and not self.problems:
            self.problems.append(Problem(Place(self._name), "holds no trace"))
        if self.problems:
            raise SpecificationError(self.problems)
        yield from map(self._trace, self._open.values())

    def _end(self, draft: _Draft) -> Trace | None:
        del self._open[draft.name]
        self._ended.add(draft.name)
        return None if self.problems else self._trace(draft)

    def _trace(self, draft: _Draft) -> Trace:
        place = Place(self._name, draft.line, 1)
        return Trace(name=draft.name, begin=draft.begin, events=tuple(draft.events), place=place)

    def _begin(self, draft: _Draft, line: _BeginLine) -> None:
        if draft.begun or draft.events:
            self._problem("'begin' is not the first line of its trace")
        draft.begun = True
        graphs = (*([line.graph] if line.graph else []), *line.graphs)
        team = tuple(part.value() for part in line.team)
        if team:
            self._team(team)
        draft.begin = Begin(
            graphs=graphs, effects=line.effects, roles=line.roles, idempotent=line.idempotent, team=team
        )

    def _team(self, team: Sequence[MemberPart]) -> None:
        names = [part.member for part in team]
        if len(team) == 1:
            self._problem("one member is no team", "leave 'team' out where one agent works alone")
        for name in sorted({name for name in names if names.count(name) > 1}):
            self._problem(f"two members are named {name!r}")
        for part in team:
            for name in part.after:
                if name not in names:
                    self._problem(f"{part.member} comes after {name!r}, who is no member", nearest(name, names))
        try:
            before(team)
        except ValueError as circle:
            self._problem(f"members wait for each other: {circle}", "let one of them begin")

    def _known(self, draft: _Draft, agents: Iterable[str]) -> None:
        names = [part.member for part in draft.begin.team]
        for agent in agents:
            if agent not in names:
                self._problem(f"{agent!r} is no member of the team", nearest(agent, names))

    def _call(self, draft: _Draft, line: _CallLine) -> None:
        if line.id in draft.answered:
            self._problem(f"call id {line.id!r} is taken")
        if draft.begin.team:
            self._known(draft, [line.agent])
        draft.answered[line.id] = False
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

    def _result(self, draft: _Draft, line: _ResultLine) -> None:
        answered = draft.answered.get(line.call)
        if answered is not False:
            known = "was never made" if answered is None else "has its result already"
            self._problem(f"call {line.call!r} {known}")
        if line.category not in CATEGORIES:
            self._problem(f"unknown category {line.category!r}", nearest(line.category, CATEGORIES))
        if draft.begin.team:
            self._known(draft, line.visible_to or ())
        draft.answered[line.call] = True
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

    def _problem(self, message: str, hint: str = "") -> None:
        self.problems.append(Problem(Place(self._name, self._number, 1), message, hint))


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
