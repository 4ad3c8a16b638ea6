"""One next call, judged by the graphs behind what lay before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unacked.agents import Call, Reply
from unacked.canonical import JSON
from unacked.claims.conduct import CALL_AS_TEXT, INVENTED_ARGUMENT, invented_arguments, writes_a_call
from unacked.graph import HAND_OVER, BoundGraph, End, EndReason, Judgement, Result, Verdict, judge_events
from unacked.graph import Call as CallMove
from unacked.graph import Event as Move
from unacked.graph.model import Step
from unacked.graph.monitor import Move as Judged
from unacked.graph.monitor import Thread
from unacked.probe.prefix import Prefix
from unacked.tools.endpoint import argument_problem

__all__ = ["NextCall", "judge_next"]

_NOTHING = "(no call)"


@dataclass(frozen=True, slots=True)
class NextCall:
    """What a model did next. ``call`` names it; ``rule`` is the edge that allows it, or what it breaks.

    ``why`` explains a refusal, ``arguments`` are those of its first call.
    """

    call: str
    verdict: Verdict
    rule: str | None
    why: str = ""
    arguments: JSON = None

    @property
    def transition(self) -> tuple[str, str, str]:
        """What is counted: calls alike under one rule with one verdict."""
        return self.call, self.rule or "", self.verdict.value

    def as_json(self) -> dict[str, JSON]:
        """Return it as a JSON object."""
        return {
            "call": self.call,
            "verdict": self.verdict.value,
            "rule": self.rule,
            "why": self.why,
            "arguments": self.arguments,
        }


def judge_next(prefix: Prefix, reply: Reply, erred: str | None = None) -> NextCall:
    """Judge a reply; ``erred`` is the kind of mistake that the driver found in it, such as ``truncated``."""
    if not reply.calls:
        return _without_call(prefix, reply.text, erred)
    name = " + ".join(_label(call) for call in reply.calls)
    first = dict(reply.calls[0].arguments)
    if not any(_is_made(prefix, call) for call in reply.calls):
        return NextCall(name, Verdict.INCONCLUSIVE, erred or "invalid_arguments", "nothing was sent", first)
    edges: list[str] = []
    judgement = _judged(prefix, _moves(prefix, reply.calls), edges)
    refused = [violation for violation in judgement.violations if violation.event >= len(prefix.moves)]
    if refused:
        worst = max(refused, key=lambda violation: violation.severity.severity)
        return NextCall(name, worst.severity, worst.rule, worst.explanation.why, first)
    invented = [found for call in reply.calls for found in _invented(prefix, call)]
    if invented:
        told = f"no result and not the task gave the value of {', '.join(invented)}"
        return NextCall(name, Verdict.FAIL, INVENTED_ARGUMENT, told, first)
    return NextCall(name, Verdict.PASS, ", ".join(dict.fromkeys(edges)) or None, "", first)


def _label(call: Call) -> str:
    """An operation; of a final claim also what it claims."""
    status = call.arguments.get("status")
    return (
        f"{call.operation}({status})"
        if call.operation in ("finish", HAND_OVER) and isinstance(status, str)
        else call.operation
    )


def _is_made(prefix: Prefix, call: Call) -> bool:
    """Whether a call would reach the graphs: one that breaks its tool's contract is refused before."""
    tool = prefix.task.tools.get(call.operation)
    return tool is None or (call.problem is None and argument_problem(tool, call.arguments) is None)


def _invented(prefix: Prefix, call: Call) -> list[str]:
    tool = prefix.task.tools.get(call.operation)
    return [] if tool is None else invented_arguments(tool, call.arguments, prefix.sources)


def _without_call(prefix: Prefix, text: str, erred: str | None) -> NextCall:
    if erred is not None and erred != "empty_reply":
        return NextCall(_NOTHING, Verdict.INCONCLUSIVE, erred)
    if writes_a_call(text, prefix.task.tools):
        return NextCall(_NOTHING, Verdict.FAIL, CALL_AS_TEXT, "a call was written as plain text, and not made")
    judgement = _judged(prefix, [], [])
    told = judgement.explanation
    return NextCall(_NOTHING, judgement.verdict, told.rule if told else None, told.why if told else "")


def _judged(prefix: Prefix, more: Sequence[Move], edges: list[str]) -> Judgement:
    """Judge the way with what came next; the agent's stop is its own where it called nothing more."""

    def watch(_graph: BoundGraph, _thread: Thread, move: Judged, step: Step) -> None:
        if move.event >= len(prefix.moves):
            edges.append(step.edge.id)

    goes_on = more or (prefix.member and prefix.team[prefix.member].tells)
    end = End(reason=EndReason.CUT if goes_on else EndReason.FINISHED, at=_now(prefix))
    events = [*prefix.moves, *more, end]
    return judge_events(events, prefix.graphs, prefix.effects, tools=prefix.task.tools, watch=watch, team=prefix.team)


def _moves(prefix: Prefix, calls: Sequence[Call]) -> list[Move]:
    turns = [move.turn or 0 for move in prefix.moves if isinstance(move, CallMove)]
    turn, now = max(turns, default=0) + 1, _now(prefix)
    return [
        CallMove(
            id=f"next-{number}",
            operation=call.operation,
            args=call.arguments,
            turn=turn,
            agent=prefix.member or "agent",
            at=now,
        )
        for number, call in enumerate(calls)
        if _is_made(prefix, call)
    ]


def _now(prefix: Prefix) -> float:
    return max((move.at for move in prefix.moves if isinstance(move, Result)), default=0.0)
