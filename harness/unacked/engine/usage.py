"""A trial's turns, what its model was asked, who really served it, and what that cost: read off the record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from unacked.canonical import JSON
from unacked.event import History

__all__ = ["add_use", "model_use", "turns_taken"]


def model_use(history: History) -> dict[str, JSON] | None:
    """Return the use of a model in one trial, None where no model was asked.

    ``usd`` is None as soon as one reply's cost is unknown; ``tokens`` counts what the provider counted.
    """
    answers = [event.detail for event in history.named("model_answered")]
    requests = len(list(history.named("model_called")))
    if not requests:
        return None
    tokens: Counter[str] = Counter()
    for answer in answers:
        tokens.update({name: count for name, count in answer["usage"].items() if count is not None})
    return {
        "requests": requests,
        "answers": len(answers),
        "served": sorted({answer["served"] for answer in answers}),
        "fingerprints": sorted({answer["fingerprint"] for answer in answers if answer["fingerprint"]}),
        "tokens": dict(sorted(tokens.items())),
        "usd": _sum(answer["usd"] for answer in answers),
    }


def turns_taken(history: History) -> int:
    """Return how many turns of its agent a trial has on record."""
    said = (*history.named("agent_next_call"), *history.named("agent_message"))
    return max((event.detail["turn"] for event in said), default=0)


def add_use(total: Mapping[str, JSON] | None, use: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the use of several trials together."""
    if total is None:
        return dict(use)
    return {
        "requests": total["requests"] + use["requests"],
        "answers": total["answers"] + use["answers"],
        "served": sorted({*total["served"], *use["served"]}),
        "fingerprints": sorted({*total["fingerprints"], *use["fingerprints"]}),
        "tokens": dict(sorted((Counter(total["tokens"]) + Counter(use["tokens"])).items())),
        "usd": _sum((total["usd"], use["usd"])),
    }


def _sum(dollars: Iterable[float | None]) -> float | None:
    known = list(dollars)
    return None if None in known else round(sum(part for part in known if part is not None), 9)
