"""From a recording to a case: inferred, mapped, redacted, drafted, and tried once to see which rule it breaks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unacked.canonical import JSON
from unacked.contract import Registry
from unacked.errors import Place, Problem, SpecificationError
from unacked.incident.draft import Move, draft, moves_of
from unacked.incident.infer import Inference, infer
from unacked.incident.mapping import ASK, MappingFile
from unacked.incident.pin import world_of
from unacked.incident.recording import Recording
from unacked.incident.redact import Redactor
from unacked.incident.rehearse import Rehearsal, case_document, rehearse
from unacked.incident.suggest import suggest
from unacked.suite import Suite
from unacked.tools import HAND_OVER, REGISTRY

__all__ = ["Draft", "Imported", "bring_in", "case_name", "propose"]


@dataclass(frozen=True, slots=True)
class Imported:
    """A recording without what names people, what was inferred of each call before, and a mapping for it."""

    recording: Recording
    inferred: Mapping[str, Inference]
    mapping: MappingFile

    @property
    def asks(self) -> bool:
        """Whether something is still to be said by a person."""
        named = [mapped.operation for mapped in self.mapping.operations.values()]
        return ASK in (*named, *(note.category for note in self.mapping.calls.values()))

    def moves(self) -> list[Move]:
        """Return the calls that count, as operations."""
        return moves_of(self.recording, self.mapping, self.inferred, _operations(self.recording))


@dataclass(frozen=True, slots=True)
class Draft:
    """A case that shows the incident, and how each part of it came about."""

    value: dict[str, JSON]
    notes: Sequence[str]

    @property
    def rule(self) -> str:
        """The rule that catches the recorded behaviour."""
        return str(self.value["incident"]["caught"])


def bring_in(recording: Recording, redactor: Redactor, mapping: MappingFile | None = None) -> Imported:
    """Redact a recording; categories are inferred from it as it was, values are taken from it as it becomes."""
    inferred = {call.id: infer(call.answer) for call in recording.calls}
    clean = redactor.recording(recording)
    return Imported(clean, inferred, mapping or suggest(clean, inferred, _operations(clean)))


def _operations(recording: Recording) -> Registry:
    """All operations that a recording may hold: only members of a team can hand over."""
    team = recording.begin is not None and recording.begin.team
    return Registry([*REGISTRY.values(), HAND_OVER.operation]) if team else REGISTRY


def propose(imported: Imported, suite: Suite, *, source: str, digest: str, slug: str | None = None) -> Draft:
    """Draft the case and try it; raises SpecificationError where no rule of its graphs is broken on every side."""
    recording = imported.recording
    moves = imported.moves()
    value, notes = draft(moves, imported.mapping, suite, task=recording.task, source=source)
    if imported.mapping.claim is None and all(move.operation.name != "finish" for move in moves):
        notes.append("claim: the trace does not say what the agent claimed at the end; 'claim' in the mapping can")
    shown = rehearse(suite, case_document(value, "draft"))
    if shown.rule is None and value.pop("twins", False):
        notes.append("twin: left out, for on the other side another rule catches the same calls")
        shown = rehearse(suite, case_document(value, "draft"))
    rule = shown.rule
    if rule is None:
        raise SpecificationError([Problem(Place(recording.name), _no_rule(shown), _what_to_do(moves, shown))])
    notes += _differences(moves, shown)
    if len({(move.agent, move.turn) for move in moves}) < len(moves):
        notes.append("turns: calls that were decided together are repeated one after the other")
    name = slug or f"{rule}-{_first_write(moves)}".replace("_", "-")
    value["case"] = case_name(name)
    value["title"] = imported.mapping.title or f"{value['title']}, and then came {rule}"
    value["incident"] |= {
        "caught": rule,
        "provenance": {"format": recording.form, "trace": digest, "calls": len(recording.calls)},
    }
    if shown.careful_passes:
        value.setdefault("expect", {})["world"] = world_of(shown)
    return Draft(value, [*recording.notes, *notes])


def case_name(name: str) -> str:
    """Return the name of an incident's case."""
    return "I-" + re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:60].strip("-")


def _first_write(moves: Sequence[Move]) -> str:
    return next((move.operation.name for move in moves if move.operation.writes), moves[0].operation.name)


def _no_rule(shown: Rehearsal) -> str:
    seen = "; ".join(
        f"{each.side}: {', '.join(each.path_rules) or each.verdict.claims['path'].verdict.value}"
        for each in shown.repeated
    )
    return f"the recorded calls break no rule on every side ({seen})"


def _what_to_do(moves: Sequence[Move], shown: Rehearsal) -> str:
    differences = _differences(moves, shown)
    words = "; ".join(differences[:3]) or "every call was answered as it was recorded"
    return f"look at effects, contract, graphs and claim in the mapping file ({words})"


def _differences(moves: Sequence[Move], shown: Rehearsal) -> list[str]:
    """Say where the replay was answered otherwise than the trace."""
    results = [event.category for event in shown.repeated[0].history.named("result")]
    told = []
    for move, category in zip(moves, results, strict=False):
        if move.category != category:
            told.append(f"call {move.call} ({move.operation.name}): recorded {move.category}, replayed {category}")
    return told
