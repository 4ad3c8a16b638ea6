"""From a trace under a mapping to a case: steps with bound ids, faults, seeds, graphs, effects and the careful way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from unacked.canonical import JSON, digest, dumps
from unacked.case import GraphUse, Limits
from unacked.contract import Operation, Registry
from unacked.errors import Place, Problem, SpecificationError, nearest
from unacked.fault import Action, Fault, Point
from unacked.graph import Graph
from unacked.incident.infer import Inference
from unacked.incident.mapping import IGNORE, Constant, Mapped, MappingFile, Source
from unacked.incident.recording import Answer, Recording
from unacked.incident.sketch import NoGraphFitsError
from unacked.incident.wording import task_of
from unacked.incident.world import seeds
from unacked.outcome import CATEGORIES
from unacked.suite import LoadedCase, Suite
from unacked.tools import REGISTRY, TOOLS

__all__ = ["Move", "draft", "moves_of"]

_LONGEST_TITLE = 120
_SPARE_TURNS = 4
"""Turns that careful agents get beyond those of the recorded calls."""
_ALWAYS_OFFERED = ("finish", "ask_human", "wait")


@dataclass(frozen=True, slots=True)
class Move:
    """One call as an operation: its arguments, what is known after it, and the fields of its answer."""

    call: str
    operation: Operation
    arguments: Mapping[str, JSON]
    category: str
    fields: Mapping[str, JSON] = field(default_factory=dict)
    action: JSON = None
    retry_after_s: float | None = None
    turn: int = 0
    agent: str = "agent"
    at: float = 0.0

    @property
    def on_the_wire(self) -> bool:
        """Whether the call leaves the harness over HTTP, where the faults of a draft act."""
        return TOOLS[self.operation.name].endpoint is not None


def moves_of(
    recording: Recording, mapping: MappingFile, inferred: Mapping[str, Inference], registry: Registry
) -> list[Move]:
    """Return the calls that count, as operations; the mapping must have been checked."""
    moves: list[Move] = []
    for call in recording.calls:
        mapped = mapping.operations.get(call.name)
        if mapped is None:
            raise SpecificationError(
                [
                    Problem(
                        Place(call.where),
                        f"the mapping has no tool {call.name!r}",
                        nearest(call.name, mapping.operations),
                    )
                ]
            )
        if mapped.operation == IGNORE:
            continue
        note = mapping.calls.get(call.id)
        operation = registry[mapped.operation]
        found = inferred[call.id]
        category = note.category if note else found.category or "outcome_unknown"
        given = note.arguments if note and note.arguments is not None else call.arguments or {}
        content = call.answer.content if call.answer is not None else None
        moves.append(
            Move(
                call.id,
                operation,
                _arguments(operation, mapped, given, len(moves) + 1),
                category,
                _fields(mapped, content),
                found.action if category == found.category else None,
                _retry_after(call.answer),
                call.turn,
                call.agent,
                call.at or 0.0,
            )
        )
    return moves


def _retry_after(answer: Answer | None) -> float | None:
    if answer is None or answer.retry_after_s is not None:
        return None if answer is None else answer.retry_after_s
    said = answer.content.get("retry_after_s") if isinstance(answer.content, Mapping) else None
    return said if isinstance(said, int | float) else None


def _arguments(operation: Operation, mapped: Mapped, given: Mapping[str, JSON], number: int) -> dict[str, JSON]:
    taken: dict[str, JSON] = {}
    for argument in operation.arguments:
        source = mapped.arguments.get(argument.name)
        value = None if source is None else _taken(source, given)
        if value is None and argument.name == operation.request and operation.writes:
            value = f"call-{number}"
        if value is not None:
            taken[argument.name] = _text(value) if argument.json_type == "string" else value
    return taken


def _taken(source: Source, given: Mapping[str, JSON]) -> JSON:
    if isinstance(source, Constant):
        return source.value
    if isinstance(source, str):
        return given.get(source)
    said = "; ".join(f"{key}: {_short(given[key])}" for key in source if given.get(key) is not None)
    return said if len(said) <= _LONGEST_TITLE else f"{said[:_LONGEST_TITLE]}... {digest(said)[:6]}"


def _text(value: JSON) -> str:
    return dumps(value) if isinstance(value, dict | list) else str(value)


def _short(value: JSON) -> str:
    return value if isinstance(value, str) else dumps(value)


def _fields(mapped: Mapped, content: JSON) -> dict[str, JSON]:
    """Return the fields of an answer: those of a result of ours as they are, those of others as they are mapped."""
    if not isinstance(content, Mapping):
        return {}
    if content.get("category") in CATEGORIES:
        return dict(content.get("result") or {})
    return {name: content[theirs] for name, theirs in mapped.result.items() if content.get(theirs) is not None}


def draft(
    moves: Sequence[Move], mapping: MappingFile, suite: Suite, *, task: str, source: str
) -> tuple[dict[str, JSON], list[str]]:
    """Return a case as its file would hold it, without the rule that catches it, and notes on how it was made.

    Raises SpecificationError where nothing is a write, or no graph of the suite fits.
    """
    notes: list[str] = []
    writes = [move for move in moves if move.operation.writes and move.on_the_wire]
    if not moves:
        raise _refused("no call of this trace is an operation", "map its tools in the mapping file")
    bound = _bound(moves, notes)
    effects = _effects(moves, bound, mapping, notes)
    graphs = mapping.graphs if mapping.graphs is not None else _graphs(moves, suite, notes)
    faults, first = _faults(moves, notes)
    operations = _offered(moves)
    services = dict.fromkeys(service for name in operations if (service := TOOLS[name].service) is not None)
    services |= {"gate": None} if any(TOOLS[name].at_gate for name in operations) else {}
    seeded = seeds(moves)
    behaviour: list[JSON] = [{move.operation.name: arguments} for move, arguments in zip(moves, bound, strict=True)]
    if mapping.claim is not None and moves[-1].operation.name != "finish":
        behaviour.append({"finish": {"status": mapping.claim}})
    case: dict[str, JSON] = {
        "case": "I-draft",
        "title": mapping.title or _title(first, moves),
        "tags": ["incident"],
        "task": mapping.task or task or task_of(effects),
        "services": {name: {"seed": seeded[name]} if name in seeded else {} for name in services},
        "tools": [*operations, *(name for name in _ALWAYS_OFFERED if name not in operations)],
        "graphs": graphs,
        "effects": effects,
        "faults": faults,
    }
    contract = _contract(mapping, writes, notes)
    case |= {"contract": contract} if contract else {}
    case |= _expected(first, moves)
    case |= (
        {"limits": {"turns": len(behaviour) + _SPARE_TURNS}} if len(behaviour) + _SPARE_TURNS > Limits().turns else {}
    )
    case["script"] = _script(moves, bound, effects)
    case["incident"] = {"source": source, "behaviour": behaviour, "caught": "unknown"}
    return case, notes


def _bound(moves: Sequence[Move], notes: list[str]) -> list[dict[str, JSON]]:
    """Put ``$name`` in place of every value that an earlier answer gave as the identity of an object."""
    known: dict[JSON, str] = {}
    latest: dict[str, JSON] = {}
    bound = []
    for move in moves:
        arguments = dict(move.arguments)
        for name, value in arguments.items():
            if name in (move.operation.request, move.operation.idempotency) or not isinstance(value, str | int):
                continue
            field_name = known.get(str(value))
            if field_name is not None and latest[field_name] == str(value):
                arguments[name] = f"${field_name}"
            elif field_name is not None:
                notes.append(f"call {move.call}: its {name} is of an object before the last one; it is kept as it was")
        bound.append(arguments)
        identity = move.operation.identity
        if identity and move.fields.get(identity) is not None:
            known[str(move.fields[identity])] = identity
            latest[identity] = str(move.fields[identity])
    return bound


def _effects(
    moves: Sequence[Move], bound: Sequence[Mapping[str, JSON]], mapping: MappingFile, notes: list[str]
) -> dict[str, list[dict[str, JSON]]]:
    """What the task asks for: said in the mapping, or every different write of the trace once."""
    if mapping.effects is not None:
        return mapping.effects
    effects: dict[str, list[dict[str, JSON]]] = {}
    for move, arguments in zip(moves, bound, strict=True):
        if not (move.operation.writes and move.on_the_wire):
            continue
        payload = _payload(move, arguments)
        each = effects.setdefault(move.operation.name, [])
        if payload not in each:
            each.append(payload)
    if effects:
        notes.append(
            "effects: every different write once; correct 'effects' in the mapping where the task asked for less"
        )
    return effects


def _script(
    moves: Sequence[Move], bound: Sequence[Mapping[str, JSON]], effects: Mapping[str, Sequence[Mapping[str, JSON]]]
) -> list[JSON]:
    """The careful way: each effect at its first call in the trace; those that only the task names come last."""
    left = [(name, effect) for name, each in effects.items() for effect in each]
    script: list[JSON] = []
    for move, arguments in zip(moves, bound, strict=True):
        asked = (move.operation.name, _payload(move, arguments))
        if asked in left:
            left.remove(asked)
            ids = (move.operation.request, move.operation.idempotency)
            script.append({move.operation.name: {name: value for name, value in arguments.items() if name not in ids}})
    script += [{name: dict(effect)} for name, effect in left]
    reads = [{move.operation.name: dict(args)} for move, args in zip(moves, bound, strict=True) if move.on_the_wire]
    return script or reads[:1]


def _payload(move: Move, bound: Mapping[str, JSON]) -> dict[str, JSON]:
    """What a write asks for: neither the ids of the request, nor an object that was only made on the way."""
    ids = (move.operation.request, move.operation.idempotency)
    return {
        name: value
        for name, value in bound.items()
        if name not in ids and not (isinstance(value, str) and value.startswith("$"))
    }


def _graphs(moves: Sequence[Move], suite: Suite, notes: list[str]) -> list[JSON]:
    """Propose the graphs under which the suite judges the operation that went wrong, bound to what the trace has."""
    trouble = [move for move in moves if move.category != "ok"]
    ordered = [move for move in trouble if move.operation.writes] + [move for move in moves if move.operation.writes]
    for move in (*ordered, *trouble, *moves):
        uses = [case.file.graphs for case in suite.cases.values() if _is_about(case, move.operation.name)]
        if uses:
            names = Counter(tuple(_name_of(use) for use in each) for each in uses)
            chosen = min(names, key=lambda each: (-names[each], each))
            notes.append(f"graph: {', '.join(chosen)}, as in the suite's own cases of {move.operation.name}")
            offered = {*_offered(moves), *(each.operation.name for each in moves)}
            known = [use for each in uses for use in each]
            return [_use(suite.graphs[name], known, offered) for name in chosen]
    writes = [move.operation for move in moves if move.operation.writes and move.operation.broadcast is None]
    for operation in writes:
        use = _by_effect(operation, suite.graphs.values(), _offered(moves))
        if use is not None:
            told = f"its first write is one like {operation.name} ({operation.effect})"
            notes.append(f"graph: {_name_of(use)}, for no case is about {operation.name}, and {told}")
            return [use]
    refused = _refused("no case of the suite judges any operation of this trace", "name 'graphs' in the mapping file")
    raise NoGraphFitsError(writes[0]) if writes else refused


def _by_effect(operation: Operation, graphs: Iterable[Graph], offered: Collection[str]) -> GraphUse | None:
    """Bind the smallest graph that begins with this effect, and has a lookup if this one has; None for several."""
    alike = []
    for graph in graphs:
        begins = {word for edge in graph.states[graph.start].allow for word in edge.call}
        roles = (name for role, name in graph.roles.items() if role in begins and name is not None)
        own = (REGISTRY[name] for name in roles if name in REGISTRY)
        first = next((each for each in own if each.writes), None)
        if first is None or first.effect is not operation.effect:
            continue
        if (first.reconcile is None) is (operation.reconcile is None):
            alike.append((len(graph.roles), graph, first))
    least = min((size for size, _, _ in alike), default=0)
    smallest = [(graph, first) for size, graph, first in alike if size == least]
    if len(smallest) != 1:
        return None
    ((graph, first),) = smallest
    plays = {first.name: operation.name, first.reconcile: operation.reconcile}
    return {
        graph.name: {
            role: plays.get(default, default if default in offered else None) for role, default in graph.roles.items()
        }
    }


def _is_about(case: LoadedCase, operation: str) -> bool:
    """Whether a case of the suite, which is no incident itself, has a fault at the operation."""
    file = case.file
    if file.pending is not None or file.incident is not None:
        return False
    return any(fault.operation == operation for fault in file.listed_faults) or (
        file.sweep is not None and file.sweep.operation == operation
    )


def _use(graph: Graph, known: Sequence[str | GraphUse], offered: Collection[str]) -> JSON:
    """Bind each role to an operation of the trace that plays it by default or in another case, else to none."""
    roles: dict[str, str | None] = {}
    left = set(offered)
    for role, default in graph.roles.items():
        others = [use[graph.name].get(role) for use in known if not isinstance(use, str) and graph.name in use]
        playing = next((name for name in (default, *others) if name in left), None)
        left.discard(playing or "")
        if playing != default:
            roles[role] = playing
    return {graph.name: roles} if roles else graph.name


def _name_of(use: str | GraphUse) -> str:
    return use if isinstance(use, str) else next(iter(use))


def _faults(moves: Sequence[Move], notes: list[str]) -> tuple[list[JSON], tuple[Move, Fault, int] | None]:
    """Return the faults that show the agent the same categories, and the first of them with its move."""
    counts: Counter[str] = Counter()
    faults: list[JSON] = []
    first: tuple[Move, Fault, int] | None = None
    for index, move in enumerate(moves):
        if not move.on_the_wire:
            continue
        name = move.operation.name
        counts[name] += 1
        written = _fault(move, moves[index + 1 :])
        if written is None:
            continue
        point, action, because = written
        faults.append({"operation": name, "nth": counts[name], "point": point.value, "action": action})
        notes.append(f"fault: {name} #{counts[name]} {point.value} {_short(action)}: {because}")
        fault = Fault(name, point, Action.parse(action), counts[name])
        better = first is None or (move.operation.writes and not first[0].operation.writes)
        if better:
            first = (move, fault, counts[name])
    return faults, first


_FAULTS: Mapping[str, tuple[Point, JSON]] = {
    "local_failure": (Point.BEFORE_CONNECT, "refuse"),
    "rate_limited": (Point.BEFORE_COMMIT, {"rate_limit": 30}),
    "authentication_failed": (Point.BEFORE_COMMIT, "expire_credential"),
    "authorization_denied": (Point.BEFORE_COMMIT, "deny"),
    "invalid_request": (Point.BEFORE_COMMIT, {"failure": 422}),
    "conflict": (Point.BEFORE_COMMIT, {"failure": 409}),
    "malformed_response": (Point.IN_BODY, "garbage"),
    "accepted": (Point.AFTER_COMMIT, "accept"),
}


def _fault(move: Move, later: Sequence[Move]) -> tuple[Point, JSON, str] | None:
    if move.category == "rate_limited" and move.retry_after_s is not None:
        return Point.BEFORE_COMMIT, {"rate_limit": move.retry_after_s}, "the service said how long to wait"
    endpoint = TOOLS[move.operation.name].endpoint
    failures = endpoint.failures if endpoint is not None else ()
    if move.category == "confirmed_failure" and failures:
        return Point.BEFORE_COMMIT, {"failure": failures[0]}, "the service says so by this status"
    if move.category in _FAULTS:
        point, action = _FAULTS[move.category]
        return point, action, f"{move.category} comes about so"
    if move.category != "outcome_unknown":
        return None  # success, or what the world's state brings about by itself
    action = move.action or "silence"
    seen = next((each for each in later if each.operation.name == move.operation.reconcile), None)
    if not move.operation.writes or seen is None or seen.category not in ("ok", "not_found"):
        return (
            Point.AFTER_COMMIT,
            action,
            "nothing in the trace tells whether it was done; the twin runs the other side",
        )
    if seen.category == "ok":
        return Point.AFTER_COMMIT, action, f"call {seen.call} found it later"
    return Point.BEFORE_COMMIT, action, f"call {seen.call} did not find it later"


def _offered(moves: Sequence[Move]) -> list[str]:
    """The tools that were called, and what finds out about them."""
    names = [name for move in moves for name in (move.operation.name, move.operation.reconcile) if name]
    return [name for name in dict.fromkeys(names) if name not in _ALWAYS_OFFERED]


def _contract(mapping: MappingFile, writes: Sequence[Move], notes: list[str]) -> dict[str, JSON]:
    """What the mapping says of keys; else none where no call carries one, and ignored where one made two objects."""
    if mapping.contract:
        return {name: terms.model_dump(mode="json", exclude_defaults=True) for name, terms in mapping.contract.items()}
    terms: dict[str, JSON] = {}
    for name in dict.fromkeys(move.operation.name for move in writes if move.operation.idempotency):
        own = [move for move in writes if move.operation.name == name]
        key, identity = own[0].operation.idempotency or "", own[0].operation.identity or ""
        if not any(move.arguments.get(key) for move in own):
            terms[name] = {"idempotency": "none"}
            notes.append(f"contract: {name} without idempotency, for no call carries a key")
            continue
        made: dict[JSON, set[str]] = {}
        for move in own:
            if move.fields.get(identity) is not None:
                made.setdefault(move.arguments.get(key), set()).add(str(move.fields[identity]))
        if any(len(objects) > 1 for objects in made.values()):
            terms[name] = {"idempotency": "ignored"}
            notes.append(f"contract: {name} ignores keys, for one key made two objects")
    return terms


def _expected(first: tuple[Move, Fault, int] | None, moves: Sequence[Move]) -> dict[str, JSON]:
    """What is known after the fault; without one, that the first call of all goes as it went."""
    if first is None:
        sent = next((move for move in moves if move.on_the_wire), moves[0])
        return {"expect": {"result": {"operation": sent.operation.name, "nth": 1, "category": sent.category}}}
    move, fault, nth = first
    row = CATEGORIES[move.category]
    known = row.effect_known or not move.operation.writes
    expected: dict[str, JSON] = {"twins": True} if fault.ambiguous and move.operation.writes else {}
    expected["known"] = {"effect_known": known, "class": row.outcome_class.value}
    expected["expect"] = {"result": {"operation": move.operation.name, "nth": nth, "category": move.category}}
    return expected


def _title(first: tuple[Move, Fault, int] | None, moves: Sequence[Move]) -> str:
    if first is None:
        return f"{moves[0].operation.name} without a fault"
    return f"{first[0].operation.name} was answered {first[0].category}"


def _refused(message: str, hint: str) -> SpecificationError:
    return SpecificationError([Problem(Place("trace"), message, hint)])
