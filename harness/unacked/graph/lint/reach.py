"""Lints that need to know what can happen: rules that never decide, guards that are undefined, lines that are idle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from unacked.graph.explore import Example, Survey, told
from unacked.graph.lint.finding import Finding
from unacked.graph.lint.subject import Subject
from unacked.graph.model import Edge
from unacked.outcome import CATEGORIES

__all__ = ["reach_findings"]


class _Seen(NamedTuple):
    """An example with the survey that has it."""

    survey: Survey
    example: Example

    @property
    def way(self) -> tuple[str, ...]:
        """The shortest way to the example and its call."""
        return told(self.survey.space.way(self.example.situation), self.example.letter)


def reach_findings(subject: Subject) -> Iterator[Finding]:
    """Yield the rules that do nothing, and those that do it by accident."""
    for edge in subject.edges():
        if any(edge.id in survey.decided for survey in subject.surveys):
            yield from _alternatives(subject, edge)
            yield from _conjuncts(subject, edge)
        elif all(survey.exhaustive for survey in subject.surveys):
            yield _undecided(subject, edge)
    yield from _overlaps(subject)
    yield from _unbound(subject)


def _undecided(subject: Subject, edge: Edge) -> Finding:
    """A rule that never decides: it never fits, or something else always decides."""
    state = subject.home[edge.id]
    broadcast = all(operation.broadcast for operation in subject.operations[edge.id].values())
    keyed = any(survey.machine.keys for survey in subject.surveys)
    if state is not None and state.name == subject.graph.start and broadcast and keyed:
        return subject.at_edge("G15", edge, f"{edge.id!r} never fires: before the first call there is no thread")
    matched = (_Seen(survey, survey.matched[edge.id]) for survey in subject.surveys if edge.id in survey.matched)
    fitting = next(matched, None)
    if fitting is not None:
        rule = fitting.example.reaction.rule
        if rule in {other.id for other in subject.graph.always_forbid}:
            return subject.at_edge("G25", edge, f"what {edge.id!r} allows is always forbidden by {rule!r}", fitting.way)
        by = f"{rule!r} decides first" if rule else "the call is of no account"
        return subject.at_edge("G22", edge, f"{edge.id!r} never decides: where it fits, {by}", fitting.way)
    if not subject.operations[edge.id]:
        return subject.at_edge("G23", edge, f"{edge.id!r} never fits: its role is bound nowhere")
    return subject.at_edge("G23", edge, f"{edge.id!r} never fits any call", _way_to_state(subject, edge))


def _way_to_state(subject: Subject, edge: Edge) -> tuple[str, ...] | None:
    state = subject.home[edge.id]
    for survey in subject.surveys:
        if state is not None and state.name in survey.states:
            return told(survey.space.way(survey.states[state.name]))
    return None


def _alternatives(subject: Subject, edge: Edge) -> Iterator[Finding]:
    for key, targets in edge.then.items():
        if len(targets) < 2:
            continue
        covered = _covered(edge, key)
        for index, target in enumerate(targets):
            chosen = any(
                (edge.id, category, index) in survey.alternatives for survey in subject.surveys for category in covered
            )
            if not chosen and all(survey.exhaustive for survey in subject.surveys):
                message = f"edge {edge.id!r}: {key} never leads to alternative {index + 1} ({target.to!r})"
                yield subject.at_edge("G24", edge, message)


def _covered(edge: Edge, key: str) -> set[str]:
    """The categories that a key of ``then`` may stand for."""
    return {key} if key in CATEGORIES else set(CATEGORIES) - edge.then.keys()


def _conjuncts(subject: Subject, edge: Edge) -> Iterator[Finding]:
    """A line that is never the only one that does not hold can be left out."""
    if subject.inert(edge) or not all(survey.exhaustive for survey in subject.surveys):
        return
    for index, conjunct in enumerate(edge.when.conjuncts):
        if not any((edge.id, index) in survey.negated for survey in subject.surveys):
            yield subject.at_edge("G26", edge, f"{edge.id!r}: {conjunct.text!r} holds whenever the rest does")
    for key, targets in edge.then.items():
        for position, target in enumerate(targets):
            for index, conjunct in enumerate(target.when.conjuncts):
                if not any(
                    (edge.id, category, position, index) in survey.diverted
                    for survey in subject.surveys
                    for category in _covered(edge, key)
                ):
                    message = f"{edge.id!r}: {key}: {conjunct.text!r} holds whenever the rest does"
                    yield subject.at_edge("G26", edge, message)


def _overlaps(subject: Subject) -> Iterator[Finding]:
    edges = {edge.id: edge for edge in subject.edges()}
    seen: dict[tuple[str, str], _Seen] = {}
    for survey in subject.surveys:
        for pair, example in survey.overlaps.items():
            seen.setdefault(pair, _Seen(survey, example))
    for (first, second), shown in seen.items():
        message = f"{first!r} and {second!r} both allow this call; the first in the file decides"
        yield subject.at_edge("G21", edges[second], message, shown.way)


def _unbound(subject: Subject) -> Iterator[Finding]:
    """Rules of ``always`` hold in states where nothing was bound yet: they wait for it."""
    edges = {edge.id: edge for edge in subject.edges()}
    seen: dict[tuple[str, str], _Seen] = {}
    for survey in subject.surveys:
        for key, example in survey.unbound.items():
            seen.setdefault(key, _Seen(survey, example))
    for (edge, text), shown in seen.items():
        if subject.home[edge] is not None:
            message = f"{edge!r}: {text!r} is undefined here, for a variable is not bound"
            yield subject.at_edge("G20", edges[edge], message, shown.way)
