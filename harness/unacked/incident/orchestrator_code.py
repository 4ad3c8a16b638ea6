"""Incidents of what runs agents: an orchestrator with the fault, and one without, under the check that is named."""

from __future__ import annotations

from collections.abc import Iterator

from unacked.conformance.check import Status
from unacked.conformance.checks import CHECKS
from unacked.conformance.planted.orchestrator import FAULTS
from unacked.conformance.planted.simulate import simulated
from unacked.errors import SpecificationError, nearest
from unacked.incident.check import Check
from unacked.suite import LoadedCase, Suite

__all__ = ["replayed"]


def replayed(_: Suite, case: LoadedCase) -> Iterator[Check]:
    """Play a check of orchestrators in virtual time; raises SpecificationError where there is none of this name."""
    incident = case.file.incident
    name = None if incident is None else incident.orchestrator
    if name is None or name not in CHECKS:
        place = ("incident", "orchestrator")
        problem = case.document.problem(place, f"no check of orchestrators {name!r}", nearest(str(name), CHECKS))
        raise SpecificationError([problem])
    then, now = simulated(CHECKS[name], name), simulated(CHECKS[name], None)
    told = f"{name} catches the orchestrator as it was ({FAULTS[name]})"
    yield Check(told, then.status is Status.FAIL, then.explanation)
    yield Check(f"{name} finds nothing in one without the fault", now.status is Status.PASS, now.explanation)
