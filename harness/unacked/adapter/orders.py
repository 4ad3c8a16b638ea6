"""Remote commands among the calls that come before the one under test: the host carries them out without a link."""

from __future__ import annotations

from collections.abc import Iterable

from unacked.errors import HarnessError
from unacked.event import Emit
from unacked.marker import Order, Report, State
from unacked.services import Service
from unacked.tools.remote import RemoteClient, RemoteExchange, Stage
from unacked.wire.remote import CommandHost

__all__ = ["carried_out"]


def carried_out(services: Iterable[Service], emit: Emit) -> RemoteClient:
    """Return what takes an order straight to the host that it names; raises HarnessError where that runs nothing."""
    hosts = {name: service for service in services if isinstance(service, CommandHost) for name in service.hosts}

    def send(host: str, order: Order) -> RemoteExchange:
        service = hosts[host]
        program = service.start(host, order, marker=True)
        if isinstance(program, State):
            raise HarnessError(f"the host {host!r} does not run {order.command!r}: {program}")
        for part in range(program.parts):
            service.perform(order, part, 0.0)
        emit("remote_committed", id=order.correlation_id, detail={"service": service.name})
        service.complete(order, 0)
        line = Report(order.operation_id, order.correlation_id, State.COMPLETED, 0).as_line()
        return RemoteExchange(Stage.ENDED, 0.0, exit_status=0, output=line)

    return send
