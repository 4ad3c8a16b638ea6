"""From a generated trace to a trial: the same calls and answers, through the real tools, wire and services.

A trace says which category every call was answered with. Which fault brings the service to say so, and what the
values of the trace are called in this world, is found out by trying: turn by turn, each time in a fresh world.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby, product
from pathlib import Path

from pydantic import ValidationError

from unacked.agents import Call, Moves, Task
from unacked.canonical import JSON, dumps
from unacked.case import Answer, CaseFile, ContractTerms, Expectation, FaultFile, Limits, ServiceUse
from unacked.claims import Brief, TrialVerdict, judge_trial, moves, path_judgement
from unacked.claims.receipt import unfired
from unacked.contract import Idempotency, Registry
from unacked.event import Event as Told
from unacked.event import History
from unacked.graph import Call as CallMove
from unacked.graph import Event, Judgement, Result
from unacked.graph.coverage import Observation
from unacked.graph.explore import Variant
from unacked.graph.monitor import Effects
from unacked.selftest.agents import PolicyAgent
from unacked.selftest.ground import Ground, Names
from unacked.selftest.provoke import decisions, fault_of, producible, ways
from unacked.suite import LoadedCase, Suite, declared_side
from unacked.tools import TOOLS
from unacked.trial import Bench, TrialPlan

__all__ = ["Enacted", "Stage", "Unplayable", "Wanted"]

_NAME = "planted"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A trace that is to be enacted; ``mistake`` is the index of the first call that must be refused."""

    events: Sequence[Event]
    tokens: frozenset[str]
    effects: Effects = field(default_factory=dict)
    mistake: int | None = None


@dataclass(frozen=True, slots=True)
class Unplayable:
    """Why a trace could not be enacted; ``by_contract`` where a tool does not even send such a call."""

    reason: str
    by_contract: bool = False


@dataclass(frozen=True)
class Enacted:
    """One trial of a planted agent."""

    brief: Brief
    history: History

    @cached_property
    def judgement(self) -> Judgement:
        """How the graph judges it."""
        return path_judgement(self.brief, self.history)

    @cached_property
    def verdict(self) -> TrialVerdict:
        """How all claims judge it."""
        return judge_trial(self.brief, self.history)

    @property
    def refused(self) -> tuple[str | None, int]:
        """The first rule that was violated, and by which call, 1-based.

        Calls that only let time pass before it do not count.
        """
        violations = self.judgement.violations
        if not violations:
            return None, 0
        before = moves(self.brief, self.history)[: violations[0].event]
        return violations[0].rule, 1 + sum(isinstance(move, CallMove) and move.operation != "wait" for move in before)

    def observed(self, name: str) -> Observation:
        """Return the trial as coverage counts it."""
        return Observation(
            case=name,
            fixture=name,
            agent=_NAME,
            graphs=self.brief.graphs,
            tools=self.brief.tools,
            events=moves(self.brief, self.history),
            judgement=self.judgement,
        )


@dataclass(frozen=True, slots=True)
class _Script:
    """What is settled so far: the turns of the agent, and the faults and answers that it meets."""

    turns: tuple[tuple[Call, ...], ...] = ()
    faults: tuple[FaultFile, ...] = ()
    answers: tuple[Answer, ...] = ()
    decisions: tuple[str, ...] = ()

    def nth(self, operation: str) -> int:
        """Return the number of the next call of an operation."""
        return 1 + sum(call.operation == operation for turn in self.turns for call in turn)


class Stage:
    """The world of one case, with one graph bound in one way, in which traces are enacted."""

    def __init__(
        self, suite: Suite, ground: Ground, base: LoadedCase, graph: str, variant: Variant, scratch: Path
    ) -> None:
        self._tools = {
            name: tool
            for name, tool in TOOLS.items()
            if (tool.service is None or tool.service in base.file.services)
            and (not tool.at_gate or "gate" in base.file.services)
        }
        self.registry = Registry(
            replace(tool.operation, categories=producible(name)) for name, tool in self._tools.items()
        )
        """What can be called here, with the categories that can be produced."""
        self._ground = ground
        self._graphs = suite.graphs
        self._document = base.document
        self._file = _bare(base.file, ground, list(self._tools), {graph: dict(variant.roles)}, variant)
        self._turns: tuple[tuple[Call, ...], ...] = ()
        self._cases: dict[str, LoadedCase] = {}
        agent = PolicyAgent.of(_NAME, self._act, suite)
        self._bench = Bench(replace(suite, cases=self._cases, agents={_NAME: agent}))
        self._events = scratch / "planted.jsonl"
        self._trials: dict[str, Enacted] = {}

    def enact(self, wanted: Wanted) -> Enacted | Unplayable:
        """Return the trial in which everything up to the mistake happens as in the trace, or why there is none."""
        # What stands for any operation is none that the trace calls.
        called = {event.operation: event.operation for event in wanted.events if isinstance(event, CallMove)}
        others = [name for name, terms in self._file.contract.items() if terms.approval and name not in called]
        asked = [event.args.get("action") for event in wanted.events if isinstance(event, CallMove)]
        named = dict(zip(dict.fromkeys(word for word in asked if word in wanted.tokens), others, strict=False))
        names = Names(self._ground, wanted.tokens, {**called, **named})
        for operation, given in _given(wanted.events):
            names.arguments(operation, given)
        effects = {
            operation: [names.arguments(operation, effect) for effect in asked]
            for operation, asked in wanted.effects.items()
        }
        attempt = _Attempt(self, effects)
        found = attempt.settle(_Script(), names, list(_turns(wanted.events, wanted.mistake)))
        return found or attempt.trouble

    def ways(self, call: Call, category: str, fields: Mapping[str, JSON]) -> Iterator[list[dict[str, JSON]]]:
        """Yield the faults of one call that may lead to a category."""
        return ways(self._tools[call.operation], category, fields, call.arguments)

    def decisions(self, call: Call, category: str) -> tuple[str, ...]:
        """Return what people at the gate decide upon one call that is answered with a category."""
        return decisions(self._tools[call.operation], category)

    def try_out(self, script: _Script, effects: Effects) -> Enacted:
        """Return the trial of a script; each is run once."""
        key = repr((script, effects))
        if key not in self._trials:
            change = {"faults": list(script.faults), "answers": list(script.answers), "effects": effects}
            if "gate" in self._file.services:
                at_gate = ServiceUse(seed={"decisions": list(script.decisions)})
                change["services"] = {**self._file.services, "gate": at_gate}
            file = self._file.model_copy(update=change)
            brief = declared_side(file, self._graphs)
            self._cases[_NAME] = LoadedCase(self._document, file, brief)
            self._turns = script.turns
            self._events.unlink(missing_ok=True)
            plan = TrialPlan(0, _NAME, twin=False, agent=_NAME, repeat=1, seed="0", run="selftest")
            self._trials[key] = Enacted(brief, self._bench.run(plan, self._events).history)
        return self._trials[key]

    def _act(self, _: Task) -> Moves[None]:
        """Make the calls of the script, whatever the tools answer."""
        for turn in self._turns:
            yield list(turn)


class _Attempt:
    """One search for the faults that bring a trace about; ``trouble`` is what stood in the way the farthest on."""

    def __init__(self, stage: Stage, effects: Effects) -> None:
        self.trouble = Unplayable("it makes no call")
        self._farthest = -1
        self._stage = stage
        self._effects = effects

    def settle(self, script: _Script, names: Names, turns: Sequence[_Turn]) -> Enacted | None:
        """Settle turn by turn what brings about the answers; where one way leads nowhere, try the next."""
        if not turns:
            return None
        turn, *rest = turns
        for longer, called in self._options(script, names, turn):
            tried = self._stage.try_out(longer, self._effects)
            heard = called.copy()
            missed = self._missed(turn, tried, heard)
            if missed is not None:
                self._note(len(script.turns), missed)
                continue
            found = self.settle(longer, heard, rest) if rest else tried
            if found is not None:
                return found
        return None

    def _note(self, depth: int, trouble: Unplayable) -> None:
        if depth > self._farthest:
            self._farthest, self.trouble = depth, trouble

    def _options(self, script: _Script, names: Names, turn: _Turn) -> Iterator[tuple[_Script, Names]]:
        """The ways to have one turn answered as the trace says."""
        names = names.copy()
        calls = tuple(Call(move.operation, names.arguments(move.operation, move.args)) for move in turn.calls)
        waited = ((Call("wait", {"seconds": turn.wait_s}),),) if turn.wait_s > 0 else ()
        longer = replace(script, turns=(*script.turns, *waited, calls))
        demanded = [(call, answer) for call, answer in zip(calls, turn.answers, strict=True) if answer is not None]
        answers, faults, decided = list(script.answers), [], list(script.decisions)
        for call, answer in demanded:
            nth, fields = script.nth(call.operation), {name: names.said(value) for name, value in answer.fields.items()}
            try:
                answers += _human(call.operation, nth, fields)
            except ValidationError:
                self._note(len(script.turns), Unplayable(f"nobody can answer {dumps(fields)}"))
                return
            faults.append(
                [
                    [fault_of(call.operation, nth, fault) for fault in way]
                    for way in self._stage.ways(call, answer.category, fields)
                ]
            )
            decided += self._stage.decisions(call, answer.category)
        for chosen in product(*faults):
            made = tuple(fault for way in chosen for fault in way)
            met = replace(longer, faults=(*script.faults, *made), answers=tuple(answers), decisions=tuple(decided))
            yield met, names

    def _missed(self, turn: _Turn, tried: Enacted, names: Names) -> Unplayable | None:
        """What is otherwise than in the trace after a turn; names that are heard are taken up."""
        results = list(tried.history.named("result"))[-len(turn.calls) :]
        for answer, event in zip(turn.answers, results, strict=True):
            if event.detail.get("rejected") and event.operation in tried.brief.tools:
                return Unplayable(f"the contract of {event.operation} refuses such a call: nothing is sent", True)
            if answer is None:
                continue
            never = _never(event, answer)
            if never is not None:
                return Unplayable(never, True)
            if event.category != answer.category:
                return Unplayable(f"{event.operation} is answered {event.category}, not {answer.category}")
            said = event.detail["envelope"].get("result", {})
            # What is called at once with others is called without knowing what any of them will give.
            for name, value in answer.fields.items() if len(turn.calls) == 1 else ():
                if name not in _OF_THE_ENVELOPE and not names.takes(name, value, said.get(name)):
                    return Unplayable(f"{event.operation} gives {name} {said.get(name)!r}, not {names.said(value)!r}")
        idle = unfired(tried.brief, tried.history)
        return Unplayable(f"the fault never fires: {idle[0]}") if idle else None


def _never(result: Told, answer: Result) -> str | None:
    """Why no collection ever gives an answer that a trace makes up."""
    if "snapshot" not in answer.fields or answer.category not in ("ok", "partial"):
        return None
    if result.category == "invalid_request":
        return f"{result.operation} refuses a cursor that it did not give for this very inventory"
    return None


_OF_THE_ENVELOPE = frozenset({"retry_after", "retry_after_s"})
_LIMITS = Limits(turns=60, deadline_s=86_400.0)


@dataclass(frozen=True, slots=True)
class _Turn:
    """The calls of one turn with their answers, None where any answer will do; before it time passes."""

    calls: Sequence[CallMove]
    answers: Sequence[Result | None]
    wait_s: float


def _given(events: Sequence[Event]) -> Iterator[tuple[str, Mapping[str, JSON]]]:
    """The arguments that no result has given before, of calls that a service does something about first."""
    answers = {event.call: event.category for event in events if isinstance(event, Result)}
    calls: list[CallMove] = []
    used: set[str] = set()
    heard: set[str] = set()
    for event in events:
        if isinstance(event, CallMove):
            calls.append(event)
            used |= set(_texts(event.args))
        elif isinstance(event, Result):
            heard |= set(_texts(event.fields)) - used

    def counts(call: CallMove) -> tuple[bool, bool]:
        """What a service does something about names best; whoever asks the gate may name anything."""
        asks = call.operation in TOOLS and TOOLS[call.operation].at_gate
        return answers.get(call.id) in ("local_failure", "confirmed_failure"), asks

    for call in sorted(calls, key=counts):
        yield (
            call.operation,
            {name: value for name, value in call.args.items() if heard.isdisjoint(_texts(value))},
        )


def _texts(value: JSON) -> Iterator[str]:
    """Every text that stands anywhere in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _texts(list(value.values()))
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _turns(events: Sequence[Event], mistake: int | None) -> Iterator[_Turn]:
    """The turns of a trace; from the mistake on, any answer will do."""
    calls = [event for event in events if isinstance(event, CallMove)]
    demanded = {call.id for call in calls if mistake is None or events.index(call) < mistake}
    results = {event.call: _sayable(event) for event in events if isinstance(event, Result) and event.call in demanded}
    now = 0.0
    for _, group in groupby(calls, key=lambda call: call.turn):
        turn = list(group)
        yield _Turn(turn, [results.get(call.id) for call in turn], turn[0].at - now)
        now = turn[-1].at


def _sayable(result: Result) -> Result:
    """A person names a credential only where they grant it, whatever else the contract leaves open."""
    if result.fields.get("decision", "granted") == "granted":
        return result
    return result._replace(fields={name: value for name, value in result.fields.items() if name != "credential"})


def _bare(
    file: CaseFile, ground: Ground, tools: list[str], use: dict[str, dict[str, str | None]], variant: Variant
) -> CaseFile:
    """The world of a case on common ground, with every tool of its services and nothing expected of anybody."""
    mode = Idempotency.REPLAY_SUCCESS if variant.idempotent else Idempotency.NONE
    keyed = [name for name in tools if TOOLS[name].operation.idempotency is not None]
    asks = any(role is not None and TOOLS[role].at_gate for role in variant.roles.values())
    gated = {name: terms for name, terms in file.contract.items() if asks and terms.approval and name in tools}
    change = {
        "case": _NAME,
        "services": {
            name: used.model_copy(update={"seed": ground.seed(name, used.seed)}) for name, used in file.services.items()
        },
        "tools": tools,
        "graphs": [use],
        "faults": [],
        "twins": False,
        "known": None,
        "expect": Expectation(),
        "answers": [],
        "contract": {**gated, **{name: ContractTerms(idempotency=mode) for name in keyed if name not in gated}},
        "effects": {},
        "limits": _LIMITS,
        "incident": None,
        "xfail": None,
    }
    return file.model_copy(update=change)


def _human(operation: str, nth: int, fields: Mapping[str, JSON]) -> tuple[Answer, ...]:
    """What a person says; raises ValidationError for what nobody can say."""
    if operation != "ask_human" or "decision" not in fields:
        return ()
    said = {name: fields[name] for name in ("decision", "credential") if name in fields}
    return (Answer.model_validate({"operation": operation, "nth": nth, **said}),)
