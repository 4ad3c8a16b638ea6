"""From a graph file to a Graph, with every problem of the file at once.

First the shape is checked (pydantic), then the meaning: roles, operations, states, guards, categories. Where
only single keys are out of shape, the meaning of the rest is checked all the same.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Mapping

from pydantic import ValidationError

from unacked.canonical import JSON
from unacked.contract import Operation, Registry
from unacked.document import Document, Location, validate
from unacked.errors import Problem, SpecificationError, nearest
from unacked.graph.arrow import expand_arrows
from unacked.graph.expression import ALWAYS, Conjunct, Guard, GuardError, Path, compile_guard, compile_path
from unacked.graph.model import (
    Allowance,
    Bindings,
    Edge,
    Finality,
    Graph,
    State,
    Target,
    ThreadRule,
    Unlisted,
    covering_key,
)
from unacked.graph.schema import AlwaysFile, EdgeFile, GraphFile, StateFile, TargetFile
from unacked.outcome import CATEGORIES, OutcomeClass

__all__ = ["load_graph"]

_CLASSES = ("@any", *(f"@{word}" for word in OutcomeClass if word is not OutcomeClass.SUCCESS))


def load_graph(document: Document, registry: Registry) -> Graph:
    """Return the graph of a file (states or arrows); raises SpecificationError with all its problems."""
    if isinstance(document.value, Mapping) and "arrows" in document.value:
        document = dataclasses.replace(document, value=expand_arrows(document, registry))
    problems: list[Problem] = []
    shape = _shape(document, problems)
    if shape is None:
        raise SpecificationError(problems)
    reader = _Reader(document, registry, shape)
    graph = reader.graph()
    problems.extend(reader.problems)
    if problems:
        raise SpecificationError(problems)
    return graph


def _shape(document: Document, problems: list[Problem]) -> GraphFile | None:
    """Check the shape; where that fails, note why and go on with what is left without the wrong keys."""
    try:
        return validate(GraphFile, document)
    except SpecificationError as error:
        problems.extend(error.problems)
    pruned = copy.deepcopy(document.value)
    try:
        GraphFile.model_validate(pruned)
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_input=False):
            if detail["type"] == "extra_forbidden":
                _drop(pruned, detail["loc"])
    try:
        return GraphFile.model_validate(pruned)
    except ValidationError:
        return None


def _drop(value: JSON, location: tuple[int | str, ...]) -> None:
    *way, last = location
    for part in way:
        # A part that is not there names what the shape made of the value (a list of one), not a place in the file.
        found = part in value if isinstance(value, dict) else isinstance(value, list) and isinstance(part, int)
        value = value[part] if found else value
    if isinstance(value, dict):
        value.pop(last, None)


class _Reader:
    """Gives every word of a well-shaped file its meaning, or a problem."""

    def __init__(self, document: Document, registry: Registry, shape: GraphFile) -> None:
        self.document = document
        self.registry = registry
        self.shape = shape
        self.problems: list[Problem] = []
        self._ids: dict[str, Location] = {}
        self._written = _written_variables(shape)

    def graph(self) -> Graph:
        self._check_roles()
        always_allow, always_forbid = self._edges(self.shape.always, ("always",))
        states = {name: self._state(name, state) for name, state in self.shape.states.items()}
        graph = Graph(
            name=self.shape.graph,
            version=self.shape.version,
            file=self.document.file,
            states=states,
            roles=self.shape.roles,
            thread=self._thread(),
            unlisted=Unlisted(**{name: ruling == "forbid" for name, ruling in self.shape.unlisted}),
            always_allow=always_allow,
            always_forbid=always_forbid,
            allowances=tuple(
                Allowance(**dict(allowance), place=self.document.place(("lint", "allow", index)))
                for index, allowance in enumerate(self.shape.lint.allow)
            ),
            place=self.document.place(),
        )
        if not self.problems:
            self._check_reachable(graph)
        return graph

    def _check_roles(self) -> None:
        for role, operation in self.shape.roles.items():
            if operation is not None and operation not in self.registry:
                message = f"role {role!r}: unknown operation {operation!r}"
                self._problem(("roles", role), message, nearest(operation, self.registry), rule="G03")

    def _check_reachable(self, graph: Graph) -> None:
        for name in graph.unreachable():
            hint = f"no edge leads from {graph.start!r} to it; remove it or lead a result there"
            problem = self.document.key_problem(("states", name), f"state {name!r} is unreachable", hint)
            self.problems.append(dataclasses.replace(problem, rule="G02"))

    def _thread(self) -> ThreadRule:
        thread = self.shape.thread
        for word in thread.key:
            self._operations(word, ("thread", "key", word))
        key = {word: self._path(text, ("thread", "key", word)) for word, text in thread.key.items()}
        handles = {
            name: tuple(self._path(text, ("thread", "handles", name, index)) for index, text in enumerate(texts))
            for name, texts in thread.handles.items()
        }
        return ThreadRule(name=thread.name, key=key, handles=handles)

    def _state(self, name: str, state: StateFile) -> State:
        allow, forbid = self._edges(state, ("states", name))
        place = self.document.key_place(("states", name))
        return State(name=name, end=Finality(state.end), why=state.why, allow=allow, forbid=forbid, place=place)

    def _edges(self, holder: AlwaysFile, location: Location) -> tuple[tuple[Edge, ...], tuple[Edge, ...]]:
        allow, forbid = (
            tuple(
                self._edge(edge, (*location, kind, index), forbid=kind == "forbid")
                for index, edge in enumerate(getattr(holder, kind))
            )
            for kind in ("allow", "forbid")
        )
        return allow, forbid

    def _edge(self, edge: EdgeFile, location: Location, *, forbid: bool) -> Edge:
        name = edge.id or "-".join((*(str(part) for part in location[1:]), *edge.call))
        self._check_id(name, location)
        operations = [
            operation
            for index, word in enumerate(edge.call)
            for operation in self._operations(word, (*location, "call", index))
        ]
        if forbid and edge.then:
            self._problem((*location, "then"), f"forbid {name!r} leads nowhere", "remove 'then'")
        elif not forbid:
            self._check_coverage(name, edge, operations, location)
        return Edge(
            id=name,
            call=tuple(edge.call),
            when=self._guard(edge.when, (*location, "when"), operations, result=False),
            bind=self._bindings(edge.bind, (*location, "bind"), operations, result=False),
            count=tuple(edge.count.items()),
            then={} if forbid else self._then(edge, location, operations),
            forbid=forbid,
            unsafe=edge.severity == "unsafe",
            why=edge.why,
            place=self.document.place(location),
        )

    def _check_id(self, name: str, location: Location) -> None:
        if name in self._ids:
            first = self.document.place(self._ids[name]).line
            self._problem((*location, "id"), f"edge id {name!r} is taken", f"first given at line {first}")
        self._ids.setdefault(name, location)

    def _operations(self, word: str, location: Location) -> list[Operation]:
        """Return the operations that a word of ``call`` stands for by default."""
        if word.startswith("@"):
            names = self.registry.select(word)
            if not names:
                hint = nearest(word, self._selectors())
                self._problem(location, f"selector {word!r} selects no operation", hint, rule="G03")
            return [self.registry[name] for name in sorted(names)]
        if word in self.shape.roles:
            name = self.shape.roles[word]
            return [self.registry[name]] if name in self.registry and name is not None else []
        if word not in self.registry:
            hint = nearest(word, {*self.shape.roles, *self.registry})
            self._problem(location, f"unknown role or operation {word!r}", hint, rule="G03")
            return []
        return [self.registry[word]]

    def _selectors(self) -> set[str]:
        words = {tag for operation in self.registry.values() for tag in (*operation.tags, operation.effect.value)}
        return {f"@{word}" for word in (*words, "mutating")}

    def _check_coverage(self, name: str, edge: EdgeFile, operations: list[Operation], location: Location) -> None:
        if not edge.then:
            hint = "say where each category leads, or write '@any'"
            self._problem(location, f"edge {name!r} has no 'then'", hint, rule="G06")
            return
        for operation in operations:
            missing = sorted(
                category for category in operation.categories if covering_key(category, operation, edge.then) is None
            )
            if missing:
                message = f"edge {name!r} does not say what follows {operation.name}: {', '.join(missing)}"
                hint = "name each category, its class ('@refusal', '@failure', '@uncertain', '@local') or '@any'"
                problem = self.document.key_problem((*location, "then"), message, hint)
                self.problems.append(dataclasses.replace(problem, rule="G06"))

    def _then(
        self, edge: EdgeFile, location: Location, operations: list[Operation]
    ) -> Mapping[str, tuple[Target, ...]]:
        then = {}
        for key, targets in edge.then.items():
            where = (*location, "then", key)
            if key not in CATEGORIES and key not in _CLASSES:
                kind = "class" if key.startswith("@") else "category"
                problem = self.document.key_problem(
                    where, f"unknown {kind} {key!r}", nearest(key, (*CATEGORIES, *_CLASSES))
                )
                self.problems.append(problem)
                continue
            if targets and targets[-1].when:
                hint = "leave the last one without 'when'"
                self._problem(where, f"{key}: only guarded alternatives", hint, rule="G07")
            then[key] = tuple(
                self._target(target, self._alternative(where, index), operations)
                for index, target in enumerate(targets)
            )
        return then

    def _alternative(self, location: Location, index: int) -> Location:
        """A single target is written without a list, so it has no position of its own."""
        value = self.document.value
        for part in location:
            value = value[part]
        return (*location, index) if isinstance(value, list) else location

    def _target(self, target: TargetFile, location: Location, operations: list[Operation]) -> Target:
        if target.to not in self.shape.states:
            message = f"unknown state {target.to!r}"
            self._problem((*location, "to"), message, nearest(target.to, self.shape.states), rule="G01")
        return Target(
            to=target.to,
            when=self._guard(target.when, (*location, "when"), operations, result=True),
            bind=self._bindings(target.bind, (*location, "bind"), operations, result=True),
            collect=self._bindings(target.collect, (*location, "collect"), operations, result=True),
            forget=tuple(target.forget),
            reset=tuple(target.reset),
            place=self.document.place(location),
        )

    def _bindings(
        self, bindings: Mapping[str, str], location: Location, operations: list[Operation], *, result: bool
    ) -> Bindings:
        paths = {name: self._path(text, (*location, name)) for name, text in bindings.items()}
        for name, path in paths.items():
            self._check_read(path, (*location, name), operations, result=result)
        return tuple(paths.items())

    def _path(self, text: str, location: Location) -> Path:
        try:
            return compile_path(text)
        except GuardError as error:
            self._problem(location, str(error), error.hint)
            return compile_path("now")

    def _guard(self, texts: list[str], location: Location, operations: list[Operation], *, result: bool) -> Guard:
        conjuncts: list[Conjunct] = []
        for index, text in enumerate(texts):
            where = (*location, index)
            try:
                conjuncts.extend(compile_guard([text]).conjuncts)
            except GuardError as error:
                self._problem(where, f"guard {text!r}, column {error.column}: {error}", error.hint)
                continue
            for path in conjuncts[-1].reads:
                self._check_read(path, where, operations, result=result)
            for role, _ in conjuncts[-1].roles:
                if role not in self.shape.roles:
                    self._problem(where, f"guard {text!r}: unknown role {role!r}", nearest(role, self.shape.roles))
        return Guard(tuple(conjuncts)) if conjuncts else ALWAYS

    def _check_read(self, path: Path, location: Location, operations: list[Operation], *, result: bool) -> None:
        if path.root.startswith("$"):
            if path.root[1:] not in self._written:
                hint = nearest(path.root[1:], self._written)
                self._problem(location, f"{path.root} is never bound", hint, rule="G05")
        elif path.root == "result" and not result:
            self._problem(location, f"{path.text} is not known yet when a call is judged", "move it under 'then'")
        elif path.root == "args" and operations:
            known = {argument.name for operation in operations for argument in operation.arguments}
            if path.head not in known:
                names = ", ".join(operation.name for operation in operations)
                hint = nearest(path.head, known)
                self._problem(location, f"{names} has no argument {path.head!r}", hint, rule="G04")

    def _problem(self, location: Location, message: str, hint: str = "", *, rule: str = "") -> None:
        problem = self.document.problem(location, message, hint)
        self.problems.append(dataclasses.replace(problem, rule=rule))


def _written_variables(shape: GraphFile) -> set[str]:
    holders: Iterable[AlwaysFile] = (shape.always, *shape.states.values())
    edges = [edge for holder in holders for edge in (*holder.allow, *holder.forbid)]
    names = {name for edge in edges for name in edge.bind}
    for edge in edges:
        for targets in edge.then.values():
            names |= {name for target in targets for name in (*target.bind, *target.collect)}
    return names
