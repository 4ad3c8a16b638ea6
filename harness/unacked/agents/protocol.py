"""What an agent is to the trial: something that is told results and answers with calls.

Scripted policies and models implement the same two small protocols, and the same loop drives both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from unacked.canonical import JSON, digest
from unacked.case import AgentFile
from unacked.contract import Operation
from unacked.errors import HarnessError
from unacked.event import Emit
from unacked.graph import HAND_OVER, BoundGraph

__all__ = [
    "AgentDefinition",
    "BudgetSpentError",
    "Call",
    "Driver",
    "HandedOver",
    "PastTurn",
    "Provider",
    "ProviderError",
    "Reply",
    "Seat",
    "Session",
    "Step",
    "Task",
]


@dataclass(frozen=True, slots=True)
class Call:
    """One call that the agent wants made.

    ``problem`` says why it is none, such as arguments that are not JSON: it is refused and nothing is sent.
    """

    operation: str
    arguments: Mapping[str, JSON] = field(default_factory=dict)
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One turn of the agent: calls, text, or neither (it stopped without a final claim)."""

    calls: Sequence[Call] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A turn that an agent is told it has made: its calls, and their results as it would have seen them, in order."""

    calls: Sequence[Call]
    results: Sequence[Mapping[str, JSON]]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a case's script: what a correct agent calls when nothing goes wrong.

    An argument ``$name`` stands for the field ``name`` of an earlier result, ``$name[].part`` for that part of
    every object in it.
    """

    operation: str
    arguments: Mapping[str, JSON]

    def resolved(self, results: Mapping[str, JSON]) -> dict[str, JSON]:
        """Return the arguments with every ``$name`` replaced; a name never seen becomes null."""
        return {name: _resolve(value, results) for name, value in self.arguments.items()}


def _resolve(value: JSON, results: Mapping[str, JSON]) -> JSON:
    if not (isinstance(value, str) and value.startswith("$")):
        return value
    name, every, part = value[1:].partition("[].")
    found = results.get(name)
    return [item[part] for item in found] if every and isinstance(found, list) else found


@dataclass(frozen=True, slots=True)
class HandedOver:
    """What a member of a team told those who come after it; no status where it ended without telling anything.

    ``unsettled`` are the calls whose outcome it did not know.
    """

    member: str
    status: str | None = None
    summary: str = ""
    facts: Mapping[str, JSON] = field(default_factory=dict)
    unsettled: Sequence[Step] = ()

    @classmethod
    def told(cls, member: str, arguments: Mapping[str, JSON] | None) -> HandedOver:
        """Read the arguments of ``hand_over``; what its contract leaves open may hold anything."""
        if arguments is None:
            return cls(member)
        listed = [call for call in arguments.get("unsettled") or () if isinstance(call, dict)]
        steps = [
            Step(call["operation"], call["arguments"])
            for call in listed
            if isinstance(call.get("operation"), str) and isinstance(call.get("arguments"), dict)
        ]
        facts = arguments.get("facts") or {}
        return cls(member, arguments["status"], arguments.get("summary") or "", facts, tuple(steps))

    def as_json(self) -> dict[str, JSON]:
        """Return it as those who come after are shown it."""
        calls = [{"operation": step.operation, "arguments": dict(step.arguments)} for step in self.unsettled]
        return {"from": self.member, "status": self.status, "summary": self.summary} | {
            name: value for name, value in (("facts", dict(self.facts)), ("unsettled", calls)) if value
        }


@dataclass(frozen=True, slots=True)
class Task:
    """What the agent is given: the task and the tools; in a team also what those before it handed over.

    The rest is for agents without a model only: ``script`` is the way of the case when nothing goes wrong, ``undo``
    what takes it back where a step of it fails for good, ``behaviour`` what was recorded in an incident, ``graphs`` and
    ``effects`` what the agent will be judged by. ``handed`` stands in the text too. ``member`` is the agent's place in
    the team, ``compensates`` whose work it is to undo. ``seed`` names the trial: what a policy leaves to chance must
    follow from it, so that a run can be repeated.
    """

    text: str
    tools: Mapping[str, Operation]
    script: Sequence[Step] = ()
    undo: Sequence[Step] = ()
    behaviour: Sequence[Step] = ()
    graphs: Sequence[BoundGraph] = ()
    effects: Mapping[str, Sequence[Mapping[str, JSON]]] = field(default_factory=dict)
    handed: Sequence[HandedOver] = ()
    member: str = ""
    compensates: str | None = None
    seed: str = ""

    @property
    def ending(self) -> str:
        """The operation that ends the agent's part: ``finish``, or ``hand_over`` where others come after it."""
        return HAND_OVER if HAND_OVER in self.tools else "finish"


class ProviderError(HarnessError):
    """The provider of an agent's model failed, or the way to it; the agent is not to blame.

    ``kind`` is a word for reports. ``again`` says that the same request may do better later, ``retry_after_s``
    how long the provider wants to be left alone. ``raw`` is for the diagnostics only.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        again: bool = False,
        retry_after_s: float | None = None,
        raw: Mapping[str, JSON] | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.again = again
        self.retry_after_s = retry_after_s
        self.raw = raw or {}


class BudgetSpentError(Exception):
    """A budget of the agent is spent: the trial is cut, which proves nothing against the agent."""


@dataclass(frozen=True, slots=True)
class Provider:
    """Where a fake service of the suite stands in for the provider: its base URL and the key that it accepts."""

    url: str
    key: str


def _unheard(event: str, **_: object) -> None:
    """Put nothing on any record."""


def _unkept(_: Mapping[str, JSON]) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """What a driver is given for one trial besides the task.

    ``seed`` is all the randomness there is. ``member`` is the agent's place in a team, empty where it works alone.
    ``emit`` and ``diagnose`` lead to the record, ``hide`` names a secret that may stand in no sink, ``redact`` takes
    such secrets out of a text. ``provider`` is there where a fake service takes the real one's place.
    """

    seed: str = "0"
    case: str = ""
    side: str = ""
    member: str = ""
    repeat: int = 1
    emit: Emit = _unheard
    diagnose: Callable[[Mapping[str, JSON]], str] = _unkept
    hide: Callable[[str], None] = _unheard
    redact: Callable[[str], str] = str
    provider: Provider | None = None


class Session(Protocol):
    """One agent at work on one task."""

    def next(self, results: Sequence[Mapping[str, JSON]]) -> Reply:
        """Take the results of the last turn's calls, in order (none at first), and return the next turn.

        Raises ProviderError where no reply can be had, BudgetSpentError where none may be asked for any more.
        """
        ...

    def close(self, results: Sequence[Mapping[str, JSON]] = ()) -> None:
        """Let go of everything that the session holds; ``results`` are those that it was not told yet."""
        ...


class Driver(Protocol):
    """Makes sessions; one driver serves many trials."""

    def begin(self, task: Task, seat: Seat) -> Session:
        """Start work on ``task``; raises HarnessError where that cannot be, such as without a key."""
        ...


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """A pinned agent: the parts that decide its behaviour, each under its own digest."""

    file: AgentFile
    prompt: str
    policy_source: str | None
    written: Mapping[str, JSON] = field(default_factory=dict)
    """The file as it was written."""

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.file.agent

    def pins(self) -> dict[str, JSON]:
        """Return what is pinned: digests of prompt and policy, driver, model and parameters.

        ``setting`` is the digest of everything else that decides what is sent, where there is anything.
        """
        setting = {name: value for name, value in self.written.items() if name not in _PINNED_APART}
        return {
            "agent": self.file.agent,
            "driver": self.file.driver,
            "model": self.file.model,
            "parameters": digest(self.file.parameters),
            "prompt": digest(self.prompt),
            "policy": None if self.policy_source is None else digest(self.policy_source),
            **({"setting": digest(setting)} if setting else {}),
        }


_PINNED_APART = frozenset(
    {"agent", "title", "driver", "model", "parameters", "prompt", "policy", "hosts", "price", "control"}
)
