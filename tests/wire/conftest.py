from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from tests.wire.wires import LoopbackWire, SimulatedWire, Wire

from unacked.canonical import JSON
from unacked.fault import Action, Fault, Point


@pytest.fixture
def wire(request: pytest.FixtureRequest, flavour: str) -> Iterator[Callable[..., Wire]]:
    """Build simulated wires, or of the kind that a test asks for, of one flavour; a test runs in both."""
    real = getattr(request, "param", "simulated") == "loopback"
    built: list[Wire] = []

    def build(*faults: Fault, hasty: Sequence[str] = ()) -> Wire:
        asynchronous = flavour == "async"
        one = LoopbackWire(*faults, asynchronous=asynchronous, hasty=hasty) if real else None
        built.append(one or SimulatedWire(*faults, asynchronous=asynchronous))
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
