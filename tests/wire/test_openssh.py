"""Against the real OpenSSH server and client: our wrapper, our client and our host keep to what those do.

Under CI these tests fail where OpenSSH is not installed; elsewhere they are skipped, aloud.
"""

from __future__ import annotations

import getpass
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.wire.shells import HOST, TOKEN, Served, Shell, category

from unacked.marker import FOLDER, Order, Report, State, read_report
from unacked.tools.helper import Helper
from unacked.tools.remote import RemoteExchange

pytestmark = pytest.mark.long
SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
SSH = shutil.which("ssh")
DONE = Report("op-1", "cid-1", State.COMPLETED, 0)
PATIENCE_S = 20.0


@dataclass
class Machine:
    """A real sshd on loopback, with a home folder of its own."""

    folder: Path
    port: int

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def markers(self) -> dict[str, str]:
        folder = self.home / FOLDER
        return {path.name: path.read_text() for path in folder.glob("*.*ed")}

    def ssh(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.command(*words), capture_output=True, text=True, check=False, timeout=60)

    def command(self, *words: str) -> list[str]:
        known = self.folder / "known_hosts"
        options = ("BatchMode=yes", f"UserKnownHostsFile={known}", "StrictHostKeyChecking=yes", "LogLevel=ERROR")
        chosen = [word for option in options for word in ("-o", option)]
        key = str(self.folder / "client_key")
        return [
            SSH or "",
            "-F",
            "none",
            "-i",
            key,
            *chosen,
            "-p",
            str(self.port),
            f"{getpass.getuser()}@127.0.0.1",
            *words,
        ]

    def helper(self, started: Callable[[int], None] = lambda _: None) -> Helper:
        access = self.folder / "access.json"
        access.write_text(
            json.dumps(
                {
                    "address": "127.0.0.1",
                    "port": self.port,
                    "account": getpass.getuser(),
                    "host_key": str(self.folder / "host_key.pub"),
                    "client_keys": [str(self.folder / "client_key")],
                }
            )
        )
        return Helper(access, patience_s=PATIENCE_S, started=started)


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    if SSHD is None or SSH is None:
        pytest.skip("needs the packages openssh-server and openssh-client")
    folder = tmp_path_factory.mktemp("sshd")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folder / "home").mkdir()
    for name in ("host_key", "client_key"):
        subprocess.run(
            [shutil.which("ssh-keygen") or "", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True
        )
    shutil.copy(folder / "client_key.pub", folder / "authorized_keys")
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {(folder / 'host_key.pub').read_text()}")
    config = folder / "sshd_config"
    config.write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host_key\nAuthorizedKeysFile {folder}/authorized_keys\n"
        f"PidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nSetEnv HOME={folder}/home\n"
    )
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # what the package's own service makes at its start
    log = (folder / "log").open("w")
    with log, subprocess.Popen([SSHD, "-D", "-e", "-f", config], stderr=log) as server:
        try:
            _await(lambda: _answers(port), f"sshd does not answer: {folder}/log")
            yield Machine(folder, port)
        finally:
            server.terminate()


@pytest.fixture
def machine(sshd: Machine) -> Machine:
    """The machine without any marker."""
    shutil.rmtree(sshd.home)
    sshd.home.mkdir()
    return sshd


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as link:
            return link.recv(4) == b"SSH-"
    except OSError:
        return False


def _await(holds: Callable[[], bool], trouble: str) -> None:
    """Look again and again: the other side is a real process."""
    until = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < until, trouble
        time.sleep(0.02)


def order(command: str) -> Order:
    return Order("op-1", "cid-1", command)


def test_our_client_runs_a_command_on_a_real_host_and_leaves_both_markers(machine: Machine) -> None:
    exchange = machine.helper()(HOST, order("true"))
    assert category(exchange, order("true")) == "ok"
    assert machine.markers() == {"op-1.started": "", "op-1.completed": "0\n"}


def test_a_second_order_under_the_same_id_is_not_run(machine: Machine) -> None:
    machine.helper()(HOST, order("true"))
    exchange = machine.helper()(HOST, order(f"touch {machine.home}/again"))
    assert (category(exchange), exchange.exit_status) == ("outcome_unknown", 125)
    assert not (machine.home / "again").exists()


def test_a_chain_half_done_is_not_a_confirmed_failure(machine: Machine) -> None:
    command = f"touch {machine.home}/first && false"
    assert category(machine.helper()(HOST, order(command)), order(command)) == "outcome_unknown"
    assert machine.markers()["op-1.completed"] == "1\n"


def test_the_key_of_another_host_is_not_trusted(machine: Machine) -> None:
    helper = machine.helper()
    access = machine.folder / "access.json"
    written = json.loads(access.read_text())
    access.write_text(json.dumps(written | {"host_key": str(machine.folder / "client_key.pub")}))
    assert category(helper(HOST, order("true"))) == "local_failure"
    assert machine.markers() == {}


def interrupted(machine: Machine, command: str) -> RemoteExchange:
    """Send an order by way of a helper that is killed once the command says that it has begun."""
    watchers: list[threading.Thread] = []

    def kill(pid: int) -> None:
        _await((machine.home / "begun").exists, "the command has not begun")
        os.kill(pid, signal.SIGKILL)

    def watch(pid: int) -> None:
        watchers.append(threading.Thread(target=kill, args=(pid,)))
        watchers[0].start()

    exchange = machine.helper(watch)(HOST, order(command))
    watchers[0].join()
    return exchange


def waiting(machine: Machine, rest: str) -> str:
    """A command that says that it has begun, waits for leave, and goes on."""
    home = shlex.quote(str(machine.home))
    return f"touch {home}/begun && until test -e {home}/go; do sleep 0.05; done && {rest}"


def test_the_helper_dies_and_the_remote_command_completes(machine: Machine) -> None:
    exchange = interrupted(machine, waiting(machine, f"touch {machine.home}/restarted"))
    assert category(exchange) == "outcome_unknown"
    assert machine.markers() == {"op-1.started": ""}
    (machine.home / "go").touch()
    _await(lambda: "op-1.completed" in machine.markers(), "the command did not go on")
    assert (machine.markers()["op-1.completed"], (machine.home / "restarted").exists()) == ("0\n", True)


def test_the_helper_dies_and_the_remote_command_is_killed_after_its_start(machine: Machine) -> None:
    pid_file = machine.home / "pid"
    command = f"echo $PPID >{pid_file} && {waiting(machine, 'true')}"
    exchange = interrupted(machine, command)
    assert category(exchange) == "outcome_unknown"
    os.kill(int(pid_file.read_text()), signal.SIGKILL)
    (machine.home / "go").touch()
    assert machine.markers() == {"op-1.started": ""}


def test_a_command_that_writes_later_dies_at_its_next_write(machine: Machine) -> None:
    command = waiting(machine, f"sleep 0.2; echo working && touch {machine.home}/restarted")
    exchange = interrupted(machine, command)
    assert category(exchange) == "outcome_unknown"
    (machine.home / "go").touch()
    _await(lambda: "op-1.completed" in machine.markers(), "the command did not end")
    assert machine.markers()["op-1.completed"] != "0\n"
    assert not (machine.home / "restarted").exists()


def test_ssh_says_255_of_its_own_trouble_and_of_a_command_that_ended_so(machine: Machine) -> None:
    own = machine.ssh(order("exit 255").command_line)
    assert own.returncode == 255
    assert read_report(own.stdout) == Report("op-1", "cid-1", State.COMPLETED, 255)
    never = subprocess.run(
        [SSH or "", "-F", "none", "-o", "BatchMode=yes", "-p", "1", "127.0.0.1", "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (never.returncode, read_report(never.stdout)) == (255, None)


def test_the_real_client_sends_an_order_to_our_host(machine: Machine, tmp_path: Path) -> None:
    askpass = tmp_path / "askpass"
    askpass.write_text(f"#!/bin/sh\necho {TOKEN}\n")
    askpass.chmod(0o700)
    with Served(Shell(), tmp_path) as served:
        port = json.loads(served.access.read_text())["port"]
        known = tmp_path / "known_hosts"
        known.write_text(f"[127.0.0.1]:{port} {(tmp_path / 'host_key.pub').read_text()}")
        options = ["-o", f"UserKnownHostsFile={known}", "-o", "PubkeyAuthentication=no", "-p", str(port)]
        command = order("restart").command_line
        done = subprocess.run(
            [SSH or "", "-F", "none", *options, "operator@127.0.0.1", command],
            env={**os.environ, "SSH_ASKPASS": str(askpass), "SSH_ASKPASS_REQUIRE": "force"},
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )
        assert (done.returncode, read_report(done.stdout)) == (0, DONE), done.stderr
        assert served.world()["restarts"] == 1
    assert machine.markers() == {}
