"""Real sockets: what the table does not show."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from tests.wire.wires import PATIENCE_S, SHORT_S, Records, certificates

from unacked.errors import HarnessError
from unacked.fault import Fault
from unacked.wire import Request, Response
from unacked.wire.certificates import issue_certificates
from unacked.wire.loopback import LoopbackServer


class Notes(Records):
    name = "notes"
    operations = ("create_note",)

    def operation_of(self, method: str, path: str) -> str | None:
        return "create_note" if (method, path) == ("POST", "/v1/records") else None


class Broken(Records):
    def handle(self, request: Request, *, commit: bool = True) -> Response:
        raise KeyError(request.path, commit)


@pytest.fixture
def client() -> Iterator[httpx2.Client]:
    """A patient client, on a machine that may be busy."""
    with httpx2.Client(verify=certificates().client_context(), timeout=PATIENCE_S, trust_env=False) as one:
        yield one


def create(client: httpx2.Client, server: LoopbackServer, name: str = "records", hasty: str = "pool") -> str:
    """Make one call, hasty in one phase; return its status or the name of its exception."""
    timeout = httpx2.Timeout(PATIENCE_S, **{hasty: SHORT_S})
    try:
        answer = client.post(f"{server.url(name)}/v1/records", content=b"x", timeout=timeout)
    except httpx2.HTTPError as error:
        return type(error).__name__
    return str(answer.status_code)


def test_services_have_ports_of_their_own_and_a_thread_together(client: httpx2.Client) -> None:
    with LoopbackServer([Records(), Notes()]) as server:
        assert [create(client, server), create(client, server, "notes")] == ["201", "201"]
        assert server.url("records") != server.url("notes")
        assert server.run(threading.current_thread) is not threading.current_thread()


def test_plain_http_has_the_same_faults_after_the_connection(
    client: httpx2.Client, fault: Callable[..., Fault]
) -> None:
    with LoopbackServer([Records()], [fault("after_commit", "rst")]) as server:
        assert [create(client, server), create(client, server)] == ["ReadError", "201"]


def test_a_fault_of_tls_is_refused_where_there_is_no_tls(fault: Callable[..., Fault]) -> None:
    with pytest.raises(ValueError, match="tls rst cannot exist on the loopback wire: these services speak plain HTTP"):
        LoopbackServer([Records()], [fault("tls", "rst")])


def test_a_misspelt_target_is_refused_with_the_nearest_name(fault: Callable[..., Fault]) -> None:
    with pytest.raises(ValueError, match=r"unknown fault target 'creat_record'; did you mean 'create_record'\?"):
        LoopbackServer([Records()], [fault("after_commit", "fin", operation="creat_record")])


def test_a_fault_reaches_only_the_service_of_its_operation(client: httpx2.Client, fault: Callable[..., Fault]) -> None:
    planned = fault("after_commit", "fin", operation="create_note", persistent=True)
    with LoopbackServer([Records(), Notes()], [planned]) as server:
        assert [create(client, server), create(client, server, "notes")] == ["201", "RemoteProtocolError"]


def test_a_fault_can_be_armed_while_the_server_runs(client: httpx2.Client, fault: Callable[..., Fault]) -> None:
    with LoopbackServer([Records()]) as server:
        before = create(client, server)
        (armed,) = server.arm(fault("after_commit", "fin"))
        assert (before, armed.nth, create(client, server)) == ("201", 2, "RemoteProtocolError")


@pytest.mark.parametrize(("point", "action"), [("before_connect", "silence"), ("tls", "rst"), ("after_accept", "rst")])
def test_a_kept_connection_does_not_hide_a_fault_of_connecting(
    client: httpx2.Client, fault: Callable[..., Fault], point: str, action: str
) -> None:
    with LoopbackServer([Records()], [fault(point, action, nth=2)], certificates=certificates()) as server:
        seen = [create(client, server), create(client, server, hasty="connect"), create(client, server)]
        assert (seen[0], seen[2], server.run(lambda: server.faults.unfired)) == ("201", "201", ())
        assert seen[1] in ("ConnectTimeout", "ConnectError", "ReadError", "RemoteProtocolError")


def test_a_connection_in_the_middle_of_its_silence_does_not_give_way_to_a_coming_fault(
    client: httpx2.Client, fault: Callable[..., Fault]
) -> None:
    faults = [fault("after_commit", "silence"), fault("tls", "rst", nth=2)]
    with LoopbackServer([Records()], faults, certificates=certificates()) as server:
        assert create(client, server, hasty="read") == "ReadTimeout"


def test_a_persistent_silence_before_the_connection_has_a_receipt_for_each_client(
    client: httpx2.Client, fault: Callable[..., Fault]
) -> None:
    receipts: list[int] = []

    def emit(event: str, **rest: Any) -> None:
        if event == "fault_fired":
            receipts.append(rest["detail"]["nth"])

    with LoopbackServer([Records()], [fault("before_connect", "silence", persistent=True)], emit) as server:
        assert [create(client, server, hasty="connect") for _ in range(3)] == ["ConnectTimeout"] * 3
        assert receipts == [1, 2, 3]
        server.run(server.faults.disarm)
        assert create(client, server) == "201"  # who knocks before the port answers again, knocks twice


def test_an_effect_comes_late_although_its_client_has_gone(client: httpx2.Client, fault: Callable[..., Fault]) -> None:
    committed = threading.Event()

    def emit(event: str, **_: Any) -> None:
        if event == "remote_committed":
            committed.set()

    service = Records()
    with LoopbackServer([service], [fault("before_commit", {"delay": 1})], emit) as server:
        assert (create(client, server, hasty="read"), service.records) == ("ReadTimeout", 0)
        assert committed.wait(10)
        assert service.records == 1


def test_what_a_replaced_service_still_had_to_do_never_happens(
    client: httpx2.Client, fault: Callable[..., Fault]
) -> None:
    old, new = Records(), Records()
    with LoopbackServer([old], [fault("before_commit", {"delay": 60})]) as server:
        create(client, server, hasty="read")
        server.run(lambda: server.replace([new]))
        assert server.run(lambda: server._listeners["records"]._timers) == set()
        assert (create(client, server), old.records, new.records) == ("201", 0, 1)


def test_a_service_that_fails_breaks_the_connection_and_is_told_at_the_end(client: httpx2.Client) -> None:
    told: list[str] = []
    server = LoopbackServer([Broken()], told=lambda error: told.append(str(error)))
    with pytest.raises(HarnessError, match="the fake service 'records' failed: KeyError"), server:
        assert create(client, server) == "ReadError"
    assert told == ["the fake service 'records' failed: KeyError: ('/v1/records', True)"]


def test_a_taken_port_is_an_error_of_the_harness() -> None:
    with (
        LoopbackServer([Records()]) as server,
        pytest.raises(HarnessError, match="cannot serve: Address already in use"),
        LoopbackServer([Records()], ports={"records": int(server.url("records").rpartition(":")[2])}),
    ):
        pass


def test_bytes_that_are_no_request_are_refused(fault: Callable[..., Fault]) -> None:
    with LoopbackServer([Records()], [fault("after_commit", "fin")]) as server:
        address = ("127.0.0.1", int(server.url("records").rpartition(":")[2]))
        with socket.create_connection(address, timeout=10) as stranger:
            stranger.sendall(b"what is this\r\n\r\n")
            assert stranger.recv(1000).startswith(b"HTTP/1.1 400 ")
        assert server.run(lambda: server.faults.calls) == {}


def test_two_clients_at_a_time_meet_one_transient_fault_together(fault: Callable[..., Fault]) -> None:
    seen: list[str] = []

    def work() -> None:
        with httpx2.Client(trust_env=False) as client:
            seen.extend(create(client, server) for _ in range(50))

    service = Records()
    with LoopbackServer([service], [fault("after_commit", "fin", nth=7)]) as server:
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (sorted(seen), service.records) == (["201"] * 99 + ["RemoteProtocolError"], 100)


def test_a_server_ends_whatever_its_clients_are_in_the_middle_of(fault: Callable[..., Fault]) -> None:
    with LoopbackServer([Records()], [fault("tls", "silence")], certificates=certificates()) as server:
        address = ("127.0.0.1", int(server.url("records").rpartition(":")[2]))
        idle, stalled = socket.create_connection(address, timeout=10), socket.create_connection(address, timeout=10)
        stalled.sendall(b"greetings")
        while not server.run(lambda: server.faults.calls):
            server.settle()
    with idle, stalled:
        assert (idle.recv(1), stalled.recv(1)) == (b"", b"")


def test_a_server_ends_while_its_port_is_silent(client: httpx2.Client, fault: Callable[..., Fault]) -> None:
    with LoopbackServer([Records()], [fault("before_connect", "silence", persistent=True)]) as server:
        address = ("127.0.0.1", int(server.url("records").rpartition(":")[2]))
        assert create(client, server, hasty="connect") == "ConnectTimeout"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=10)


def test_where_a_port_cannot_be_silent_that_fault_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, fault: Callable[..., Fault]
) -> None:
    monkeypatch.setattr("unacked.wire.loopback.can_be_silent", lambda: False)
    with pytest.raises(ValueError, match="only Linux lets a port be silent and shows who waits there"):
        LoopbackServer([Records()], [fault("before_connect", "silence")])


def test_without_the_library_for_certificates_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trustme", None)
    with pytest.raises(HarnessError, match=r"hint: install unacked\[serve\]"):
        issue_certificates()
