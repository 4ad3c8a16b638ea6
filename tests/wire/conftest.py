from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.wire.wires import LoopbackWire, SimulatedWire, Wire

from unacked.canonical import JSON
from unacked.fault import Action, Fault, Point

WIRES: dict[str, type[SimulatedWire | LoopbackWire]] = {"simulated": SimulatedWire, "loopback": LoopbackWire}


@pytest.fixture
def wire(request: pytest.FixtureRequest, flavour: str) -> Iterator[Callable[..., Wire]]:
    """Build simulated wires, or of the kind that a test asks for, of one flavour; a test runs in both."""
    kind = WIRES[getattr(request, "param", "simulated")]
    built: list[Wire] = []

    def build(*faults: Fault) -> Wire:
        built.append(kind(*faults, asynchronous=flavour == "async"))
        return built[-1]

    yield build
    for one in built:
        one.close()


@pytest.fixture(params=["sync", "async"])
def flavour(request: pytest.FixtureRequest) -> str:
    """Which client a test uses."""
    chosen: str = request.param
    return chosen


@pytest.fixture
def fault() -> Callable[..., Fault]:
    """Build faults from the words that a case uses."""

    def build(point: str, action: JSON, **options: Any) -> Fault:
        return Fault(options.pop("operation", "create_record"), Point(point), Action.parse(action), **options)

    return build
