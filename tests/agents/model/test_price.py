from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from unacked.agents.model.answer import Usage
from unacked.agents.model.price import PRICES, Spent, cost_usd, price_of, serves
from unacked.case import Price

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("served", "requested", "same"),
    [
        ("gpt-4o", "gpt-4o", True),
        ("gpt-4o-2024-08-06", "gpt-4o", True),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5", True),
        ("gpt-4o-mini", "gpt-4o", False),
        ("gpt-4o-mini-2024-07-18", "gpt-4o", False),
        ("another", "gpt-4o", False),
    ],
)
def test_only_the_model_itself_or_a_dated_snapshot_of_it_serves(served: str, requested: str, *, same: bool) -> None:
    assert serves(served, requested) is same


def test_the_parts_of_the_input_have_prices_of_their_own() -> None:
    price = Price(as_of="2026-01-01", input=2, output=8, cached_input=0.5, cache_write=3)
    usage = Usage(3 * MILLION, MILLION, cached_input_tokens=MILLION, cache_write_tokens=MILLION)
    assert cost_usd(usage, price) == 2 + 8 + 0.5 + 3


def test_a_part_without_a_price_makes_the_whole_unknown() -> None:
    price = Price(as_of="2026-01-01", input=2, output=8)
    assert cost_usd(Usage(10, 10, cached_input_tokens=5), price) is None
    assert cost_usd(Usage(MILLION, 0, cached_input_tokens=0), price) == 2


def test_what_one_reply_cost_unknown_the_sum_is_unknown() -> None:
    assert Spent().plus(Usage(1, 1), 0.5).plus(Usage(2, 3), 0.25) == Spent(7, 0.75)
    assert Spent().plus(Usage(1, 1), None).plus(Usage(1, 1), 0.5) == Spent(4, None)


def test_a_model_that_the_table_does_not_know_has_no_price() -> None:
    assert price_of("somebody-s-model", None) is None
    assert price_of("gpt-4o-mini-2024-07-18", None) == PRICES["gpt-4o-mini"]


def test_an_agent_may_say_what_its_model_costs() -> None:
    own = Price(as_of="2026-01-01", input=9, output=9)
    assert price_of("gpt-4o", own) == own


def test_every_price_has_a_day() -> None:
    assert {price.as_of for price in PRICES.values()} == {"2026-11-30"}


def test_the_prices_are_those_of_litellms_table() -> None:
    found = importlib.util.find_spec("litellm")
    assert found is not None
    assert found.origin is not None
    table = json.loads((Path(found.origin).parent / "model_prices_and_context_window_backup.json").read_text())
    names = ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost")
    for model, price in PRICES.items():
        theirs = [round(table[model][name] * MILLION, 9) for name in names]
        assert [price.input, price.output, price.cached_input] == theirs
