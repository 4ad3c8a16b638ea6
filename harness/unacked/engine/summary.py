"""A run in numbers, and the exit code that follows from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from unacked.canonical import JSON
from unacked.claims import side_name
from unacked.engine.usage import add_use
from unacked.errors import ExitCode
from unacked.graph import Verdict
from unacked.suite import LoadedCase, Suite

__all__ = ["expected_of_control", "summarize"]

_CAUGHT = (Verdict.UNSAFE, Verdict.FAIL)


def summarize(plan: Mapping[str, JSON], suite: Suite, lines: Iterable[Mapping[str, JSON]]) -> dict[str, JSON]:
    """Count the verdicts of a run, by agent and by rule, and say what the run as a whole exits with.

    ``plan`` is the manifest's. A trial that is missing, or a side whose fault never fired for any agent, keeps
    the run from passing.
    """
    tally = _Tally(suite, controls=plan["controls"])
    for line in lines:
        tally.add(line)
    missing = plan["trials"] - tally.verdicts.total()
    unexercised = [side for side, exercised in tally.sides.items() if not exercised]
    deciding = {Verdict.INCONCLUSIVE} if missing or unexercised else set()
    if plan["controls"]:
        deciding |= {
            Verdict.INCONCLUSIVE if entry["observed"] == Verdict.INCONCLUSIVE else Verdict.FAIL
            for entry in tally.surprises
        }
    else:
        deciding |= tally.deciding
    return {
        "format": 1,
        "trials": tally.verdicts.total(),
        "missing": missing,
        "verdicts": _counts(tally.verdicts),
        "agents": {agent: _counts(count) for agent, count in tally.agents.items()},
        "rules": {agent: dict(sorted(count.items())) for agent, count in tally.rules.items()},
        **({"models": tally.models} if tally.models else {}),
        "lucky": tally.luck["lucky"],
        "unlucky": tally.luck["unlucky"],
        "controls": plan["controls"],
        "surprises": tally.surprises,
        "expected_failures": tally.expected_failures,
        "unexercised": unexercised,
        "pending": plan["pending"],
        "sweeps": plan["sweeps"],
        "exit_code": int(_exit_code(deciding)),
    }


class _Tally:
    """Counts verdicts as they go by. ``deciding`` are those that no expected failure accounts for."""

    def __init__(self, suite: Suite, *, controls: bool) -> None:
        self._suite = suite
        self._controls = controls
        self.verdicts: Counter[str] = Counter()
        self.agents: dict[str, Counter[str]] = {}
        self.rules: dict[str, Counter[str]] = {}
        self.models: dict[str, dict[str, JSON]] = {}
        self.luck: Counter[str] = Counter()
        self.sides: dict[str, bool] = {}
        self.surprises: list[JSON] = []
        self.expected_failures: list[JSON] = []
        self.deciding: set[Verdict] = set()

    def add(self, line: Mapping[str, JSON]) -> None:
        """Count one trial."""
        verdict, case = Verdict(line["verdict"]), self._suite.cases[line["case"]]
        self.verdicts[verdict] += 1
        self.agents.setdefault(line["agent"], Counter())[verdict] += 1
        if line["rule"] is not None and verdict is not Verdict.PASS:
            self.rules.setdefault(line["agent"], Counter())[line["rule"]] += 1
        if "model" in line:
            self.models[line["agent"]] = add_use(self.models.get(line["agent"]), line["model"])
        if line["luck"] is not None:
            self.luck[line["luck"]] += 1
        side = side_name(case.name, line["place"], twin=line["twin"])
        self.sides[side] = self.sides.get(side, False) or line["exercised"]["verdict"] == Verdict.PASS
        xfail = case.file.xfail
        if xfail is not None and xfail.agent == line["agent"]:
            self.expected_failures.append({"trial": line["trial"], "verdict": verdict.value, "reason": xfail.reason})
            if verdict in _CAUGHT:
                return
        self.deciding.add(verdict)
        expectation = expected_of_control(self._suite, case, line) if self._controls else None
        if expectation is not None:
            self.surprises.append({"trial": line["trial"], "expected": expectation, "observed": verdict.value})


def _counts(count: Counter[str]) -> dict[str, int]:
    return {verdict.value: count[verdict] for verdict in Verdict}


def expected_of_control(suite: Suite, case: LoadedCase, line: Mapping[str, JSON]) -> str | None:
    """Return what a control was expected to do where it did something else; None where it behaved."""
    control = suite.agents[line["agent"]].definition.file.control
    verdict, path = Verdict(line["verdict"]), Verdict(line["claims"]["path"]["verdict"])
    if verdict is Verdict.ERROR:
        return "no error of the harness"
    match control:
        case "passes" if verdict is not Verdict.PASS:
            return "PASS"
        case "caught" if case.file.trap and path not in _CAUGHT:
            return "to be caught: this case has a trap"
        case "never_unsafe" if verdict is Verdict.UNSAFE:
            return "never UNSAFE"
        case "repeats_incident" if case.file.incident is not None:
            rules = [finding["rule"] for finding in line["claims"]["path"]["findings"]]
            if path not in _CAUGHT or case.file.incident.caught not in rules:
                return f"to be caught under {case.file.incident.caught}"
    return None


def _exit_code(verdicts: set[Verdict]) -> ExitCode:
    if verdicts & {*_CAUGHT}:
        return ExitCode.FAIL
    if Verdict.ERROR in verdicts:
        return ExitCode.ERROR
    return ExitCode.INCONCLUSIVE if Verdict.INCONCLUSIVE in verdicts else ExitCode.PASS
