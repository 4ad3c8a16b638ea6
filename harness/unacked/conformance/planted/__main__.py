"""The planted orchestrator as a program: ``python -m unacked.conformance.planted VERB PLAN STATE [FAULT]``."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from unacked.canonical import JSON
from unacked.conformance.planted.orchestrator import Planted, StepFailed

_STOP_S = 10.0
"""How long a probe that was asked to stop may take."""


class _Ground:
    """A journal of JSON lines, a lock that the kernel frees, and probes as programs."""

    def __init__(self, state: Path, probe: Sequence[str]) -> None:
        self._journal, self._cancel = state / "journal.jsonl", state / "cancelled"
        self._lock = os.open(state / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        self._probe = probe

    def entries(self) -> Sequence[Mapping[str, JSON]]:
        written = self._journal.read_bytes() if self._journal.exists() else b""
        return [json.loads(line) for line in written[: written.rfind(b"\n") + 1].splitlines()]

    def note(self, entry: Mapping[str, JSON]) -> None:
        with self._journal.open("ab") as file:
            file.write(f"{json.dumps(entry)}\n".encode())

    def lock(self, *, force: bool = False) -> bool:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return force
        return True

    def locked(self) -> bool:
        free = self.lock()
        fcntl.flock(self._lock, fcntl.LOCK_UN)
        return not free

    def cancel(self) -> None:
        self._cancel.touch()

    def cancelled(self) -> bool:
        return self._cancel.exists()

    def chance(self) -> float:
        return random.random()  # noqa: S311 - delays are no secrets

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def probe(self, step: str, argument: JSON, context: JSON, *, gently: bool) -> JSON:
        words = [*self._probe, step, json.dumps(argument), json.dumps(context)]
        process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
        reading = asyncio.ensure_future(process.communicate())
        try:
            said, _ = await asyncio.shield(reading)
        except asyncio.CancelledError:
            if gently:
                process.terminate()
                await asyncio.wait([reading], timeout=_STOP_S)
            if process.returncode is None:
                process.kill()
            raise
        if process.returncode != 0:
            raise StepFailed
        return json.loads(said)


def main() -> int:
    """Carry out one command; return the exit status."""
    verb, file, state, *fault = sys.argv[1:]
    plan = json.loads(Path(file).read_text(encoding="utf-8"))
    ground = _Ground(Path(state), plan["probe"])
    if verb == "cancel":
        ground.cancel()
        return 0
    planted = Planted(plan, ground, fault[0] if fault else None)
    does = {"start": planted.start, "resume": planted.resume, "worker": planted.stand_by}
    return asyncio.run(does[verb]())


if __name__ == "__main__":
    sys.exit(main())
