"""The probe: what every step of a plan runs.

It needs the standard library only, and is started as a program:

    python -I -S probe.py SCRIPT STEP ARGUMENT CONTEXT

SCRIPT is the file that says what each step does, ARGUMENT and CONTEXT (a list of [step, value]) are JSON. The value of
the step is printed as JSON; the exit status is 0, or 1 where the step has failed. SIGTERM asks it to stop.

A host is the session in which the probe runs: every command of an adapter is started as the leader of its own.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any, NoReturn

__all__ = ["Stopped", "acts", "value_of"]


class Stopped(BaseException):
    """The probe was asked to stop."""


def value_of(step: str, argument: Any, before: list[Any]) -> str:
    """Return the value of a step: it holds the values that it was handed, each once, in no order of theirs."""
    given = "" if argument is None else f"[{argument}]"
    return f"{step}{given}({' '.join(sorted({str(value) for value in before}))})"


class Record:
    """The file of lines; each is appended whole, by one write to a file that was opened for appending."""

    def __init__(self, path: str, step: str, argument: Any, context: list[Any]) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        self._said = {"step": step, "argument": argument, "context": context, "host": os.getsid(0), "pid": os.getpid()}
        self._attempt = 0

    def begin(self) -> int:
        """Write that the step begins, and return which attempt this is."""
        fcntl.flock(self._file, fcntl.LOCK_EX)
        begun = (json.loads(line) for line in os.pread(self._file, os.fstat(self._file).st_size, 0).splitlines())
        self._attempt = 1 + sum(line["step"] == self._said["step"] and line["event"] == "begin" for line in begun)
        self.write("begin")
        fcntl.flock(self._file, fcntl.LOCK_UN)
        return self._attempt

    def write(self, event: str, value: Any = None) -> None:
        """Append one line."""
        line = {**self._said, "attempt": self._attempt, "event": event, "at_s": time.monotonic(), "value": value}
        os.write(self._file, f"{json.dumps(line)}\n".encode())


def acts(script: dict[str, Any], attempt: int, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an attempt does: it sleeps so many seconds, then is killed, or raises, or ends with a value."""
    yield "sleep", script.get("sleep_s", 0)
    if attempt in script.get("kills", ()):
        yield "kill", None
    if attempt <= script.get("raises", 0):
        yield "raise", None
        return
    yield "end", value
    if attempt in script.get("kills_after", ()):
        yield "kill", None


def main() -> int:
    """Do what the script says; return the exit status."""
    path, step, argument = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    context = [[before, value] for before, value in json.loads(sys.argv[4])]
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - pathlib would double the time that a probe takes
        written = json.load(file)
    script = written["steps"].get(step, {})
    signal.signal(signal.SIGTERM, signal.SIG_IGN if script.get("stubborn") else _stop)
    record = Record(written["record"], step, argument, context)
    try:
        return _act(script, record, value_of(step, argument, [value for _, value in context]))
    except Stopped:
        record.write("stopped")
        return 128 + signal.SIGTERM
    finally:
        if script.get("cleanup_s") is not None:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(script["cleanup_s"])
            record.write("released")


def _act(script: dict[str, Any], record: Record, value: str) -> int:
    status = 0
    for act, what in acts(script, record.begin(), value):
        if act == "sleep":
            time.sleep(what)
            continue
        record.write(act, what)
        if act == "kill":
            _kill()
        status = int(act == "raise")
    if not status:
        sys.stdout.write(json.dumps(value))
    return status


def _stop(*_: object) -> NoReturn:
    raise Stopped


def _kill() -> NoReturn:
    """End the command that runs this probe, and everything it has started, without a chance to react."""
    os.killpg(os.getsid(0), signal.SIGKILL)
    while True:  # this process may not be in the group that was just killed, but its command is no more
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
