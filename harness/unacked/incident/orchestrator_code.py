"""Incidents of what runs agents: an orchestrator with the fault, and one without, under the check that is named."""

from __future__ import annotations

from dataclasses import dataclass

from unacked.conformance.check import Finding
from unacked.conformance.checks import CHECKS
from unacked.conformance.planted.orchestrator import FAULTS
from unacked.conformance.planted.simulate import simulated
from unacked.errors import SpecificationError, nearest
from unacked.suite import LoadedCase

__all__ = ["Orchestrated", "orchestrated"]


@dataclass(frozen=True, slots=True)
class Orchestrated:
    """What one check finds of an orchestrator with the fault of an incident, and of one without."""

    check: str
    fault: str
    then: Finding
    now: Finding


def orchestrated(case: LoadedCase, name: str) -> Orchestrated:
    """Play a check of orchestrators in virtual time; raises SpecificationError where there is none of this name."""
    if name not in CHECKS:
        place = ("incident", "orchestrator")
        problem = case.document.problem(place, f"no check of orchestrators {name!r}", nearest(name, CHECKS))
        raise SpecificationError([problem])
    check = CHECKS[name]
    return Orchestrated(name, FAULTS[name], simulated(check, name), simulated(check, None))
