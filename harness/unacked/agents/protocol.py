"""What an agent is to the trial: something that is told results and answers with calls.

Scripted policies and models implement the same two small protocols, and the same loop drives both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from unacked.canonical import JSON, digest
from unacked.case import AgentFile
from unacked.contract import Operation
from unacked.graph import BoundGraph

__all__ = ["AgentDefinition", "Call", "Driver", "Reply", "Session", "Step", "Task"]


@dataclass(frozen=True, slots=True)
class Call:
    """One call that the agent wants made."""

    operation: str
    arguments: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """One turn of the agent: calls, text, or neither (it stopped without a final claim)."""

    calls: Sequence[Call] = ()
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
class Task:
    """What the agent is given: the task and the tools.

    The rest is for agents without a model only: ``script`` is the way of the case when nothing goes wrong,
    ``behaviour`` what was recorded in an incident, ``graphs`` and ``effects`` what the agent will be judged by.
    """

    text: str
    tools: Mapping[str, Operation]
    script: Sequence[Step] = ()
    behaviour: Sequence[Step] = ()
    graphs: Sequence[BoundGraph] = ()
    effects: Mapping[str, Sequence[Mapping[str, JSON]]] = field(default_factory=dict)


class Session(Protocol):
    """One agent at work on one task."""

    def next(self, results: Sequence[Mapping[str, JSON]]) -> Reply:
        """Take the results of the last turn's calls, in order (none at first), and return the next turn."""
        ...


class Driver(Protocol):
    """Makes sessions; one driver serves many trials."""

    def begin(self, task: Task, seed: str) -> Session:
        """Start work on ``task``; ``seed`` is all the randomness there is."""
        ...


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """A pinned agent: the parts that decide its behaviour, each under its own digest."""

    file: AgentFile
    prompt: str
    policy_source: str | None

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.file.agent

    def pins(self) -> dict[str, JSON]:
        """Return what is pinned: digests of prompt and policy, driver, model and parameters."""
        return {
            "agent": self.file.agent,
            "driver": self.file.driver,
            "model": self.file.model,
            "parameters": digest(self.file.parameters),
            "prompt": digest(self.prompt),
            "policy": None if self.policy_source is None else digest(self.policy_source),
        }
