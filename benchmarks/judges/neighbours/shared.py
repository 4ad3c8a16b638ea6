"""What every adapter reads and prints; standard library only, for it runs in environments that know nothing of us."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SET = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Call:
    """One call with its answer."""

    name: str
    args: Mapping[str, Any]
    category: str
    fields: Mapping[str, Any]


@dataclass
class Case:
    """One trajectory; `references` are allowed ones of its scenario, the canonical one first."""

    name: str
    scenario: str
    allowed: bool
    begin: Mapping[str, Any]
    calls: list[Call] = field(default_factory=list)
    references: list[Case] = field(default_factory=list)


def cases() -> list[Case]:
    """Return the labelled set.

    The canonical reference of a scenario is its first allowed trajectory. The others of a case are the allowed ones of
    its scenario without itself: nobody has the run that is judged among the references.
    """
    labels = {label["trace"]: label for label in _lines("labels.jsonl")}
    known: dict[str, Case] = {}
    answers = {(line["trace"], line["call"]): line for line in _lines("trajectories.jsonl") if line["type"] == "result"}
    for line in _lines("trajectories.jsonl"):
        name = line["trace"]
        if line["type"] == "begin":
            label = labels[name]
            known[name] = Case(name, label["scenario"], label["label"] == "allowed", line)
        elif line["type"] == "call":
            answer = answers[name, line["id"]]
            call = Call(line["operation"], line["args"], answer["category"], answer["fields"])
            known[name].calls.append(call)
    for case in known.values():
        allowed = [other for other in known.values() if other.allowed and other.scenario == case.scenario]
        case.references = [allowed[0], *(other for other in allowed[1:] if other is not case)]
    return list(known.values())


def _lines(name: str) -> Iterator[dict[str, Any]]:
    with (SET / name).open(encoding="utf-8") as file:
        yield from map(json.loads, file)


Judge = Callable[[Sequence[Call], Sequence[Call]], bool]
"""(what was called, the reference) to whether it passes."""


def compare(configuration: str, judge: Judge) -> None:
    """Print the answers of a judge that compares with references: with the canonical one, and with any of all."""
    for case in cases():
        passes = [judge(case.calls, reference.calls) for reference in case.references]
        tell(f"{configuration}, one reference", case, passes=passes[0])
        tell(f"{configuration}, any reference", case, passes=any(passes))


def tell(configuration: str, case: Case, *, passes: bool) -> None:
    """Print one answer."""
    print(json.dumps({"configuration": configuration, "trace": case.name, "passes": passes}))
