"""For adapters in Python: what a command was told to do, and how it runs probes and tells of the end.

An adapter's program needs to say only how its orchestrator is started, resumed and cancelled, and what a step is to it.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from unacked.canonical import JSON

__all__ = ["Job", "StepFailed", "StepTimedOut", "beating", "context_of", "is_wanted", "worst_of"]

_STOP_S = 10.0
"""How long a probe that was asked to stop may take."""
_POLL_S = 0.1


class StepFailed(Exception):
    """A step has failed for good."""


class StepTimedOut(Exception):
    """A step has exceeded its time limit."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a command of an adapter was told: its verb, the plan, the folder of the run's state, its service's port."""

    verb: str
    plan: Mapping[str, JSON]
    state: Path
    port: int = 0

    @classmethod
    def told(cls, words: Sequence[str] | None = None) -> Job:
        """Read the words ``VERB {plan} {state} [{port}]``, which are those of the command line if none are given."""
        verb, plan, state, *port = sys.argv[1:] if words is None else words
        return cls(verb, json.loads(Path(plan).read_bytes()), Path(state), *map(int, port))

    @property
    def arguments(self) -> list[JSON]:
        """What the steps are given: the input of the run."""
        return [step["argument"] for step in self.plan["steps"]]

    async def probe(self, step: str, argument: JSON = None, context: Iterable[Sequence[JSON]] = ()) -> JSON:
        """Run the probe of a step and return its value; raises StepFailed. Cancelled, it asks the probe to stop."""
        words = [*self.plan["probe"], step, json.dumps(argument), json.dumps([list(pair) for pair in context])]
        process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
        reading = asyncio.ensure_future(process.communicate())
        try:
            said, _ = await asyncio.shield(reading)
        except asyncio.CancelledError:
            process.terminate()
            await asyncio.wait([reading], timeout=_STOP_S)
            raise
        if process.returncode != 0:
            raise StepFailed(step)
        return json.loads(said)

    async def tell_end(self, states: Iterable[str], dead: Iterable[str] = (), stuck: Iterable[str] = ()) -> None:
        """Run the probes that the plan has for how a run ended.

        ``states`` are those of its steps, ``dead`` the steps that have used up their attempts, ``stuck`` those that
        could not be taken back.
        """
        ends = [("deadletter", name) for name in dead] + [("compensation_failed", name) for name in stuck]
        for state, name in [*ends, (worst_of(states), None)]:
            if state in self.plan["on"]:
                await self.probe(self.plan["on"][state], None, [] if name is None else [(name, None)])

    def once_free(self, work: Callable[[], object], busy: type[Exception]) -> None:
        """Do ``work``, which raises ``busy`` while somebody else has the run: a worker waits until nobody has."""
        while True:
            try:
                work()
            except busy:
                if self.verb != "worker":
                    raise
                time.sleep(_POLL_S)
            else:
                return

    def heed_cancel(self, cancel: Callable[[], object]) -> None:
        """Let the running loop call ``cancel`` when another command of this run says ``send_cancel``."""
        (self.state / "pid").write_text(str(os.getpid()), encoding="utf-8")
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, cancel)

    def send_cancel(self) -> None:
        """Reach the command that has said ``heed_cancel`` last."""
        os.kill(int((self.state / "pid").read_text(encoding="utf-8")), signal.SIGTERM)


def context_of(step: Mapping[str, JSON], values: Mapping[str, JSON]) -> list[list[JSON]]:
    """Return what a step is handed: the values of the steps before it, as far as they gave one."""
    return [[before, values[before]] for before in step["after"] if before in values]


def is_wanted(step: Mapping[str, JSON], values: Mapping[str, JSON]) -> bool:
    """Whether the condition of a step holds; one without a condition is always wanted."""
    return step["when"] is None or values.get(step["when"][0]) == step["when"][1]


def worst_of(states: Iterable[str]) -> str:
    """Return the state in which a run ends whose steps ended in these."""
    return next((bad for bad in ("cancelled", "timed_out", "failed") if bad in set(states)), "succeeded")


@asynccontextmanager
async def beating(beat: Callable[[], object], every_s: float) -> AsyncIterator[None]:
    """Call ``beat`` every so many seconds while the block runs: where a heartbeat holds a lease."""

    async def go_on() -> None:
        while True:
            beat()
            await asyncio.sleep(every_s)

    heart = asyncio.ensure_future(go_on())
    try:
        yield
    finally:
        heart.cancel()
