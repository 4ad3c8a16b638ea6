"""One shard in a process of its own: it can be killed, and it never outlives whoever attends to it."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from unacked.errors import ExitCode, HarnessError, UnackedError
from unacked.scale.shard import Order, ShardResult, ShardState, run_shard, shard_trials
from unacked.suite import load_suite

__all__ = ["attended"]

_BEAT_S = 0.25


async def attended(
    order: Order, number: int, root: Path, out: Path, alive: Callable[[ShardState], None]
) -> ShardResult:
    """Run a shard of the suite in ``root``, and say every quarter of a second that it is alive and how far it is.

    Cancelled, it kills the process; what was finished is kept. Raises what ``run_shard`` raises, and HarnessError
    where the process ended without a result.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(theirs, order, number, root, out), daemon=True)
    process.start()
    theirs.close()
    state = ShardState(number, len(shard_trials(order.trials, order.shards, number)), 0)
    try:
        while True:
            alive(state)
            while ours.poll():
                heard = ours.recv()
                if isinstance(heard, UnackedError):
                    raise heard
                if isinstance(heard, ShardResult):
                    return heard
                state = heard
            await asyncio.sleep(_BEAT_S)
    except EOFError:
        raise HarnessError(
            f"{order.folder(number)}: its process ended unexpectedly; what was finished is kept"
        ) from None
    finally:
        process.kill()
        process.join()
        ours.close()


def _work(told: Connection, order: Order, number: int, root: Path, out: Path) -> None:
    """Run the shard in this process, and tell how far it is."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is our parent's business
    sys.stdout = sys.stderr  # what a policy prints is none of our results
    threading.Thread(target=_end_with_parent, daemon=True).start()
    trials = len(shard_trials(order.trials, order.shards, number))
    try:
        result = run_shard(
            load_suite(root),
            order,
            number,
            out,
            lambda outcome: told.send(ShardState(number, trials, outcome.line["index"] + 1)),
        )
        told.send(result)
    except UnackedError as error:
        told.send(error)


def _end_with_parent() -> None:
    """Wait for whoever attends to this process to end, and end too: one that was killed can tell nobody."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(ExitCode.ERROR)
