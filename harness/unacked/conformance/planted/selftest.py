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
        told = "the one without a fault" if fault is None else f"{fault} ({FAULTS[fault]})"
        statuses = set()
        for name, check in CHECKS.items():
            plays += 1
            finding = simulated(check, fault)
            statuses.add(finding.status)
            if finding.status is not (Status.FAIL if name == fault else Status.PASS):
                problems.append(f"{name} says {finding.status.value} of {told}: {finding.explanation}")
        if fault is not None:
            wrong += 1
            if Status.FAIL not in statuses and len(problems) == before:
                problems.append(f"no check found fault with {told}")
            caught += len(problems) == before
    return SelfTest(wrong, caught, plays, problems)
