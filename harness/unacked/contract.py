"""Operation contracts: what a tool takes, gives back and does to the world.

One source: the tools declare their operations in these types, and graphs, judges, prompts and fakes read
the same values. A graph never names an argument that the contract does not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from unacked.canonical import JSON

__all__ = ["Argument", "Broadcast", "Effect", "Idempotency", "Operation", "Registry"]


class Effect(StrEnum):
    """What an operation does to the remote world; all but READ and CONTROL are writes."""

    READ = "read"
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    TRIGGER = "trigger"
    EXEC = "exec"
    SPEND = "spend"
    GRANT = "grant"
    ROTATE = "rotate"
    CONTROL = "control"


class Broadcast(StrEnum):
    """How a call that names no single effect reaches the threads of a graph."""

    ALL = "all"
    ANY = "any"


class Idempotency(StrEnum):
    """What a service does when it sees an idempotency key again."""

    REPLAY_SUCCESS = "replay_success"
    REPLAY_ERROR = "replay_error"
    REEXECUTE = "reexecute"
    CONFLICT_IN_FLIGHT = "conflict_in_flight"
    MISMATCH_ERROR = "mismatch_error"
    EXPIRES = "expires"
    IGNORED = "ignored"
    NONE = "none"

    @property
    def honoured(self) -> bool:
        """True where sending the same key again cannot repeat the effect."""
        return self not in (Idempotency.IGNORED, Idempotency.NONE)


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument or result field: its JSON type (string, number, integer, boolean, object, array)."""

    name: str
    json_type: str = "string"
    required: bool = True
    description: str = ""
    choices: tuple[str, ...] = ()
    """The only values allowed, where the set is closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """The contract of one tool.

    ``request``, ``idempotency`` and ``target`` name the argument that plays that part, ``identity`` the
    result field that identifies the object. ``reconcile`` names the read that finds the effect by
    request id. ``categories`` is closed: any other category in a run is an ERROR.
    """

    name: str
    effect: Effect
    description: str
    arguments: tuple[Argument, ...] = ()
    result: tuple[Argument, ...] = ()
    categories: frozenset[str]
    tags: frozenset[str] = frozenset()
    target: str | None = None
    target_class: str | None = None
    identity: str | None = None
    request: str | None = None
    idempotency: str | None = None
    idempotency_mode: Idempotency = Idempotency.NONE
    reconcile: str | None = None
    broadcast: Broadcast | None = None
    writes: bool = field(init=False, repr=False)
    """True where the operation changes the remote world."""
    absent: Mapping[str, None] = field(init=False, repr=False, compare=False)
    """Every argument as null: what a call that leaves all of them out asks for."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "writes", self.effect not in (Effect.READ, Effect.CONTROL))
        object.__setattr__(self, "absent", dict.fromkeys(argument.name for argument in self.arguments))

    def payload(self, arguments: Mapping[str, JSON]) -> dict[str, JSON]:
        """Return what the call asks for: every argument but the request and idempotency ids.

        Absent optional arguments are null, so that leaving one out and sending null are the same.
        """
        ids = (self.request, self.idempotency)
        payload = {argument.name: None for argument in self.arguments if argument.name not in ids}
        payload.update({name: value for name, value in arguments.items() if name not in ids})
        return payload

    def input_schema(self) -> dict[str, JSON]:
        """Return the JSON Schema of the arguments, as models and MCP clients want it."""
        properties = {}
        for argument in self.arguments:
            prop: dict[str, JSON] = {"type": argument.json_type}
            if argument.description:
                prop["description"] = argument.description
            if argument.choices:
                prop["enum"] = list(argument.choices)
            properties[argument.name] = prop
        return {
            "type": "object",
            "properties": properties,
            "required": [argument.name for argument in self.arguments if argument.required],
            "additionalProperties": False,
        }

    def offer(self) -> dict[str, JSON]:
        """Return all that an agent is told of the tool: its name, description and input_schema."""
        return {"name": self.name, "description": self.description, "input_schema": self.input_schema()}

    def as_json(self) -> dict[str, JSON]:
        """Return the contract as a JSON object; its digest is the pin of the tool."""
        return {
            **self.offer(),
            "effect": self.effect.value,
            "result": [[item.name, item.json_type, item.required, list(item.choices)] for item in self.result],
            "categories": sorted(self.categories),
            "tags": sorted(self.tags),
            "target": self.target,
            "target_class": self.target_class,
            "identity": self.identity,
            "request": self.request,
            "idempotency": [self.idempotency, self.idempotency_mode.value],
            "reconcile": self.reconcile,
            "broadcast": self.broadcast.value if self.broadcast else None,
        }


class Registry(Mapping[str, Operation]):
    """All operations by name; refuses two of one name."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._operations: dict[str, Operation] = {}
        for operation in operations:
            if operation.name in self._operations:
                raise ValueError(f"operation {operation.name!r} is declared twice")
            self._operations[operation.name] = operation

    def __getitem__(self, name: str) -> Operation:
        return self._operations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._operations)

    def __len__(self) -> int:
        return len(self._operations)

    def select(self, selector: str) -> frozenset[str]:
        """Return the operations that ``@destructive`` (a tag), ``@delete`` (an effect) or ``@mutating`` name."""
        word = selector.removeprefix("@")
        return frozenset(
            operation.name
            for operation in self._operations.values()
            if word in operation.tags or word == operation.effect or (word == "mutating" and operation.writes)
        )
