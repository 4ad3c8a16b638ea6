"""Kills a run at each of its writes in turn, resumes it, and tells what came of it: one JSON line a kill.

A program of its own, for it forks: the suite's code is loaded once. Writes are the journal's transactions, before and
after each commit, and every so many lines of the verdicts.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unacked.canonical import JSON
from unacked.engine import RunRequest, execute, make_plan, open_run, verify
from unacked.engine.verdicts import Verdicts
from unacked.orchestrator import Journal
from unacked.suite import load_suite


class Killer:
    """Kills this process at the write of this number."""

    def __init__(self, at: int, every_line: int) -> None:
        self._left, self._every_line, self._lines = at, every_line, 0

    def hit(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def install(self) -> None:
        transaction, append = Journal.transaction, Verdicts.append

        @contextmanager
        def killing(journal: Journal) -> Iterator[None]:
            if journal._open:
                with transaction(journal):
                    yield
                return
            with transaction(journal):
                yield
                self.hit()
            self.hit()

        def appending(verdicts: Verdicts, line: dict[str, JSON]) -> None:
            append(verdicts, line)
            self._lines += 1
            if self._lines % self._every_line == 0:
                self.hit()

        setattr(Journal, "transaction", killing)  # noqa: B010 - a method of a class is replaced
        setattr(Verdicts, "append", appending)  # noqa: B010 - likewise


def run(suite: Path, out: Path, repeat: int, at: int, every_line: int) -> None:
    """Run or resume, until the write of this number; 0 is none."""
    if at:
        Killer(at, every_line).install()
    loaded = load_suite(suite)
    plan = make_plan(loaded, RunRequest((), ("careful", "reckless"), repeat))
    execute(open_run(loaded, plan, out, "run"), plan, jobs=1, told=lambda _outcome: None)


def forked(suite: Path, out: Path, repeat: int, at: int, every_line: int) -> int:
    """Run in a process of its own; returns how it ended."""
    child = os.fork()
    if not child:
        run(suite, out, repeat, at, every_line)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(suite: Path, out: Path, repeat: int, first: int, step: int, every_line: int) -> None:
    """Kill at every ``step``-th write from ``first`` on, until a run gets to its end."""
    load_suite(suite)
    at, code = first, -signal.SIGKILL
    while code == -signal.SIGKILL:
        here = out / str(at)
        code = forked(suite, here, repeat, at, every_line)
        again = forked(suite, here, repeat, 0, every_line)
        loaded = load_suite(suite)
        plan = make_plan(loaded, RunRequest((), ("careful", "reckless"), repeat))
        folder = open_run(loaded, plan, here, "run")
        verdicts = folder.verdicts.read_text()
        told = {"at": at, "codes": [code, again], "trials": verify(folder), "verdicts": verdicts}
        print(json.dumps({**told, "aborted": len(folder.files("events", "*.aborted-*"))}), flush=True)  # noqa: T201
        at += step


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:]))
