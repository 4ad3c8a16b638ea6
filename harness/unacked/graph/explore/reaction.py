"""How one graph takes a call, and where an answer leads: the rules of the format once more, for a single thread.

This is written from the description of the format and shares no code with the monitor, so that whatever is built
on it (lints, generated suites) has a second opinion in the monitor, and the other way round.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from unacked.canonical import freeze
from unacked.contract import Broadcast, Effect, Operation
from unacked.graph.explore.families import value_keyed
from unacked.graph.explore.letters import Answer, Letter, Swapped, renamed
from unacked.graph.explore.values import Token, Values
from unacked.graph.expression import Path, Scope, Undefined
from unacked.graph.model import FINISH, BoundGraph, Edge, Finality, Row, Step, Target

__all__ = ["Kind", "Local", "Machine", "Reaction"]


class Kind(StrEnum):
    """What a graph says of a call."""

    SILENT = "silent"
    IGNORED = "ignored"
    ALLOWED = "allowed"
    REFUSED = "refused"


class Reaction(NamedTuple):
    """What a graph says of a call: the rule that refuses it, or the step that allows it."""

    kind: Kind
    rule: str = ""
    unsafe: bool = False
    step: Step | None = None


class Local(NamedTuple):
    """Where one thread stands. ``since`` and counters stop growing where no guard sees a difference any more."""

    state: str
    variables: frozenset[tuple[str, Any]] = frozenset()
    counts: frozenset[tuple[str, int]] = frozenset()
    since: float = 0.0
    begun: bool = True
    handles: frozenset[tuple[str, Any]] = frozenset()

    def renamed(self, swapped: Swapped, tokens: Mapping[str, Token]) -> Local:
        """Return the thread with the tokens of some families exchanged."""
        return self._replace(
            variables=renamed(self.variables, swapped, tokens), handles=renamed(self.handles, swapped, tokens)
        )


_SILENT = Reaction(Kind.SILENT)
_IGNORED = Reaction(Kind.IGNORED)
_NO_ROW = Row((), (), ())


class Machine:
    """One bound graph, thread by thread."""

    def __init__(self, graph: BoundGraph, values: Values) -> None:
        self.graph = graph
        self.keys = value_keyed(graph)
        self._caps = {counter: cap for (name, counter), cap in values.caps.items() if name == graph.name}
        self._longest = max(values.waits) + 1
        self._read = _variables_read(graph)
        self._thawed: dict[frozenset[tuple[str, Any]], Mapping[str, Any]] = {}

    def start(self) -> Local:
        """Return the thread before anything happened."""
        return Local(self.graph.graph.start, begun=not self.keys)

    def scope(self, local: Local, letter: Letter) -> Scope:
        """Return what guards see of a call."""
        operation = letter.operation
        target = letter.args.get(operation.target) if operation.target else Undefined("target missing")
        request = letter.args.get(operation.request) if operation.request else Undefined("request missing")
        return Scope(
            args=letter.args,
            operation=operation.name,
            payload=lambda: letter.payload,
            target=target,
            request=request,
            since=local.since + letter.wait_s,
            agent="agent",
            variables=self._variables(local.variables),
            counts=dict(local.counts),
            bound=self.graph.bound,
            idempotent=self.graph.idempotent,
        )

    def _variables(self, known: frozenset[tuple[str, Any]]) -> Mapping[str, Any]:
        if known not in self._thawed:
            self._thawed[known] = {name: _thawed(value) for name, value in known}
        return self._thawed[known]

    def standing(self, local: Local) -> Finality:
        """Return whether the thread may end where it stands."""
        return self.graph.graph.states[local.state].end

    def row(self, local: Local, operation: Operation) -> Row:
        """Return the edges that concern an operation where the thread stands."""
        return self.graph.table[local.state].get(operation.name, _NO_ROW)

    def react(self, local: Local, letter: Letter) -> Reaction:
        """Return what the graph says of a call."""
        local, operation = self.opened(local, letter), letter.operation
        if operation.name not in self.graph.watched:
            return _SILENT
        row, scope = self.row(local, operation), self.scope(local, letter)
        listed = operation.name in self.graph.alphabet
        final = self.standing(local) is Finality.FINAL
        if operation.broadcast is Broadcast.ALL:
            if final or (not local.begun and operation.name != FINISH):
                return _IGNORED if listed else _SILENT
            return self._judged(row, scope, operation)
        if self._routed(local, letter):
            return self._judged(row, scope, operation)
        if operation.broadcast is Broadcast.ANY or operation.effect is Effect.READ:
            live = local.begun and not final
            return self._offered(row if live else _NO_ROW, row, scope, listed=listed)
        named = _first(row.always, scope) or _first(row.forbid, scope)
        if named is not None:
            return _refused(named)
        if listed and operation.writes and self.graph.graph.unlisted.orphan:
            return Reaction(Kind.REFUSED, "orphan", unsafe=True)
        return _IGNORED if listed else _SILENT

    def opened(self, local: Local, letter: Letter) -> Local:
        """Return the thread that a call concerns: a new one where none was begun and the call names one."""
        return self.start() if not local.begun and letter.operation.name in self.keys else local

    def _routed(self, local: Local, letter: Letter) -> bool:
        """Whether the call names the thread: there is no other, or by its key, or by an id that the thread knows."""
        operation = letter.operation
        if operation.broadcast is not None or not self.keys:
            return operation.broadcast is None
        if operation.name in self.keys:
            return True
        return bool(_handle_values(self.graph.call_handles, self.scope(local, letter)) & local.handles)

    def _judged(self, row: Row, scope: Scope, operation: Operation) -> Reaction:
        always = _first(row.always, scope)
        if always is not None:
            return _refused(always)
        step = next((step for step in row.allow if step.edge.when.holds(scope)), None)
        if step is not None:
            return Reaction(Kind.ALLOWED, step.edge.id, step=step)
        named = _first(row.forbid, scope)
        if named is not None:
            return _refused(named)
        if operation.effect is Effect.READ:
            return _IGNORED
        if operation.name not in self.graph.alphabet:
            return _SILENT
        return Reaction(Kind.REFUSED, "not_in_expected_set", unsafe=operation.writes)

    def _offered(self, live: Row, row: Row, scope: Scope, *, listed: bool) -> Reaction:
        """A read, a question or a wait: allowed, or refused by name, or of no account."""
        always = _first(live.always, scope)
        if always is not None:
            return _refused(always)
        step = next((step for step in live.allow if step.edge.when.holds(scope)), None)
        if step is not None:
            return Reaction(Kind.ALLOWED, step.edge.id, step=step)
        named = _first(row.always, scope) or _first(row.forbid, scope)
        if named is not None:
            return _refused(named)
        return _IGNORED if listed else _SILENT

    def answered(self, local: Local, letter: Letter, step: Step, answer: Answer) -> Scope:
        """Return what the guards of a target see: the call was allowed, the answer is there, nothing has moved yet."""
        scope = self.scope(local, letter)
        counts, variables = dict(local.counts), dict(local.variables)
        for counter, amount in step.edge.count:
            if counter in self._caps:
                counts[counter] = min(counts.get(counter, 0) + amount, self._caps[counter])
        self._bind(variables, step.edge.bind, scope)
        scope.variables = {name: _thawed(value) for name, value in variables.items()}
        scope.counts = counts
        scope.result = _result_fields(letter.operation, answer)
        return scope

    def arrive(self, local: Local, letter: Letter, step: Step, answer: Answer) -> tuple[Local, int]:
        """Return where the thread stands after an answer to an allowed call, and which alternative led there."""
        local, operation = self.opened(local, letter), letter.operation
        scope = self.answered(local, letter, step, answer)
        counts = dict(scope.counts)
        variables = {name: freeze(value) for name, value in scope.variables.items()}
        handles = local.handles
        if self.keys:
            handles |= _handle_values(self.graph.call_handles, scope)
        targets = step.then[answer.category]
        chosen = next((index for index, target in enumerate(targets) if target.when.holds(scope)), -1)
        state = local.state
        if chosen >= 0:
            target = targets[chosen]
            state = target.to
            self._enter(target, variables, counts, scope)
            if self.keys:
                handles |= _handle_values(self.graph.result_handles, scope)
        since = min(0.0 if operation.writes else local.since + letter.wait_s, self._longest)
        known = frozenset(item for item in variables.items() if item[0] in self._read)
        grown = frozenset(item for item in counts.items() if item[1])
        begun = local.begun or operation.name != FINISH
        return Local(state, known, grown, since, begun, handles), chosen

    def _enter(self, target: Target, variables: dict[str, Any], counts: dict[str, int], scope: Scope) -> None:
        for name in target.forget:
            variables.pop(name, None)
        self._bind(variables, target.bind, scope)
        for name, path in target.collect:
            value = path.get(scope)
            if not isinstance(value, Undefined):
                known = dict.fromkeys(variables.get(name, ()))
                known.update(dict.fromkeys(freeze(value if isinstance(value, list) else [value])))
                variables[name] = tuple(sorted(known, key=str))
        for counter in target.reset:
            counts.pop(counter, None)

    def _bind(self, variables: dict[str, Any], bindings: Iterable[tuple[str, Path]], scope: Scope) -> None:
        for name, path in bindings:
            value = path.get(scope)
            if isinstance(value, Undefined):
                variables.pop(name, None)
            else:
                variables[name] = freeze(value)


def _first(edges: Iterable[Edge], scope: Scope) -> Edge | None:
    return next((edge for edge in edges if edge.when.holds(scope)), None)


def _refused(edge: Edge) -> Reaction:
    return Reaction(Kind.REFUSED, edge.id, unsafe=edge.unsafe)


def _thawed(value: Any) -> Any:
    """A frozen list as guards know lists; whatever else was frozen is compared only."""
    return [_thawed(item) for item in value] if isinstance(value, tuple) else value


def _result_fields(operation: Operation, answer: Answer) -> Mapping[str, Any]:
    fields = dict(answer.fields)
    if operation.identity is not None and operation.identity in fields:
        fields["identity"] = fields[operation.identity]
    waiting = fields.get("retry_after", fields.get("retry_after_s"))
    fields["retry_after"] = 0 if waiting is None and answer.category == "rate_limited" else waiting
    return fields


def _handle_values(handles: Iterable[tuple[str, Path]], scope: Scope) -> frozenset[tuple[str, Hashable]]:
    found = []
    for name, path in handles:
        value = path.get(scope)
        if value is not None and not isinstance(value, Undefined):
            found += [(name, freeze(item)) for item in (value if isinstance(value, list) else [value])]
    return frozenset(found)


def _variables_read(graph: BoundGraph) -> frozenset[str]:
    """The variables that some guard reads; what nobody reads makes no difference."""
    guards = [edge.when for edge in graph.graph.edges()]
    guards += [target.when for edge in graph.graph.edges() for targets in edge.then.values() for target in targets]
    return frozenset(
        path.root[1:]
        for guard in guards
        for conjunct in guard.conjuncts
        for path in conjunct.reads
        if path.root.startswith("$")
    )
