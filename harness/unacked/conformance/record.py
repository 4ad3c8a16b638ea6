"""What probes wrote down: the only evidence there is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unacked.canonical import JSON, InvalidJSON, loads
from unacked.errors import RecordError

__all__ = ["Command", "Line", "Observation", "Unseen", "read_lines"]

_OVER = ("end", "raise", "stopped", "kill")
"""Events that end an attempt."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a probe.

    ``event`` is ``begin``, ``end``, ``raise``, ``stopped`` (it was told to stop), ``released`` (its clean-up ran) or
    ``kill`` (it is about to kill the command that runs it). ``host`` is the command under which the probe ran,
    ``at_s`` the machine's monotonic clock. ``context`` is what the step was handed: pairs of a step and its value.
    """

    number: int
    step: str
    attempt: int
    event: str
    host: int
    pid: int
    at_s: float
    argument: JSON = None
    context: Sequence[tuple[str, JSON]] = ()
    value: JSON = None

    def __str__(self) -> str:
        return f"line {self.number} ({self.event} of {self.step!r}, attempt {self.attempt}, in command {self.host})"

    @classmethod
    def of(cls, number: int, written: Mapping[str, JSON]) -> Line:
        """Return the line that a JSON object stands for; raises KeyError, TypeError or ValueError."""
        context = tuple((step, value) for step, value in written["context"])
        parts = {name: written[name] for name in ("step", "attempt", "event", "host", "pid", "at_s", "argument")}
        return cls(number=number, context=context, value=written.get("value"), **parts)


@dataclass(frozen=True, slots=True)
class Command:
    """One command of the adapter that was run: ``status`` is its exit status, negative for a signal, None if it ran on.

    ``host`` is what its probes call it, ``said`` the last line that it wrote, where it has failed.
    """

    verb: str
    host: int
    status: int | None
    said: str = ""

    @property
    def refused(self) -> bool:
        """Whether it ended by itself and said that it did not do as it was told."""
        return self.status is not None and self.status > 0

    def __str__(self) -> str:
        ended = "ran on" if self.status is None else f"exit status {self.status}"
        return f"{self.verb} ({ended}{f': {self.said}' if self.said else ''})"


class Unseen(Exception):
    """A line that shows that the scenario took place at all is not there."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What came of one scenario.

    ``missed`` says what the scenario waited for in vain, so that it could not go on. ``killed`` is when we
    killed a command ourselves, and which.
    """

    lines: Sequence[Line]
    commands: Sequence[Command] = ()
    missed: str | None = None
    killed: tuple[float, int] | None = None

    def of(self, event: str, *steps: str) -> list[Line]:
        """The lines of one event, of some steps or of all, in order."""
        return [line for line in self.lines if line.event == event and (not steps or line.step in steps)]

    def the(self, event: str, step: str) -> Line:
        """The first line of one event of a step, without which nothing can be said; raises Unseen."""
        found = self.first(event, step)
        if found is None:
            raise Unseen(f"no {event} of {step!r}")
        return found

    def first(self, event: str, *steps: str) -> Line | None:
        """The first line of one event of some steps."""
        return next(iter(self.of(event, *steps)), None)

    def after(self, line: Line) -> Observation:
        """The same, from behind ``line`` on."""
        return Observation(self.lines[line.number :], self.commands, self.missed, self.killed)

    def over(self, begin: Line) -> Line | None:
        """The line with which an attempt ended; None where it never did."""
        same = (line for line in self.lines if (line.step, line.attempt) == (begin.step, begin.attempt))
        return next((line for line in same if line.event in _OVER), None)

    def began(self) -> list[str]:
        """The steps that began, in order, each as often as it did."""
        return [line.step for line in self.of("begin")]


def read_lines(path: Path) -> list[Line]:
    """Read the lines of a record; one that is still being written is not there yet. Raises RecordError."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return []
    return list(_lines(path, text[: text.rfind(b"\n") + 1].splitlines()))


def _lines(path: Path, texts: Sequence[bytes]) -> Iterator[Line]:
    for number, text in enumerate(texts, start=1):
        try:
            yield Line.of(number, loads(text))
        except (InvalidJSON, KeyError, TypeError, ValueError):
            raise RecordError(f"{path}:{number}: this is no line of a probe") from None
