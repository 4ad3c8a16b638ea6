"""The services of one offer while they are served."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from unacked.canonical import JSON
from unacked.clock import MonotonicClock
from unacked.errors import nearest
from unacked.event import Emit
from unacked.fault import Fault
from unacked.secret import mint
from unacked.serve.control import CONTROL, Control, Objection
from unacked.serve.offer import Offer
from unacked.services import Service, federate
from unacked.wire.certificates import Certificates
from unacked.wire.loopback import LoopbackServer, impossible
from unacked.wire.remote import CommandHost

if TYPE_CHECKING:
    from unacked.wire.ssh_door import SSHDoor

__all__ = ["Stand"]


class Stand:
    """Fake services on real ports, and what the control API can do to them.

    ``credential`` is what clients of the services use, ``refresh_tokens`` what they refresh it with, by the
    service that does it; ``control_token`` is what the control API asks for. All are random. ``told`` hears at
    once of a service that fails. Everything but the constructor, ``serving`` and the URLs belongs to the
    server's thread.
    """

    def __init__(
        self,
        offer: Offer,
        *,
        certificates: Certificates | None = None,
        port_base: int | None = None,
        told: Callable[[Exception], None] | None = None,
    ) -> None:
        self._offer = offer
        self._clock = MonotonicClock()
        self.credential = mint("serve", secrets.token_hex(32))
        self.control_token = f"ctl_{secrets.token_hex(20)}"
        self.refresh_tokens: Mapping[str, str] = {}
        self.services: Mapping[str, Service] = self._built()
        self.receipts: list[dict[str, JSON]] = []
        names = [CONTROL, *self.services]
        self.doors = _doors(self.services.values(), self._emit, self._clock, port_base, len(names), self._failed)
        self._server = LoopbackServer(
            [Control(self, self.control_token), *self.services.values()],
            offer.faults,
            self._emit,
            certificates=certificates,
            ports={} if port_base is None else {name: port_base + step for step, name in enumerate(names)},
            clock=self._clock,
            told=told,
            doors=self.doors,
        )

    def _failed(self, error: Exception) -> None:
        self._server.failed(error)

    def _built(self) -> Mapping[str, Service]:
        services = self._offer.build(self._clock, self.credential)
        issuer = federate(services.values())
        if issuer is not None:
            self.refresh_tokens = {issuer.name: issuer.grant().refresh_token}
        return services

    @contextmanager
    def serving(self) -> Iterator[LoopbackServer]:
        """Serve for the length of a block; raises HarnessError where a port is taken or a service fails."""
        with self._server as server:
            yield server

    @property
    def control_url(self) -> str:
        """The base URL of the control API."""
        return self._server.url(CONTROL)

    def url(self, service: str) -> str:
        """Return the base URL of a service."""
        return self._server.url(service)

    # What the control API can do

    @property
    def waiting(self) -> Sequence[Fault]:
        """The faults that may still act; ``nth`` counts from the start."""
        return self._server.faults.waiting

    @property
    def calls(self) -> Mapping[str, int]:
        """How many calls of each operation there were, re-sends among them."""
        return self._server.faults.calls

    def objection(self, fault: Fault) -> Objection | None:
        """Return what is wrong with a fault in this place; None where it can be armed."""
        known = {operation for service in self.services.values() for operation in service.operations}
        known |= {operation for door in self.doors for operation in door.operations}
        if fault.operation not in known:
            return Objection("operation", f"unknown fault target {fault.operation!r}", nearest(fault.operation, known))
        reason = impossible(fault, tls=self._server.certificates is not None)
        return None if reason is None else Objection("point", f"{fault} cannot exist on the loopback wire", reason)

    def arm(self, faults: Sequence[Fault]) -> Sequence[Fault]:
        """Arm faults whose ``nth`` counts from now on; returns them with ``nth`` counted from the start."""
        return self._server.arm(*faults)

    def disarm(self) -> None:
        """Forget every fault that could still act; receipts stay."""
        self._server.faults.disarm()

    def reset(self) -> None:
        """Begin anew: seeds, credential and the offer's faults as at the start, nothing in any ledger."""
        self.services = self._built()
        self.receipts.clear()
        self._server.replace(self.services.values(), self._offer.faults)
        for door in self.doors:
            door.replace(next(host for host in _hosts(self.services.values()) if door.name in host.hosts))

    def _emit(
        self,
        event: str,
        *,
        id: str | None = None,  # noqa: A002 - the name that Emit has
        operation: str | None = None,
        category: str | None = None,  # noqa: ARG002 - a wire has none
        diagnostics_ref: str | None = None,  # noqa: ARG002 - a wire has none
        detail: Mapping[str, JSON] | None = None,
    ) -> None:
        if event == "fault_fired":
            receipt = {"time": self._clock.now(), "operation": operation, "id": id, **(detail or {})}
            self.receipts.append(receipt)


def _hosts(services: Iterable[Service]) -> Iterator[CommandHost]:
    return (service for service in services if isinstance(service, CommandHost))


def _doors(
    services: Iterable[Service],
    emit: Emit,
    clock: MonotonicClock,
    port_base: int | None,
    offset: int,
    failed: Callable[[Exception], None],
) -> Sequence[SSHDoor]:
    """A port of SSH for each host, behind those of HTTP; none without the extra."""
    named = [(name, host) for host in _hosts(services) for name in host.hosts]
    if not named or find_spec("asyncssh") is None:
        return ()
    ssh: Any = import_module("unacked.wire.ssh_door")
    return [
        ssh.SSHDoor(name, host, emit, clock, 0 if port_base is None else port_base + offset + step, failed)
        for step, (name, host) in enumerate(named)
    ]
