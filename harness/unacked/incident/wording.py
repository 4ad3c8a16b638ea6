"""The words of a case whose trace has none: a task that asks for its effects and for nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unacked.canonical import JSON, dumps

__all__ = ["task_of"]


def task_of(effects: Mapping[str, Sequence[Mapping[str, JSON]]]) -> str:
    """Return a task that asks for every effect once."""
    wanted = [f"{name} with {dumps(dict(effect))}" for name, each in effects.items() for effect in each]
    if not wanted:
        return "Report what was asked for."
    return f"Do each of these once, and report the outcome: {'; '.join(wanted)}."
