"""The command driver: any program as an agent; it finds the case's tools on an MCP server.

The program's words may hold ``{task}``, ``{prompt}``, ``{model}``, ``{base_url}``, ``{mcp_url}`` (streamable HTTP),
``{mcp_config}`` (a file that says how to start the server as a process) and ``{mcp_config_http}`` (one with the URL),
``{python}`` and ``{folder}``, where the agent's file stands. It runs in an empty folder of its own, with an environment
of a few names.
"""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from unacked.agents import mcp_bridge
from unacked.agents.handoff import Ended, Handoff
from unacked.agents.own import named_environment, own_server
from unacked.agents.protocol import Reply, Seat, Session, Task
from unacked.canonical import JSON, dumps
from unacked.case import AgentFile

__all__ = ["CommandDriver", "CommandFailedError"]

_LAST_WORDS_S = 3.0
_LONGEST = 2000
_KEPT = ("PATH", "LANG", "LC_ALL", "TZ")


class CommandFailedError(Exception):
    """The program could not be started, or ended with another exit code than 0."""


class CommandDriver:
    """Starts a program for each trial."""

    def __init__(self, file: AgentFile, folder: Path) -> None:
        self._file, self._folder = file, folder.resolve()
        self._prompt = (folder / file.prompt).read_bytes().decode("utf-8")

    def begin(self, task: Task, seat: Seat) -> Session:
        """Start the program on ``task``; raises ProviderError where a variable that it needs is not set."""
        return _CommandSession(self._file, self._folder, self._prompt, task, seat)


class _CommandSession:
    def __init__(self, file: AgentFile, folder: Path, prompt: str, task: Task, seat: Seat) -> None:
        self._file, self._seat = file, seat
        base_url, key = own_server(file, seat)
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | named_environment(file, seat)
        environment |= {"UNACKED_KEY": key} if key else {}
        self._handoff = Handoff()
        offer: Any = importlib.import_module("unacked.agents.mcp_offer")
        self._offer = offer.McpOffer(list(task.tools.values()), self._handoff.call)
        self._place = Path(tempfile.mkdtemp(prefix="unacked-agent-"))
        words = {
            "task": task.text,
            "prompt": prompt,
            "model": file.model or "",
            "base_url": base_url or "",
            "python": sys.executable,
            "folder": str(folder),
            "mcp_url": self._offer.url,
            "mcp_config": self._config("mcp.json", self._by_process()),
            "mcp_config_http": self._config("mcp-http.json", {"type": "http", "url": self._offer.url}),
        }
        argv = [_filled(word, words) for word in file.command or ()]
        told = {f"UNACKED_{name.upper()}": value for name, value in words.items() if name not in ("python", "folder")}
        self._program = self._start(argv, {**environment, **told, "HOME": str(self._place)})

    def _by_process(self) -> JSON:
        bridge = [str(Path(mcp_bridge.__file__).resolve()), str(self._offer.port), self._offer.secret]
        return {"command": sys.executable, "args": ["-I", *bridge]}

    def _config(self, name: str, server: JSON) -> str:
        path = self._place / name
        path.write_text(dumps({"mcpServers": {"unacked": server}}))
        return str(path)

    def _start(self, argv: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes] | None:
        work = self._place / "work"
        work.mkdir()
        with (self._place / "stdout").open("wb") as out, (self._place / "stderr").open("wb") as err:
            try:
                program = subprocess.Popen(  # noqa: S603 - the user's own agent
                    argv,
                    cwd=work,
                    env=dict(environment),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                )
            except OSError as error:
                told = f"{argv[0]!r} cannot be started: {error.strerror}"
                self._handoff.end(Ended(error=CommandFailedError(told)))
                return None
        threading.Thread(target=self._await_end, args=(program,), daemon=True).start()
        return program

    def _await_end(self, program: subprocess.Popen[bytes]) -> None:
        code = program.wait()
        if code == 0:
            self._handoff.end(Ended(self._written("stdout")))
        else:
            said = self._written("stderr")
            told = f"the program ended with exit code {code}" + (f": {said}" if said else "")
            self._handoff.end(Ended(error=CommandFailedError(told)))

    def _written(self, name: str) -> str:
        """The end of what the program wrote; nothing in it may be a key that it was given."""
        try:
            text = (self._place / name).read_bytes().decode("utf-8", "backslashreplace")
        except OSError:
            return ""
        return self._seat.redact(text).strip()[-_LONGEST:]

    def next(self, results: Sequence[Mapping[str, JSON]]) -> Reply:
        return self._handoff.next(results, self._file.timeout_s)

    def close(self, results: Sequence[Mapping[str, JSON]] = ()) -> None:
        self._handoff.close(results)
        if self._program is not None:
            _end(self._program, last_words_s=_LAST_WORDS_S if results else 0.0)
        self._offer.close()
        shutil.rmtree(self._place, ignore_errors=True)


def _filled(word: str, words: Mapping[str, str]) -> str:
    for name, value in words.items():
        if f"{{{name}}}" in word:
            before, _, after = word.partition(f"{{{name}}}")
            return before + value + after
    return word


def _end(program: subprocess.Popen[bytes], last_words_s: float) -> None:
    """Let the program end by itself where it was told so, then end it and everything that it has started."""
    with suppress(subprocess.TimeoutExpired):
        program.wait(last_words_s)
    for how in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(program.pid, how)
        with suppress(subprocess.TimeoutExpired):
            program.wait(_LAST_WORDS_S)
            if how is signal.SIGKILL:
                return
