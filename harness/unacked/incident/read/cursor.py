"""A JSON value together with its place in a file, so that whatever does not fit can be told with both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from unacked.canonical import JSON, InvalidJSON, loads
from unacked.errors import Place, Problem, SpecificationError

__all__ = ["Cursor", "gather"]

_T = TypeVar("_T")
_KINDS = {dict: "an object", list: "an array", str: "a text", bool: "true or false", int: "a number", float: "a number"}


@dataclass(frozen=True, slots=True)
class Cursor:
    """A value at ``path`` (``$.messages[3].content``) of what begins at ``place``; values never stand in messages."""

    value: JSON
    place: Place
    path: str = "$"

    def problem(self, message: str, hint: str = "") -> SpecificationError:
        """Return the error that says what is wrong here."""
        return SpecificationError([Problem(self.place, f"{self.path}: {message}", hint)])

    def __getitem__(self, key: str) -> Cursor:
        """Return a member, which must be there."""
        member = self.get(key)
        if member is None:
            raise self.problem(f"has no member {key!r}")
        return member

    def get(self, *keys: str) -> Cursor | None:
        """Return the first member that is there and not null; the value must be an object."""
        value = self.object()
        for key in keys:
            if value.get(key) is not None:
                return Cursor(value[key], self.place, f"{self.path}.{key}")
        return None

    def items(self) -> Iterator[Cursor]:
        """Yield the items of what must be an array."""
        for index, item in enumerate(self._as(list)):
            yield Cursor(item, self.place, f"{self.path}[{index}]")

    def object(self) -> dict[str, JSON]:
        """Return the value, which must be an object."""
        value: dict[str, JSON] = self._as(dict)
        return value

    def text(self) -> str:
        """Return the value, which must be a text."""
        value: str = self._as(str)
        return value

    def embedded(self) -> Cursor:
        """Return the JSON that a text holds; a value that is no text already is that JSON."""
        if not isinstance(self.value, str):
            return self
        try:
            return Cursor(loads(self.value or "{}"), self.place, f"{self.path}|json")
        except InvalidJSON as error:
            raise self.problem(f"the text is not JSON: {error}", "a call that was cut off cannot be repeated") from None

    def _as(self, kind: type) -> JSON:
        if not isinstance(self.value, kind):
            raise self.problem(f"expected {_KINDS[kind]}, found {_kind_of(self.value)}")
        return self.value


def gather(items: Iterable[Cursor], read: Callable[[Cursor], _T]) -> list[_T]:
    """Read every item; raises one SpecificationError with the problems of all."""
    results: list[_T] = []
    problems: list[Problem] = []
    for item in items:
        try:
            results.append(read(item))
        except SpecificationError as error:
            problems += error.problems
    if problems:
        raise SpecificationError(problems)
    return results


def _kind_of(value: JSON) -> str:
    return "null" if value is None else _KINDS.get(type(value), type(value).__name__)
