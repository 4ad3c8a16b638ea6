"""Who of a team comes before whom, who learns of whom, and what each of them answers for."""

from __future__ import annotations

from collections.abc import Mapping

from unacked.case import CaseFile
from unacked.graph import HAND_OVER, Member

__all__ = ["before", "team_of", "tells"]

_FINISH = "finish"


def before(case: CaseFile) -> Mapping[str, frozenset[str]]:
    """Return, for each member, everybody who comes before it; raises ValueError where members wait for each other."""
    found: dict[str, frozenset[str]] = {}
    left = {member.member: member.waits_for for member in case.team}
    while left:
        ready = [name for name, waits_for in left.items() if not left.keys() & waits_for]
        if not ready:
            raise ValueError(", ".join(left))
        for name in ready:
            waits_for = left.pop(name)
            found[name] = frozenset(waits_for).union(*(found.get(other, ()) for other in waits_for))
    return found


def tells(case: CaseFile, name: str) -> tuple[str, ...]:
    """Return the members that learn what another one hands over, in the order of the case."""
    return tuple(other.member for other in case.team if name in other.waits_for)


def team_of(case: CaseFile) -> dict[str, Member]:
    """Return the members of a case by name; none where one agent does it all."""
    whole = {(name, index) for name, effects in case.effects.items() for index in range(len(effects))}
    own = _own_effects(case)
    earlier = before(case)
    team = {}
    for member in case.team:
        told = tells(case, member.member)
        asked = own[member.member] or (whole - set().union(*own.values()))
        effects = frozenset(asked).union(*(own[name] for name in earlier[member.member] if not told))
        tools = frozenset([*(member.tools or case.tools), HAND_OVER, _FINISH]) - {_FINISH if told else HAND_OVER}
        team[member.member] = Member(tools, effects, earlier[member.member], told)
    return team


def _own_effects(case: CaseFile) -> dict[str, frozenset[tuple[str, int]]]:
    """By member, the effects that its own part asks for, by their place among those of the whole case."""
    place = {name: len(effects) for name, effects in case.effects.items()}
    for member in case.team:
        for name, effects in member.effects.items():
            place[name] -= len(effects)
    own = {}
    for member in case.team:
        mine = set()
        for name, effects in member.effects.items():
            mine |= {(name, place[name] + index) for index in range(len(effects))}
            place[name] += len(effects)
        own[member.member] = frozenset(mine)
    return own
