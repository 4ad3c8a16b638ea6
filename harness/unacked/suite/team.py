"""What can be wrong with a team: who waits for whom, who has what to do, and who speaks for all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from unacked.case import CaseFile, Member
from unacked.document import Document, Location
from unacked.errors import Problem, nearest
from unacked.graph import before, tells
from unacked.tools import HAND_OVER, REGISTRY

__all__ = ["team_problems"]

_ADDED = frozenset({"finish", HAND_OVER.operation.name})


def team_problems(document: Document, file: CaseFile, agents: Collection[str]) -> Iterator[Problem]:
    """Yield everything that is wrong with the team of a case; nothing where it has none."""
    names = [member.member for member in file.team]
    for index, member in enumerate(file.team):
        place: Location = ("team", index)
        if member.member in names[:index]:
            yield document.problem((*place, "member"), f"two members are named {member.member!r}", "rename one")
        yield from _known(document, place, member, names, agents)
        yield from _work(document, place, file, member)
    if not file.team:
        return
    yield from _whole(document, file)
    try:
        earlier = before(file.team)
    except ValueError as circle:
        yield document.problem(("team",), f"members wait for each other: {circle}", "let one of them begin")
        return
    for index, member in enumerate(file.team):
        own = {*member.after, member.member}
        if member.compensates is not None and not any(member.compensates in earlier[name] for name in member.after):
            told = f"{member.member} would undo {member.compensates} after nobody who came after it"
            yield document.problem(("team", index), told, "after: [a member that comes after the other one]")
        elif member.compensates is not None and not tells(file.team, member.member):
            told = f"{member.member} begins only where something went wrong, so it cannot be the last one"
            yield document.problem(("team", index), told, f"add a member that comes after {', '.join(sorted(own))}")


def _whole(document: Document, file: CaseFile) -> Iterator[Problem]:
    if len(file.team) < 2:
        yield document.problem(("team",), "one member is no team", "write task, tools and script for the case itself")
    for field, given in (("script", file.script), ("incident", file.incident)):
        if given:
            yield document.problem((field,), "whose is it? a team has none of its own", "give each member a script")
    last = [member for member in file.team if not tells(file.team, member.member)]
    for member in last if len(last) > 1 else ():
        if not member.effects:
            told = f"{member.member} is one of several that end the task, and asks for no effects of its own"
            yield document.problem(("team", file.team.index(member)), told, "give it effects, or one member after all")


def _known(
    document: Document, place: Location, member: Member, names: Collection[str], agents: Collection[str]
) -> Iterator[Problem]:
    others = [name for name in names if name != member.member]
    waits: list[tuple[Location, str]] = [(("after", index), name) for index, name in enumerate(member.after)]
    waits += [(("compensates",), member.compensates)] if member.compensates is not None else []
    for location, name in waits:
        if name not in others:
            yield document.problem((*place, *location), f"unknown member {name!r}", nearest(name, others))
    if member.agent is not None and member.agent not in agents:
        hint = nearest(member.agent, agents)
        yield document.problem((*place, "agent"), f"unknown agent {member.agent!r}", hint)


def _work(document: Document, place: Location, file: CaseFile, member: Member) -> Iterator[Problem]:
    """Every operation that a member is offered, asked for, or would call."""
    offered = member.tools if member.tools is not None else file.tools
    named = [((*place, "tools", index), name, file.tools) for index, name in enumerate(member.tools or ())]
    named += [((*place, "effects", name), name, offered) for name in member.effects]
    steps = [next(iter(step)) for step in member.script]
    named += [((*place, "script", index, name), name, offered) for index, name in enumerate(steps)]
    for location, name, known in named:
        if name not in {*known, *_ADDED}:
            yield document.problem(location, f"unknown operation {name!r}", nearest(name, known))
    for index, step in enumerate(member.script):
        for name, arguments in step.items():
            yield from _arguments(document, (*place, "script", index, name), name, arguments)
            if name in REGISTRY and REGISTRY[name].writes and name not in file.effects:
                told = f"the task asks for a {name} that no effect declares"
                yield document.problem((*place, "script", index, name), told, f"effects: {{{name}: [...]}}")
    for name, effects in member.effects.items():
        for index, effect in enumerate(effects):
            yield from _arguments(document, (*place, "effects", name, index), name, effect)


def _arguments(document: Document, location: Location, name: str, given: Collection[str]) -> Iterator[Problem]:
    known = [argument.name for argument in REGISTRY[name].arguments] if name in REGISTRY else list(given)
    for argument in given:
        if argument not in known:
            told = f"unknown argument of {name} {argument!r}"
            yield document.problem((*location, argument), told, nearest(argument, known))
