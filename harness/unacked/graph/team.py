"""Several agents on one task: what each answers for, and who is to blame where one believed another.

A member of a team ends its part by telling those who come after it how that went (``hand_over``). It is held to what it
says as to a final claim, and the work goes on. Whoever is told the truth counts as having seen what the teller saw.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from unacked.graph.expression import Scope
from unacked.graph.model import Row
from unacked.graph.thread import Thread

__all__ = ["HAND_OVER", "Blame", "Member", "Team", "blame", "is_true"]

HAND_OVER = "hand_over"
_DENIALS = frozenset({"declined", "failed", "refused"})
"""What may be said only where nothing was done."""


@dataclass(frozen=True, slots=True)
class Member:
    """One agent of a team: the operations that it is offered, and those who came before and come next.

    ``effects`` are the declared effects that it answers for, as (operation, index): its own, and where it is one of
    the last also those of everyone before it. ``tells`` are the ones who learn what it hands over; nobody, where it
    is one of the last.
    """

    tools: frozenset[str]
    effects: frozenset[tuple[str, int]]
    before: frozenset[str] = frozenset()
    tells: tuple[str, ...] = ()


Team = Mapping[str, Member]
"""By name; empty where one agent works alone, or where nobody knows who was to tell whom."""


class Blame(NamedTuple):
    """Who is to blame, in words and by name; no name where it is the hand-off's fault, or nobody has a name."""

    words: str
    member: str = ""


def blame(thread: Thread, agent: str | None, team: Team) -> Blame:
    """Return whose mistake it is that ``agent`` made one in a thread; None asks for whoever left it as it is."""
    if agent is None:
        mover = thread.mover or ""
        return Blame(mover or "agent", mover) if team else Blame("agent")
    if thread.informed is None or agent in thread.informed:
        return Blame(agent, agent) if team else Blame("agent")
    seen = f"event #{thread.entered_by} ({thread.entered_how})"
    told = thread.told.get(agent)
    while told is not None and told.by not in thread.informed and told.by in thread.told:
        told = thread.told[told.by]
    if told is not None:
        return Blame(f"{told.by} told {agent} {told.status!r} at event #{told.event}, in spite of {seen}", told.by)
    if agent in team and thread.mover in team[agent].before:
        return Blame(f"{thread.mover} handed nothing over, so {agent} never learned of {seen}", thread.mover or "")
    return Blame(f"hand-off: {agent} never saw event #{thread.entered_by}")


def is_true(row: Row, scope: Scope, status: str) -> bool:
    """Whether a graph would take it as a final claim; what is done may not be denied either.

    ``row`` are the edges of ``finish`` in the thread's state.
    """
    allowed = any(step.edge.when.holds(scope) for step in row.allow)
    if not allowed or status not in _DENIALS:
        return allowed
    done = replace(scope, args={**scope.args, "status": "success"})
    return not any(step.edge.when.holds(done) for step in row.allow)
