"""``unacked serve`` as a command, with curl in front of it, and the same services in this process."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import requests

from unacked.serve import Stand
from unacked.wire.loopback import LoopbackServer

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-m", "unacked", "serve")
TITLE = ("-d", '{"title":"x"}')


class Served:
    """The command, running; ``services`` maps names to their lines."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.lines = [self.process.stdout.readline()]
        if not self.lines[0]:
            pytest.fail(self.process.communicate(timeout=30)[1])
        control: dict[str, Any] = json.loads(self.lines[0])
        self.control, self.token = control["control"], control["token"]
        self.ca_file: str | None = control.get("ca_file")
        self.lines += [self.process.stdout.readline() for _ in control["services"]]
        self.services = {line["service"]: line for line in map(json.loads, self.lines[1:])}

    def curl(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        trust = () if self.ca_file is None else ("--cacert", self.ca_file)
        command = ["curl", "--silent", "--show-error", "--noproxy", "*", "--max-time", "10", *trust, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)

    def ask(self, path: str, *arguments: str) -> Any:
        """Use the control API; return the JSON that it answers."""
        answer = self.curl("-H", f"Authorization: Bearer {self.token}", *arguments, self.control + path)
        assert answer.returncode == 0, answer.stderr
        return json.loads(answer.stdout)

    def arm(self, *faults: dict[str, Any]) -> Any:
        return self.ask("/faults", "-d", json.dumps(faults))

    def create(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        line = self.services["records"]
        authorization = ("-H", f"Authorization: Bearer {line['credential']}")
        return self.curl(*authorization, *TITLE, *arguments, f"{line['url']}/v1/records")

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """Send a signal; return the exit code and what stands on the error stream."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=30)
        return self.process.returncode, errors


class Here:
    """Services in this process, and what a client of them needs."""

    def __init__(self, stand: Stand, server: LoopbackServer) -> None:
        self._stand, self._server = stand, server
        self.records = f"{stand.url('records')}/v1/records"
        self.headers = {"Authorization": f"Bearer {stand.credential}"}

    def arm(self, fault: dict[str, Any]) -> None:
        answer = requests.post(
            f"{self._stand.control_url}/faults",
            json=fault,
            headers={"Authorization": f"Bearer {self._stand.control_token}"},
            timeout=10,
        )
        assert answer.status_code == 201, answer.text

    def calls(self) -> int:
        """Return how often a record was asked for, whatever became of it."""
        self._server.settle()
        return self._stand.calls.get("create_record", 0)

    def moments(self, *names: str) -> Sequence[str]:
        """Return the moments of the ledger, in order, as far as they are among ``names``."""
        self._server.settle()
        return [entry.moment.value for entry in self._stand.services["records"].ledger if entry.moment in names]
