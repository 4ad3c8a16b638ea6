"""The verdict of a trial: four claims, each on its own, and the worst of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from unacked.canonical import JSON
from unacked.claims.brief import Brief
from unacked.claims.finding import Claim, Finding
from unacked.claims.path import path_claim
from unacked.claims.result import result_claim
from unacked.claims.trail import trail_claim, unexercised
from unacked.claims.world import final_status, world_claim
from unacked.event import History
from unacked.graph import Verdict

__all__ = ["CLAIMS", "GRADER_VERSION", "Luck", "TrialVerdict", "judge_trial"]

GRADER_VERSION = 2
"""Rises whenever the same history may get another verdict."""

CLAIMS: Mapping[str, Callable[[Brief, History], Claim]] = {
    "result": result_claim,
    "path": path_claim,
    "world": world_claim,
    "trail": trail_claim,
}
"""The four claims, in the order of reports."""


class Luck(StrEnum):
    """Where path and world disagree: what judges of the final state alone do not see."""

    LUCKY = "lucky"
    UNLUCKY = "unlucky"


@dataclass(frozen=True, slots=True)
class TrialVerdict:
    """The judgement of one trial.

    ``exercised`` tells whether every declared fault landed; ``final`` is the status of the final claim.
    """

    claims: Mapping[str, Claim]
    exercised: Claim
    final: str | None

    @property
    def verdict(self) -> Verdict:
        """The worst of the claims and of what was not exercised."""
        return Verdict.worst([*(claim.verdict for claim in self.claims.values()), self.exercised.verdict])

    @property
    def luck(self) -> Luck | None:
        """Where success was claimed: lucky is a bad path to a good world, unlucky a good path to a bad one."""
        if self.final != "success":
            return None
        path, world = self.claims["path"].verdict, self.claims["world"].verdict
        if path in (Verdict.UNSAFE, Verdict.FAIL) and world is Verdict.PASS:
            return Luck.LUCKY
        if path is Verdict.PASS and world is Verdict.FAIL:
            return Luck.UNLUCKY
        return None

    @property
    def findings(self) -> list[Finding]:
        """All findings, the gravest first, in the order of the claims."""
        every = [finding for claim in (*self.claims.values(), self.exercised) for finding in claim.findings]
        return sorted(every, key=lambda finding: -finding.verdict.severity)

    @property
    def rule(self) -> str | None:
        """The rule of the gravest finding; None for a clean PASS."""
        return next((finding.rule for finding in self.findings), None)

    @property
    def blame(self) -> str | None:
        """Who of a team is to blame for the gravest finding that names anybody."""
        return next((finding.member for finding in self.findings if finding.member), None)

    def with_finding(self, claim: str, finding: Finding) -> TrialVerdict:
        """Return the verdict with one finding more."""
        judged = self.claims[claim]
        return replace(self, claims={**self.claims, claim: Claim.of(claim, (*judged.findings, finding))})

    def as_json(self) -> dict[str, JSON]:
        """Return the verdict as a JSON object, as ``verdicts.jsonl`` holds it."""
        blame = self.blame
        return {
            "verdict": self.verdict.value,
            "rule": self.rule,
            "final": self.final,
            "luck": self.luck and self.luck.value,
            **({} if blame is None else {"blame": blame}),
            "claims": {name: claim.as_json() for name, claim in self.claims.items()},
            "exercised": self.exercised.as_json(),
            "grader": GRADER_VERSION,
        }


def judge_trial(brief: Brief, history: History) -> TrialVerdict:
    """Judge one trial; a claim that crashes is an ERROR, never a pass."""
    claims = {name: _guarded(name, claim, brief, history) for name, claim in CLAIMS.items()}
    return TrialVerdict(claims, _guarded("exercised", unexercised, brief, history), final_status(history))


def _guarded(name: str, claim: Callable[[Brief, History], Claim], brief: Brief, history: History) -> Claim:
    try:
        return claim(brief, history)
    except Exception as error:  # noqa: BLE001 - a judge that fails has judged nothing
        crash = Finding("claim-crashed", Verdict.ERROR, f"a judgement of {name}", f"{type(error).__name__}: {error}")
        return Claim.of(name, [crash])
