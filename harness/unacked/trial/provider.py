"""A fake service in the place of an agent's provider: on a real socket of this machine, for one trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from unacked.agents import Provider
from unacked.canonical import JSON
from unacked.case import ProviderUse
from unacked.clock import MonotonicClock
from unacked.services import Service, Setting
from unacked.suite import LoadedCase, Suite
from unacked.wire.loopback import LoopbackServer

__all__ = ["Stand", "provided"]


@dataclass(frozen=True, slots=True)
class Stand:
    """The provider of one trial: where it is, and what it has seen."""

    provider: Provider
    service: Service
    server: LoopbackServer

    def account(self) -> dict[str, JSON]:
        """Return how many requests came, and which of its faults and quirks never acted."""
        requests = sum(self.server.faults.calls.values())
        unfired = [str(fault) for fault in self.server.run(lambda: self.server.faults.unfired)]
        summary = self.service.summary()
        unfired += [f"{name}: {left}" for name, left in summary.items() if name.endswith("_left") and left]
        return {"requests": requests, "unfired": unfired}


@contextmanager
def provided(suite: Suite, use: ProviderUse | None, case: LoadedCase | None, key: str) -> Iterator[Stand | None]:
    """Serve the provider for the length of a trial, where the agent has a fake one, which plays cases."""
    if use is None or case is None:
        yield None
        return
    seed = {**use.seed, "tasks": [_task(case)]}
    service = suite.service(use.service)(seed, Setting(MonotonicClock(), key))
    faults = [fault.value() for fault in use.faults]
    with LoopbackServer([service], faults) as server:
        yield Stand(Provider(server.url(service.name), key), service, server)


def _task(case: LoadedCase) -> Mapping[str, JSON]:
    """What a scripted policy needs of a case, as JSON."""
    return {
        "text": case.file.task,
        "tools": list(case.file.tools),
        "script": [{name: dict(arguments) for name, arguments in step.items()} for step in case.file.script],
        "idempotency": {name: mode.value for name, mode in case.idempotency().items()},
    }
