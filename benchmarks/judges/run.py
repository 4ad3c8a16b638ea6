"""Run the built-in judges of other tools on the labelled set, each in an environment of its own, and ours.

Prints, for every configuration, how many of the allowed trajectories it keeps and how many of the forbidden ones it
catches. Environments stand in `.venv/judges/`; `--install` makes those that are missing, from the package index.

    python benchmarks/judges/run.py [--install] [--all] [NAME...]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unacked.graph import TraceJudge, Verdict, read_traces
from unacked.suite import load_suite
from unacked.tools import REGISTRY

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ENVIRONMENTS = ROOT / ".venv" / "judges"

NEIGHBOURS: Mapping[str, Sequence[str]] = {
    "agentevals": ["agentevals==0.0.9"],
    "openevals": ["openevals==0.2.2"],
    "deepeval": ["deepeval==4.3.1"],
    "pydantic_evals": ["pydantic-evals==2.62.0"],
    "ragas": ["ragas==0.4.3", "langchain-community<0.4"],  # it imports a module that later ones no longer have
    "google_adk": ["google-adk==2.13.0"],
    "agentltl": ["agentltl==0.2.1"],
}
"""By the name of the adapter, the release that it was written for."""


@dataclass(frozen=True)
class Score:
    """What one configuration kept of the allowed, and caught of the forbidden."""

    judge: str
    configuration: str
    kept: int
    caught: int
    allowed: int
    forbidden: int

    @property
    def balance(self) -> float:
        """The mean of the two rates, by which the best configuration is chosen."""
        return (self.kept / self.allowed + self.caught / self.forbidden) / 2

    def row(self) -> str:
        """Return a row of the table."""
        kept = f"{self.kept} of {self.allowed} ({100 * self.kept / self.allowed:.0f} %)"
        caught = f"{self.caught} of {self.forbidden} ({100 * self.caught / self.forbidden:.0f} %)"
        return f"| {self.judge} | {self.configuration} | {kept} | {caught} |"


def labels() -> dict[str, bool]:
    """Return by trace whether it is allowed."""
    lines = map(json.loads, (HERE / "labels.jsonl").read_text(encoding="utf-8").splitlines())
    return {line["trace"]: line["label"] == "allowed" for line in lines}


def score(judge: str, answers: Mapping[str, Mapping[str, bool]]) -> list[Score]:
    """Count the answers of every configuration; one that leaves a trajectory out is refused."""
    known = labels()
    allowed = sum(known.values())
    scores = []
    for configuration, passes in answers.items():
        if passes.keys() != known.keys():
            raise SystemExit(f"{judge}, {configuration}: {len(passes)} answers for {len(known)} trajectories")
        kept = sum(passes[name] for name, good in known.items() if good)
        caught = sum(not passes[name] for name, good in known.items() if not good)
        scores.append(Score(judge, configuration, kept, caught, allowed, len(known) - allowed))
    return scores


def ours() -> list[Score]:
    """Judge the set by the graphs of the suite."""
    judge = TraceJudge(load_suite(ROOT, run_code=False).graphs, REGISTRY)
    traces = read_traces(HERE / "trajectories.jsonl")
    passes = {trace.name: judge.judge(trace).verdict is Verdict.PASS for trace in traces}
    return score("unacked", {"the suite's graphs, no reference": passes})


def theirs(name: str) -> list[Score]:
    """Run an adapter in its environment; raises CalledProcessError where it fails."""
    command = [str(ENVIRONMENTS / name / "bin" / "python"), str(HERE / "neighbours" / f"{name}_judge.py")]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # noqa: S603
    answers: dict[str, dict[str, bool]] = {}
    for line in told.stdout.splitlines():
        if line.startswith('{"configuration"'):
            answer = json.loads(line)
            answers.setdefault(answer["configuration"], {})[answer["trace"]] = answer["passes"]
    return score(name, answers)


def install(name: str) -> None:
    """Make the environment of an adapter."""
    target = ENVIRONMENTS / name
    subprocess.run([sys.executable, "-m", "venv", str(target)], check=True)  # noqa: S603
    pip = [str(target / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    subprocess.run([*pip, *NEIGHBOURS[name]], check=True)  # noqa: S603


def main() -> int:
    """Print the table; exits with 1 where ours is not perfect, or where a judge that was named is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(NEIGHBOURS)} (default: all)")
    parser.add_argument("--install", action="store_true", help="make the environments that are missing")
    parser.add_argument("--all", action="store_true", help="print every configuration, not only the best of each judge")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in NEIGHBOURS]
    if unknown:
        parser.error(f"unknown judge {unknown[0]!r}; known: {', '.join(NEIGHBOURS)}")
    (own,) = ours()
    print("| judge | configuration | allowed kept | forbidden caught |\n| --- | --- | --- | --- |")
    print(own.row())
    missing = []
    for name in options.names or NEIGHBOURS:
        if options.install and not (ENVIRONMENTS / name).is_dir():
            install(name)
        if not (ENVIRONMENTS / name / "bin" / "python").exists():
            missing.append(name)
            continue
        scores = sorted(theirs(name), key=lambda item: -item.balance)
        for item in scores if options.all else scores[:1]:
            print(item.row(), flush=True)
    if missing:
        print(f"not installed: {', '.join(missing)} (--install makes their environments)", file=sys.stderr)
    perfect = own.kept == own.allowed and own.caught == own.forbidden
    return 0 if perfect and not (missing and options.names) else 1


if __name__ == "__main__":
    raise SystemExit(main())
