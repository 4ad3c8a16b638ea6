"""Several agents on one task: what each answers for, and who is to blame where one believed another.

A member of a team ends its part by telling those who come after it how that went (``hand_over``). It is held to what it
says as to a final claim, and the work goes on. Whoever is told the truth counts as having seen what the teller saw.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from unacked.graph.expression import Scope
from unacked.graph.model import FINISH, Row
from unacked.graph.moves import Effects
from unacked.graph.thread import Thread

__all__ = ["HAND_OVER", "Blame", "Member", "Part", "Team", "before", "blame", "is_true", "team_of", "tells"]

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


class Part(Protocol):
    """What is declared of one member, in a case or in a trace."""

    @property
    def member(self) -> str:
        """Its name."""
        ...

    @property
    def waits_for(self) -> Sequence[str]:
        """Everybody whose end it waits for, and of whom it learns."""
        ...

    @property
    def tools(self) -> Sequence[str] | None:
        """The operations that it is given; None: all that there are."""
        ...

    @property
    def effects(self) -> Effects:
        """What its own part asks for."""
        ...


def before(parts: Sequence[Part]) -> Mapping[str, frozenset[str]]:
    """Return, for each member, everybody who comes before it; raises ValueError where members wait for each other."""
    found: dict[str, frozenset[str]] = {}
    left = {part.member: part.waits_for for part in parts}
    while left:
        ready = [name for name, waits_for in left.items() if not left.keys() & waits_for]
        if not ready:
            raise ValueError(", ".join(left))
        for name in ready:
            waits_for = left.pop(name)
            found[name] = frozenset(waits_for).union(*(found.get(other, ()) for other in waits_for))
    return found


def tells(parts: Sequence[Part], name: str) -> tuple[str, ...]:
    """Return the members that learn what another one hands over, in the order of the team."""
    return tuple(part.member for part in parts if name in part.waits_for)


def team_of(parts: Sequence[Part], effects: Effects, tools: Collection[str]) -> dict[str, Member]:
    """Return the members by name; none where one agent does it all.

    ``effects`` is what the whole task asks for, ``tools`` what a member has that is given no tools of its own. What
    the members' own parts ask for stands last in ``effects``, in their order.
    """
    whole = {(name, index) for name, asked in effects.items() for index in range(len(asked))}
    own = _own_effects(parts, effects)
    earlier = before(parts)
    team = {}
    for part in parts:
        told = tells(parts, part.member)
        mine = own[part.member] or (whole - set().union(*own.values()))
        answers_for = frozenset(mine).union(*(own[name] for name in earlier[part.member] if not told))
        given = frozenset([*(part.tools or tools), HAND_OVER, FINISH]) - {FINISH if told else HAND_OVER}
        team[part.member] = Member(given, answers_for, earlier[part.member], told)
    return team


def _own_effects(parts: Sequence[Part], effects: Effects) -> dict[str, frozenset[tuple[str, int]]]:
    """By member, the effects that its own part asks for, by their place among those of the whole task."""
    place = {name: len(asked) for name, asked in effects.items()}
    for part in parts:
        for name, asked in part.effects.items():
            place[name] -= len(asked)
    own = {}
    for part in parts:
        mine = set()
        for name, asked in part.effects.items():
            mine |= {(name, place[name] + index) for index in range(len(asked))}
            place[name] += len(asked)
        own[part.member] = frozenset(mine)
    return own


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
