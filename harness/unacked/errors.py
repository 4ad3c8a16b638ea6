"""What the harness raises, and how it names a place in a file.

    UnackedError                 anything a user can be told in one message
    +-- SpecificationError       problems in the user's own files or arguments (exit 2)
    +-- RecordError              a stored record that cannot be read or trusted (exit 4)
    +-- HarnessError             the harness or a provider failed, not the agent (exit 4)

No traceback of these reaches a user; the command line prints ``str(error)``.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

__all__ = [
    "ExitCode",
    "HarnessError",
    "Place",
    "Problem",
    "RecordError",
    "SpecificationError",
    "UnackedError",
    "nearest",
]


class ExitCode(IntEnum):
    """Process exit codes of every ``unacked`` command."""

    PASS = 0
    FAIL = 1
    USAGE = 2
    INCONCLUSIVE = 3
    ERROR = 4
    INTERRUPTED = 130


class Place(NamedTuple):
    """A position in a file; line and column are 1-based, 0 means the file as a whole."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong: where, what, and what to do about it; ``rule`` is the id of the rule, if it has one."""

    place: Place
    message: str
    hint: str = ""
    rule: str = field(default="", compare=False)

    def __str__(self) -> str:
        text = f"{self.place}: {self.message}"
        return f"{text}\n    hint: {self.hint}" if self.hint else text


class UnackedError(Exception):
    """Base of all errors that are told to the user without a traceback."""

    exit_code = ExitCode.ERROR


class SpecificationError(UnackedError):
    """One or more problems in files or arguments, all listed at once."""

    exit_code = ExitCode.USAGE

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: Sequence[Problem] = tuple(sorted(set(problems)))
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[SpecificationError], tuple[Sequence[Problem]]]:
        return type(self), (self.problems,)


class RecordError(UnackedError):
    """A stored record is unreadable, of another version, or was changed."""


class HarnessError(UnackedError):
    """The harness itself, the machine or a provider failed; the agent is not to blame."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint that names the closest known word, or lists what is known."""
    choices = sorted(known)
    close = difflib.get_close_matches(name, choices, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known: {', '.join(choices)}" if choices else "nothing is known here"
