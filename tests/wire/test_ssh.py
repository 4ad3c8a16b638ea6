"""Remote commands on the simulated wire: what goes on remotely when the link does not, and on which clock."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest
from tests.wire.shells import Shell, category, seen

from unacked.canonical import JSON
from unacked.clock import VirtualClock
from unacked.errors import HarnessError
from unacked.fault import Fault, FaultPlan
from unacked.marker import Order
from unacked.wire import SimulatedNetwork
from unacked.wire.memory import VirtualLoop

Build = Callable[..., Fault]
DONE = {"started": 1, "completed": 1, "restarts": 1, "deployments": 0, "installations": 0, "surplus_changes": 0}
KILLED = DONE | {"completed": 0, "restarts": 0}
BROKEN_PIPE = DONE | {"restarts": 0}


def shell(fault: Build, point: str, action: JSON, output: str = "silent", **options: bool) -> Shell:
    return Shell((fault(point, action, operation="run_command", **options),), seconds=5, output=output)


@pytest.mark.parametrize("action", ["rst", "fin", "silence"])
def test_a_command_that_writes_nothing_goes_on_when_its_link_ends(fault: Build, action: str) -> None:
    host = shell(fault, "before_commit", action, committed=True)
    assert (category(host.in_memory()), host.world) == ("outcome_unknown", DONE)


@pytest.mark.parametrize("action", ["rst", "fin", "silence"])
def test_its_twin_is_killed_after_the_start_marker_and_looks_the_same(fault: Build, action: str) -> None:
    done, killed = (shell(fault, "before_commit", action, committed=side) for side in (True, False))
    assert done.in_memory() == killed.in_memory()
    assert killed.world == KILLED


def test_a_command_that_writes_later_dies_at_its_next_write(fault: Build) -> None:
    host = shell(fault, "before_commit", "fin", "later")
    assert (category(host.in_memory()), host.world) == ("outcome_unknown", BROKEN_PIPE)


def test_a_command_on_a_terminal_is_killed_by_the_hang_up(fault: Build) -> None:
    host = shell(fault, "before_commit", "fin", "tty")
    assert (category(host.in_memory()), host.world) == ("outcome_unknown", KILLED)


def test_the_client_s_deadline_does_not_stop_the_command(fault: Build) -> None:
    host = shell(fault, "before_commit", {"delay": 60})
    assert (seen(host.in_memory()), host.world) == ("order sent: time is up", DONE)


@pytest.mark.parametrize(("output", "left"), [("later", BROKEN_PIPE), ("tty", KILLED)])
def test_a_client_that_gives_up_ends_the_link(fault: Build, output: str, left: dict[str, JSON]) -> None:
    host = shell(fault, "before_commit", {"delay": 60}, output)
    assert (seen(host.in_memory()), host.world) == ("order sent: time is up", left)


def test_an_order_on_its_way_may_arrive_all_the_same(fault: Build) -> None:
    lost, arrived = (shell(fault, "during_request", "rst", committed=side) for side in (False, True))
    assert lost.in_memory() == arrived.in_memory()
    assert (lost.world["started"], arrived.world) == (0, DONE)


def test_a_chain_ends_after_the_part_that_fails(fault: Build) -> None:
    host = shell(fault, "after_commit", {"exit": {"exit_status": 1, "parts": 1}})
    order = Order("op-1", "cid-1", "deploy && restart")
    exchange = host.in_memory(order)
    assert (category(exchange, order), exchange.exit_status) == ("outcome_unknown", 1)
    assert host.world == DONE | {"restarts": 0, "deployments": 1}


def test_a_program_that_the_host_does_not_have_is_refused(fault: Build) -> None:  # noqa: ARG001 - none is needed
    host = Shell()
    order = Order("op-1", "cid-1", "svc restart")
    assert category(host.in_memory(order), order) == "confirmed_failure"
    assert host.world["started"] == 0


@pytest.mark.parametrize(("line", "status", "restarts"), [("uptime", 127, 0), ("restart", 0, 1)])
def test_a_bare_command_is_run_if_the_host_has_it_and_leaves_no_marker(
    monkeypatch: pytest.MonkeyPatch, line: str, status: int, restarts: int
) -> None:
    monkeypatch.setattr(Order, "command_line", property(lambda _: line))
    host = Shell()
    exchange = host.in_memory()
    assert (seen(exchange), exchange.output) == (f"ended: exit status {status}", "")
    assert host.world == DONE | {"started": 0, "completed": 0, "restarts": restarts}


def test_a_host_that_nobody_knows_is_a_local_failure() -> None:
    assert category(Shell().in_memory(host="web-9")) == "local_failure"


def test_another_token_is_refused() -> None:
    assert category(Shell().in_memory(token="tok_other")) == "authentication_failed"


def test_the_events_of_a_whole_command_are_in_order() -> None:
    host = Shell()
    host.in_memory()
    names = ["remote_received", "remote_started", "remote_committed", "remote_ended", "remote_responded"]
    assert host.events == names


def test_an_hour_of_the_host_takes_no_time(fault: Build) -> None:
    began = time.process_time()
    host = shell(fault, "before_commit", {"delay": 3600})
    assert host.in_memory().elapsed_s == 20.0
    assert time.process_time() - began < 1


def test_a_wait_without_an_end_is_an_error_of_ours() -> None:
    network = SimulatedNetwork(VirtualClock(), {}, FaultPlan(()), lambda *_, **__: None)
    loop = VirtualLoop(network, lambda _: asyncio.sleep(0))
    with pytest.raises(HarnessError, match="waits for the network without a timeout"):
        loop.run_until_complete(loop.create_future())
    loop.end()


def test_the_loop_stops_for_what_is_due_elsewhere_in_the_network() -> None:
    clock = VirtualClock()
    network = SimulatedNetwork(clock, {}, FaultPlan(()), lambda *_, **__: None)
    seen_at: list[float] = []
    network.call_at(2, lambda: seen_at.append(clock.now()))
    loop = VirtualLoop(network, lambda _: asyncio.sleep(0))
    loop.run_until_complete(asyncio.sleep(5))
    loop.end()
    assert (seen_at, clock.now()) == ([2], 5)


def test_one_order_costs_a_few_milliseconds_of_cpu() -> None:
    Shell().in_memory()
    began = time.process_time()
    for _ in range(20):
        Shell().in_memory()
    assert (time.process_time() - began) / 20 < 0.1


@pytest.mark.parametrize("output", ["later", "tty"])
def test_a_command_that_dies_with_its_link_cannot_be_declared_committed(fault: Build, output: str) -> None:
    host = shell(fault, "before_commit", "rst", output, committed=True)
    with pytest.raises(HarnessError, match=f"^a command with the output '{output}' dies with its link"):
        host.in_memory()


def test_a_fault_of_the_answer_does_not_land_where_nobody_waits_for_it_any_more(fault: Build) -> None:
    host = Shell((fault("after_commit", "rst", operation="run_command"),), seconds=60)
    assert seen(host.in_memory()) == "order sent: time is up"
    assert "fault_fired" not in host.events


def test_an_answer_that_was_cut_off_is_no_answer(fault: Build) -> None:
    for point in ("during_request", "before_commit", "after_commit"):
        host = shell(fault, point, "rst", committed=True)
        host.in_memory()
        assert "remote_responded" not in host.events, point
