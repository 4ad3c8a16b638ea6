"""How trials are run, as the command line says it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from unacked.engine import Limit, Plan, Policy
from unacked.errors import Place, Problem, SpecificationError, nearest

__all__ = ["read_policy"]


def read_policy(plan: Plan, limits: Sequence[str], priorities: Sequence[str], max_trial_s: float) -> Policy:
    """Return the policy that options of a run mean; raises SpecificationError with every problem at once."""
    drivers = {str(pins["driver"]) for pins in plan.pins["agents"].values()}
    names = {*plan.agents, *plan.cases}
    problems: list[Problem] = []
    limited = dict(_pairs("--limit", limits, drivers, problems))
    ranked = dict(_pairs("--priority", priorities, names, problems))
    told = {name: _limit(text) for name, text in limited.items()}
    rank = {name: _whole(text) for name, text in ranked.items()}
    problems += [
        Problem(Place("--limit"), f"{name}={limited[name]}: expected a number above 0, or one a minute", "N or N/min")
        for name, limit in told.items()
        if limit is None
    ]
    problems += [
        Problem(Place("--priority"), f"{name}={ranked[name]}: expected a whole number", "higher goes first")
        for name, number in rank.items()
        if number is None
    ]
    if problems:
        raise SpecificationError(problems)
    return Policy(
        max_trial_s=max_trial_s,
        limits={name: limit for name, limit in told.items() if limit is not None},
        priorities={name: number for name, number in rank.items() if number is not None},
    )


def _pairs(
    option: str, words: Iterable[str], known: Iterable[str], problems: list[Problem]
) -> Iterator[tuple[str, str]]:
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            problems.append(Problem(Place(option), f"{word!r}: expected NAME=N"))
        elif name not in known:
            problems.append(Problem(Place(option), f"nothing in this run is called {name!r}", nearest(name, known)))
        else:
            yield name, text


def _limit(text: str) -> Limit | None:
    if text.endswith("/min"):
        try:
            rate = float(text.removesuffix("/min"))
        except ValueError:
            return None
        return Limit(per_minute=rate) if 0 < rate < math.inf else None
    number = _whole(text)
    return Limit(at_once=number) if number is not None and number > 0 else None


def _whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None
