"""What a lint has found, and where."""

from __future__ import annotations

from dataclasses import dataclass

from unacked.canonical import JSON
from unacked.errors import Place
from unacked.graph.lint.table import LINTS, Level, Lint
from unacked.graph.model import Allowance

__all__ = ["Finding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding; ``way`` is the shortest sequence of calls and categories that shows it."""

    id: str
    place: Place
    graph: str
    message: str
    edge: str | None = None
    state: str | None = None
    way: tuple[str, ...] | None = None

    @property
    def lint(self) -> Lint:
        """The row of the table."""
        return LINTS[self.id]

    @property
    def level(self) -> Level:
        """How grave the finding is."""
        return self.lint.level

    def allowed_by(self, allowance: Allowance) -> bool:
        """Whether an entry of the file allows the finding; an entry names the edge or state, or neither."""
        named = {"edge": allowance.edge, "state": allowance.state}
        return allowance.id == self.id and all(
            value is None or value == getattr(self, name) for name, value in named.items()
        )

    def __str__(self) -> str:
        text = f"{self.place}: {self.level} {self.id} {self.lint.name}: {self.message}"
        if self.way is not None:
            text += f"\n    shown by: {' -> '.join(self.way) or 'nothing at all: this is how it begins'}"
        return f"{text}\n    hint: {self.lint.remedy}"

    def as_json(self) -> dict[str, JSON]:
        """Return the finding as a JSON object."""
        return {
            "id": self.id,
            "name": self.lint.name,
            "level": self.level.value,
            "file": self.place.file,
            "line": self.place.line,
            "column": self.place.column,
            "graph": self.graph,
            "edge": self.edge,
            "state": self.state,
            "message": self.message,
            "way": None if self.way is None else list(self.way),
            "remedy": self.lint.remedy,
        }
