"""The drivers by name, and how an agent's file becomes one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from unacked.agents.protocol import Driver
from unacked.agents.recorded import repeat_incident
from unacked.agents.scripted import ScriptedDriver, load_policy
from unacked.agents.walk import walk_graph
from unacked.case import AgentFile

__all__ = ["DRIVERS", "make_driver"]

DRIVERS: Mapping[str, Callable[[AgentFile, Path], Driver]] = {
    "scripted": lambda file, folder: ScriptedDriver(load_policy(folder / (file.policy or "policy.py"))),
    "recorded": lambda _file, _folder: ScriptedDriver(repeat_incident),
    "graph-walk": lambda _file, _folder: ScriptedDriver(walk_graph),
}
"""What can drive an agent."""


def make_driver(file: AgentFile, folder: Path) -> Driver:
    """Return the driver that an agent's file names; ``folder`` is where the file stands."""
    return DRIVERS[file.driver](file, folder)
