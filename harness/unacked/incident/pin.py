"""Expects of the world what the careful agent leaves behind, where both sides of the case agree on it."""

from __future__ import annotations

from collections.abc import Mapping

from unacked.canonical import JSON
from unacked.incident.rehearse import Rehearsal, case_document, rehearse
from unacked.suite import Suite

__all__ = ["pin_world", "world_of"]


def pin_world(suite: Suite, value: Mapping[str, JSON], file: str) -> dict[str, JSON]:
    """Return the case with its world pinned; as it is where the careful agent does not pass."""
    rehearsal = rehearse(suite, case_document(value, file))
    world = world_of(rehearsal) if rehearsal.careful_passes else {}
    return {**value, "expect": {**value.get("expect", {}), "world": world}} if world else dict(value)


def world_of(rehearsal: Rehearsal) -> dict[str, JSON]:
    """Return the counts that every side of the careful agent's work ends with.

    A zero is worth saying only where the recorded behaviour made it something else.
    """
    first = rehearsal.careful[0].world
    return {
        name: count
        for name, count in first.items()
        if all(each.world.get(name) == count for each in rehearsal.careful)
        and (count or any(each.world.get(name) for each in rehearsal.repeated))
    }
