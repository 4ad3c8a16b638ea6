"""The drivers by name, and how an agent's file becomes one."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

from unacked.agents.command import CommandDriver
from unacked.agents.function import FunctionDriver
from unacked.agents.model import APIS, ModelDriver
from unacked.agents.protocol import Driver
from unacked.agents.recorded import repeat_incident
from unacked.agents.replay import ReplayDriver
from unacked.agents.scripted import ScriptedDriver, load_policy
from unacked.agents.walk import walk_graph
from unacked.case import AgentFile
from unacked.errors import Place, Problem, SpecificationError

__all__ = ["DRIVERS", "extra_problem", "make_driver", "misfits", "package_of"]


def _model(file: AgentFile, folder: Path) -> Driver:
    return ModelDriver(file, (folder / file.prompt).read_bytes().decode("utf-8"))


DRIVERS: Mapping[str, Callable[[AgentFile, Path], Driver]] = {
    "scripted": lambda file, folder: ScriptedDriver(load_policy(folder / (file.policy or "policy.py"))),
    "recorded": lambda _file, _folder: ScriptedDriver(repeat_incident),
    "graph-walk": lambda _file, _folder: ScriptedDriver(walk_graph),
    **dict.fromkeys(APIS, _model),
    "replay": lambda file, _folder: ReplayDriver(file),
    "python": FunctionDriver,
    "command": CommandDriver,
}
"""What can drive an agent."""

_NEEDS: Mapping[str, tuple[str, str]] = {
    "scripted": ("policy", "policy: policy.py"),
    "python": ("function", "function: your_module:your_function"),
    "command": ("command", "command: [your-agent, --mcp-config, '{mcp_config}']"),
    "replay": ("replay", "replay: {run: NAME, agent: NAME}"),
    **dict.fromkeys(APIS, ("model", "model: the-model-to-ask-for")),
}
"""The one field without which a driver cannot work; it means nothing to the drivers that do not need it."""

_OF_MODELS = ("serves", "stream", "base_url", "key_variable", "retries", "price", "provider")
_OF_OTHERS: Mapping[str, Collection[str]] = {
    "python": ("base_url", "provider", "environment"),
    "command": ("base_url", "provider", "environment"),
}
"""What else means something to the drivers of agents that speak to their model themselves."""


def misfits(file: AgentFile) -> Iterator[tuple[str, str, str]]:
    """Yield what does not fit the driver: the field, what is wrong, and what to do about it."""
    needed, example = _NEEDS.get(file.driver, ("", ""))
    if needed and getattr(file, needed) is None:
        yield "driver", f"an agent with the driver {file.driver!r} needs {needed!r}", example
    of_drivers = {field for field, _ in _NEEDS.values()} - {"model", needed}
    others = {*of_drivers, *(() if file.driver in APIS else _OF_MODELS), "environment"}
    for field in sorted((others - {*_OF_OTHERS.get(file.driver, ())}) & file.model_fields_set):
        yield field, f"means nothing to the driver {file.driver!r}", "remove it, or choose another driver"


def package_of(driver: str) -> str | None:
    """Return the package that a driver needs besides unacked's own, None where it needs none."""
    if driver in APIS:
        return APIS[driver].package
    return "mcp" if driver == "command" else None


def extra_problem(file: AgentFile) -> Problem | None:
    """Return what is missing on this machine, which is no fault of the file: a package that is an extra."""
    package = package_of(file.driver)
    if package is None or importlib.util.find_spec(package) is not None:
        return None
    told = f"its driver {file.driver!r} needs the package {package!r}, which is not installed"
    return Problem(Place(f"agent {file.agent}"), told, f"pip install 'unacked[{package}]'")


def make_driver(file: AgentFile, folder: Path) -> Driver:
    """Return the driver that an agent's file names; ``folder`` is where the file stands.

    Raises SpecificationError where a policy does not load or an extra is missing.
    """
    missing = extra_problem(file)
    if missing is not None:
        raise SpecificationError([missing])
    return DRIVERS[file.driver](file, folder)
