"""The tools: adapters between an agent's call and a service, and the contracts that they keep."""

from __future__ import annotations

from collections.abc import Mapping

from unacked.contract import Registry
from unacked.tools import (
    completions,
    control,
    credentials,
    directory,
    files,
    forge,
    gate,
    inbox,
    node,
    payments,
    permissions,
    records,
    remote,
)
from unacked.tools.client import Timeouts
from unacked.tools.control import HAND_OVER
from unacked.tools.endpoint import Tool
from unacked.tools.evidence import Evidence
from unacked.tools.token import REFRESH, Tokens, TokenSource
from unacked.tools.toolbox import Toolbox

__all__ = [
    "HAND_OVER",
    "REFRESH",
    "REGISTRY",
    "TOOLS",
    "WIRED",
    "Evidence",
    "Timeouts",
    "TokenSource",
    "Tokens",
    "Tool",
    "Toolbox",
]

TOOLS: Mapping[str, Tool] = {
    tool.operation.name: tool
    for tool in (
        *records.TOOLS,
        *forge.TOOLS,
        *payments.TOOLS,
        *permissions.TOOLS,
        *credentials.TOOLS,
        *directory.TOOLS,
        *files.TOOLS,
        *inbox.TOOLS,
        *completions.TOOLS,
        *gate.TOOLS,
        *node.TOOLS,
        *remote.TOOLS,
        *control.TOOLS,
    )
}
"""Every tool by the name of its operation."""

WIRED: Mapping[str, Tool] = {**TOOLS, REFRESH.operation.name: REFRESH}
"""The same, and what tools ask of a service by themselves: no agent calls it, but faults reach it."""

REGISTRY = Registry(tool.operation for tool in TOOLS.values())
"""The contracts of all tools: what graphs, judges and prompts read."""
