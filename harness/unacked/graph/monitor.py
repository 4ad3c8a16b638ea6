"""The monitor: walks one bound graph along one trial, one thread per logical effect.

Per event it does one dictionary look-up and evaluates the few guards of the edges that share the operation.
It never raises on what an agent does: whatever is not allowed becomes a violation, the thread stays where it
is and goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from unacked.canonical import JSON, freeze
from unacked.contract import Broadcast, Effect, Operation
from unacked.graph.explain import Explanation, prospects, refused_edges
from unacked.graph.expression import Path, Scope, Undefined
from unacked.graph.model import FINISH, Bindings, BoundGraph, Edge, Finality, Row, Step, Target
from unacked.graph.moves import Call, Effects, Result
from unacked.graph.team import Team, blame, is_true
from unacked.graph.thread import NO_TARGET, InFlight, Move, Thread, Told, Violation, Walked
from unacked.graph.verdict import Standing, Verdict

__all__ = ["Effects", "Monitor", "Move", "Thread", "Violation", "Walked", "Watch"]

_NO_ROW = Row((), (), ())
_NOTHING: Mapping[str, Any] = {}


Watch = Callable[[BoundGraph, Thread, Move, Step], None]
"""Is told of every allowed call, before its edge binds or counts anything."""


class Monitor:
    """One graph on one trial. ``call`` and ``result`` are given the moves in the order of judgement."""

    def __init__(
        self, graph: BoundGraph, effects: Effects, watch: Watch | None = None, team: Team | None = None
    ) -> None:
        self.graph = graph
        self._watch = watch
        self._team = team or {}
        self.violations: list[Violation] = []
        self.walked: list[Walked] = []
        """Every answered call that an edge allowed, in the order of the answers."""
        self._threads: dict[Hashable, Thread] = {}
        self._handles: dict[tuple[str, Any], Thread] = {}
        self._owners: dict[str, list[Thread]] = {}
        self._carrier: Move | None = None
        self._cargo: list[tuple[str, Any]] = []
        self._opened: dict[tuple[str, int], Hashable] = {}
        self._keys = {
            operation: path for operation, path in graph.keys.items() if path.text != "payload" or operation in effects
        }
        self._declared = [operation for operation in self._keys if operation in effects]
        if not self._keys:
            self._threads[()] = self._new(graph.graph.thread.name)
        for operation in self._declared:
            self._open_declared(graph.registry[operation], effects[operation])

    @property
    def threads(self) -> Sequence[Thread]:
        """Every thread; one at the start where nothing was opened."""
        return list(self._threads.values()) or [self._new(self.graph.graph.thread.name)]

    def call(self, move: Move) -> bool:
        """Judge a call; returns False where this graph says nothing about it."""
        operation = move.operation
        if operation.name not in self.graph.watched:
            return False
        if operation.broadcast is Broadcast.ALL:
            return self._broadcast(move)
        if operation.broadcast is Broadcast.ANY:
            return self._offer(move, self._live())
        thread, foreign = self._route(move)
        if thread is not None:
            return self._judge(thread, move, foreign)
        if operation.effect is Effect.READ:
            return self._offer(move, self._live())
        return self._judge_unrouted(move, foreign)

    def hand_over(self, move: Move) -> None:
        """Hold what a member tells the next ones against each thread that it answers for; no thread moves by it."""
        agent, status = move.call.agent, str(move.args.get("status"))
        for thread in self._answered_for(agent):
            row, scope = self._row(thread, move), self._claim_scope(thread, move)
            if is_true(row, scope, status):
                told = self._team[agent].tells
                thread.informed = None if thread.informed is None else thread.informed | {*told}
                thread.told = {name: lie for name, lie in thread.told.items() if name not in told}
            else:
                why = f"{agent} says {status!r}, and that is not how its part stands"
                self.refuse(move, "false_hand_over", why, unsafe=False, thread=thread, row=row, scope=scope)
                thread.told |= dict.fromkeys(self._team[agent].tells, Told(agent, status, move.event))
            if status == "unknown":
                thread.holders |= {*self._team[agent].tells}

    def _answered_for(self, agent: str) -> list[Thread]:
        """The live threads that a claim is about.

        A last claim is about all but what somebody else answers for; one that is handed over about the member's own
        effects, what it has written, and what was left to it unsettled.
        """
        member = self._team.get(agent)
        if member is None:
            return self._live()
        own = {key for effect, key in self._opened.items() if effect in member.effects}
        mine = {id(self._threads[key]) for key in own}
        if member.tells:
            return [thread for thread in self._live() if id(thread) in mine or agent in thread.holders]
        others = {id(self._threads[key]) for key in {*self._opened.values()} - own}
        return [thread for thread in self._live() if id(thread) not in others]

    def _claim_scope(self, thread: Thread, move: Move) -> Scope:
        """What a final claim is judged by: to a member, a role whose tool it has not been given is not bound."""
        scope, member = _scope(self.graph, thread, move), self._team.get(move.call.agent)
        if member is not None:
            scope.bound = frozenset(role for role in scope.bound if self.graph.roles[role] in member.tools)
        return scope

    def result(self, event: int, result: Result) -> None:
        """Move every thread that was waiting for this result."""
        for thread in self._owners.pop(result.call, ()):
            self._arrive(thread, thread.in_flight.pop(result.call), event, result)

    def standing(self, thread: Thread) -> Standing:
        """Return how a thread stands if the trial ends now."""
        if thread.unsafe:
            return Standing.UNSAFE_VIOLATION
        if thread.unmodelled:
            return Standing.UNMODELLED_CATEGORY
        if thread.broken:
            return Standing.RULE_VIOLATION
        if any(flight.move.operation.effect is not Effect.READ for flight in thread.in_flight.values()):
            return Standing.OPEN
        return _STANDINGS[self.graph.graph.states[thread.state].end]

    # -- routing -------------------------------------------------------------------------------------------

    def _new(self, name: str) -> Thread:
        return Thread(name, self.graph.graph.start)

    def _live(self) -> list[Thread]:
        states = self.graph.graph.states
        return [thread for thread in self._threads.values() if states[thread.state].end is not Finality.FINAL]

    def _open_declared(self, operation: Operation, declared: Sequence[Mapping[str, JSON]]) -> None:
        for index, effect in enumerate(declared):
            args = {**dict.fromkeys(argument.name for argument in operation.arguments), **effect}
            move = Move(-1, Call(id="", operation=operation.name, args=effect), operation, args, (index,))
            key, label = self._key(move)
            if key is None:
                continue
            self._opened[operation.name, index] = key
            if key not in self._threads:
                self._threads[key] = self._new(f"{self.graph.graph.thread.name}[{label}]")
            self._claim(self._threads[key], self._carried(move))

    def _key(self, move: Move) -> tuple[Hashable, str]:
        """Return the key of the thread that a call names, and its label; None where it names none."""
        path = self._keys[move.operation.name]
        if path.text != "payload":
            value = path.get(_scope(self.graph, None, move))
            known = not isinstance(value, Undefined) and value is not None
            return (("value", freeze(value)) if known else None), str(value)
        owned = [self._handles.get(handle) for handle in self._carried(move)]
        keys = [(move.operation.name, index) for index in move.declared]
        threads = [(key, self._threads.get(key)) for key in keys]
        # Effects may be alike: an id that was used before decides, then whichever is not begun.
        chosen = next((key for key, thread in threads if thread is not None and thread in owned), None)
        chosen = chosen or next((key for key, thread in threads if thread is None or self._untouched(thread)), None)
        chosen = chosen or next(iter(keys), None)
        return chosen, f"{move.operation.name} #{chosen[1] + 1}" if chosen else ""

    def _untouched(self, thread: Thread) -> bool:
        return thread.state == self.graph.graph.start and not thread.in_flight

    def _route(self, move: Move) -> tuple[Thread | None, list[str]]:
        """Return the thread of a call, and the names of other threads whose handles it carries."""
        if not self._keys:
            return self._threads[()], []
        carried = self._carried(move)
        owners = {id(owner): owner for handle in carried if (owner := self._handles.get(handle)) is not None}
        if move.operation.name in self._keys:
            key, label = self._key(move)
            thread = self._threads.get(key) if key is not None else None
            if key is not None and thread is None and not self._declared:
                thread = self._new(f"{self.graph.graph.thread.name}[{label}]")
                if not owners:
                    self._threads[key] = thread
            if thread is not None:
                return thread, [owner.name for owner in owners.values() if owner is not thread]
        if len(owners) == 1:
            return next(iter(owners.values())), []
        return None, [owner.name for owner in owners.values()]

    def _carried(self, move: Move) -> list[tuple[str, Any]]:
        """Return the handles of a call, which is asked for several times while it is judged."""
        if not self._keys:
            return []
        if move is not self._carrier:
            self._carrier = move
            self._cargo = _handle_values(self.graph.call_handles, _scope(self.graph, None, move))
        return self._cargo

    def _claim(self, thread: Thread, handles: Iterable[tuple[str, Any]]) -> None:
        for handle in handles:
            self._handles.setdefault(handle, thread)

    # -- the agent's moves ---------------------------------------------------------------------------------

    def _row(self, thread: Thread, move: Move) -> Row:
        return self.graph.table[thread.state].get(move.operation.name, _NO_ROW)

    def _judge(self, thread: Thread, move: Move, foreign: Sequence[str] = ()) -> bool:
        """Judge a call in its thread; returns False where only a selector reaches it and nothing matched."""
        name, read = move.operation.name, move.operation.effect is Effect.READ
        row = self._row(thread, move)
        scope = self._claim_scope(thread, move) if name == FINISH else _scope(self.graph, thread, move)
        for edge in row.always:
            if edge.when.holds(scope):
                return self._forbidden(thread, move, edge, row, scope)
        if foreign and not read:
            why = f"{name} carries an id that belongs to {', '.join(foreign)}"
            return self.refuse(move, "cross_thread", why, thread=thread, unsafe=move.operation.writes)
        for step in row.allow:
            if step.edge.when.holds(scope):
                if name == FINISH and move.args.get("status") == "success" and _is_blind(thread, move.call.agent):
                    why = f"{move.call.agent} never saw the result on which this claim of success rests"
                    return self.refuse(move, "unseen_result", why, thread=thread, unsafe=False)
                return self._accept(thread, move, step, scope)
        for edge in row.forbid:
            if edge.when.holds(scope):
                return self._forbidden(thread, move, edge, row, scope)
        if read or name not in self.graph.alphabet:
            return read
        why = self.graph.graph.states[thread.state].why or f"no edge allows {name} here"
        return self.refuse(
            move, "not_in_expected_set", why, thread=thread, unsafe=move.operation.writes, row=row, scope=scope
        )

    def _judge_unrouted(self, move: Move, foreign: Sequence[str]) -> bool:
        """Judge a call that names no thread, or several."""
        operation = move.operation
        listed = operation.name in self.graph.alphabet
        if move.declared and not listed:
            return False
        if len(foreign) > 1 and listed and operation.writes:
            why = f"{operation.name} carries ids that belong to {', '.join(foreign)}"
            return self.refuse(move, "cross_thread", why, unsafe=True)
        names_another = operation.name in self._keys and self._key(move)[0] is not None
        if not names_another and self._named_refusal(move, self.threads):
            return True
        if listed and operation.writes and self.graph.graph.unlisted.orphan:
            return self.refuse(
                move, "orphan", f"no earlier event gave the id that {operation.name} acts on", unsafe=True
            )
        return listed

    def _named_refusal(self, move: Move, threads: Iterable[Thread]) -> bool:
        for thread in threads:
            row, scope = self._row(thread, move), _scope(self.graph, thread, move)
            for edge in (*row.always, *row.forbid):
                if edge.when.holds(scope):
                    return self._forbidden(thread, move, edge, row, scope)
        return False

    def _broadcast(self, move: Move) -> bool:
        """Every live thread must allow the call."""
        name = move.operation.name
        if name == FINISH and not self._threads:
            self._threads[()] = self._new(self.graph.graph.thread.name)
        concerned = self._answered_for(move.call.agent) if name == FINISH else self._live()
        spoken = [self._judge(thread, move) for thread in concerned]
        return any(spoken) or name in self.graph.alphabet

    def _offer(self, move: Move, threads: Sequence[Thread]) -> bool:
        """One thread that allows the call is enough; only a named forbid refuses it."""
        allowed = False
        for thread in threads:
            row, scope = self._row(thread, move), _scope(self.graph, thread, move)
            for edge in row.always:
                if edge.when.holds(scope):
                    return self._forbidden(thread, move, edge, row, scope)
            step = next((step for step in row.allow if step.edge.when.holds(scope)), None)
            if step is not None:
                allowed = self._accept(thread, move, step, scope)
        return allowed or self._named_refusal(move, self.threads) or move.operation.name in self.graph.alphabet

    def _accept(self, thread: Thread, move: Move, step: Step, scope: Scope) -> bool:
        flying = thread.in_flight
        if flying and move.operation.writes and any(flight.move.operation.writes for flight in flying.values()):
            why = "another state-changing call of this thread is still in flight"
            return self.refuse(move, "concurrent_mutation", why, thread=thread, unsafe=True)
        if self._watch is not None:
            self._watch(self.graph, thread, move, step)
        for counter, amount in step.edge.count:
            thread.counts[counter] = thread.counts.get(counter, 0) + amount
        _bind(thread, step.edge.bind, scope, move.event)
        if self._keys:
            self._claim(thread, self._carried(move))
        if move.operation.writes:
            thread.holders.add(move.call.agent)
        flying[move.call.id] = InFlight(step, thread.state, move)
        self._owners.setdefault(move.call.id, []).append(thread)
        return True

    def _forbidden(self, thread: Thread, move: Move, edge: Edge, row: Row, scope: Scope) -> bool:
        why = edge.why or f"{edge.id} forbids {move.operation.name} here"
        return self.refuse(move, edge.id, why, thread=thread, unsafe=edge.unsafe, row=row, scope=scope)

    def refuse(
        self,
        move: Move,
        rule: str,
        why: str,
        *,
        unsafe: bool,
        thread: Thread | None = None,
        row: Row = _NO_ROW,
        scope: Scope | None = None,
    ) -> bool:
        """Record a violation; without a thread it belongs to the trial as a whole. Returns True."""
        severity = Verdict.UNSAFE if unsafe else Verdict.FAIL
        explanation = Explanation(
            rule=rule,
            severity=severity,
            graph=self.graph.name,
            thread=thread.name if thread else "-",
            event=move.event,
            operation=move.operation.name,
            state=thread.state if thread else "",
            why=why,
            **(self.circumstances(thread, move.call.agent, row, scope) if thread else self._prospects()),
        )
        self.violations.append(
            Violation(
                rule=rule,
                severity=severity,
                graph=self.graph.name,
                thread=explanation.thread,
                event=move.event,
                secondary=bool(thread and (thread.unsafe or thread.broken)),
                explanation=explanation,
            )
        )
        if thread:
            thread.unsafe |= unsafe
            thread.broken = True
        return True

    def _prospects(self) -> dict[str, Any]:
        """What is still allowed, where a call belongs to no thread and only one thread is live."""
        live = self._live()
        if len(live) != 1:
            return {}
        return prospects(self.graph, live[0].state, _scope(self.graph, live[0], None))._asdict()

    def circumstances(
        self, thread: Thread, agent: str | None, row: Row = _NO_ROW, scope: Scope | None = None
    ) -> dict[str, Any]:
        """Return what an explanation says of a thread: how it got there, what was expected, the ways out."""
        known = scope or _scope(self.graph, thread, None)
        ahead = prospects(self.graph, thread.state, known)
        to_blame = blame(thread, agent, self._team)
        return {
            "entered_by": thread.entered_by,
            "entered_how": thread.entered_how,
            "refused": refused_edges(row, known, thread.bound_by.get),
            **ahead._asdict(),
            "blame": to_blame.words,
            "member": to_blame.member,
        }

    # -- the environment's moves ---------------------------------------------------------------------------

    def _arrive(self, thread: Thread, flight: InFlight, event: int, result: Result) -> None:
        state = thread.state
        self._land(thread, flight, event, result)
        walked = Walked(flight.step.edge.id, result.category, thread.name, state, thread.state, flight.move.event)
        self.walked.append(walked)

    def _land(self, thread: Thread, flight: InFlight, event: int, result: Result) -> None:
        move, category = flight.move, result.category
        step: Step | None = flight.step
        if move.operation.writes:
            thread.last_write_at = max(thread.last_write_at, result.at)
        if category not in flight.step.then:
            thread.unmodelled = f"graph {self.graph.name} has no way on for {move.operation.name}/{category}"
            return
        scope = _scope(self.graph, thread, move)
        scope.now = result.at
        scope.result = _result_fields(move.operation, result)
        if thread.state != flight.state:
            # A sibling's result has moved the thread since: the answer counts where the thread is now.
            allow = self._row(thread, move).allow
            step = next((other for other in allow if category in other.then and other.edge.when.holds(scope)), None)
        for target in step.then[category] if step else ():
            if target.when.holds(scope):
                self._enter(thread, target, scope, event, move, result)
                return

    def _enter(self, thread: Thread, target: Target, scope: Scope, event: int, move: Move, result: Result) -> None:
        for name in target.forget:
            thread.variables.pop(name, None)
            thread.bound_by.pop(name, None)
        _bind(thread, target.bind, scope, event)
        for name, path in target.collect:
            _collect(thread, name, path.get(scope), event)
        for counter in target.reset:
            thread.counts[counter] = 0
        if self._keys:
            self._claim(thread, _handle_values(self.graph.result_handles, scope))
        if target.to != thread.state:
            thread.state = target.to
            thread.entered_by, thread.entered_how = event, result.category
            thread.mover = move.call.agent
            thread.told = {}
            thread.withheld = result.visible_to is not None
            thread.informed = frozenset((move.call.agent,) if result.visible_to is None else result.visible_to)


def _is_blind(thread: Thread, agent: str) -> bool:
    return thread.withheld and agent not in (thread.informed or ())


_STANDINGS: Mapping[Finality, Standing] = {
    Finality.OPEN: Standing.OPEN,
    Finality.OK: Standing.RESTING,
    Finality.FINAL: Standing.CLOSED,
}


def _scope(graph: BoundGraph, thread: Thread | None, move: Move | None) -> Scope:
    if move is None:
        scope = Scope({}, bound=graph.bound, idempotent=graph.idempotent)
    else:
        call, operation = move.call, move.operation
        target = NO_TARGET if operation.target is None else move.target
        scope = Scope(
            move.args,
            operation.name,
            move.payload,
            target,
            call.at,
            0.0,
            call.agent,
            call.turn,
            _NOTHING,
            _NOTHING,
            _NOTHING,
            graph.bound,
            graph.idempotent,
            move.request,
        )
    if thread is not None:
        scope.since = scope.now - thread.last_write_at
        scope.variables, scope.counts = thread.variables, thread.counts
    return scope


def _result_fields(operation: Operation, result: Result) -> Mapping[str, JSON]:
    """The fields of a result as guards see them: with the identity, and the time to wait."""
    fields = dict(result.fields)
    if operation.identity is not None and operation.identity in fields:
        fields["identity"] = fields[operation.identity]
    waiting = result.retry_after_s if result.retry_after_s is not None else fields.get("retry_after")
    if waiting is None:
        waiting = fields.get("retry_after_s")
    fields["retry_after"] = 0 if waiting is None and result.category == "rate_limited" else waiting
    return fields


def _bind(thread: Thread, bindings: Bindings, scope: Scope, event: int) -> None:
    """Bind names to values; a value that is missing leaves its name unbound, never with old evidence."""
    for name, path in bindings:
        value = path.get(scope)
        if isinstance(value, Undefined):
            thread.variables.pop(name, None)
            thread.bound_by.pop(name, None)
        else:
            thread.variables[name] = value
            thread.bound_by[name] = event


def _collect(thread: Thread, name: str, value: JSON | Undefined, event: int) -> None:
    if isinstance(value, Undefined):
        return
    known = {freeze(item): item for item in thread.variables.get(name, [])}
    known.update((freeze(item), item) for item in (value if isinstance(value, list) else [value]))
    thread.variables[name] = list(known.values())
    thread.bound_by[name] = event


def _handle_values(handles: Iterable[tuple[str, Path]], scope: Scope) -> list[tuple[str, Any]]:
    values = []
    for name, path in handles:
        value = path.get(scope)
        if value is not None and not isinstance(value, Undefined):
            values += [(name, freeze(item)) for item in (value if isinstance(value, list) else [value])]
    return values
