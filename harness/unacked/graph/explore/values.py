"""Which values a graph can tell apart: a few per argument and result field, enough to show all that it can do.

Guards only compare, so of a value nothing matters but what it is compared with: a constant, a number on either
side of a bound, or another value that is the same or not. Values that are compared with each other, directly or
by way of a variable, form a family; a family has two tokens (``title-1``, ``title-2``), which is enough to be
equal and to differ, and the constants that it is compared with.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from unacked.canonical import JSON
from unacked.contract import Argument, Operation
from unacked.graph.expression import Conjunct, Path, syntax_tree
from unacked.graph.model import BoundGraph, Edge
from unacked.outcome import CATEGORIES, OutcomeClass

__all__ = ["MISSING", "Token", "Values", "edge_operations", "value_keyed"]

Node = tuple[str, ...]
"""A place where a value can stand: ``(args, operation, name)``, ``(result, operation, path)``, ``(var, graph, name)``."""

MISSING = object()
"""Stands for a result field that the answer does not hold."""

_SINCE: Node = ("since",)
_WAIT_S = 10.0
"""How long a service asks to wait, where a graph binds the time."""


@dataclass(frozen=True, slots=True)
class Token:
    """One of the two free values of a family."""

    family: int
    number: int
    twin: str
    """The family's other token."""


@dataclass(slots=True)
class _Family:
    """What is known of values that are compared with each other."""

    members: set[Node] = field(default_factory=set)
    constants: set[Hashable] = field(default_factory=set)
    numeric: bool = False
    carrier: bool = False
    """A part of a payload that is compared as a whole."""
    single: bool = False
    """The key of the thread: another value is another thread."""

    def absorb(self, other: _Family) -> None:
        self.members |= other.members
        self.constants |= other.constants
        self.numeric |= other.numeric
        self.carrier |= other.carrier
        self.single |= other.single


def edge_operations(graph: BoundGraph) -> dict[str, tuple[Edge, set[str]]]:
    """Return every edge of a bound graph by its id, with the operations that it concerns."""
    found: dict[str, tuple[Edge, set[str]]] = {}
    for rows in graph.table.values():
        for name, row in rows.items():
            for edge in (*row.always, *(step.edge for step in row.allow), *row.forbid):
                found.setdefault(edge.id, (edge, set()))[1].add(name)
    return found


def value_keyed(graph: BoundGraph) -> dict[str, Path]:
    """Return the keys that open a thread where the case declares no effects: those that are not the payload."""
    return {operation: path for operation, path in graph.keys.items() if path.text != "payload"}


class Values:
    """The values that one or more graphs can tell apart, by argument and result field."""

    def __init__(self, graphs: Sequence[BoundGraph], operations: Iterable[Operation]) -> None:
        self.graphs = graphs
        self.operations = {operation.name: operation for operation in operations}
        self._families: dict[Node, _Family] = {}
        self._nullable: set[Node] = set()
        self._lists: set[Node] = set()
        self.fields: dict[tuple[str, str], set[str]] = {}
        """By operation and category, the result fields that something reads."""
        self.caps: dict[tuple[str, str], int] = {}
        """By graph and counter, the number from which on no guard sees a difference."""
        for graph in graphs:
            _Reader(self, graph).read()
        self._choose_carriers()
        self.tokens: dict[str, Token] = {}
        self._names: dict[int, tuple[str, ...]] = {}
        self._name_tokens()
        timed = self._families.get(_SINCE)
        numbers = sorted(float(item) for item in timed.constants if _is_number(item)) if timed else []
        self.waits = (0.0, *(number for number in (numbers or [_WAIT_S]) if number > 0)) if timed else (0.0,)
        """Seconds to let pass before a call; more than one where a guard looks at the clock."""

    def argument(self, operation: Operation, argument: Argument) -> list[JSON]:
        """Return the values that an argument may take; None is an argument that is left out."""
        node = ("args", operation.name, argument.name)
        family = self._families.get(node)
        if family is None:
            return [_plain(argument)] if argument.required else [None]
        options = list(argument.choices) or self._options(node, argument)
        absent = node in self._nullable or not argument.required
        return [*options, None] if absent and None not in options else options

    def field(self, operation: Operation, path: str, category: str) -> list[JSON]:
        """Return the values that a result field may have in answers of a category; MISSING is no such field."""
        node = ("result", operation.name, path)
        declared = next((item for item in operation.result if item.name == path.split(".")[0].removesuffix("[]")), None)
        options = self._options(node, declared)
        promised = CATEGORIES[category].outcome_class is OutcomeClass.SUCCESS and (declared is None or declared.required)
        return options if promised else [*options, MISSING]

    # -- what was read -------------------------------------------------------------------------------------

    def family(self, node: Node) -> _Family:
        """Return the family of a place, making one where there is none."""
        if node not in self._families:
            self._families[node] = _Family({node})
        return self._families[node]

    def link(self, first: Node, second: Node) -> None:
        """Note that the values of two places are compared, or that one is kept for the other."""
        one, two = self.family(first), self.family(second)
        if one is not two:
            one.absorb(two)
            for node in two.members:
                self._families[node] = one

    def mark(self, node: Node, *, nullable: bool = False, listed: bool = False) -> None:
        """Note that a place may hold nothing, or that it holds a list."""
        self.family(node)
        if nullable:
            self._nullable.add(node)
        if listed:
            self._lists.add(node)

    # -- from families to values ---------------------------------------------------------------------------

    def _choose_carriers(self) -> None:
        """Where a payload is compared as a whole, let one argument vary that nothing else looks at."""
        for name, operation in self.operations.items():
            if ("payload", name) not in self._families:
                continue
            free = [
                item
                for item in operation.arguments
                if item.name not in (operation.request, operation.idempotency)
                and ("args", name, item.name) not in self._families
            ]
            free.sort(key=lambda item: (item.name == operation.target, item.json_type != "string", not item.required))
            for item in free[:1]:
                self.family(("args", name, item.name)).carrier = True

    def _name_tokens(self) -> None:
        taken: set[str] = set()
        families = {id(family): family for family in self._families.values()}
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
        family = self.family(node)
        if any(isinstance(item, bool) for item in family.constants):
            return [True, False]
        if family.numeric:
            items: list[JSON] = sorted(_numbers(family))
        else:
            constants = sorted((item for item in family.constants if item is not None), key=str)
            items = [*self._names[id(family)], *constants]
        listed = node in self._lists or (declared is not None and declared.json_type == "array")
        return [[], *([item] for item in items), *([list(items[:2])] if len(items) > 1 else [])] if listed else items


def _numbers(family: _Family) -> set[JSON]:
    numbers = [item for item in family.constants if _is_number(item)]
    if not numbers:
        return {_WAIT_S if _SINCE in family.members else 1}
    return {near for number in numbers for near in (number - 1, number, number + 1) if near >= min(0, number)}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _family_name(family: _Family, taken: set[str]) -> str:
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


class _Reader:
    """Reads the guards and bindings of one graph into families."""

    def __init__(self, values: Values, graph: BoundGraph) -> None:
        self.values = values
        self.graph = graph

    def read(self) -> None:
        for edge, names in edge_operations(self.graph).values():
            for name in sorted(names & self.values.operations.keys()):
                self._edge(edge, self.values.operations[name])
        for rows in self.graph.table.values():
            for name, row in rows.items():
                if name not in self.values.operations:
                    continue
                for step in row.allow:
                    for category, targets in step.then.items():
                        for target in targets:
                            self._arrivals(self.values.operations[name], category, target.when.conjuncts, (*target.bind, *target.collect))
        self._keys()

    def _edge(self, edge: Edge, operation: Operation) -> None:
        for conjunct in edge.when.conjuncts:
            self._conjunct(conjunct, operation)
        for name, path in edge.bind:
            self._bound(name, path, operation)

    def _arrivals(
        self, operation: Operation, category: str, conjuncts: Iterable[Conjunct], bindings: Iterable[tuple[str, Path]]
    ) -> None:
        paths = [path for conjunct in conjuncts for path in conjunct.reads]
        for conjunct in conjuncts:
            self._conjunct(conjunct, operation)
        for name, path in bindings:
            self._bound(name, path, operation)
            paths.append(path)
        read = self.values.fields.setdefault((operation.name, category), set())
        for path in paths:
            node = self._node(path.text, operation)
            if node is not None and node[0] == "result":
                self.values.mark(node)
                read.add(node[2])

    def _bound(self, name: str, path: Path, operation: Operation) -> None:
        node = self._node(path.text, operation)
        variable = ("var", self.graph.name, name)
        if node is None:
            self.values.family(variable)
            return
        self.values.link(variable, node)
        if path.text.endswith("[]") or "[]." in path.text:
            self.values.mark(node, listed=True)

    def _keys(self) -> None:
        """The key of a thread has one value; what a handle names in several places is one family."""
        keys = value_keyed(self.graph)
        for name, path in keys.items():
            node = self._node(path.text, self.values.operations[name]) if name in self.values.operations else None
            if node is not None:
                self.values.family(node).single = True
        if not keys:
            return
        by_handle: dict[str, list[Node]] = {}
        for handle, path in (*self.graph.call_handles, *self.graph.result_handles):
            for name in sorted(self.graph.alphabet & self.values.operations.keys()):
                node = self._handle(path, self.values.operations[name])
                if node is not None:
                    by_handle.setdefault(handle, []).append(node)
        for nodes in by_handle.values():
            for first, second in itertools.pairwise(nodes):
                self.values.link(first, second)

    def _handle(self, path: Path, operation: Operation) -> Node | None:
        node = self._node(path.text, operation)
        known = {"args": operation.arguments, "result": operation.result}.get(node[0] if node else "", ())
        return node if node is not None and any(item.name == node[2] for item in known) else None

    def _node(self, text: str, operation: Operation) -> Node | None:
        """Return the place that a path means for an operation; None where it means none."""
        root, _, rest = text.partition(".")
        if root.startswith("$"):
            return ("var", self.graph.name, text[1:])
        if root == "target":
            return ("args", operation.name, operation.target) if operation.target else None
        if text == "result.identity":
            return ("result", operation.name, operation.identity) if operation.identity else None
        if root in ("args", "result"):
            return (root, operation.name, rest)
        if root == "count":
            return ("count", self.graph.name, rest)
        return (root, operation.name) if root == "payload" else (root,)

    # -- guards --------------------------------------------------------------------------------------------

    def _conjunct(self, conjunct: Conjunct, operation: Operation) -> None:
        for node in ast.walk(syntax_tree(conjunct.text)):
            if isinstance(node, ast.Compare):
                operands = (node.left, *node.comparators)
                for operator, left, right in zip(node.ops, operands, operands[1:], strict=False):
                    self._compare(operator, left, right, operation)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                self._call(node.func.id, node.args, operation)

    def _compare(self, operator: ast.cmpop, left: ast.expr, right: ast.expr, operation: Operation) -> None:
        first, second = self._place(left, operation), self._place(right, operation)
        if isinstance(operator, ast.In | ast.NotIn):
            if second is not None:
                self.values.mark(second, listed=True)
        ordered = isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        for node, other in ((first, right), (second, left)):
            if node is None:
                continue
            for constant in _constants(other):
                self._constant(node, constant)
            if ordered:
                self.values.family(node).numeric = True
        if first is not None and second is not None:
            self.values.link(first, second)
        if ("operation",) in (first, second):
            self.values.family(("operation",)).constants.add(operation.name)

    def _constant(self, node: Node, constant: Hashable) -> None:
        family = self.values.family(node)
        if constant is None:
            self.values.mark(node, nullable=True)
            return
        family.constants.add(constant)
        if _is_number(constant):
            family.numeric = True
        if node[0] == "count" and isinstance(constant, int | float):
            key = (node[1], node[2])
            self.values.caps[key] = max(self.values.caps.get(key, 0), int(constant) + 1)

    def _call(self, function: str, arguments: Sequence[ast.expr], operation: Operation) -> None:
        nodes = [self._place(argument, operation) for argument in arguments]
        known = [node for node in nodes if node is not None]
        for node in known:
            self.values.mark(node, nullable=function == "is_set", listed=function in ("subset", "len"))
        if function in ("min", "max"):
            for node in known:
                self.values.family(node).numeric = True
        if function in ("subset", "min", "max"):
            for first, second in itertools.pairwise(known):
                self.values.link(first, second)

    def _place(self, node: ast.expr, operation: Operation) -> Node | None:
        text = _dotted(node)
        return self._node(text, operation) if text else None


def _dotted(node: ast.expr) -> str:
    """The path that a node of the syntax spells; empty where it is none."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    root = f"${node.id[1:]}" if node.id.startswith("_") else node.id
    return ".".join((root, *parts))


def _constants(node: ast.expr) -> Iterator[Hashable]:
    if isinstance(node, ast.Constant):
        yield node.value
    elif isinstance(node, ast.List | ast.Tuple):
        for item in node.elts:
            yield from _constants(item)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        if isinstance(node.operand.value, int | float):
            yield -node.operand.value
