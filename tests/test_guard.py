from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from unacked.guard import Egress, EgressRefusedError, Start, egress_of, guarded, start_of

ELSEWHERE = "192.0.2.1"  # TEST-NET-1: no machine has it


class Sock:
    """Stands for a socket of a family."""

    def __init__(self, family: int) -> None:
        self.family = family


def connect(host: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        sock.connect((host, 9))


def send(host: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"x", (host, 9))


def send_message(host: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendmsg([b"x"], [], 0, (host, 9))


@pytest.mark.parametrize(
    ("attempt", "seen"),
    [
        (lambda: connect(ELSEWHERE), "192.0.2.1:9"),
        (lambda: send(ELSEWHERE), "192.0.2.1:9"),
        (lambda: send_message(ELSEWHERE), "192.0.2.1:9"),
        (lambda: socket.getaddrinfo("example.org", 443), "example.org:443"),
        (lambda: socket.gethostbyname("example.org"), "example.org"),
        (lambda: socket.create_connection(("example.org", 443), timeout=1), "example.org:443"),
    ],
    ids=["connect", "sendto", "sendmsg", "getaddrinfo", "gethostbyname", "create_connection"],
)
def test_whatever_leaves_this_machine_is_refused_and_kept(attempt: Callable[[], object], seen: str) -> None:
    with guarded() as watch, pytest.raises(EgressRefusedError, match="no connection may leave this machine"):
        attempt()
    assert [str(egress) for egress in watch.refused] == [seen]


def test_an_error_that_a_library_swallows_is_kept_all_the_same() -> None:
    with guarded() as watch, suppress(OSError):
        connect(ELSEWHERE)
    assert watch.refused == [Egress("192.0.2.1", "9")]


def test_a_thread_is_watched_too() -> None:
    def attempt() -> None:
        with suppress(OSError):
            connect(ELSEWHERE)

    with guarded() as watch:
        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
    assert watch.refused == [Egress("192.0.2.1", "9")]


def test_a_connection_within_this_machine_is_made() -> None:
    with guarded() as watch, socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("localhost", port), timeout=5):
            pass
    assert watch.refused == []


def test_the_innermost_watch_decides_and_keeps_the_attempt() -> None:
    with guarded() as outer, guarded() as inner, suppress(OSError):
        connect(ELSEWHERE)
    assert (outer.refused, inner.refused) == ([], [Egress("192.0.2.1", "9")])


def test_watches_that_look_alike_end_in_their_own_order() -> None:
    with guarded() as outer:
        with guarded(), suppress(OSError):
            pass
        with suppress(OSError):
            connect(ELSEWHERE)
    assert outer.refused == [Egress("192.0.2.1", "9")]


def test_a_host_that_is_allowed_passes_and_its_neighbour_does_not() -> None:
    # Only what an audit hook is told: nothing leaves this machine.
    with guarded([ELSEWHERE]) as watch:
        sys.audit("socket.connect", Sock(socket.AF_INET), (ELSEWHERE, 9))
        with suppress(OSError):
            sys.audit("socket.connect", Sock(socket.AF_INET), ("192.0.2.2", 9))
    assert watch.refused == [Egress("192.0.2.2", "9")]


@pytest.mark.parametrize(
    "address",
    [("127.0.0.1", 1), ("127.8.9.10", 1), ("::1", 1, 0, 0), ("::ffff:127.0.0.1", 1), ("localhost", 1), ("0.0.0.0", 1)],  # noqa: S104 - to connect there is to connect to this machine
)
def test_loopback_has_many_names(address: tuple[object, ...]) -> None:
    assert egress_of("socket.connect", (Sock(socket.AF_INET), address)) is None


@pytest.mark.parametrize(
    "host", ["10.0.0.1", "127.example.org", "localhost.example.org", "::ffff:192.0.2.1", "fe80::1%lo"]
)
def test_other_machines_may_look_like_this_one(host: str) -> None:
    assert egress_of("socket.connect", (Sock(socket.AF_INET6), (host, 1))) == Egress(host, "1")


def test_a_socket_of_the_file_system_goes_nowhere() -> None:
    assert egress_of("socket.connect", (Sock(socket.AF_UNIX), "/run/x.sock")) is None


def test_a_family_that_nobody_knows_is_refused() -> None:
    assert egress_of("socket.connect", (Sock(99), b"host")) == Egress("host")


def test_a_connected_datagram_socket_was_judged_when_it_connected() -> None:
    assert egress_of("socket.sendmsg", (Sock(socket.AF_INET), None)) is None


@pytest.mark.parametrize("host", [None, "", b"localhost", "127.0.0.1"])
def test_a_look_up_of_this_machine_is_none(host: object) -> None:
    assert egress_of("socket.getaddrinfo", (host, 80, 0, 0, 0)) is None


def test_what_is_no_connection_is_none_of_the_guard_s_business() -> None:
    assert egress_of("socket.bind", (Sock(socket.AF_INET), ("192.0.2.1", 1))) is None


# -- programs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attempt", "program"),
    [
        (lambda: subprocess.run([sys.executable, "-c", ""], check=True), Path(sys.executable).name),
        (lambda: subprocess.run("exit 0", shell=True, check=True), "sh"),  # noqa: S602, S607
        (lambda: os.system("exit 0"), "sh"),  # noqa: S605, S607
        (os.fork, "fork"),
        (os.forkpty, "fork"),
        (lambda: os.posix_spawn("/bin/true", ["true"], {}), "true"),
        (lambda: os.execv("/bin/true", ["true"]), "true"),  # noqa: S606
    ],
    ids=["subprocess", "shell", "system", "fork", "forkpty", "posix_spawn", "exec"],
)
def test_the_start_of_a_program_is_refused_and_kept(attempt: Callable[[], object], program: str) -> None:
    with guarded() as watch, pytest.raises(EgressRefusedError, match=f"no program may be started .*: {program}$"):
        attempt()
    assert watch.refused == [Start(program)]


def test_a_program_that_is_named_starts_and_another_does_not() -> None:
    with guarded(programs=["true"]) as watch:
        subprocess.run(["/bin/true"], check=True)
        with suppress(OSError):
            subprocess.run(["/bin/false"], check=False)
    assert watch.refused == [Start("false")]


def test_every_program_may_start_where_none_is_named() -> None:
    with guarded(programs=None) as watch:
        subprocess.run(["/bin/true"], check=True)
    assert watch.refused == []


@pytest.mark.parametrize("path", ["/usr/bin/git", b"/usr/bin/git", Path("/usr/bin/git"), "git"])
def test_a_program_is_known_by_its_name_without_the_folder(path: object) -> None:
    assert start_of("subprocess.Popen", (path, ["git"], None, None)) == Start("git")


def test_whoever_swallows_a_refusal_is_found_out_at_the_end() -> None:
    with guarded() as watch, suppress(OSError):
        connect(ELSEWHERE)
    with pytest.raises(EgressRefusedError, match=r"a connection to 192\.0\.2\.1:9 was refused"):
        watch.insist()
