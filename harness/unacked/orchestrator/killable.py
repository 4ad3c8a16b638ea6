"""Steps that can be killed: a function in a process of its own, for code that hangs or computes for ever.

A thread cannot be ended and a coroutine that never waits cannot be cancelled; a process can be killed.
"""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable, Coroutine
from multiprocessing.connection import Connection
from typing import Any

from unacked.canonical import JSON
from unacked.errors import HarnessError

__all__ = ["WorkerDied", "killable"]


class WorkerDied(HarnessError):
    """The process of a step ended without a result."""


def killable(function: Callable[..., JSON]) -> Callable[..., Coroutine[Any, Any, JSON]]:
    """Return ``function`` as a coroutine function that runs it in a fresh process, and kills that when cancelled.

    The function must be importable by name. Its exceptions come back by their words, as HarnessError; raises
    WorkerDied where the process ends without a word.
    """

    async def run(*arguments: JSON) -> JSON:
        ours, theirs = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("spawn").Process(
            target=_work, args=(function, arguments, theirs), daemon=True
        )
        with ours:
            process.start()
            theirs.close()
            try:
                await _readable(ours)
                good, value = ours.recv()
            except EOFError:
                process.join()
                raise WorkerDied(f"the process of {function.__name__} ended with {process.exitcode}") from None
            finally:
                process.kill()
                process.join()
                process.close()
        if not good:
            raise HarnessError(value)
        return value

    return run


def _work(function: Callable[..., JSON], arguments: tuple[JSON, ...], answer: Connection) -> None:
    try:
        outcome = (True, function(*arguments))
    except Exception as error:  # noqa: BLE001 - told to whoever waits for it
        outcome = (False, f"{type(error).__name__}: {error}")
    answer.send(outcome)


async def _readable(connection: Connection) -> None:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()

    def told() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(connection.fileno(), told)
    try:
        await ready
    finally:
        loop.remove_reader(connection.fileno())
