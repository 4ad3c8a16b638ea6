"""Which values a graph can tell apart: a few per argument and result field, enough to show all that it can do.

Each family of values that are compared with each other has two tokens (``title-1``, ``title-2``), which is enough
to be equal and to differ, and the constants and numbers that it is compared with.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unacked.canonical import JSON
from unacked.contract import Argument, Operation
from unacked.graph.explore.families import SINCE, Families, Family, Node
from unacked.graph.model import BoundGraph
from unacked.outcome import CATEGORIES, OutcomeClass

__all__ = ["MISSING", "Token", "Values"]

MISSING = object()
"""Stands for a result field that the answer does not hold."""

_WAIT_S = 10.0
"""How long a service asks to wait, where a graph binds the time."""


@dataclass(frozen=True, slots=True)
class Token:
    """One of the two free values of a family."""

    family: int
    number: int
    twin: str
    """The family's other token."""


class Values:
    """The values that one or more graphs can tell apart, by argument and result field."""

    def __init__(self, graphs: Sequence[BoundGraph], operations: Iterable[Operation]) -> None:
        self.operations = {operation.name: operation for operation in operations}
        self._families = Families(graphs, self.operations)
        self.fields = self._families.fields
        self.caps = self._families.caps
        self._choose_carriers()
        self.tokens: dict[str, Token] = {}
        self._names: dict[int, tuple[str, ...]] = {}
        self._name_tokens()
        timed = self._families.known.get(SINCE)
        numbers = sorted(_numeric(timed)) if timed else []
        self.waits = (0.0, *(number for number in (numbers or [_WAIT_S]) if number > 0)) if timed else (0.0,)
        """Seconds to let pass before a call; more than one where a guard looks at the clock."""

    def argument(self, operation: Operation, argument: Argument) -> list[JSON]:
        """Return the values that an argument may take; None is an argument that is left out."""
        node = ("args", operation.name, argument.name)
        family = self._families.known.get(node)
        if family is None:
            return [_plain(argument)] if argument.required else [None]
        options = list(argument.choices) or self._options(node, argument)
        absent = node in self._families.nullable or not argument.required
        return [*options, None] if absent and None not in options else options

    def compares(self, operation: Operation, name: str) -> bool:
        """Return whether anything looks at an argument."""
        return ("args", operation.name, name) in self._families.known

    def field(self, operation: Operation, path: str, category: str) -> list[JSON]:
        """Return the values that a result field may have in answers of a category; MISSING is no such field."""
        node = ("result", operation.name, path)
        head = path.partition(".")[0].removesuffix("[]")
        declared = next((item for item in operation.result if item.name == head), None)
        options = self._options(node, declared)
        if node in self._families.nullable and None not in options:
            options = [*options, None]
        succeeded = CATEGORIES[category].outcome_class is OutcomeClass.SUCCESS
        promised = succeeded and (declared is None or declared.required)
        return options if promised else [*options, MISSING]

    def _choose_carriers(self) -> None:
        """Where a payload is compared as a whole, let one argument vary that nothing else looks at."""
        for name, operation in self.operations.items():
            if ("payload", name) not in self._families.known:
                continue
            free = [
                item
                for item in operation.arguments
                if item.name not in (operation.request, operation.idempotency)
                and ("args", name, item.name) not in self._families.known
            ]
            free.sort(key=lambda item: (item.name == operation.target, item.json_type != "string", not item.required))
            for item in free[:1]:
                self._families.family(("args", name, item.name)).carrier = True

    def _name_tokens(self) -> None:
        taken: set[str] = set()
        families = {id(family): family for family in self._families.known.values()}
        for number, family in enumerate(families.values()):
            name = _family_name(family, taken)
            taken.add(name)
            many = family.carrier or len(family.members) > 1
            count = 0 if family.numeric else 2 if many and not family.single else 1
            names = (f"{name}-1", f"{name}-2")
            for index, token in enumerate(names[:count]):
                self.tokens[token] = Token(number, index + 1, names[1 - index] if count == 2 else token)
            self._names[id(family)] = names[:count]

    def _options(self, node: Node, declared: Argument | None) -> list[JSON]:
        if declared is not None and declared.json_type == "boolean":
            return [True, False]
        family = self._families.family(node)
        if any(isinstance(item, bool) for item in family.constants):
            return [True, False]
        if family.numeric:
            items: list[JSON] = sorted(_numbers(family))
        else:
            constants = sorted((item for item in family.constants if item is not None), key=str)
            items = [*self._names[id(family)], *constants]
        listed = node in self._families.listed or (declared is not None and declared.json_type == "array")
        return [[], *([item] for item in items)] if listed else items


def _numbers(family: Family) -> set[JSON]:
    numbers = _numeric(family)
    if not numbers:
        return {_WAIT_S if SINCE in family.members else 1}
    return {near for number in numbers for near in (number - 1, number, number + 1) if near >= min(0, number)}


def _numeric(family: Family) -> list[int | float]:
    return [item for item in family.constants if isinstance(item, int | float) and not isinstance(item, bool)]


def _family_name(family: Family, taken: set[str]) -> str:
    """The name of an argument, or else of whatever there is, that tells the family from the others."""
    order = {"args": 0, "result": 1}
    members = sorted(family.members, key=lambda node: (order.get(node[0], 2), len(node[-1]), node))
    names = [node[-1].replace("[]", "").replace(".", "-") for node in members]
    names += [f"{node[1]}-{name}" for node, name in zip(members, names, strict=True) if len(node) > 2]
    return next((name for name in names if name not in taken), f"{names[0]}-{len(taken)}")


def _plain(argument: Argument) -> JSON:
    """A value for an argument that no graph looks at."""
    if argument.choices:
        return argument.choices[0]
    plain: dict[str, JSON] = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    return plain.get(argument.json_type, argument.name)
