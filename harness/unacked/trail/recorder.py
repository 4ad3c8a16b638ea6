"""The recorder of one trial: stamps events with time and trial, chains them to disk, and keeps the history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import jsonlines

from unacked.canonical import JSON, dumps
from unacked.clock import Clock
from unacked.contract import Registry
from unacked.errors import HarnessError, RecordError
from unacked.event import Event, History
from unacked.trail.chain import ChainWriter, read_chain

__all__ = ["Diagnostics", "Recorder", "TrialName", "read_history"]

_DURABLE = frozenset({"trial_begin", "agent_next_call", "result", "trial_end"})
"""Events after which everything so far must have left this process."""


@dataclass(frozen=True, slots=True)
class TrialName:
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
        self._name = name
        self._clock = clock
        self._registry = registry
        self._events: list[Event] = []
        self._operations: dict[str, str] = {}
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
            time=self._clock.now(),
            event=event,
            id=id,
            operation=operation,
            target_class=contract.target_class if contract is not None else None,
            category=category,
            diagnostics_ref=diagnostics_ref,
            detail=detail or {},
        )
        line = entry.as_json()
        line["seq"] = len(self._events)
        line["run"], line["trial"], line["case"] = self._name.run, self._name.trial, self._name.case
        self._events.append(entry)
        self._chain.write(line)
        if event in _DURABLE:
            self._chain.flush()

    def written(self) -> str:
        """Return the text of the record so far, as it is in the file."""
        return self._chain.written()

    def history(self) -> History:
        """Return the events so far as a history."""
        return History(self._events)

    def close(self) -> str:
        """Close the record and return the hash of its last line."""
        self._chain.close()
        return self._chain.head


class Diagnostics:
    """Raw errors of one trial, in a file that only its owner may read; made when the first one comes."""

    def __init__(self, path: Path, redact: Callable[[str], str]) -> None:
        self._path = path
        self._redact = redact
        self._count = 0

    def keep(self, entry: Mapping[str, JSON]) -> str:
        """Store one raw error without its secrets and return the reference of it."""
        self._count += 1
        reference = f"d{self._count}"
        text = self._redact(dumps({"ref": reference, **entry}))
        try:
            if self._count == 1:
                self._path.touch(mode=0o600)
            with self._path.open("a", encoding="utf-8", newline="\n") as file:
                jsonlines.Writer(file, dumps=str).write(text)
        except OSError as error:
            raise HarnessError(f"{self._path}: cannot be written: {error.strerror}") from None
        return reference


def read_history(path: Path, name: TrialName) -> History:
    """Read and verify one trial's record; raises RecordError with file and line where it cannot be trusted."""
    events = []
    for seq, line in enumerate(read_chain(path, name.origin)):
        if (line.get("run"), line.get("trial"), line.get("seq")) != (name.run, name.trial, seq):
            raise RecordError(f"{path}:{seq + 1}: the line belongs to another record")
        events.append(Event.from_json(line))
    return History(events)
