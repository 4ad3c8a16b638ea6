"""Neutral traces, which ``unacked judge`` reads: of the calls of a recording under a mapping, and of our own trials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unacked.canonical import dumps
from unacked.claims import Brief, moves
from unacked.errors import Place
from unacked.event import History
from unacked.graph import Begin, Call, End, EndReason, Event, MemberPart, Result, Trace, lines_of
from unacked.incident.draft import Move
from unacked.incident.recording import Recording

__all__ = ["begin_of", "neutral_lines", "neutral_trace", "trial_trace"]


def neutral_trace(recording: Recording, moves: Sequence[Move]) -> Trace:
    """Return the trace; it ends as the recording says, or because the agent made no further call."""
    begin = recording.begin or Begin()
    return Trace(name=recording.form, begin=begin, events=tuple(_events(recording, moves)), place=Place(recording.name))


def trial_trace(brief: Brief, history: History, name: str) -> Trace:
    """Return a trial of ours as a trace."""
    return Trace(name=name, begin=begin_of(brief), events=tuple(moves(brief, history)), place=Place(name))


def begin_of(brief: Brief) -> Begin:
    """Return what one side of a case is judged by, as a trace says it."""
    case = brief.case
    roles: dict[str, str | None] = {}
    graphs = []
    for use in case.graphs:
        graph, bound = (use, {}) if isinstance(use, str) else next(iter(use.items()))
        graphs.append(graph)
        roles |= bound
    keyed = [operation for operation in brief.tools.values() if operation.writes and operation.idempotency]
    return Begin(
        graphs=tuple(graphs),
        roles=roles,
        effects=case.own_effects,
        idempotent=all(operation.idempotency_mode.honoured for operation in keyed),
        team=tuple(
            MemberPart(
                member=member.member,
                after=tuple(member.waits_for),
                tools=tuple(member.tools or case.tools),
                effects=member.effects,
            )
            for member in case.team
        ),
    )


def neutral_lines(trace: Trace) -> str:
    """Return the trace as JSON lines."""
    return "".join(f"{dumps(line)}\n" for line in lines_of(trace))


def _events(recording: Recording, moves: Sequence[Move]) -> Iterator[Event]:
    """Calls of one turn stand before all their results: they were decided together."""
    turn: list[Move] = []
    for move in moves:
        if turn and turn[-1].turn != move.turn:
            yield from _turn(turn)
            turn = []
        turn.append(move)
    yield from _turn(turn)
    yield End(reason=EndReason(recording.end or "finished"), at=moves[-1].at if moves else 0.0)


def _turn(turn: Sequence[Move]) -> Iterator[Event]:
    for move in turn:
        yield Call(
            id=move.call,
            operation=move.operation.name,
            args=move.arguments,
            turn=move.turn,
            agent=move.agent,
            at=move.at,
        )
    for move in turn:
        yield Result(
            call=move.call,
            category=move.category,
            fields=move.fields,
            at=move.at,
            retry_after_s=move.retry_after_s,
        )
