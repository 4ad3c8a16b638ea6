"""The check in a process of its own: an adapter that hangs or ends its process is a finding, and the rest goes on."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

from unacked.adapter.check import Heard, cases_of, check
from unacked.adapter.link import load_adapter
from unacked.adapter.rules import RULES
from unacked.claims import Finding
from unacked.errors import HarnessError, UnackedError
from unacked.graph import Verdict
from unacked.suite import load_suite

__all__ = ["PATIENCE_S", "supervised"]

PATIENCE_S = 20.0
"""How long one call may take in real time; the longest one of ours takes a fraction of it."""
_START_S = 120.0
_MOST_LOSSES = 3
"""Calls that may take their process with them before an operation is given up."""


def supervised(
    adapter: str, root: Path, operations: Sequence[str], *, wire: str, patience_s: float = PATIENCE_S
) -> Iterator[Heard]:
    """Check the adapter that ``module:function`` names, and yield what ``check`` yields.

    Raises SpecificationError where adapter, suite or operations are not there.
    """
    cases = cases_of(load_suite(root), operations)
    left = [case.file.sweep.operation for case in cases if case.file.sweep is not None]
    after: str | None = None
    losses = 0
    while left:
        attended = _Attended(adapter, root, left, wire, after, patience_s)
        yield from attended.heard()
        if attended.lost is None:
            return
        operation = attended.lost.partition(".")[0]
        losses = losses + 1 if operation == left[0] else 1
        left = left[left.index(operation) :]
        yield Heard(operation, attended.lost, [_loss(attended.rule)])
        after = attended.lost
        if losses >= _MOST_LOSSES or after == f"{operation}.no-fault":
            left, after, losses = left[1:], None, 0


def _loss(rule: str) -> Finding:
    expected, remedy = RULES[rule]
    observed = "no answer in real time" if rule == "hung" else "the process has ended"
    return Finding(rule, Verdict.FAIL, expected, observed, remedy)


class _Attended:
    """One process at work; ``lost`` is the call that took it down, if one did, and ``rule`` is how."""

    def __init__(
        self, adapter: str, root: Path, operations: Sequence[str], wire: str, after: str | None, patience_s: float
    ) -> None:
        self.lost: str | None = None
        self.rule = "crashed"
        self._patience_s = patience_s
        context = multiprocessing.get_context("spawn")
        self._ours, theirs = context.Pipe(duplex=False)
        arguments = (theirs, adapter, root, list(operations), wire, after)
        self._process = context.Process(target=_work, args=arguments, daemon=True)
        self._process.start()
        theirs.close()

    def heard(self) -> Iterator[Heard]:
        """Yield what the process tells, until it is done or lost."""
        playing: str | None = None
        try:
            while True:
                if not self._ours.poll(_START_S if playing is None else self._patience_s):
                    self._lose(playing, "hung")
                    return
                message = self._ours.recv()
                if message is None:
                    return
                if isinstance(message, UnackedError):
                    raise message
                if isinstance(message, str):
                    playing = message
                else:
                    yield message
        except EOFError:
            self._lose(playing, "crashed")
        finally:
            self._process.kill()
            self._process.join()
            self._ours.close()

    def _lose(self, playing: str | None, rule: str) -> None:
        if playing is None:
            raise HarnessError("the process that was to check the adapter did not begin its work") from None
        self.lost, self.rule = playing, rule


def _work(told: Connection, adapter: str, root: Path, operations: Sequence[str], wire: str, after: str | None) -> None:
    """Check in this process, and tell of every call before and after it is made."""
    try:
        suite = load_suite(root)
        for heard in check(
            load_adapter(adapter),
            suite,
            cases_of(suite, operations),
            wire=wire,
            after=after,
            began=told.send,
        ):
            told.send(heard)
        told.send(None)
    except UnackedError as error:
        told.send(error)
