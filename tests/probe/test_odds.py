from __future__ import annotations

import math
from typing import Any

import pytest

from unacked.probe.odds import read_odds

TOOLS = ("create_record", "lookup_by_request_id", "finish", "find_charge")


def token(text: str, **likely: float) -> dict[str, Any]:
    return {"token": text, "top_logprobs": [{"token": name, "logprob": math.log(p)} for name, p in likely.items()]}


def written(*tokens: dict[str, Any]) -> dict[str, Any]:
    return {"content": list(tokens)}


HEAD = [token(text) for text in ("```", "json", "\n", '{"', "name", '":', ' "')]


def test_the_odds_are_read_at_the_first_token_of_the_name() -> None:
    odds = read_odds(written(*HEAD, token("look", look=0.5, create=0.25, other=0.125), token("up_by")), TOOLS)
    assert odds is not None
    assert {name: round(share, 6) for name, share in odds.calls.items()} == {
        "lookup_by_request_id": 0.5,
        "create_record": 0.25,
    }
    assert round(odds.rest, 6) == 0.25


def test_tools_that_begin_alike_share_their_odds() -> None:
    odds = read_odds(written(*HEAD, token("fi", fi=0.75, create_record=0.25)), TOOLS)
    assert odds is not None
    assert {name: round(share, 6) for name, share in odds.calls.items()} == {
        "find_charge or finish": 0.75,
        "create_record": 0.25,
    }


@pytest.mark.parametrize(
    "logprobs", [None, {}, {"content": None}, {"content": ["x"]}, written(token("Hello")), written(*HEAD)]
)
def test_where_no_name_was_written_there_are_no_odds(logprobs: Any) -> None:
    assert read_odds(logprobs, TOOLS) is None
