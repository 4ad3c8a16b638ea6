"""What a claim may know besides the history: the case as it was meant to run."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field

from unacked.case import CaseFile
from unacked.contract import Operation
from unacked.fault import Fault
from unacked.graph import BoundGraph, Team

__all__ = ["Brief", "side_name"]


@dataclass(frozen=True, slots=True)
class Brief:
    """One side of a case, ready to be run and judged.

    ``twin`` says that the hidden side of the faults is flipped. ``tools`` are the contracts that the case
    offers; ``graphs`` are bound to its operations.
    """

    case: CaseFile
    twin: bool
    faults: Sequence[Fault]
    tools: Mapping[str, Operation]
    graphs: Sequence[BoundGraph]

    place: str = ""
    """Where the fault of a sweep acts; empty for a case that lists its faults."""
    team: Team = field(default_factory=dict)
    """The members by name; empty where one agent does the whole task."""

    def offered(self, actor: str | None) -> Container[str]:
        """Return the operations that were offered to whoever made a call."""
        return self.team[actor].tools if actor is not None and actor in self.team else self.tools

    @property
    def name(self) -> str:
        """The name of the side: the case, the place of a sweep, and ``twin`` on the flipped one."""
        return side_name(self.case.case, self.place, twin=self.twin)


def side_name(case: str, place: str, *, twin: bool) -> str:
    """Return the name of one side of a case: ``C05``, ``C05.twin``, ``W05.after-commit-fin.twin``."""
    return f"{case}{place and f'.{place}'}{'.twin' if twin else ''}"
