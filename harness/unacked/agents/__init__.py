"""Agents: pinned definitions, and the drivers that turn them into calls."""

from unacked.agents.driver import DRIVERS, extra_problem, make_driver, misfits, package_of
from unacked.agents.protocol import (
    AgentDefinition,
    BudgetSpentError,
    Call,
    Driver,
    HandedOver,
    PastTurn,
    Provider,
    ProviderError,
    Reply,
    Seat,
    Session,
    Step,
    Task,
)
from unacked.agents.replay import offer_of
from unacked.agents.scripted import Moves, Policy, ScriptedDriver, load_policy

__all__ = [
    "DRIVERS",
    "AgentDefinition",
    "BudgetSpentError",
    "Call",
    "Driver",
    "HandedOver",
    "Moves",
    "PastTurn",
    "Policy",
    "Provider",
    "ProviderError",
    "Reply",
    "ScriptedDriver",
    "Seat",
    "Session",
    "Step",
    "Task",
    "extra_problem",
    "load_policy",
    "make_driver",
    "misfits",
    "offer_of",
    "package_of",
]
