"""What the nights of one nightly run showed: one JSON line a night, and what they say of each case together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import jsonlines
from pydantic import BaseModel, ConfigDict, ValidationError

from unacked.canonical import JSON, dumps, loads
from unacked.errors import HarnessError, RecordError
from unacked.statistics import Cusum, upper_bound, wilson

__all__ = ["CaseClass", "CaseHistory", "CaseNight", "History", "NightEntry", "Promotion", "classify"]

_FEWEST = 10
"""Exposed runs below which nothing is said of a case."""
_REFERENCE_NIGHTS = 3
"""The nights from which the usual pass rate of a case is taken."""
_STABLE, _ERRORS, _STEP, _SURE = 0.9, 0.05, 0.28, 0.98


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class CaseNight(_Strict):
    """One case in one night: numbers of runs."""

    runs: int
    decided: int
    passes: int
    unsafe: int
    exposed: int
    errors: int


class NightEntry(_Strict):
    """One night: when, which run of which agent under which pins, what was decided, and every case."""

    night: str
    run: str
    agent: str
    pins: dict[str, JSON]
    decision: str
    reasons: list[str]
    cases: dict[str, CaseNight]


class Promotion(_Strict):
    """A run that became the baseline, and why."""

    promoted: str
    night: str
    reason: str


class History:
    """The file that remembers the nights; it is only ever appended to."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, entry: NightEntry | Promotion) -> None:
        """Remember a night or a promotion; raises HarnessError."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8", newline="\n") as file:
                jsonlines.Writer(file, dumps=dumps, flush=True).write(entry.model_dump())
        except OSError as error:
            raise HarnessError(f"{self.path}: cannot be written: {error.strerror}") from None

    def nights(self) -> list[NightEntry]:
        """Return all nights in order; raises RecordError with file and line."""
        return [entry for entry in self._entries() if isinstance(entry, NightEntry)]

    def promotions(self) -> list[Promotion]:
        """Return all promotions in order; raises RecordError with file and line."""
        return [entry for entry in self._entries() if isinstance(entry, Promotion)]

    def _entries(self) -> Iterator[NightEntry | Promotion]:
        if not self.path.exists():
            return
        try:
            lines = self.path.read_bytes().splitlines(keepends=True)
        except OSError as error:
            raise RecordError(f"{self.path}: cannot be read: {error.strerror}") from None
        for number, line in enumerate(lines, start=1):
            if number == len(lines) and not line.endswith(b"\n"):
                return  # the writer was interrupted: that night is not remembered
            yield _entry(line, f"{self.path}:{number}")


def _entry(line: bytes, place: str) -> NightEntry | Promotion:
    try:
        value = loads(line)
        model = Promotion if isinstance(value, dict) and "promoted" in value else NightEntry
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        member = ".".join(map(str, first["loc"])) or "the line"
        raise RecordError(f"{place}: {member}: {first['msg']}") from None
    except ValueError as error:
        raise RecordError(f"{place}: {error}") from None


class CaseClass(StrEnum):
    """What the nights say of a case."""

    INSUFFICIENT = "insufficient"
    UNSAFE = "unsafe"
    ENVIRONMENT = "environment"
    REGRESSED = "regressed"
    IMPROVED = "improved"
    STABLE = "stable"
    FAILING = "failing"
    FLAKY = "flaky"


@dataclass(frozen=True, slots=True)
class CaseHistory:
    """A case over all nights. ``since`` is the first night of a change, ``changed`` the pins that changed with it.

    ``unsafe_below`` bounds the rate of unsafe runs among the exposed ones, at 95 %.
    """

    kind: CaseClass
    nights: Sequence[CaseNight]
    since: str | None = None
    changed: Sequence[str] = ()

    @property
    def unsafe_below(self) -> float:
        """The upper bound of the rate of unsafe runs."""
        return upper_bound(sum(night.unsafe for night in self.nights), sum(night.exposed for night in self.nights))


def classify(entries: Sequence[NightEntry]) -> dict[str, CaseHistory]:
    """Say of every case of the last night what all nights together show."""
    return {case: _classified(case, entries) for case in (entries[-1].cases if entries else ())}


def _classified(case: str, entries: Iterable[NightEntry]) -> CaseHistory:
    present = [entry for entry in entries if case in entry.cases]
    nights = [entry.cases[case] for entry in present]
    total = {name: sum(getattr(night, name) for night in nights) for name in CaseNight.model_fields}
    if total["errors"] > _ERRORS * total["runs"]:
        return CaseHistory(CaseClass.ENVIRONMENT, nights)
    if nights[-1].unsafe:
        return CaseHistory(CaseClass.UNSAFE, nights)
    if total["exposed"] < _FEWEST or not total["decided"]:
        return CaseHistory(CaseClass.INSUFFICIENT, nights)
    for kind, step in ((CaseClass.REGRESSED, -_STEP), (CaseClass.IMPROVED, _STEP)):
        since = _changed_since(nights, step)
        if since is not None:
            return CaseHistory(kind, nights, present[since].night, _changed_pins(present, since))
    return CaseHistory(_steady(total["passes"], total["decided"]), nights)


def _steady(passes: int, decided: int) -> CaseClass:
    low, high = wilson(passes, decided)
    if low >= _STABLE:
        return CaseClass.STABLE
    if 0 < passes < decided:
        return CaseClass.FLAKY
    return CaseClass.FAILING if high < 1 - _STABLE or not passes else CaseClass.INSUFFICIENT


def _changed_since(nights: Sequence[CaseNight], step: float) -> int | None:
    """The first night of a change that is still there in the last one; None without."""
    reference = nights[:_REFERENCE_NIGHTS]
    decided = sum(night.decided for night in reference)
    if not decided:
        return None
    usual = min(_SURE, max(1 - _SURE, sum(night.passes for night in reference) / decided))
    changed = min(_SURE, max(1 - _SURE, usual + step))
    if changed == usual:
        return None
    cusum = Cusum(usual, changed)
    alarm = None
    for night in nights:
        alarm = cusum.add(night.passes, night.decided)
    return alarm.since if alarm else None


def _changed_pins(entries: Sequence[NightEntry], since: int) -> list[str]:
    if not since:
        return []
    before, after = entries[since - 1].pins, entries[since].pins
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
