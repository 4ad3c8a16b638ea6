from __future__ import annotations

import signal
from collections.abc import Callable, Iterator

import pytest
from tests.serve.serving import ROOT, Here, Served

from unacked.serve import Stand, offer_suite
from unacked.suite import load_suite


@pytest.fixture(scope="module")
def running() -> Iterator[Served]:
    """All services of the suite, served once for a file of tests."""
    served = Served()
    yield served
    assert served.end(signal.SIGTERM) == (0, "")


@pytest.fixture
def served(running: Served) -> Served:
    """The running services, as at their start."""
    assert running.ask("/reset", "-X", "POST") == {"status": "reset"}
    return running


@pytest.fixture
def start() -> Iterator[Callable[..., Served]]:
    """Start the command with other arguments; it is ended, if the test has not done so."""
    started: list[Served] = []

    def serve(*arguments: str) -> Served:
        started.append(Served(*arguments))
        return started[-1]

    yield serve
    for one in started:
        if one.process.returncode is None:
            one.end(signal.SIGTERM)


@pytest.fixture(scope="module")
def stand() -> Iterator[Here]:
    """The same services in this process."""
    offered = Stand(offer_suite(load_suite(ROOT)))
    with offered.serving() as server:
        yield Here(offered, server)
