"""The replay driver: repeats the turns of a recorded run, without a model and without a network.

Strict: what the trial tells the agent must be what it told the recorded one, or nothing is proven. Lenient:
the recorded turns are made whatever the trial says, as when a tool's classification has changed on purpose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unacked.agents.protocol import BudgetSpentError, Call, ProviderError, Reply, Seat, Session, Task
from unacked.canonical import JSON, InvalidJSON, digest, dumps, loads
from unacked.case import AgentFile, Recording
from unacked.errors import HarnessError, Place, Problem, SpecificationError
from unacked.event import Event, History
from unacked.trail import TrialName, read_history

__all__ = ["ReplayDriver", "offer_of"]

_BEGINNINGS = ("trial_begin", "member_begin")
_OF_THE_MODEL = ("model_called", "model_answered", "model_retried", "model_failed", "agent_erred")


def offer_of(task: Task) -> str:
    """Return the digest of what an agent is told of the tools of a task, in their order.

    Categories, effects and the like are no part of it: nobody tells an agent.
    """
    return digest([tool.offer() for tool in task.tools.values()])


@dataclass(slots=True)
class _Turn:
    """One recorded turn: what is on the record of the model, the calls, and the results as the agent saw them."""

    events: list[Event] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    results: dict[str, JSON] = field(default_factory=dict)
    text: str = ""


class ReplayDriver:
    """Repeats a recorded run, trial by trial."""

    def __init__(self, file: AgentFile) -> None:
        if file.replay is None:
            raise AssertionError("a replay names what it repeats")
        self._recording = file.replay
        self._folder = _found(file.agent, self._recording)
        self._run = _run_of(self._folder)

    def begin(self, task: Task, seat: Seat) -> Session:
        """Open the recorded trial of the same case, side and repeat; raises HarnessError where there is none."""
        trial = f"{seat.side}.{self._recording.agent}.{seat.repeat}"
        paths = sorted(self._folder.glob(f"events/*/{trial}.jsonl"))
        if not paths:
            raise HarnessError(f"{self._folder} holds no trial {trial}")
        history = read_history(paths[0], TrialName(self._run, trial, seat.case))
        if seat.member:
            history = History([event for event in history if event.actor == seat.member])
        session = _ReplaySession(history, seat, strict=self._recording.mode == "strict")
        session.compare_begin(task)
        return session


def _found(agent: str, recording: Recording) -> Path:
    for path in (Path(recording.run), Path("runs") / recording.run):
        if (path / "manifest.json").is_file():
            return path.resolve()
    place, told = Place(f"agent {agent}"), f"there is no run {recording.run!r} to replay"
    raise SpecificationError([Problem(place, told, "replay.run is a path, or a name under runs/")])


def _run_of(folder: Path) -> str:
    try:
        return str(loads((folder / "manifest.json").read_bytes())["run"])
    except (OSError, InvalidJSON, KeyError, TypeError) as error:
        told = f"cannot be read: {type(error).__name__}"
        raise SpecificationError([Problem(Place(str(folder / "manifest.json")), told)]) from None


class _ReplaySession:
    def __init__(self, history: History, seat: Seat, *, strict: bool) -> None:
        self._history, self._seat, self._strict = history, seat, strict
        self._turns = _turns(history)
        self._turn = 0

    def compare_begin(self, task: Task) -> None:
        """Raise HarnessError where task or tools are not those of the recording."""
        begin: Mapping[str, Any] = next((event.detail for event in self._history.named(*_BEGINNINGS)), {})
        same = begin.get("task") == task.text and _same_offer(begin, self._history, task)
        if self._strict and not same:
            raise HarnessError("the recorded trial had another task or other tools; a lenient replay goes on")

    def next(self, results: Sequence[Mapping[str, JSON]]) -> Reply:
        """Return the next recorded turn."""
        self._compare(results)
        self._turn += 1
        turn = self._turns.get(self._turn)
        if turn is None:
            self._end_as_recorded()
            return Reply()
        for event in turn.events:
            # The raw error stays with the recording; the reference is counted as it was.
            kept = event.diagnostics_ref and self._seat.diagnose({"recorded": event.diagnostics_ref})
            self._seat.emit(event.event, diagnostics_ref=kept or None, detail=event.detail)
        if not turn.calls and not turn.text:
            self._end_as_recorded()
        return Reply(turn.calls, turn.text)

    def _compare(self, results: Sequence[Mapping[str, JSON]]) -> None:
        before = self._turns.get(self._turn)
        recorded = list(before.results.values()) if before else []
        if self._strict and dumps(list(results)) != dumps(recorded):
            called = ", ".join(call.operation for call in before.calls) if before else "nothing"
            raise HarnessError(f"turn {self._turn}: the results of {called} are not the recorded ones")

    def _end_as_recorded(self) -> None:
        """Raise what ended the recorded trial, where that was no decision of the agent."""
        for event in self._history.named("model_failed"):
            raise ProviderError(event.detail["kind"], event.detail["told"])
        for event in self._history.named("trial_end", "member_end"):
            if event.detail["reason"] == "cut" and "trouble" in event.detail:
                raise BudgetSpentError(event.detail["trouble"])

    def close(self, results: Sequence[Mapping[str, JSON]] = ()) -> None:  # noqa: ARG002 - nobody is there to tell
        """Say what the recorded provider had seen."""
        for event in self._history.named("provider_seen"):
            self._seat.emit(event.event, detail=event.detail)


def _same_offer(begin: Mapping[str, Any], history: History, task: Task) -> bool:
    """Whether the recorded agent was told the same of its tools.

    Recordings from before ``offer`` hold a digest of whole contracts, which changes with things that no agent is
    told; where a model was asked, its first request shows the tools as they were sent.
    """
    if "offer" in begin:
        return bool(begin["offer"] == offer_of(task))
    whole = digest([tool.as_json() for _, tool in sorted(task.tools.items())])
    return begin.get("contract") == whole or _sent_tools(history) == [tool.offer() for tool in task.tools.values()]


def _sent_tools(history: History) -> list[JSON] | None:
    for request in history.named("model_called"):
        sent = [tool.get("function", tool) for tool in request.detail["setup"]["tools"]]
        return [
            {
                "name": tool["name"],
                "description": tool["description"],
                "input_schema": tool["input_schema"] if "input_schema" in tool else tool["parameters"],
            }
            for tool in sent
        ]
    return None


def _turns(history: History) -> dict[int, _Turn]:
    turns: dict[int, _Turn] = {}
    made: dict[str | None, _Turn] = {}
    for event in history:
        number = event.detail.get("turn")
        turn = turns.setdefault(number, _Turn()) if isinstance(number, int) and number > 0 else _Turn()
        if event.event in _OF_THE_MODEL:
            turn.events.append(event)
        elif event.event == "agent_message":
            turn.text = event.detail["text"]
        elif event.event == "agent_next_call":
            problem = event.detail.get("problem")
            turn.calls.append(Call(event.operation or "", event.detail["arguments"], problem))
            made[event.id] = turn
        elif event.event == "result" and event.id in made:
            made[event.id].results[event.id or ""] = event.detail["envelope"]
    return turns
