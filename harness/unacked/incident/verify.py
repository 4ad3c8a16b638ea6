"""Whether a case really shows its incident: red as it was recorded, green with care, on every side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from unacked.canonical import JSON
from unacked.document import Document
from unacked.graph import Verdict
from unacked.incident.check import Check
from unacked.incident.redact import suspicious
from unacked.incident.rehearse import Rehearsal, Showing, rehearse
from unacked.incident.written import written
from unacked.suite import Suite, load_case

__all__ = ["Verification", "verify"]

_REPLAYED = {"adapter": "unacked.incident.tool_code", "orchestrator": "unacked.incident.orchestrator_code"}
"""What few incidents call for, and what brings much with it: by the member that calls for it, loaded by name."""


@dataclass(frozen=True, slots=True)
class Verification:
    """All checks of one case."""

    case: str
    checks: Sequence[Check]

    @property
    def holds(self) -> bool:
        """Whether every check holds."""
        return all(check.holds for check in self.checks)

    def as_json(self) -> dict[str, JSON]:
        """Return the verification as a JSON object."""
        return {"case": self.case, "verified": self.holds, "checks": [check.as_json() for check in self.checks]}


def verify(suite: Suite, document: Document) -> Verification:
    """Run a case with both agents and check it; raises SpecificationError where it is no incident of this suite."""
    rehearsal = rehearse(suite, document)
    case = load_case(document, suite)
    value: Mapping[str, JSON] = case.document.value
    incident = case.file.incident
    assert incident is not None  # noqa: S101 - else it could not be rehearsed
    checks = list(_checks(rehearsal, incident.caught, _readable(value)))
    for member, module in _REPLAYED.items():
        if getattr(incident, member) is not None:
            checks = [*import_module(module).replayed(suite, case), *checks]
    return Verification(str(value["case"]), tuple(checks))


def _readable(value: Mapping[str, JSON]) -> str:
    """The case as text without the digest of its trace, which looks like a token and is none."""
    incident = {name: item for name, item in value["incident"].items() if name != "provenance"}
    return written({**value, "incident": incident})


def _checks(rehearsal: Rehearsal, rule: str, text: str) -> Iterator[Check]:
    for shown in rehearsal.repeated:
        rules = ", ".join(shown.path_rules) or "nothing"
        yield Check(f"{shown.side}: {rule} catches the recorded behaviour", rule in shown.path_rules, f"{rules} does")
        yield _exercised(shown, "the recorded behaviour")
    for shown in rehearsal.careful:
        green = shown.verdict.verdict is Verdict.PASS
        seen = shown.verdict.verdict.value if green else f"{shown.verdict.verdict.value} {shown.verdict.rule}"
        yield Check(f"{shown.side}: the careful agent passes", green, seen)
        yield _exercised(shown, "the careful agent")
    left = suspicious(text)
    yield Check("nothing in the file looks like an email or a token", not left, ", ".join(left) or "nothing does")


def _exercised(shown: Showing, who: str) -> Check:
    missing = [finding.observed for finding in shown.verdict.exercised.findings]
    return Check(f"{shown.side}: every fault struck {who}", not missing, "; ".join(missing) or "all did")
