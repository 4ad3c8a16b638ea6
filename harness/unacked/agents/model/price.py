"""What tokens cost, as far as it is known: list prices of a day. An unknown price is None, never 0."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from unacked.agents.model.answer import Usage
from unacked.case import Price

__all__ = ["PRICES", "cost_usd", "price_of", "serves"]

_AS_OF = "2026-11-30"
_SNAPSHOT = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|\d{3})")


def _row(fresh: float, written: float, cached: float, stored: float | None = None) -> Price:
    return Price(as_of=_AS_OF, input=fresh, output=written, cached_input=cached, cache_write=stored)


PRICES: Mapping[str, Price] = {
    "claude-opus-4-5": _row(5, 25, 0.50, 6.25),
    "claude-sonnet-4-5": _row(3, 15, 0.30, 3.75),
    "claude-haiku-4-5": _row(1, 5, 0.10, 1.25),
    "gpt-4o": _row(2.5, 10, 1.25),
    "gpt-4o-mini": _row(0.15, 0.6, 0.075),
    "gpt-4.1": _row(2, 8, 0.5),
    "gpt-4.1-mini": _row(0.4, 1.6, 0.1),
    "gpt-5": _row(1.25, 10, 0.125),
    "gpt-5-mini": _row(0.25, 2, 0.025),
    "gpt-5-nano": _row(0.05, 0.4, 0.005),
}
"""US dollars for a million tokens, as LiteLLM 1.110.2 has them (a test compares); an agent's file may say otherwise."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What one trial has used so far; ``usd`` is None as soon as the price of any part is unknown."""

    tokens: int = 0
    usd: float | None = 0.0

    def plus(self, usage: Usage, usd: float | None) -> Spent:
        """Return the sum with one reply more."""
        tokens = self.tokens + usage.input_tokens + usage.output_tokens
        return Spent(tokens, None if usd is None or self.usd is None else round(self.usd + usd, 9))


def serves(served: str, requested: str) -> bool:
    """Whether ``served`` is the requested model or a dated snapshot of it."""
    rest = served.removeprefix(requested)
    return served == requested or (rest != served and _SNAPSHOT.fullmatch(rest) is not None)


def price_of(model: str, declared: Price | None) -> Price | None:
    """Return the price of a served model: what its agent declares, else the table's, else None."""
    if declared is not None:
        return declared
    return next((price for name, price in PRICES.items() if serves(model, name)), None)


def cost_usd(usage: Usage, price: Price | None) -> float | None:
    """Return what a reply cost in US dollars, None where a part of the price is unknown."""
    if price is None:
        return None
    cached, stored = usage.cached_input_tokens or 0, usage.cache_write_tokens or 0
    parts = (
        (usage.input_tokens - cached - stored, price.input),
        (usage.output_tokens, price.output),
        (cached, price.cached_input),
        (stored, price.cache_write),
    )
    total = 0.0
    for tokens, dollars in parts:
        if tokens and dollars is None:
            return None
        total += tokens * (dollars or 0.0)
    return round(total / 1_000_000, 9)
