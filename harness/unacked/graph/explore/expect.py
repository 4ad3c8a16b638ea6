"""What a trace must get, from how it was built: the second opinion on the monitor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from unacked.graph.explore.compare import refusal
from unacked.graph.explore.letters import Alphabet
from unacked.graph.explore.reaction import Machine
from unacked.graph.explore.space import Step
from unacked.graph.model import Finality
from unacked.graph.verdict import VERDICTS, EndReason, Standing, Verdict

__all__ = ["Expected", "constructed"]

_STANDINGS: Mapping[Finality, Standing] = {
    Finality.OPEN: Standing.OPEN,
    Finality.OK: Standing.RESTING,
    Finality.FINAL: Standing.CLOSED,
}


@dataclass(frozen=True, slots=True)
class Expected:
    """Verdict, first violation with its event, and the states that are passed."""

    verdict: Verdict
    violation: str | None
    event: int | None
    states: frozenset[str]


def constructed(machine: Machine, alphabet: Alphabet, steps: Iterable[Step], reason: EndReason) -> Expected:
    """Return what steps must get, by the rules of the format and without the monitor."""
    local, severities = machine.start(), []
    violation: str | None = None
    event: int | None = None
    states = {local.state}
    for number, step in enumerate(steps):
        reaction = machine.react(local, step.letter)
        refused = refusal(machine, reaction, step.letter)
        if refused is not None:
            if violation is None:
                violation, event = refused[0], 2 * number
            severities.append(Verdict.UNSAFE if refused[1] else Verdict.FAIL)
        if reaction.step is not None:
            local, _ = machine.arrive(local, step.letter, reaction.step, step.answer)
            local = local.renamed(step.swapped, alphabet.tokens)
            states.add(local.state)
    standing = VERDICTS[_STANDINGS[machine.standing(local)], reason.stop]
    return Expected(Verdict.worst(severities or [standing]), violation, event, frozenset(states))
