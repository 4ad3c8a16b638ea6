"""A served host as SSH clients meet it: ours in this process, and Debian's against the command."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import asyncssh
import pytest
import requests
from tests.serve.serving import ROOT, Served

from unacked.errors import SpecificationError
from unacked.marker import Order
from unacked.serve import Stand, offer_case
from unacked.suite import load_suite
from unacked.tools import Timeouts
from unacked.tools.remote import RemoteExchange, classify_remote
from unacked.tools.ssh import Access, send_order

RESTART = "systemctl restart billing"
PATIENCE = Timeouts(connect_s=5.0, total_s=12.0)


class Host:
    """The host of C06 in this process; its command takes 8 seconds, or as many as a test says."""

    def __init__(self, stand: Stand) -> None:
        self._stand = stand
        (self._door,) = stand.doors

    def send(self, order: Order, token: str | None = None) -> RemoteExchange:
        key = asyncssh.import_public_key(self._door.host_key)
        token = token or self._stand.credential
        access = Access(host_key=key, token=token, address="127.0.0.1", port=self._door.port)
        return asyncio.run(send_order("web-1", order, access, PATIENCE))

    def control(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self._stand.control_token}"}
        url = f"{self._stand.control_url}{path}"
        return requests.request(method, url, json=body, headers=headers, timeout=10).json()

    def category(self, number: int, token: str | None = None, command: str = RESTART) -> str:
        order = Order(f"op-{number}", f"cid-{number}", command)
        return classify_remote(self.send(order, token), order).category


@pytest.fixture
def host() -> Iterator[Host]:
    offer = offer_case(load_suite(ROOT), "C06", tls=False)
    seed: dict[str, Any] = json.loads(json.dumps(offer.seeds["host"]))
    for command in seed["commands"]:
        command["seconds"] = 0.01
    stand = Stand(type(offer)(offer.factories, {"host": seed}, offer.idempotency, offer.faults))
    with stand.serving():
        yield Host(stand)


def test_the_case_s_fault_acts_on_its_order_and_the_next_one_is_carried_out(host: Host) -> None:
    assert host.category(1) == "outcome_unknown"
    assert host.category(2) == "ok"
    receipts = host.control("GET", "/faults")["fired"]
    assert [(r["operation"], r["action"], r["nth"], r["id"]) for r in receipts] == [("run_command", "rst", 1, "cid-1")]
    world = host.control("GET", "/world")["host"]
    assert (world["started"], world["completed"], world["restarts"]) == (2, 2, 2)


def test_a_wrong_credential_a_wrong_key_and_a_denial_are_met_before_anything_is_run(host: Host) -> None:
    host.control("DELETE", "/faults")
    assert host.category(1, token="tok_nobody") == "authentication_failed"
    for number, fault in enumerate(({"point": "tls", "action": "fail"}, {"point": "before_commit", "action": "deny"})):
        host.control("POST", "/faults", {"operation": "run_command", **fault})
        assert host.category(number + 2) == ["local_failure", "authorization_denied"][number]
    assert host.control("GET", "/world")["host"]["started"] == 0


def test_a_reset_puts_another_host_behind_the_port(host: Host) -> None:
    host.control("DELETE", "/faults")
    assert host.category(1) == "ok"
    assert host.category(1) == "outcome_unknown"  # its marker is there
    host.control("POST", "/reset")
    host.control("DELETE", "/faults")
    assert host.category(1) == "ok"


def test_a_port_that_was_silent_before_any_connection_is_refused_by_name(host: Host) -> None:
    fault = {"operation": "run_command", "point": "before_connect", "action": "silence"}
    assert "the port of an SSH host cannot be silent" in json.dumps(host.control("POST", "/faults", fault))


def test_a_case_with_a_name_that_does_not_resolve_is_refused_by_name() -> None:
    with pytest.raises(SpecificationError, match=r"no name is ever looked up|kernel refuses a connection"):
        offer_case(load_suite(ROOT), "H10", tls=False)


@pytest.mark.long
def test_debian_s_own_client_runs_a_bare_command_and_sees_what_its_users_see(
    start: Callable[..., Served], tmp_path: Path
) -> None:
    """OpenSSH checks the printed key, gives the printed password, and tells a reset by 255."""
    assert shutil.which("ssh"), "needs the package openssh-client"
    served = start("C06")
    assert served.process.stdout is not None
    line: dict[str, Any] = json.loads(served.process.stdout.readline())
    known = tmp_path / "known_hosts"
    known.write_text(f"[{line['address']}]:{line['port']} {line['host_key']}\n")
    answer = tmp_path / "askpass"
    answer.write_text(f"#!/bin/sh\necho {line['password']}\n")
    answer.chmod(0o700)

    def ssh(command: str) -> int:
        options = (f"UserKnownHostsFile={known}", "StrictHostKeyChecking=yes", "NumberOfPasswordPrompts=1")
        words = ["ssh", "-F", "none", "-p", str(line["port"]), *(word for o in options for word in ("-o", o))]
        environment = {**os.environ, "SSH_ASKPASS": str(answer), "SSH_ASKPASS_REQUIRE": "force"}
        done = subprocess.run(
            [*words, f"operator@{line['address']}", command],
            env=environment,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return done.returncode

    assert ssh(RESTART) == 255  # the case's reset after the remote start
    assert ssh("no-such-program") == 127
    assert ssh(RESTART) == 0
    assert ssh(Order("op-1", "cid-1", RESTART).command_line) == 0
    world = served.ask("/world")["host"]
    assert (world["started"], world["completed"], world["restarts"], world["surplus_changes"]) == (1, 1, 3, 2)
    known.write_text(known.read_text().replace("AAAAC3", "AAAAC4"))
    assert ssh(RESTART) == 255
    assert served.end(signal.SIGTERM) == (0, "")
