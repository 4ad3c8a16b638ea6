"""One thing that was looked at to verify an incident."""

from __future__ import annotations

from dataclasses import dataclass

from unacked.canonical import JSON

__all__ = ["Check"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at, and what was seen."""

    what: str
    holds: bool
    seen: str

    def as_json(self) -> dict[str, JSON]:
        """Return the check as a JSON object."""
        return {"check": self.what, "holds": self.holds, "seen": self.seen}
