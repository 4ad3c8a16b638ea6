"""The service ``host``: markers under an id, changes part by part, and what can be read back of both."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from unacked.marker import Order, State
from unacked.services import SeedError
from unacked.wire.remote import CommandHost, Output, Program

SEED = {
    "hosts": [{"host": "web-1", "revision": "r41"}, {"host": "web-2"}],
    "commands": [
        {"command": "restart billing", "restart": "billing"},
        {"command": "deploy r42", "revision": "r42", "seconds": 3, "output": "tty"},
        {"command": "install 1.5", "version": "1.5"},
    ],
}
NONE = {"started": 0, "completed": 0, "restarts": 0, "deployments": 0, "installations": 0, "surplus_changes": 0}
Start = Callable[..., Any]


def order(command: str, operation_id: str = "op-1") -> Order:
    return Order(operation_id, "c-1", command)


@pytest.fixture
def caller(start: Start) -> Any:
    return start("host", SEED)


@pytest.fixture
def host(caller: Any) -> CommandHost:
    assert isinstance(caller.service, CommandHost)
    return caller.service


def test_a_start_marker_is_written_before_anything_changes(host: CommandHost, caller: Any) -> None:
    assert host.start("web-1", order("restart billing"), marker=True) == Program(1, 2, Output.SILENT)
    assert caller.service.summary() == NONE | {"started": 1}


def test_a_chain_has_as_many_parts_as_commands(host: CommandHost) -> None:
    assert host.start("web-1", order("deploy r42 && restart billing"), marker=True) == Program(2, 3, Output.TTY)


def test_an_id_can_start_once(host: CommandHost) -> None:
    host.start("web-1", order("restart billing"), marker=True)
    assert host.start("web-1", order("install 1.5"), marker=True) is State.ALREADY_STARTED


def test_without_a_marker_nothing_starts(host: CommandHost, caller: Any) -> None:
    assert host.start("web-1", order("restart billing"), marker=False) is State.MARKER_REFUSED
    assert caller.service.summary() == NONE


def test_an_unknown_program_is_told_before_the_marker(host: CommandHost) -> None:
    assert host.start("web-1", order("restart billing && reboot"), marker=False) is State.COMMAND_NOT_FOUND


def test_the_markers_of_an_operation_are_read_by_its_id(host: CommandHost, caller: Any) -> None:
    host.start("web-1", order("restart billing"), marker=True)
    target = "/v1/hosts/web-1/operations?operation_id=op-1"
    started = {"started": True, "completed": False, "exit_status": None}
    assert caller("GET", target)[1]["items"] == [started]
    host.complete(order("restart billing"), 0)
    assert caller("GET", target)[1]["items"] == [started | {"completed": True, "exit_status": 0}]


@pytest.mark.parametrize(
    "target", ["/v1/hosts/web-1/operations?operation_id=op-2", "/v1/hosts/web-2/operations?operation_id=op-1"]
)
def test_an_operation_that_never_started_here_is_absent_for_sure(host: CommandHost, caller: Any, target: str) -> None:
    host.start("web-1", order("restart billing"), marker=True)
    assert caller("GET", target) == (200, {"items": [], "complete": True, "correlation_id": "c-1"})


def test_where_only_part_of_the_markers_can_be_read_absence_is_not_claimed(start: Start) -> None:
    caller = start("host", {"hosts": [{"host": "web-1", "markers": "part"}]})
    _, body = caller("GET", "/v1/hosts/web-1/operations?operation_id=op-1")
    assert (body["items"], body["complete"]) == ([], False)


def test_each_kind_of_change_leaves_its_trace_on_the_host(host: CommandHost, caller: Any) -> None:
    before = {"host": "web-1", "revision": "r41", "version": "1.0", "uptime_s": 86400, "correlation_id": "c-1"}
    assert caller("GET", "/v1/hosts/web-1") == (200, before)
    chain = order("restart billing && deploy r42 && install 1.5")
    host.start("web-1", chain, marker=True)
    for part in range(3):
        host.perform(chain, part, 0.0)
    after = {"revision": "r42", "version": "1.5", "uptime_s": 0}
    assert caller("GET", "/v1/hosts/web-1") == (200, before | after)


def test_a_change_that_was_made_twice_is_a_surplus(host: CommandHost, caller: Any) -> None:
    for operation_id in ("op-1", "op-2"):
        host.start("web-1", order("restart billing", operation_id), marker=True)
        host.perform(order("restart billing", operation_id), 0, 0.0)
    assert caller.service.summary() == NONE | {"started": 2, "restarts": 2, "surplus_changes": 1}


def test_a_host_that_is_not_there_is_not_found(caller: Any) -> None:
    assert caller("GET", "/v1/hosts/web-9")[0] == 404


def test_a_commit_is_in_the_ledger_under_the_order_s_correlation_id(host: CommandHost, caller: Any) -> None:
    host.start("web-1", order("restart billing"), marker=True)
    assert not caller.service.ledger.committed("c-1")
    host.perform(order("restart billing"), 0, 0.0)
    assert caller.service.ledger.committed("c-1")


@pytest.mark.parametrize(
    ("seed", "message"),
    [
        (
            {"hosts": [{"host": "a", "markers": "half"}]},
            "seed.hosts[0].markers: expected 'part' or nothing, got 'half'",
        ),
        ({"commands": [{"command": "a"}]}, "seed.commands[0]: expected exactly one of restart, revision, version"),
        (
            {"commands": [{"command": "a", "restart": "b", "output": "loud"}]},
            "seed.commands[0].output: expected one of silent, later, tty, got 'loud'",
        ),
        (
            {"commands": [{"command": "a", "restart": "b", "seconds": 0}]},
            "seed.commands[0].seconds: expected more than 0, got 0",
        ),
    ],
)
def test_a_seed_that_does_not_fit_is_named_with_its_place(start: Start, seed: dict[str, Any], message: str) -> None:
    with pytest.raises(SeedError, match=f"^{re.escape(message)}$"):
        start("host", seed)
