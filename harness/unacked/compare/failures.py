"""Failures of one kind put together: by rule, and by the call that broke it and the state it was made from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from unacked.canonical import JSON
from unacked.graph import Verdict

__all__ = ["Cluster", "clusters"]

_FAILED = (Verdict.UNSAFE, Verdict.FAIL)
_WHERE = re.compile(r" at event #\d+$")
_ADDRESS = re.compile(r"#\d+|'[^']*'")


@dataclass(slots=True)
class Cluster:
    """The trials whose gravest finding has one fingerprint: claim, rule, and what was observed without its numbers."""

    claim: str
    rule: str
    observed: str
    verdict: Verdict
    trials: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, JSON]:
        """Return the cluster as a JSON object."""
        return {
            "claim": self.claim,
            "rule": self.rule,
            "observed": self.observed,
            "verdict": self.verdict.value,
            "trials": list(self.trials),
        }


def clusters(lines: Sequence[Mapping[str, JSON]]) -> list[Cluster]:
    """Return the kinds of failure in some trials, the gravest and then the most frequent first."""
    found: dict[tuple[str, str, str], Cluster] = {}
    for line in lines:
        if line["verdict"] not in _FAILED:
            continue
        claim, finding = _gravest(line)
        observed = _fingerprint(claim, str(finding["observed"]))
        kind = (claim, finding["rule"], observed)
        cluster = found.setdefault(kind, Cluster(*kind, Verdict(finding["verdict"])))
        cluster.trials.append(line["trial"])
    return sorted(found.values(), key=lambda kind: (-kind.verdict.severity, -len(kind.trials), kind.rule))


def _gravest(line: Mapping[str, JSON]) -> tuple[str, Mapping[str, JSON]]:
    every = [(claim, finding) for claim, judged in line["claims"].items() for finding in judged["findings"]]
    return max(every, key=lambda item: Verdict(item[1]["verdict"]).severity)


def _fingerprint(claim: str, observed: str) -> str:
    return _WHERE.sub("", observed) if claim == "path" else _ADDRESS.sub("…", observed)
