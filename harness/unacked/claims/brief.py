"""What a claim may know besides the history: the case as it was meant to run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unacked.case import CaseFile
from unacked.contract import Operation
from unacked.fault import Fault
from unacked.graph import BoundGraph

__all__ = ["Brief"]


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

    @property
    def name(self) -> str:
        """The name of the side: the case, with ``.twin`` on the flipped one."""
        return f"{self.case.case}.twin" if self.twin else self.case.case
