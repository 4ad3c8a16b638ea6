"""What agents that speak to their model themselves are given: a server in the provider's place, and keys to hide."""

from __future__ import annotations

import os

from unacked.agents.protocol import ProviderError, Seat
from unacked.case import AgentFile

__all__ = ["named_environment", "own_server"]


def own_server(file: AgentFile, seat: Seat) -> tuple[str | None, str | None]:
    """Return base URL and key of the server in the provider's place; None is the provider itself, and its own key."""
    if seat.provider is None:
        return file.base_url, None
    return f"{seat.provider.url}/v1", seat.provider.key


def named_environment(file: AgentFile, seat: Seat) -> dict[str, str]:
    """Return the variables that the agent's file names; what they hold may stand in no sink.

    Raises ProviderError where one is not set.
    """
    found = {}
    for name in file.environment:
        value = os.environ.get(name, "")
        if not value:
            told = f"the environment variable {name} is not set: {file.agent} needs it"
            seat.emit("model_failed", detail={"turn": 0, "kind": "no_key", "told": told})
            raise ProviderError("no_key", told)
        seat.hide(value)
        found[name] = value
    return found
