"""Lints that know what writes, keys and refusals are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import networkx as nx

from unacked.contract import Effect
from unacked.graph.explore import Arrival, Kind, Letter, Situation, Space, Step, Survey, told
from unacked.graph.explore.letters import renamed
from unacked.graph.lint.finding import Finding
from unacked.graph.lint.subject import Subject
from unacked.graph.model import Edge
from unacked.outcome import CATEGORIES, OutcomeClass

__all__ = ["domain_findings"]

_REFUSED_FOR_GOOD = frozenset({"authentication_failed", "authorization_denied", "declined", "locked"})


def domain_findings(subject: Subject) -> Iterator[Finding]:
    """Yield what no graph should allow; each edge once for each lint, by its shortest example."""
    found: dict[tuple[str, str], Finding] = {}
    for survey in subject.surveys:
        for finding in (*_after_answers(subject, survey), *_endless(subject, survey)):
            found.setdefault((finding.id, finding.edge or ""), finding)
    yield from found.values()


def _after_answers(subject: Subject, survey: Survey) -> Iterator[Finding]:
    space = survey.space
    checks = (("G30", _repeats), ("G31", _writes))
    for situation in space.situations():
        for arrival in space.arrivals(situation):
            for id_, check in checks:
                bad = check(space, arrival)
                if bad is not None:
                    yield _after(subject, survey, id_, arrival, bad)


def _after(subject: Subject, survey: Survey, id_: str, arrival: Arrival, letter: Letter) -> Finding:
    """A finding at the edge that allows what it should not."""
    (reaction,) = survey.space.react(arrival.target, letter)
    edge = reaction.step.edge if reaction.step else _edge_of(arrival)
    operation, category = arrival.step.letter.operation.name, arrival.step.answer.category
    way = told((*survey.space.way(arrival.source), arrival.step), letter)
    what = "again with another key, or with none" if id_ == "G30" else letter.operation.name
    return subject.at_edge(id_, edge, f"after {operation}/{category} {edge.id!r} allows {what}", way)


def _edge_of(arrival: Arrival) -> Edge:
    step = arrival.reactions[0].step
    assert step is not None  # noqa: S101 - an answer follows an allowed call
    return step.edge


def _repeats(space: Space, arrival: Arrival) -> Letter | None:
    """The same write again, after an uncertain answer, without the key that was sent."""
    operation, category = arrival.step.letter.operation, arrival.step.answer.category
    if not operation.writes or CATEGORIES[category].outcome_class is not OutcomeClass.UNCERTAIN:
        return None
    key = operation.idempotency
    looked_at = key is not None and space.alphabet.values.compares(operation, key)
    sent = arrival.step.letter.args.get(key) if key else None
    token = renamed(sent, arrival.step.swapped, space.alphabet.tokens)
    for letter in space.alphabet.letters[operation.name]:
        again = letter.args.get(key) if key and looked_at else None
        if (again is None or again != token) and _allowed(space, arrival.target, letter):
            return letter
    return None


def _writes(space: Space, arrival: Arrival) -> Letter | None:
    """Any write that is allowed after the service, or a person, has refused."""
    operation = arrival.step.letter.operation
    if arrival.step.answer.category not in _REFUSED_FOR_GOOD or operation.effect is Effect.READ:
        return None
    writes = (letter for letter in space.letters(arrival.target) if letter.operation.writes)
    return next((letter for letter in writes if _allowed(space, arrival.target, letter)), None)


def _allowed(space: Space, situation: Situation, letter: Letter) -> Edge | None:
    (reaction,) = space.react(situation, letter)
    return reaction.step.edge if reaction.kind is Kind.ALLOWED and reaction.step else None


def _endless(subject: Subject, survey: Survey) -> Iterator[Finding]:
    """Writes that lead round a circle; counters stop growing where no guard sees them, so a bounded one is none."""
    space = survey.space
    network: nx.DiGraph[Situation] = nx.DiGraph()
    writes: list[Arrival] = []
    for situation in space.situations():
        for arrival in space.arrivals(situation):
            network.add_edge(situation, arrival.target, step=arrival.step)
            if arrival.step.letter.operation.writes:
                writes.append(arrival)
    circle = {
        situation: number
        for number, component in enumerate(nx.strongly_connected_components(network))
        for situation in component
    }
    for arrival in writes:
        if circle[arrival.source] == circle[arrival.target]:
            edge = _edge_of(arrival)
            back = nx.shortest_path(network, arrival.target, arrival.source)
            steps: list[Step] = [network[here][there]["step"] for here, there in pairwise(back)]
            way = told((*space.way(arrival.source), arrival.step, *steps), arrival.step.letter)
            message = f"{edge.id!r} allows {arrival.step.letter.operation.name} again and again"
            yield subject.at_edge("G32", edge, message, way)
