"""The arrow form: a rule on one line, expanded to a graph file.

    graph: reconcile-first
    arrows:
      - create_record -> outcome_unknown -> lookup_by_request_id -> found -> attach_note
      - create_record -> outcome_unknown -> !create_record

Operations and categories alternate; ``found`` is ``ok``; ``!`` marks the step that is forbidden. A word that is
neither a role nor an operation may be an effect class: ``create`` is every operation that creates. A line
speaks only after its first step happened with its category; until then every call is allowed. From there on
only the steps that some line names are allowed (reads and questions always are), and each must carry the
same request id, the same token and payload, and the object that the evidence gave. An unnamed answer to a
read proves nothing and leaves the agent where it was; after an unnamed uncertain answer to a write the agent
may look, ask, or stop as unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from unacked.canonical import JSON
from unacked.contract import Operation, Registry
from unacked.document import Document, Location, validate
from unacked.errors import Problem, SpecificationError, nearest
from unacked.graph.model import covering_key
from unacked.graph.schema import LintFile
from unacked.outcome import CATEGORIES, OutcomeClass

__all__ = ["expand_arrows"]


class _ArrowFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    graph: str = Field(min_length=1)
    version: int = 1
    roles: dict[str, str | None] = {}
    arrows: list[str] = Field(min_length=1)
    lint: LintFile = LintFile()


@dataclass(slots=True)
class _Node:
    """The situation after a way of (operation, category) pairs."""

    way: tuple[tuple[str, str], ...] = ()
    bound: frozenset[str] = frozenset()
    next: dict[str, dict[str, _Node]] = field(default_factory=dict)
    forbidden: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return ", then ".join(f"{word}: {category}" for word, category in self.way) or "start"


def expand_arrows(document: Document, registry: Registry) -> JSON:
    """Return the value of the graph file that an arrow file stands for; raises SpecificationError."""
    file = validate(_ArrowFile, document)
    lines = _Lines(document, registry, file.roles)
    for index, text in enumerate(file.arrows):
        lines.add(text, ("arrows", index))
    if lines.problems:
        raise SpecificationError(lines.problems)
    return {
        "graph": file.graph,
        "version": file.version,
        "roles": dict(file.roles),
        "thread": {"name": file.graph},
        "states": _States(lines, registry).expanded(),
        "lint": file.lint.model_dump(),
    }


class _Lines:
    """Reads the lines into one tree, whose root is the situation before anything happened."""

    def __init__(self, document: Document, registry: Registry, roles: dict[str, str | None]) -> None:
        self.document = document
        self.registry = registry
        self.roles = roles
        self.root = _Node()
        self.problems: list[Problem] = []
        self.operations: dict[str, list[Operation]] = {}

    def add(self, text: str, location: Location) -> None:
        words = [word.strip() for word in text.split("->")]
        before = len(self.problems)
        for position, word in enumerate(words):
            check = self._check_category if position % 2 else self._check_operation
            check(words, position, word, location)
        if len(words) < 3:
            message = f"{text!r} is too short for a rule"
            self._problem(location, message, "write: operation -> category -> operation")
        if len(self.problems) == before:
            self._grow(words)

    def _check_operation(self, words: list[str], position: int, word: str, location: Location) -> None:
        name = word.removeprefix("!").strip()
        if word.startswith("!") and (position == 0 or position != len(words) - 1):
            self._problem(location, f"{word!r}: only the last step can be forbidden", "end the line with the '!' step")
        if _category(name) and name not in self.registry:
            self._problem(
                location, f"{name!r} stands where an operation belongs", "operations and categories alternate"
            )
            return
        found = self._stands_for(name)
        if not found:
            self._problem(location, f"unknown operation {name!r}", nearest(name, {*self.roles, *self.registry}))
        self.operations[name] = found

    def _stands_for(self, word: str) -> list[Operation]:
        name = self.roles.get(word, word)
        if name is not None and name in self.registry:
            return [self.registry[name]]
        return [self.registry[name] for name in sorted(self.registry.select(f"@{word}"))]

    def _check_category(self, words: list[str], position: int, word: str, location: Location) -> None:
        category = _category(word)
        if category is None:
            hint = nearest(word, (*CATEGORIES, "found"))
            if word.removeprefix("!") in self.registry:
                hint = "operations and categories alternate"
            self._problem(location, f"{word!r} stands where a category belongs", hint)
            return
        operation = words[position - 1].removeprefix("!").strip()
        declared = {name for contract in self.operations.get(operation, ()) for name in contract.categories}
        if declared and category not in declared:
            self._problem(location, f"{operation} never answers {category!r}", nearest(category, declared))

    def _grow(self, words: list[str]) -> None:
        node = self.root
        for operation, category in zip(words[::2], words[1::2], strict=False):
            node = self._child(node, operation, _category(category) or category)
        if len(words) % 2:
            last = words[-1]
            if last.startswith("!"):
                node.forbidden.append(last.removeprefix("!").strip())
            else:
                node.next.setdefault(last, {})

    def _child(self, node: _Node, word: str, category: str) -> _Node:
        children = node.next.setdefault(word, {})
        if category not in children:
            bound = node.bound | {name for name, _ in _call_bindings(self.operations[word], node.bound)}
            if category == "ok" and all(operation.identity for operation in self.operations[word]):
                bound |= {"object"}
            children[category] = _Node((*node.way, (word, category)), bound)
        return children[category]

    def _problem(self, location: Location, message: str, hint: str) -> None:
        self.problems.append(self.document.problem(location, message, hint))


def _category(word: str) -> str | None:
    name = "ok" if word == "found" else word
    return name if name in CATEGORIES else None


def _common(operations: Iterable[Operation], part: str) -> str | None:
    """The argument that plays a part in every one of the operations, where it has one name."""
    names = {getattr(operation, part) for operation in operations}
    return names.pop() if len(names) == 1 else None


def _call_bindings(operations: list[Operation], bound: frozenset[str]) -> list[tuple[str, str]]:
    """What a first call of its kind leaves behind for later steps to be compared with."""
    bindings = []
    request, token = _common(operations, "request"), _common(operations, "idempotency")
    if request and "request" not in bound:
        bindings.append(("request", f"args.{request}"))
    if "object" not in bound and all(operation.target for operation in operations):
        bindings.append(("object", "target"))
    if all(operation.writes for operation in operations) and "operation" not in bound:
        bindings += [("operation", "operation"), ("payload", "payload")]
        if token:
            bindings.append(("token", f"args.{token}"))
    return bindings


class _States:
    """Writes the tree as the ``states`` of a graph file."""

    def __init__(self, lines: _Lines, registry: Registry) -> None:
        self.lines = lines
        self.registry = registry
        self.states: dict[str, Any] = {}
        self.unsettled = False

    def expanded(self) -> dict[str, Any]:
        root = self.lines.root
        later = [word for word in self.lines.operations if word not in root.next]
        free = [self._free_edge(word) for word in later]
        first = [self._edge(root, word, "start") for word in root.next]
        finish = self._stop("start", ())
        self.states["start"] = {"end": "ok", "allow": [*first, *free, *finish]}
        for children in root.next.values():
            for node in children.values():
                self._add(node)
        if self.unsettled:
            self.states["unsettled"] = {
                "why": "a write got an uncertain answer that no line speaks of",
                "allow": self._stop("unsettled", ("args.status == 'unknown'",)),
            }
        if "finish" in self.registry:
            self.states["finished"] = {"end": "final"}
        return self.states

    def _add(self, node: _Node) -> None:
        steps = [self._edge(node, word, node.name) for word in node.next]
        word, category = node.way[-1]
        forbid = [
            {
                "id": f"{forbidden}-after-{'-'.join(part for pair in node.way for part in pair)}",
                "call": self._call(forbidden),
                "why": f"{forbidden} is forbidden after {word} answered {category}",
            }
            for forbidden in dict.fromkeys(node.forbidden)
        ]
        done = CATEGORIES[category].outcome_class is OutcomeClass.SUCCESS and not node.next
        self.states[node.name] = {
            "end": "ok" if done else "open",
            "why": f"{word} answered {category}",
            "allow": [*steps, *self._stop(node.name, () if done else (_honest(category),))],
            "forbid": forbid,
        }
        for children in node.next.values():
            for child in children.values():
                self._add(child)

    def _call(self, word: str) -> str:
        named = word in self.lines.roles or word in self.registry
        return word if named else f"@{word}"

    def _edge(self, node: _Node, word: str, state: str) -> dict[str, Any]:
        operations = self.lines.operations[word]
        then: dict[str, Any] = {category: self._arrive(child, word) for category, child in node.next[word].items()}
        writes = any(operation.writes for operation in operations)
        if "ok" not in then and node.way and writes:
            then["ok"] = {"to": "start", "forget": ["request", "object", "operation", "payload", "token"]}
        if writes and any(self._uncovered(operation, then) for operation in operations):
            then["@uncertain"] = "unsettled"
            self.unsettled = True
        then["@any"] = state
        return {
            "id": f"{state}: {word}",
            "call": self._call(word),
            "when": self._equalities(node, operations),
            "bind": dict(_call_bindings(operations, node.bound)),
            "then": then,
        }

    def _uncovered(self, operation: Operation, then: dict[str, Any]) -> bool:
        return any(
            covering_key(category, operation, (*then, "@uncertain")) == "@uncertain"
            for category in operation.categories
        )

    def _arrive(self, child: _Node, word: str) -> Any:
        operations = self.lines.operations[word]
        if child.way[-1][1] == "ok" and all(operation.identity for operation in operations):
            return {"to": child.name, "bind": {"object": "result.identity"}}
        return child.name

    def _equalities(self, node: _Node, operations: list[Operation]) -> list[str]:
        request, token = _common(operations, "request"), _common(operations, "idempotency")
        conditions = []
        if request and "request" in node.bound:
            conditions.append(f"args.{request} == $request")
        if "object" in node.bound and all(operation.target for operation in operations):
            conditions.append("target == $object")
        if self._repeats(node, operations):
            if "token" in node.bound and token:
                conditions += [f"args.{token} == $token", f"is_set(args.{token})"]
            conditions += ["operation == $operation", "payload == $payload"]
        return conditions

    def _repeats(self, node: _Node, operations: list[Operation]) -> bool:
        earlier = {operation.name for word, _ in node.way for operation in self.lines.operations[word]}
        return "operation" in node.bound and any(
            operation.name in earlier for operation in operations if operation.writes
        )

    def _free_edge(self, word: str) -> dict[str, Any]:
        return {"id": f"start: {word}", "call": self._call(word), "then": {"@any": "start"}}

    def _stop(self, state: str, when: tuple[str, ...]) -> list[dict[str, Any]]:
        if "finish" not in self.registry:
            return []
        return [{"id": f"{state}: finish", "call": "finish", "when": list(when), "then": {"@any": "finished"}}]


def _honest(category: str) -> str:
    uncertain = CATEGORIES[category].outcome_class is OutcomeClass.UNCERTAIN
    return "args.status == 'unknown'" if uncertain else "args.status != 'success'"
