"""The moves that a graph can tell apart: calls with their arguments, and the answers to them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unacked.canonical import JSON, freeze
from unacked.contract import Operation
from unacked.graph.explore.values import MISSING, Token, Values
from unacked.graph.model import BoundGraph

__all__ = ["Alphabet", "Answer", "Letter", "Swapped", "renamed"]

_MOST_LETTERS = 600
"""Calls of one operation that are tried; where the values allow more, no more than two arguments vary at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Letter:
    """One call; ``args`` holds every argument of the contract, null where it is left out.

    ``needs`` are the families whose second token occurs without the first: such a call says nothing new unless
    something was bound to the first.
    """

    operation: Operation
    args: Mapping[str, JSON]
    wait_s: float
    payload: Any
    needs: frozenset[int]

    @property
    def keeps_contract(self) -> bool:
        """Whether no argument is left out that the contract requires: a tool sends nothing else."""
        return all(self.args[item.name] is not None for item in self.operation.arguments if item.required)


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """One result of an operation."""

    category: str
    fields: Mapping[str, JSON]
    needs: frozenset[int]


class Alphabet:
    """All calls and answers that the graphs can tell apart, as far as the operations are there."""

    def __init__(self, graphs: Sequence[BoundGraph], operations: Iterable[Operation]) -> None:
        watched = {name for graph in graphs for name in graph.watched}
        self.operations = {operation.name: operation for operation in operations if operation.name in watched}
        self.values = Values(graphs, self.operations.values())
        self.tokens: Mapping[str, Token] = self.values.tokens
        self._found: dict[object, frozenset[tuple[int, int]]] = {}
        self.exhaustive = True
        """False where an operation has too many calls to try every one."""
        self.letters: Mapping[str, Sequence[Letter]] = {
            name: tuple(self._letters(operation)) for name, operation in self.operations.items()
        }
        self.answers: Mapping[tuple[str, str], Sequence[Answer]] = {
            (name, category): tuple(self._answers(operation, category))
            for name, operation in self.operations.items()
            for category in sorted(operation.categories)
        }

    def plain(self, operation: Operation) -> Letter:
        """Return a call of an operation with arguments of no account."""
        args = {item.name: self.values.argument(operation, item)[0] for item in operation.arguments}
        return Letter(operation, args, 0.0, freeze(operation.payload(args)), frozenset())

    def families(self, value: object) -> frozenset[tuple[int, int]]:
        """Return (family, number) of every token in a value, however deep."""
        try:
            known = self._found.get(value)
        except TypeError:  # lists and objects cannot be looked up
            return frozenset(self._families(value))
        if known is None:
            known = self._found[value] = frozenset(self._families(value))
        return known

    def _families(self, value: object) -> set[tuple[int, int]]:
        if isinstance(value, str):
            token = self.tokens.get(value)
            return {(token.family, token.number)} if token else set()
        if isinstance(value, Mapping):
            return {found for item in value.values() for found in self.families(item)}
        if isinstance(value, list | tuple | frozenset):
            return {found for item in value for found in self.families(item)}
        return set()

    def _needs(self, value: object) -> frozenset[int]:
        found = self.families(value)
        return frozenset(family for family, number in found if number == 2 and (family, 1) not in found)

    def _letters(self, operation: Operation) -> Iterator[Letter]:
        options = {item.name: self.values.argument(operation, item) for item in operation.arguments}
        waits = self.values.waits if operation.writes else self.values.waits[:1]
        for args in self._combinations(options):
            payload = freeze(operation.payload({name: value for name, value in args.items() if value is not None}))
            for wait_s in waits:
                yield Letter(operation, args, wait_s, payload, self._needs(args))

    def _answers(self, operation: Operation, category: str) -> Iterator[Answer]:
        paths = sorted(self.values.fields.get((operation.name, category), ()))
        options = {path: self.values.field(operation, path, category) for path in paths}
        for chosen in self._combinations(options):
            fields: dict[str, JSON] = {}
            for path, value in chosen.items():
                if value is not MISSING:
                    _place(fields, path.split("."), value)
            yield Answer(category, fields, self._needs(fields))

    def _combinations(self, options: Mapping[str, Sequence[JSON]]) -> Iterator[dict[str, JSON]]:
        total = 1
        for values in options.values():
            total *= len(values)
        if total <= _MOST_LETTERS:
            for chosen in itertools.product(*options.values()):
                yield dict(zip(options, chosen, strict=True))
            return
        self.exhaustive = False
        base = {name: values[0] for name, values in options.items()}
        seen = set()
        for first, second in itertools.combinations(options, 2):
            for one, two in itertools.product(options[first], options[second]):
                args = {**base, first: one, second: two}
                if freeze(args) not in seen:
                    seen.add(freeze(args))
                    yield args


def _place(fields: dict[str, JSON], parts: Sequence[str], value: JSON) -> None:
    """Put a value where a path says; behind ``[]`` it is a list, one item for each of its values."""
    part, *rest = parts
    name = part.removesuffix("[]")
    if not rest:
        fields[name] = value
    elif name == part:
        _place(fields.setdefault(name, {}), rest, value)
    else:
        items = fields.setdefault(name, [{} for _ in value])
        for item, inner in zip(items, value, strict=False):
            _place(item, rest, inner)


Swapped = frozenset[int]
"""The families whose tokens have changed places."""


def renamed(value: Any, swapped: Swapped, tokens: Mapping[str, Token]) -> Any:
    """Return a value with the tokens of some families exchanged."""
    if not swapped:
        return value
    if isinstance(value, str):
        token = tokens.get(value)
        return token.twin if token is not None and token.family in swapped else value
    if isinstance(value, dict):
        return {key: renamed(item, swapped, tokens) for key, item in value.items()}
    if isinstance(value, list):
        return [renamed(item, swapped, tokens) for item in value]
    if isinstance(value, tuple):
        return tuple(renamed(item, swapped, tokens) for item in value)
    if isinstance(value, frozenset):
        return frozenset(renamed(item, swapped, tokens) for item in value)
    return value
