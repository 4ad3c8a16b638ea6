"""The same distribution from one request, where a server tells how likely other tokens were.

The estimate is read at the first token of the tool's name. It speaks of replies that hold a call at all, and tools
whose names begin with the same token cannot be told apart by it: they share a row.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from unacked.canonical import JSON

__all__ = ["LOGPROBS", "Odds", "read_odds"]

LOGPROBS: dict[str, JSON] = {"logprobs": True, "top_logprobs": 20}
"""The parameters of Chat Completions that ask for the likeliest tokens at every place."""

_NAME = re.compile(r'"name"\s*:\s*"')


@dataclass(frozen=True, slots=True)
class Odds:
    """How likely each next call is: tools that share their first token are joined by ``or``; ``rest`` is neither."""

    calls: dict[str, float]
    rest: float

    def as_json(self) -> dict[str, JSON]:
        """Return it as a JSON object; probabilities lie in 0..1."""
        return {"calls": dict(self.calls), "rest": self.rest}


def read_odds(logprobs: JSON, tools: Collection[str]) -> Odds | None:
    """Read the ``logprobs`` of a Chat Completion; None where they are not there, or where no tool's name is in them.

    Servers differ in whether the call itself is among the tokens; where only the name is, it is the first token.
    """
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list) or not all(isinstance(token, dict) for token in content):
        return None
    place = _place_of_name(content, tools)
    return None if place is None else _at(content[place], tools)


def _place_of_name(content: Sequence[dict[str, Any]], tools: Collection[str]) -> int | None:
    written = ""
    for index, token in enumerate(content):
        text = str(token.get("token", ""))
        behind = _NAME.search(written)
        if behind is not None and behind.end() == len(written) and _meant(text, tools):
            return index
        written += text
    return None


def _at(token: dict[str, Any], tools: Collection[str]) -> Odds:
    calls: dict[str, float] = {}
    for other in token.get("top_logprobs") or ():
        meant = _meant(str(other.get("token", "")), tools)
        if meant:
            name = " or ".join(meant)
            calls[name] = calls.get(name, 0.0) + math.exp(float(other["logprob"]))
    ordered = dict(sorted(calls.items(), key=lambda item: (-item[1], item[0])))
    return Odds(ordered, max(0.0, 1.0 - sum(ordered.values())))


def _meant(token: str, tools: Collection[str]) -> list[str]:
    return sorted(tool for tool in tools if token and tool.startswith(token))
