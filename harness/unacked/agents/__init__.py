"""Agents: pinned definitions, and the drivers that turn them into calls."""

from unacked.agents.driver import DRIVERS, make_driver
from unacked.agents.protocol import AgentDefinition, Call, Driver, Reply, Session, Step, Task
from unacked.agents.scripted import Moves, Policy, ScriptedDriver, load_policy

__all__ = [
    "DRIVERS",
    "AgentDefinition",
    "Call",
    "Driver",
    "Moves",
    "Policy",
    "Reply",
    "ScriptedDriver",
    "Session",
    "Step",
    "Task",
    "load_policy",
    "make_driver",
]
