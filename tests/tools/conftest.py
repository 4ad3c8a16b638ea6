"""Benches for the tools: one client for all of them, as in a run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import pytest
from tests.tools.bench import Bench, Canned, records

from unacked.fault import Fault
from unacked.tools import TOOLS, Timeouts
from unacked.tools.client import ToolClient


@pytest.fixture(scope="session")
def client() -> ToolClient:
    """One client for many trials, as in a run."""
    return ToolClient(Timeouts())


@pytest.fixture
def service() -> Iterator[Canned]:
    """A service whose answers the test gives; each of them must be asked for."""
    service = Canned()
    yield service
    assert service.answers == []


@pytest.fixture
def bench(client: ToolClient, service: Canned) -> Bench:
    """A bench on the service whose answers the test gives."""
    return Bench(client, lambda _: service)


Build = Callable[..., Bench]


@pytest.fixture
def on_records(client: ToolClient) -> Build:
    """Build benches on the real service ``records``: ``on_records(*faults, tools=...)``."""

    def build(*faults: Fault, tools: Collection[str] = tuple(TOOLS)) -> Bench:
        return Bench(client, records, faults, tools)

    return build
