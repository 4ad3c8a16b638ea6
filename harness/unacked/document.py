"""YAML 1.2 files that remember where every value stands.

PyYAML reads ``no`` as False and ``12:30`` as 750, and takes duplicate keys without a word. Here only the
core types of YAML 1.2 exist, duplicates are refused, and every value can be traced back to its line and
column. All problems of a file are reported together.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from unacked.canonical import JSON
from unacked.errors import Place, Problem, SpecificationError, nearest

__all__ = ["Document", "Location", "parse_yaml", "read_yaml", "validate"]

Location = tuple[str | int, ...]
"""The way from the root of a document to a value: keys and list positions."""

_Model = TypeVar("_Model", bound=BaseModel)

_PLAIN, _QUOTED, _COLLECTION = "plain", "quoted", "collection"
_MOST_VALUES = 100_000
"""Ten lines of aliases can stand for a thousand million values; no file that people write has this many."""


class _Untyped:
    """Has a loader tell plain scalars from quoted ones, and whatever bears a tag of its own from both."""

    def resolve(self, kind: type[yaml.Node], _value: object, implicit: Any) -> str:
        """Return the tag of a node that the file gives none; ``implicit`` is (plain, quoted) for scalars."""
        if kind is not yaml.ScalarNode:
            return _COLLECTION
        return _PLAIN if implicit[0] else _QUOTED


_Loader: Any = type("_Loader", (_Untyped, getattr(yaml, "CSafeLoader", yaml.SafeLoader)), {})

_WORDS: Mapping[str, JSON] = {
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER_BEGINS = frozenset("+-.0123456789")
_NUMBERS: Sequence[tuple[re.Pattern[str], Callable[[str], JSON]]] = (
    (re.compile(r"[-+]?[0-9]+"), int),
    (re.compile(r"0o[0-7]+"), lambda text: int(text, 8)),
    (re.compile(r"0x[0-9a-fA-F]+"), lambda text: int(text, 16)),
    (re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"), float),
)


@dataclass(frozen=True, slots=True)
class Document:
    """One parsed file: its value, and the place of every key and value in it."""

    file: str
    value: JSON
    _values: dict[Location, Place] = field(repr=False)
    _keys: dict[Location, Place] = field(repr=False)

    def place(self, location: Location = ()) -> Place:
        """Return where the value at ``location`` begins; the nearest enclosing value if it is absent."""
        while location not in self._values and location:
            location = location[:-1]
        return self._values.get(location, Place(self.file))

    def key_place(self, location: Location) -> Place:
        """Return where the key of the value at ``location`` stands."""
        return self._keys.get(location) or self.place(location)

    def with_value(self, value: JSON) -> Document:
        """Return the same file with another value, as where it was laid over a base; places stay its own."""
        return replace(self, value=value)

    def problem(self, location: Location, message: str, hint: str = "") -> Problem:
        """Return a problem at the value at ``location``."""
        return Problem(self.place(location), message, hint)

    def key_problem(self, location: Location, message: str, hint: str = "") -> Problem:
        """Return a problem at the key of the value at ``location``."""
        return Problem(self.key_place(location), message, hint)


def read_yaml(path: Path, *, name: str | None = None) -> Document:
    """Read one YAML file; ``name`` is what messages call it. Raises SpecificationError."""
    shown = name or str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SpecificationError([Problem(Place(shown), f"cannot be read: {error.strerror}")]) from None
    except UnicodeDecodeError as error:
        raise SpecificationError([Problem(Place(shown), f"is not UTF-8 (byte {error.start})")]) from None
    return parse_yaml(text, shown)


def parse_yaml(text: str, file: str) -> Document:
    """Parse YAML text that came from ``file``; raises SpecificationError with all problems."""
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)
        reason = ", ".join(filter(None, (error.context, error.problem)))
        raise SpecificationError([Problem(place, f"is not YAML: {reason}")]) from None
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        place = Place(file, before.count("\n") + 1, error.position - before.rfind("\n"))
        raise SpecificationError([Problem(place, f"is not YAML: {error.reason}")]) from None
    except RecursionError:
        raise SpecificationError([Problem(Place(file), "is nested too deeply")]) from None
    builder = _Builder(file)
    try:
        value = builder.build(node, ()) if node is not None else None
    except RecursionError:
        raise SpecificationError([Problem(Place(file), "is nested too deeply")]) from None
    if builder.problems:
        raise SpecificationError(builder.problems)
    return Document(file, value, builder.values, builder.keys)


class _Builder:
    """Turns composed nodes into plain values, and notes places and problems on the way."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.values: dict[Location, Place] = {}
        self.keys: dict[Location, Place] = {}
        self.problems: list[Problem] = []
        self._open: set[int] = set()

    def build(self, node: Any, location: Location) -> JSON:
        place = self._place(node)
        self.values[location] = place
        if len(self.values) > _MOST_VALUES:
            raise SpecificationError([Problem(Place(self.file), f"holds more than {_MOST_VALUES:,} values")])
        if node.tag == _QUOTED:
            return node.value
        if node.tag == _PLAIN:
            return self._scalar(node.value, place)
        if node.tag != _COLLECTION:
            self.problems.append(Problem(place, f"tag {node.tag!r} is not allowed", "use plain values"))
            return None
        return self._collection(node, location, place)

    def _collection(self, node: Any, location: Location, place: Place) -> JSON:
        if id(node) in self._open:
            self.problems.append(Problem(place, "an alias that contains itself"))
            return None
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.MappingNode):
                return self._mapping(node, location)
            return [self.build(item, (*location, index)) for index, item in enumerate(node.value)]
        finally:
            self._open.discard(id(node))

    def _place(self, node: Any) -> Place:
        return Place(self.file, node.start_mark.line + 1, node.start_mark.column + 1)

    def _mapping(self, node: Any, location: Location) -> JSON:
        result: dict[str, JSON] = {}
        for key_node, value_node in node.value:
            place = self._place(key_node)
            if not isinstance(key_node, yaml.ScalarNode) or key_node.tag not in (_PLAIN, _QUOTED):
                self.problems.append(Problem(place, "a key must be a plain word"))
                continue
            key = key_node.value
            if key == "<<":
                self.problems.append(Problem(place, "merge keys ('<<') are not part of YAML 1.2", "write the keys out"))
                continue
            if key in result:
                first = self.keys[(*location, key)]
                self.problems.append(
                    Problem(place, f"duplicate key {key!r}", f"first given at line {first.line}; keep one of the two")
                )
                continue
            self.keys[(*location, key)] = place
            result[key] = self.build(value_node, (*location, key))
        return result

    def _scalar(self, text: str, place: Place) -> JSON:
        if text in _WORDS:
            return _WORDS[text]
        if text[0] in _NUMBER_BEGINS:
            for pattern, convert in _NUMBERS:
                if pattern.fullmatch(text):
                    return self._converted(text, convert, place)
        return text

    def _converted(self, text: str, convert: Callable[[str], JSON], place: Place) -> JSON:
        try:
            value = convert(text)
        except ValueError:  # Python reads no more than 4,300 digits
            value = math.inf
        if isinstance(value, int | float) and abs(value) > sys.float_info.max:
            self.problems.append(Problem(place, "the number is too large", "quote it if it is not meant as a number"))
            return None
        return value


def validate(model: type[_Model], document: Document) -> _Model:
    """Check a document against a pydantic model; raises SpecificationError with every problem and its place."""
    try:
        return model.model_validate(document.value)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=True)
        raise SpecificationError(_problems(model, document, details)) from None


def _problems(model: type[BaseModel], document: Document, details: Sequence[ErrorDetails]) -> Iterator[Problem]:
    """Yield one problem for each place: where a value may have several forms, what the nearest form lacks."""
    found: dict[Location, list[ErrorDetails]] = {}
    for detail in details:
        found.setdefault(_location(document.value, detail), []).append(detail)
    for location, here in found.items():
        if not any(deeper[: len(location)] == location for deeper in found if deeper != location):
            yield _problem(model, document, location, here)


def _problem(
    model: type[BaseModel], document: Document, location: Location, details: Sequence[ErrorDetails]
) -> Problem:
    detail = details[0]
    name = ".".join(str(part) for part in location) or "the file"
    if detail["type"] == "extra_forbidden":
        known = _known_keys(model, location[:-1])
        return document.key_problem(location, f"unknown key {location[-1]!r}", nearest(str(location[-1]), known))
    if detail["type"] == "missing":
        return document.problem(location[:-1], f"missing key {location[-1]!r}")
    if detail["type"] in ("model_type", "dict_type", "model_attributes_type"):
        return document.problem(location, f"{name}: expected a mapping of keys, got {_shown(detail['input'])}")
    if detail["type"] == "value_error":
        message, _, hint = str(detail["ctx"]["error"]).partition("; ")
        got = "" if isinstance(detail["input"], dict) else f", got {_shown(detail['input'])}"
        return document.problem(location, f"{name}: {message}{got}", hint)
    message = ", or: ".join(detail["msg"] for detail in details)
    return document.problem(location, f"{name}: {message}, got {_shown(detail['input'])}")


def _location(value: JSON, detail: ErrorDetails) -> Location:
    """Return the place in the file that a pydantic location means, without the names of union members in it."""
    location: list[str | int] = []
    for part in detail["loc"]:
        in_object = isinstance(value, dict) and part in value
        in_list = isinstance(value, list) and isinstance(part, int) and part < len(value)
        if in_object or in_list:
            value = value[part]
            location.append(part)
    if detail["type"] == "missing":
        location.append(detail["loc"][-1])
    return tuple(location)


def _known_keys(model: type[BaseModel], location: Location) -> list[str]:
    """Return the keys that the model nested at ``location`` accepts."""
    current: Any = model
    for part in location:
        if isinstance(part, int):
            continue
        info = current.model_fields.get(part) if hasattr(current, "model_fields") else None
        if info is None:
            info = next(
                (f for f in getattr(current, "model_fields", {}).values() if part in (f.alias, f.validation_alias)),
                None,
            )
        if info is None:
            continue
        current = next(_models_in(info.annotation), current)
    return [info.alias or name for name, info in getattr(current, "model_fields", {}).items()]


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in getattr(annotation, "__args__", ()):
        yield from _models_in(argument)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
