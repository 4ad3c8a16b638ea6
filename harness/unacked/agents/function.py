"""The python driver: an agent of your own as one function, in this process, in whatever framework."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from unacked.agents.handoff import Ended, Handoff, TrialOverError
from unacked.agents.own import named_environment, own_server
from unacked.agents.protocol import Call, Reply, Seat, Session, Task
from unacked.canonical import JSON
from unacked.case import AgentFile
from unacked.content import load_content
from unacked.errors import Place, Problem, SpecificationError

__all__ = ["FunctionDriver", "Job", "load_function"]

_LAST_WORDS_S = 5.0


class Job:
    """What the function is given: the task, the prompt, and the tools with a way to call them.

    ``model`` is the one that the agent's file names. ``base_url`` and ``key`` are where a server of its own or a fake
    one takes the provider's place (as OpenAI's clients want them, with ``/v1``); None is the client's own default.
    """

    def __init__(self, task: Task, file: AgentFile, prompt: str, seat: Seat, handoff: Handoff) -> None:
        self.task = task.text
        self.prompt = prompt
        self.model = file.model
        self.base_url, self.key = own_server(file, seat)
        self.tools: Sequence[Mapping[str, JSON]] = [tool.offer() for tool in task.tools.values()]
        self._handoff = handoff

    def call(self, name: str, arguments: Mapping[str, JSON]) -> Mapping[str, JSON]:
        """Call a tool and return its result, the envelope of the result contract; blocks until it is there."""
        return self._handoff.call(Call(name, arguments))

    async def acall(self, name: str, arguments: Mapping[str, JSON]) -> Mapping[str, JSON]:
        """The same from a coroutine."""
        return await asyncio.to_thread(self.call, name, arguments)


def load_function(name: str, folder: Path) -> Callable[[Job], Any]:
    """Return what ``module:function`` names: a file beside the agent's, else a module that can be imported.

    Raises SpecificationError where there is no such function.
    """
    module, _, attribute = name.partition(":")
    beside = folder / f"{module}.py"
    try:
        found = getattr(load_content(beside) if beside.is_file() else importlib.import_module(module), attribute, None)
    except SpecificationError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a user's module raises is told in words
        told = f"{module!r} cannot be imported: {type(error).__name__}: {error}"
        raise SpecificationError([Problem(Place(str(folder / "agent.yaml")), told)]) from None
    if not callable(found):
        told = f"{module!r} has no function {attribute!r}"
        raise SpecificationError([Problem(Place(str(folder / "agent.yaml")), told, "def run(job): ...")])
    function: Callable[[Job], Any] = found
    return function


class FunctionDriver:
    """Runs a function in a thread of its own; it may be a coroutine function."""

    def __init__(self, file: AgentFile, folder: Path) -> None:
        self._file = file
        self._function = load_function(file.function or "", folder)
        self._prompt = (folder / file.prompt).read_bytes().decode("utf-8")

    def begin(self, task: Task, seat: Seat) -> Session:
        """Start the function on ``task``; raises ProviderError where a variable that it needs is not set."""
        named_environment(self._file, seat)
        handoff = Handoff()
        job = Job(task, self._file, self._prompt, seat, handoff)
        return _FunctionSession(self._function, job, handoff, self._file.timeout_s)


class _FunctionSession:
    def __init__(self, function: Callable[[Job], Any], job: Job, handoff: Handoff, timeout_s: float) -> None:
        self._function, self._timeout_s = function, timeout_s
        self._job, self._handoff = job, handoff
        self._thread = threading.Thread(target=self._run, name="agent", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            said = self._function(self._job)
            if inspect.iscoroutine(said):
                said = asyncio.run(said)
            self._handoff.end(Ended(said if isinstance(said, str) else ""))
        except TrialOverError:
            self._handoff.end(Ended())
        except BaseException as error:  # noqa: BLE001 - it is the agent's, and is told to the trial
            self._handoff.end(Ended(error=error))

    def next(self, results: Sequence[Mapping[str, JSON]]) -> Reply:
        return self._handoff.next(results, self._timeout_s)

    def close(self, results: Sequence[Mapping[str, JSON]] = ()) -> None:
        self._handoff.close(results)
        self._thread.join(_LAST_WORDS_S)
