"""A fake service in the place of an agent's provider: on a real socket of this machine, for one trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from unacked.agents import Provider, Session, Step, Task
from unacked.canonical import JSON
from unacked.case import ProviderUse
from unacked.clock import MonotonicClock
from unacked.event import Emit
from unacked.services import Service, Setting
from unacked.suite import Suite
from unacked.wire.loopback import LoopbackServer

__all__ = ["Attended", "Stand", "provided"]


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
def provided(suite: Suite, use: ProviderUse | None, task: Task | None, key: str) -> Iterator[Stand | None]:
    """Serve the provider while an agent works on the task of a case, where it has a fake one, which plays cases."""
    if use is None or task is None:
        yield None
        return
    seed = {**use.seed, "tasks": [_task(task)]}
    service = suite.service(use.service)(seed, Setting(MonotonicClock(), key))
    faults = [fault.value() for fault in use.faults]
    with LoopbackServer([service], faults) as server:
        yield Stand(Provider(server.url(service.name), key), service, server)


class Attended:
    """A session whose fake provider is let go with it, and says what it has seen."""

    def __init__(self, session: Session, stand: Stand, held: ExitStack, emit: Emit) -> None:
        self._session, self._stand, self._held, self._emit = session, stand, held, emit
        self.next = session.next

    def close(self, results: Sequence[Mapping[str, JSON]] = ()) -> None:
        """Let go of the agent, then of its provider."""
        with self._held:
            self._session.close(results)
            self._emit("provider_seen", detail=self._stand.account())


def _task(task: Task) -> Mapping[str, JSON]:
    """What a scripted policy needs of a task, as JSON."""
    return {
        "text": task.text,
        "tools": list(task.tools),
        "script": _written(task.script),
        "idempotency": {name: operation.idempotency_mode.value for name, operation in task.tools.items()},
        "handed": [handed.as_json() for handed in task.handed],
        "member": task.member or None,
        "compensates": task.compensates,
    }


def _written(steps: Sequence[Step]) -> list[JSON]:
    return [{step.operation: dict(step.arguments)} for step in steps]
