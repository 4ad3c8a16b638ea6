"""The nightly decision: may the candidate replace the baseline? A rule that is fixed before anything is run.

No unsafe run is averaged away, no absence of evidence passes, and nothing is run again until it is green: suspects
get fresh repeats once, and only those count for them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from unacked.canonical import JSON
from unacked.errors import ExitCode
from unacked.statistics import Counts, exact_stratified, holm, newcombe, repeats_for_bound, suspects

__all__ = ["Decision", "Gate", "GateRule", "Night", "decide"]


class Decision(StrEnum):
    """What the gate says."""

    PASS = "PASS"  # noqa: S105 - no password
    BLOCK = "BLOCK"
    INCONCLUSIVE = "INCONCLUSIVE"
    ERROR = "ERROR"

    @property
    def exit_code(self) -> ExitCode:
        """What a command exits with."""
        return _EXIT[self]


_EXIT = {
    Decision.PASS: ExitCode.PASS,
    Decision.BLOCK: ExitCode.FAIL,
    Decision.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
    Decision.ERROR: ExitCode.ERROR,
}


@dataclass(frozen=True, slots=True)
class GateRule:
    """The numbers of the rule; rates between 0 and 1.

    ``alpha`` is the chance of a false BLOCK over all cases, ``margin`` the drop of the mean pass rate that would not
    matter, ``screen`` the p below which a case is suspect, ``confirm`` the fresh repeats that suspects get on both
    sides, ``errors`` the share of trials that may end in ERROR.
    """

    alpha: float = 0.05
    margin: float = 0.05
    screen: float = 0.10
    confirm: int = 10
    errors: float = 0.05

    def as_json(self) -> dict[str, JSON]:
        """Return the rule as the manifest of a nightly run holds it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Night:
    """What was run. ``unsafe`` are trials of the candidate; ``idle`` cases in which its fault never landed.

    ``missing`` are cases of the baseline that the candidate has not run. ``errors`` is the larger share of trials,
    of the two sides, that ended in ERROR.
    """

    cases: Mapping[str, Counts]
    unsafe: Sequence[str] = ()
    idle: Sequence[str] = ()
    missing: Sequence[str] = ()
    errors: float = 0.0


@dataclass(frozen=True, slots=True)
class Gate:
    """The decision, why, which cases are suspect, and which of these were confirmed by fresh repeats."""

    decision: Decision
    reasons: Sequence[str]
    suspects: Sequence[str] = ()
    confirmed: Sequence[str] = ()
    p: float | None = None
    lower: float | None = None
    confirmation: Mapping[str, Counts] = field(default_factory=dict)

    def as_json(self) -> dict[str, JSON]:
        """Return the decision as a JSON object."""
        return {
            "decision": self.decision.value,
            "reasons": list(self.reasons),
            "suspects": list(self.suspects),
            "confirmed": list(self.confirmed),
            "p_worse": self.p,
            "difference_above": self.lower,
            "confirmation": {case: list(counts) for case, counts in self.confirmation.items()},
        }


def decide(night: Night, rule: GateRule, fresh: Mapping[str, Counts] | None = None) -> Gate:
    """Decide; ``fresh`` holds the fresh repeats of the suspects, None while they have not been run.

    The order matters: what was unsafe blocks, however little else is known.
    """
    if night.unsafe:
        return Gate(Decision.BLOCK, [f"{len(night.unsafe)} unsafe: {_listed(night.unsafe)}"])
    if night.errors > rule.errors:
        reason = f"{night.errors:.0%} of the trials ended in ERROR, more than {rule.errors:.0%}"
        return Gate(Decision.ERROR, [f"{reason}: the night says nothing"])
    p = exact_stratified(list(night.cases.values())).worse
    suspicious = suspects(night.cases, rule.screen)
    if p < rule.alpha:
        reason = f"the candidate passes less often over all cases (exact stratified p = {p:.2g})"
        named = [f"above all in {_listed(suspicious)}"] if suspicious else []
        return Gate(Decision.BLOCK, [reason, *named], suspicious, p=p)
    confirmed = _confirmed(suspicious, fresh or {}, rule)
    if confirmed:
        return Gate(
            Decision.BLOCK,
            [f"worse in {_listed(confirmed)}, confirmed by {rule.confirm} fresh repeats"],
            suspicious,
            confirmed,
            p,
            confirmation=fresh or {},
        )
    return _passing(night, rule, suspicious, fresh, p)


def _confirmed(suspicious: Sequence[str], fresh: Mapping[str, Counts], rule: GateRule) -> list[str]:
    adjusted = holm({case: exact_stratified([fresh[case]]).worse for case in suspicious if case in fresh})
    return [case for case, p in adjusted.items() if p < rule.alpha]


def _passing(
    night: Night, rule: GateRule, suspicious: Sequence[str], fresh: Mapping[str, Counts] | None, p: float
) -> Gate:
    """Pass where a bound says so and nothing is left open, and say what is left open otherwise."""
    lower = _lower_bound(night.cases.values(), rule.alpha)
    unconfirmed = [case for case in suspicious if case not in (fresh or {})]
    reasons = [
        f"{what}: {_listed(names)}"
        for what, names in (
            ("not run", night.missing),
            ("the fault never landed", night.idle),
            ("suspect, and without fresh repeats", unconfirmed),
        )
        if names
    ]
    if lower is None or lower <= -rule.margin:
        reasons.append(_not_bounded(night, rule, lower))
    decision = Decision.INCONCLUSIVE if reasons else Decision.PASS
    if not reasons:
        reasons = [f"the mean pass rate fell by less than {rule.margin:.0%} (95 % bound: {-(lower or 0):.1%})"]
    return Gate(decision, reasons, suspicious, (), p, lower, fresh or {})


def _lower_bound(cases: Collection[Counts], alpha: float) -> float | None:
    """The one-sided bound of the change of the mean pass rate; None where a side has decided nothing."""
    before, before_runs, after, after_runs = (sum(counts[column] for counts in cases) for column in range(4))
    if not before_runs or not after_runs:
        return None
    return newcombe((before, before_runs), (after, after_runs), 1 - 2 * alpha).low


def _not_bounded(night: Night, rule: GateRule, lower: float | None) -> str:
    rates = [counts.baseline_passes / counts.baseline_runs for counts in night.cases.values() if counts.baseline_runs]
    if lower is None or not rates:
        return "there are no trials that say anything"
    said = f"a drop of {rule.margin:.0%} cannot be excluded (the mean pass rate fell by up to {-lower:.1%})"
    needed = repeats_for_bound(rates, rule.margin, alpha=rule.alpha)
    done = min(counts.runs for counts in night.cases.values())
    if needed is None or needed <= done:
        return said
    return f"{said}; about {needed - done} more repeats a case would do if nothing has changed"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
