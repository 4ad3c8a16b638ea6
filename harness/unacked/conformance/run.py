"""Checking an adapter: every check that its claims call for, and a report of three values."""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from unacked.canonical import JSON
from unacked.conformance.adapter import Adapter
from unacked.conformance.check import Check, Finding, Pace, Scenario, Status
from unacked.conformance.checks import CHECKS
from unacked.conformance.processes import Processes, service
from unacked.conformance.record import Observation
from unacked.conformance.stage import Stage, play
from unacked.errors import ExitCode, HarnessError, Place, Problem, SpecificationError, nearest

__all__ = ["Report", "check_orchestrator", "chosen_checks", "exercise", "unclaimed"]

_ABREAST = 4
_FORMAT = 2


@dataclass
class Report:
    """What was found of one orchestrator.

    ``versions`` are those of what its adapter needs, ``notes`` say by check how it was asked for what is checked.
    """

    orchestrator: str
    about: str
    versions: Mapping[str, str]
    findings: list[Finding] = field(default_factory=list)
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def exit_code(self) -> ExitCode:
        """FAIL where a claim does not hold, INCONCLUSIVE where one could not be tested or nothing was."""
        found = {finding.status for finding in self.findings}
        if Status.FAIL in found:
            return ExitCode.FAIL
        return ExitCode.INCONCLUSIVE if Status.NOT_EXERCISED in found or Status.PASS not in found else ExitCode.PASS

    def as_json(self) -> dict[str, JSON]:
        """Return the report as a JSON object."""
        return {
            "format": _FORMAT,
            "orchestrator": self.orchestrator,
            "about": self.about,
            "versions": dict(self.versions),
            "notes": dict(self.notes),
            "findings": [finding.as_json() for finding in self.findings],
        }

    @classmethod
    def of(cls, stored: Mapping[str, JSON]) -> Report:
        """Return the report that a JSON object holds; raises KeyError, TypeError or ValueError."""
        if stored["format"] != _FORMAT or any(finding["check"] not in CHECKS for finding in stored["findings"]):
            raise ValueError(stored["format"])
        findings = [Finding.of(finding) for finding in stored["findings"]]
        return cls(stored["orchestrator"], stored["about"], stored["versions"], findings, stored["notes"])


def chosen_checks(names: Sequence[str]) -> list[Check]:
    """Return the checks of some names, or all; raises SpecificationError."""
    problems = [
        Problem(Place("checks"), f"no check {name!r}", nearest(name, CHECKS)) for name in names if name not in CHECKS
    ]
    if problems:
        raise SpecificationError(problems)
    return [check for name, check in CHECKS.items() if name in names or not names]


def unclaimed(check: Check, claims: Sequence[str]) -> Finding | None:
    """Return the finding on a check that needs what is not claimed."""
    missing = [need for need in check.needs if need not in claims]
    return Finding(check.id, Status.NOT_CLAIMED, f"does not claim {', '.join(missing)}") if missing else None


def check_orchestrator(
    adapter: Adapter, checks: Sequence[Check], folder: Path, told: Callable[[Finding], None]
) -> Report:
    """Check an orchestrator, in processes and files under ``folder``; ``told`` hears of every finding as it comes.

    Where its packages are not installed, or its service or commands cannot be started, nothing is exercised.
    """
    report = Report(adapter.name, adapter.file.about, adapter.versions(), notes=adapter.file.notes)

    def found(finding: Finding) -> None:
        report.findings.append(finding)
        told(finding)

    claimed = []
    for check in checks:
        finding = unclaimed(check, adapter.file.claims)
        if finding is None:
            claimed.append(check)
        else:
            found(finding)
    try:
        if claimed:
            adapter.insist_on_packages()
            asyncio.run(_check(adapter, claimed, folder.resolve(), found))
    except asyncio.CancelledError:  # SIGTERM
        raise KeyboardInterrupt from None
    except HarnessError as error:
        for check in claimed:
            found(Finding(check.id, Status.NOT_EXERCISED, str(error)))
    report.findings.sort(key=lambda finding: list(CHECKS).index(finding.check))
    return report


async def _check(adapter: Adapter, checks: Sequence[Check], folder: Path, found: Callable[[Finding], None]) -> None:
    this = asyncio.current_task()
    assert this is not None  # noqa: S101 - this is a coroutine
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)  # services must not be left behind
    file = adapter.file
    pace = Pace(file.beat_s, file.start_s, file.lease_s or 0.0, file.wait_bound_s or 0.0)
    async with service(adapter, folder) as port:
        for check in checks:
            stages = partial(_stage, adapter, folder, check, port)
            found(await exercise(check, stages, pace, patience_s=file.patience_s))


def _stage(adapter: Adapter, folder: Path, check: Check, port: int | None, scenario: Scenario, number: int) -> Stage:
    run = f"{check.id.lower()}-{number}-{secrets.token_hex(4)}"  # a service may remember the runs of earlier days
    return Processes(adapter, scenario, folder / run, run, port)


async def exercise(check: Check, stages: Callable[[Scenario, int], Stage], pace: Pace, *, patience_s: float) -> Finding:
    """Play all scenarios of a check, each on a stage of its own, and judge them."""
    scenarios = list(check.scenarios(pace)) * check.repeat
    slots = asyncio.Semaphore(_ABREAST if check.abreast else 1)

    async def observe(scenario: Scenario, number: int) -> Observation:
        async with slots:
            return await play(scenario, stages(scenario, number), pace, patience_s=patience_s)

    observed = await asyncio.gather(*(observe(scenario, number) for number, scenario in enumerate(scenarios, start=1)))
    return check.finding(scenarios, observed, pace)
