"""Real commands: each the leader of a session of its own, so that all it has started can be killed with it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from unacked.conformance.adapter import Adapter
from unacked.conformance.check import Scenario
from unacked.conformance.plan import script_json
from unacked.conformance.record import Command, Line, read_lines
from unacked.errors import HarnessError

__all__ = ["Processes", "service"]

_PROBE = Path(__file__).with_name("probe.py")
_POLL_S = 0.01
_SERVICE_S = 60.0
"""How long a service may take until it accepts connections."""


class Processes:
    """One run by an adapter's commands, in a folder of its own: plans, the probes' script and record, and outputs."""

    def __init__(self, adapter: Adapter, scenario: Scenario, folder: Path, run: str, port: int | None) -> None:
        self._adapter, self._folder = adapter, folder
        self._values = {"run": run, "state": str(folder / "state"), "port": str(port)}
        self._begun: list[tuple[str, asyncio.subprocess.Process, Path]] = []
        self._commands = 0
        self._record = folder / "lines.jsonl"
        self._read: tuple[int, list[Line]] = (0, [])
        (folder / "state").mkdir(parents=True)
        script = folder / "script.json"
        probe = [sys.executable, "-I", "-S", str(_PROBE), str(script)]
        for number, plan in enumerate(scenario.plans):
            self._plan(number).write_text(json.dumps(plan.as_json(run, probe), indent=1), encoding="utf-8")
        script.write_text(json.dumps(script_json(scenario.plans, run, str(self._record))), encoding="utf-8")

    def _plan(self, number: int) -> Path:
        return self._folder / f"plan-{number}.json"

    def lines(self) -> Sequence[Line]:
        """What the probes have written so far."""
        size = self._record.stat().st_size if self._record.exists() else 0
        if size != self._read[0]:
            self._read = size, read_lines(self._record)
        return self._read[1]

    def commands(self) -> Sequence[Command]:
        """The commands that were begun, in order."""
        return [
            Command(verb, process.pid, process.returncode, last_words(output, process.returncode))
            for verb, process, output in self._begun
        ]

    async def begin(self, verb: str, plan: int) -> None:
        """Begin a command; where workers carry out the runs there is one, and a new one resumes."""
        commands = self._adapter.file.commands
        if commands.resume is None and commands.worker is not None:
            if verb == "resume":
                verb = "worker"
            elif verb == "start" and not any(begun == "worker" for begun, *_ in self._begun):
                await self._spawn("worker", plan)
        await self._spawn(verb, plan)

    async def _spawn(self, verb: str, plan: int) -> None:
        argv = self._adapter.argv(verb, {**self._values, "plan": str(self._plan(plan))})
        self._commands += 1
        output = self._folder / f"{self._commands}-{verb}.txt"
        self._begun.append((verb, await _started(argv, output, self._folder / "state"), output))

    async def kill(self, host: int) -> None:
        """Kill a command and all that it has started; return when it is gone."""
        for _, process, _ in self._begun:
            if process.pid == host:
                await _killed(process)

    async def interrupt(self, host: int) -> None:
        """Send a command SIGINT; how its probes hear of it is its own business."""
        for _, process, _ in self._begun:
            if process.pid == host and process.returncode is None:
                process.send_signal(signal.SIGINT)

    async def changed(self, within_s: float) -> None:
        """Return after a moment: a file tells nobody that it has grown."""
        await asyncio.sleep(min(_POLL_S, within_s))

    async def close(self) -> None:
        """Kill whatever still runs."""
        for _, process, _ in self._begun:
            await _killed(process)


async def _started(argv: Sequence[str], output: Path, cwd: Path) -> asyncio.subprocess.Process:
    with output.open("wb") as sink:
        try:
            return await asyncio.create_subprocess_exec(
                *argv,
                cwd=cwd,
                env={**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                start_new_session=True,
            )
        except OSError as error:
            raise HarnessError(f"{argv[0]}: cannot be started: {error.strerror}") from None


async def _killed(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


@asynccontextmanager
async def service(adapter: Adapter, folder: Path) -> AsyncIterator[int | None]:
    """Run the adapter's service, if it has one, and give the port on which it listens; raises HarnessError."""
    if adapter.file.commands.service is None:
        yield None
        return
    port = _free_port()
    state = folder / "service"
    state.mkdir(parents=True)
    argv = adapter.argv("service", {"port": str(port), "state": str(state)})
    output = folder / "service.txt"
    process = await _started(argv, output, state)
    try:
        await _listening(process, port, output)
        yield port
    finally:
        await _killed(process)


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


async def _listening(process: asyncio.subprocess.Process, port: int, output: Path) -> None:
    for _ in range(int(_SERVICE_S / 0.1)):
        if process.returncode is not None:
            break
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        await asyncio.sleep(0.1)
    raise HarnessError(f"the service does not listen on port {port}: {last_words(output, process.returncode)}")


def last_words(output: Path, status: int | None) -> str:
    """Return the last line that a command wrote, if it has failed by itself."""
    if status is None or status <= 0:
        return ""
    said = output.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line.strip()[:200] for line in reversed(said) if line.strip()), "")
