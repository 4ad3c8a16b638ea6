"""What a claim says: a verdict, and findings with a stable rule, what was expected and what was seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from unacked.canonical import JSON
from unacked.graph import Verdict

__all__ = ["Claim", "Finding"]


class Finding(NamedTuple):
    """One thing that a claim found wrong.

    ``explanation`` is the long form, where there is one. ``member`` is who of a team is to blame.
    """

    rule: str
    verdict: Verdict
    expected: str
    observed: str
    remedy: str = ""
    explanation: str = ""
    member: str = ""

    def as_json(self) -> dict[str, JSON]:
        """Return the finding as a JSON object."""
        value: dict[str, JSON] = {
            "rule": self.rule,
            "verdict": self.verdict.value,
            "expected": self.expected,
            "observed": self.observed,
        }
        if self.remedy:
            value["remedy"] = self.remedy
        if self.explanation:
            value["explanation"] = self.explanation
        if self.member:
            value["member"] = self.member
        return value


class Claim(NamedTuple):
    """One of the four judgements of a trial: result, path, world or trail."""

    name: str
    findings: Sequence[Finding] = ()

    @property
    def verdict(self) -> Verdict:
        """The worst of the findings; PASS where there is none."""
        return Verdict.worst([finding.verdict for finding in self.findings]) if self.findings else Verdict.PASS

    @classmethod
    def of(cls, name: str, findings: Iterable[Finding]) -> Claim:
        """Collect the findings of one claim."""
        return cls(name, tuple(findings))

    def as_json(self) -> dict[str, JSON]:
        """Return the claim as a JSON object."""
        return {"verdict": self.verdict.value, "findings": [finding.as_json() for finding in self.findings]}
