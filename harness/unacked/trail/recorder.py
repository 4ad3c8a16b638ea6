"""The recorder of one trial: stamps events with time and trial, chains them to disk, and keeps the history."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from unacked.canonical import JSON, dumps, loads, quoted
from unacked.clock import Clock
from unacked.contract import Registry
from unacked.errors import RecordError
from unacked.event import Event, History
from unacked.trail.chain import ChainReader, ChainWriter

__all__ = ["Diagnostics", "Recorder", "TrialName", "read_history", "read_record"]

_DURABLE = frozenset({"trial_begin", "agent_next_call", "trial_end"})
"""Events after which everything so far must have left this process."""


class TrialName(NamedTuple):
    """Which trial of which run a record belongs to; ``run`` is the digest of pins and seed."""

    run: str
    trial: str
    case: str

    @property
    def origin(self) -> str:
        """What the first line of the chain builds on."""
        return f"{self.run}/{self.trial}"


class Recorder:
    """Puts events on the record of one trial; ``emit`` is what everybody in the trial is given."""

    def __init__(self, path: Path, name: TrialName, clock: Clock, registry: Registry) -> None:
        self._clock = clock
        self._registry = registry
        self._events: list[Event] = []
        self._lines: list[str] = []
        self._operations: dict[str, str] = {}
        self._actor: str | None = None
        self._spelling = Spelling(name)
        self._chain = ChainWriter(path, name.origin)

    def emit(
        self,
        event: str,
        *,
        id: str | None = None,  # noqa: A002 - the field's name in the record
        operation: str | None = None,
        category: str | None = None,
        diagnostics_ref: str | None = None,
        detail: Mapping[str, JSON] | None = None,
    ) -> None:
        """Record ``event`` at this moment of the trial's clock; an id keeps the operation that it began with."""
        if id is not None:
            operation = self._operations.setdefault(id, operation) if operation else self._operations.get(id)
        contract = self._registry.get(operation) if operation is not None else None
        entry = Event(
            self._clock.now(),
            event,
            id,
            operation,
            contract.target_class if contract is not None else None,
            category,
            diagnostics_ref,
            detail or {},
            self._actor,
        )
        self._lines.append(self._chain.append(self._spelling.of(entry, len(self._events))))
        self._events.append(entry)
        if event in _DURABLE:
            self._chain.flush()

    @contextmanager
    def acting(self, member: str) -> Iterator[None]:
        """Record what happens meanwhile as happening at the turn of a member; an empty name is nobody's."""
        before, self._actor = self._actor, member or None
        try:
            yield
        finally:
            self._actor = before

    def written(self) -> str:
        """Return the text of the record so far, as it is in the file."""
        return "".join(self._lines)

    def history(self) -> History:
        """Return the events so far as a history."""
        return History(self._events)

    def close(self) -> str:
        """Close the record and return the hash of its last line."""
        self._chain.close()
        return self._chain.head


class Spelling:
    """The canonical text of an event as the record of one trial holds it: with its number, from 0, and its trial.

    Put together by hand, because the texts around ``detail`` are most of a trial's JSON.
    """

    def __init__(self, name: TrialName) -> None:
        self._case = f'"case":{quoted(name.case)}'
        self._run = f',"run":{quoted(name.run)},"seq":'
        self._trial = f',"trial":{quoted(name.trial)}}}'

    def of(self, event: Event, seq: int) -> str:
        """Return the text of an event."""
        time, kind, correlation_id, operation, target_class, category, reference, detail, actor = event
        line = f"{{{self._case}" if actor is None else f'{{"actor":{quoted(actor)},{self._case}'
        if category is not None:
            line += f',"category":{quoted(category)}'
        if detail:
            line += f',"detail":{dumps(detail)}'
        if reference is not None:
            line += f',"diagnostics_ref":{quoted(reference)}'
        line += f',"event":{quoted(kind)}'
        if correlation_id is not None:
            line += f',"id":{quoted(correlation_id)}'
        if operation is not None:
            line += f',"operation":{quoted(operation)}'
        line += f"{self._run}{seq}"
        if target_class is not None:
            line += f',"target_class":{quoted(target_class)}'
        return f'{line},"time":{time!r}{self._trial}'


class Diagnostics:
    """The raw errors of one trial, without its secrets; kept apart from everything that agents and reports see."""

    def __init__(self, redact: Callable[[str], str], leaks: Callable[[JSON], bool] = lambda _: False) -> None:
        self._redact, self._leaks = redact, leaks
        self.entries: list[dict[str, JSON]] = []

    def keep(self, entry: Mapping[str, JSON]) -> str:
        """Store one raw error and return the reference under which the events name it."""
        reference = f"d{len(self.entries) + 1}"
        text = dumps(dict(entry))
        redacted = self._redact(text)
        kept: Mapping[str, JSON] = entry if redacted == text else loads(redacted)
        if self._leaks(dict(kept)):  # a secret in pieces, each of them nothing by itself
            kept = dict.fromkeys(kept, "[redacted]")
        self.entries.append({"ref": reference, **kept})
        return reference


def read_history(path: Path, name: TrialName) -> History:
    """Read and verify one trial's record; raises RecordError with file and line where it cannot be trusted."""
    return read_record(path, name)[0]


def read_record(path: Path, name: TrialName) -> tuple[History, str]:
    """Read and verify one trial's record; returns it with the hash of its last line. Raises RecordError."""
    events, run, trial = [], name.run, name.trial
    chain = ChainReader(path, name.origin)
    for seq, line in enumerate(chain):
        if line.get("seq") != seq or line.get("trial") != trial or line.get("run") != run:
            raise RecordError(f"{path}:{seq + 1}: the line belongs to another record")
        try:
            events.append(Event.from_json(line))
        except RecordError as error:
            raise RecordError(f"{path}:{seq + 1}: {error}") from None
    return History(events), chain.head
