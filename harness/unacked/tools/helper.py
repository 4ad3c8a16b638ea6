"""Orders by way of a helper: a process of its own that alone reads the credential and speaks SSH.

Whoever makes the call, an agent's process perhaps, knows where the credential is kept and need not be able to
read it. The helper says when the order is about to leave; where it dies later, the outcome is not known.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from unacked.canonical import JSON, InvalidJSON, dumps, loads
from unacked.marker import Order
from unacked.tools.remote import Refused, RemoteExchange, Stage

__all__ = ["SENDING", "Helper", "told_by"]

SENDING = "sending"
"""What the helper says, on a line of its own, right before the first byte of the order can leave."""

_GRACE_S = 5.0
_KEPT = ("HOME", "PATH", "LANG", "SYSTEMROOT")


class Helper:
    """Sends each order through a new helper process.

    ``access`` is the file in which the helper finds how a host is reached and where its credential is (see
    ``unacked.tools.ssh_helper``). A helper that has not ended ``patience_s`` seconds after it began, and a few
    more, is killed. ``started`` is told the process id of each helper.
    """

    def __init__(
        self, access: Path, *, patience_s: float = 20.0, started: Callable[[int], None] = lambda _pid: None
    ) -> None:
        self._command = [sys.executable, "-m", "unacked.tools.ssh_helper", str(access), str(patience_s)]
        self._patience_s = patience_s
        self._started = started

    def __call__(self, host: str, order: Order) -> RemoteExchange:
        """Send ``order``; returns what the helper told, or what its silence leaves open."""
        began = time.monotonic()
        asked = [host, order.operation_id, order.correlation_id, order.command]
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        with subprocess.Popen(  # noqa: S603 - our own interpreter, our own module
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        ) as process:
            self._started(process.pid)
            try:
                told, _ = process.communicate(dumps(asked), timeout=self._patience_s + _GRACE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                told, _ = process.communicate()
        return told_by(told.splitlines(), time.monotonic() - began)


def told_by(lines: Sequence[str], elapsed_s: float) -> RemoteExchange:
    """Return the exchange that the lines of a helper tell of, which may have died after any of them."""
    if len(lines) > 1 or (lines and lines[0] != SENDING):
        with suppress(InvalidJSON, TypeError, KeyError, ValueError):
            return _exchange(loads(lines[-1]))
    stage = Stage.ORDER_SENT if SENDING in lines else Stage.NOTHING_SENT
    return RemoteExchange(stage, elapsed_s, error=("HelperDied", "the helper ended without an account of its order"))


def _exchange(told: JSON) -> RemoteExchange:
    refused = told["refused"]
    return RemoteExchange(
        Stage[told["phase"].upper()],
        float(told["elapsed_s"]),
        None if refused is None else Refused[refused.upper()],
        told["exit_status"],
        told["exit_signal"],
        told["output"],
        told["timed_out"],
        None if told["error"] is None else (told["error"][0], told["error"][1]),
    )
