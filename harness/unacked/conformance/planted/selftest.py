"""Every check against every fault: its own must be caught, all others must pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unacked.conformance.check import Status
from unacked.conformance.checks import CHECKS
from unacked.conformance.planted.orchestrator import FAULTS
from unacked.conformance.planted.simulate import simulated

__all__ = ["SelfTest", "selftest"]


@dataclass(frozen=True, slots=True)
class SelfTest:
    """How many of the faults were caught by their check alone, and what else happened, in words."""

    faults: int
    caught: int
    plays: int
    problems: Sequence[str]


def selftest(faults: Iterable[str | None] = (None, *FAULTS)) -> SelfTest:
    """Play all checks against the planted orchestrator with each fault, None being the one without any."""
    problems: list[str] = []
    plays = caught = wrong = 0
    for fault in faults:
        before = len(problems)
        for name, check in CHECKS.items():
            plays += 1
            finding = simulated(check, fault)
            due = Status.FAIL if name == fault else Status.PASS
            if finding.status is not due:
                told = f"{fault} ({FAULTS[fault]})" if fault else "the one without a fault"
                problems.append(f"{name} says {finding.status.value} of {told}: {finding.explanation}")
        wrong += fault is not None
        caught += fault is not None and len(problems) == before
    return SelfTest(wrong, caught, plays, problems)
