"""Which values of a graph are compared with which: read off its guards, bindings and keys.

Guards only compare, so of a value nothing matters but what it is compared with: a constant, a number on either
side of a bound, or another value that is the same or not. Values that are compared with each other, directly or
by way of a variable, form a family.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from unacked.contract import Operation
from unacked.graph.explore.edges import edge_operations
from unacked.graph.expression import Conjunct, Path, syntax_tree
from unacked.graph.model import BoundGraph, Edge, Target

__all__ = ["SINCE", "Families", "Family", "Node", "value_keyed"]

Node = tuple[str, ...]
"""Where a value can stand: ``(args, operation, name)``, ``(result, operation, path)``, ``(var, graph, name)``."""

SINCE: Node = ("since",)
"""The time that guards look at."""


@dataclass(slots=True)
class Family:
    """What is known of values that are compared with each other."""

    members: set[Node] = field(default_factory=set)
    constants: set[Hashable] = field(default_factory=set)
    numeric: bool = False
    carrier: bool = False
    """A part of a payload that is compared as a whole."""
    single: bool = False
    """The key of the thread: another value is another thread."""

    def absorb(self, other: Family) -> None:
        """Take in another family: something is compared with a member of both."""
        self.members |= other.members
        self.constants |= other.constants
        self.numeric |= other.numeric
        self.carrier |= other.carrier
        self.single |= other.single


class Families:
    """The families of one or more graphs that share one trial."""

    def __init__(self, graphs: Sequence[BoundGraph], operations: Mapping[str, Operation]) -> None:
        self.operations = operations
        self.known: dict[Node, Family] = {}
        self.nullable: set[Node] = set()
        """Places that may hold nothing."""
        self.listed: set[Node] = set()
        """Places that hold a list."""
        self.fields: dict[tuple[str, str], set[str]] = {}
        """By operation and category, the result fields that something reads."""
        self.caps: dict[tuple[str, str], int] = {}
        """By graph and counter, the number from which on no guard sees a difference."""
        self._kept: list[tuple[Node, Node]] = []
        for graph in graphs:
            _Reader(self, graph).read()
        self._spread()

    def _spread(self) -> None:
        """What is a list, or may be null, under the name that it is kept by, is so where it comes from."""
        for marked in (self.nullable, self.listed):
            before = -1
            while before != len(marked):
                before = len(marked)
                marked.update(node for pair in self._kept if marked & set(pair) for node in pair)

    def family(self, node: Node) -> Family:
        """Return the family of a place, making one where there is none."""
        if node not in self.known:
            self.known[node] = Family({node})
        return self.known[node]

    def link(self, first: Node, second: Node) -> None:
        """Note that the values of two places are compared, or that one is kept for the other."""
        one, two = self.family(first), self.family(second)
        if one is not two:
            one.absorb(two)
            for node in two.members:
                self.known[node] = one

    def keep(self, variable: Node, source: Node) -> None:
        """Note that a value is kept under a name."""
        self.link(variable, source)
        self._kept.append((variable, source))

    def mark(self, node: Node, *, nullable: bool = False, listed: bool = False) -> None:
        """Note that a place may hold nothing, or that it holds a list."""
        self.family(node)
        if nullable:
            self.nullable.add(node)
        if listed:
            self.listed.add(node)


def value_keyed(graph: BoundGraph) -> dict[str, Path]:
    """Return the keys that open a thread where the case declares no effects: those that are not the payload."""
    return {operation: path for operation, path in graph.keys.items() if path.text != "payload"}


class _Reader:
    """Reads the guards and bindings of one graph into families."""

    def __init__(self, families: Families, graph: BoundGraph) -> None:
        self.families = families
        self.graph = graph

    def read(self) -> None:
        for edge, names in edge_operations(self.graph).values():
            for name in sorted(names & self.families.operations.keys()):
                self._edge(edge, self.families.operations[name])
        steps = {
            (name, step.edge.id): step
            for rows in self.graph.table.values()
            for name, row in rows.items()
            for step in row.allow
            if name in self.families.operations
        }
        for (name, _), step in steps.items():
            for category, targets in step.then.items():
                for target in targets:
                    self._arrival(self.families.operations[name], category, target)
        self._keys()

    def _edge(self, edge: Edge, operation: Operation) -> None:
        for conjunct in edge.when.conjuncts:
            self._conjunct(conjunct, operation)
        for name, path in edge.bind:
            self._bound(name, path, operation)

    def _arrival(self, operation: Operation, category: str, target: Target) -> None:
        paths = [path for conjunct in target.when.conjuncts for path in conjunct.reads]
        for conjunct in target.when.conjuncts:
            self._conjunct(conjunct, operation)
        for name, path in target.bind:
            self._bound(name, path, operation)
        for name, path in target.collect:
            self._bound(name, path, operation, collected=True)
        paths += [path for _, path in (*target.bind, *target.collect)]
        read = self.families.fields.setdefault((operation.name, category), set())
        for path in paths:
            node = self._node(path.text, operation)
            if node is not None and node[0] == "result":
                self.families.mark(node)
                read.add(node[2])

    def _bound(self, name: str, path: Path, operation: Operation, *, collected: bool = False) -> None:
        node = self._node(path.text, operation)
        variable = ("var", self.graph.name, name)
        if node is None:
            self.families.family(variable)
            return
        if collected:
            self.families.link(variable, node)
        else:
            self.families.keep(variable, node)
        if "[]" in path.text:
            self.families.mark(node, listed=True)

    def _keys(self) -> None:
        """The key of a thread has one value; what a handle names in several places is one family."""
        keys = value_keyed(self.graph)
        for name, path in keys.items():
            node = self._node(path.text, self.families.operations[name]) if name in self.families.operations else None
            if node is not None:
                self.families.family(node).single = True
        if not keys:
            return
        by_handle: dict[str, list[Node]] = {}
        for handle, path in (*self.graph.call_handles, *self.graph.result_handles):
            for name in sorted(self.graph.alphabet & self.families.operations.keys()):
                node = self._handle(path, self.families.operations[name])
                if node is not None:
                    by_handle.setdefault(handle, []).append(node)
        for nodes in by_handle.values():
            for first, second in itertools.pairwise(nodes):
                self.families.link(first, second)

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
        if root == "request":
            return ("args", operation.name, operation.request) if operation.request else None
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
        if isinstance(operator, ast.In | ast.NotIn) and second is not None:
            self.families.mark(second, listed=True)
        ordered = isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        for node, other in ((first, right), (second, left)):
            if node is None:
                continue
            for constant in _constants(other):
                self._constant(node, constant)
            if ordered:
                self.families.family(node).numeric = True
        if first is not None and second is not None:
            self.families.link(first, second)
        if ("operation",) in (first, second):
            self.families.family(("operation",)).constants.add(operation.name)

    def _constant(self, node: Node, constant: Hashable) -> None:
        family = self.families.family(node)
        if constant is None:
            self.families.mark(node, nullable=True)
            return
        family.constants.add(constant)
        if isinstance(constant, int | float) and not isinstance(constant, bool):
            family.numeric = True
            if node[0] == "count":
                key = (node[1], node[2])
                self.families.caps[key] = max(self.families.caps.get(key, 0), int(constant) + 1)

    def _call(self, function: str, arguments: Sequence[ast.expr], operation: Operation) -> None:
        nodes = [self._place(argument, operation) for argument in arguments]
        known = [node for node in nodes if node is not None]
        for node in known:
            self.families.mark(node, nullable=function == "is_set", listed=function in ("subset", "len"))
        if function in ("min", "max"):
            for node in known:
                self.families.family(node).numeric = True
        if function in ("subset", "min", "max"):
            for first, second in itertools.pairwise(known):
                self.families.link(first, second)

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
    else:
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                yield -number
