"""The harness's own words are sinks too: verdicts, summary, reports, JUnit are looked through before they are written.

The canaries of a trial follow from the seed and its names, so they can be made again whenever a text is to be
checked. Hardly any text holds even the beginning of one; only where one does, all of them are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple, Protocol, Self

from unacked.canonical import JSON, dumps, loads
from unacked.claims import TrialVerdict
from unacked.claims.trail import secret_leaked
from unacked.errors import ExitCode
from unacked.secret import BEGINNING, PROVIDER, Scanner, mint

__all__ = ["Canaries", "TrialCanaries", "clean_summary", "clean_verdict"]

_REDACTED = "[redacted]"
_LONGEST = 400
"""Characters that no spelling of a canary is longer than."""
_MOST_CREDENTIALS = 40
"""How many credentials of one trial are looked for: the first, and those that renewals, switches and refreshes made."""


class Names(Protocol):
    """What has the names of a trial: a planned one, or a line of ``verdicts.jsonl`` with its run's seed."""

    @property
    def seed(self) -> str: ...

    @property
    def case(self) -> str: ...

    @property
    def agent(self) -> str: ...

    @property
    def repeat(self) -> int: ...


class TrialCanaries(NamedTuple):
    """The names from which a trial's canaries follow."""

    seed: str
    case: str
    agent: str
    repeat: int

    @classmethod
    def of(cls, trial: Names) -> Self:
        """Return those of a trial."""
        return cls(trial.seed, trial.case, trial.agent, trial.repeat)

    def secrets(self) -> list[str]:
        """Return the canaries, in the order in which the trial mints them."""
        names = (self.seed, self.case, self.agent, str(self.repeat))
        return [mint(*names, last) for last in (*map(str, range(_MOST_CREDENTIALS)), PROVIDER)]


class Canaries:
    """The canaries of all trials of a run; ``found`` lists the sinks in which one stood.

    ``trials`` may be any iterable: it is gone through once, and only where a text holds what begins like a canary.
    """

    def __init__(self, trials: Iterable[Names]) -> None:
        self._trials = trials
        self.found: list[str] = []

    @classmethod
    def of_lines(cls, seed: str, lines: Iterable[Mapping[str, JSON]]) -> Self:
        """Return those of a stored run: its seed, and its lines of ``verdicts.jsonl``."""
        return cls.of_runs([(seed, lines)])

    @classmethod
    def of_runs(cls, runs: Iterable[tuple[str, Iterable[Mapping[str, JSON]]]]) -> Self:
        """Return those of several stored runs, each with its seed and its lines."""
        return cls(
            TrialCanaries(seed, line["case"], line["agent"], line["repeat"]) for seed, lines in runs for line in lines
        )

    def clean(self, sink: str, text: str) -> str:
        """Return the text of a sink without any canary, and note it where there was one."""
        # A report may have megabytes and a run a million spellings: only where one may begin, all are looked for.
        begun = {text[place : place + _LONGEST] for place in BEGINNING.places(text)}
        found = self._scanner.found("\n".join(begun)) if begun else []
        if not found:
            return text
        self.found.append(sink)
        for spelling in found:
            text = text.replace(spelling, _REDACTED)
        return text

    def clean_json(self, sink: str, value: JSON) -> JSON:
        """Return a JSON value without any canary, whole or in pieces side by side."""
        if not BEGINNING.leaks_in(value) or not self._scanner.leaks_in(value):
            return value
        self.found.append(sink)
        told = self._scanner.redact_in(value)
        return _without_texts(told) if self._scanner.leaks_in(told) else told

    @cached_property
    def _scanner(self) -> Scanner:
        trials = dict.fromkeys(map(TrialCanaries.of, self._trials))
        return Scanner([secret for trial in trials for secret in trial.secrets()])


def clean_verdict(canaries: TrialCanaries, verdict: TrialVerdict) -> dict[str, JSON]:
    """Return a verdict as JSON; where it quotes a canary, without it and with a finding more."""
    value = verdict.as_json()
    # All that a verdict quotes stands in its final claim and its findings; the rest are the harness's own words.
    claims = (*value["claims"].values(), value["exercised"])
    if not BEGINNING.leaks_in([value["final"], *(finding for claim in claims for finding in claim["findings"])]):
        return value
    scanner = Scanner(canaries.secrets())
    if not scanner.leaks_in(value):
        return value
    told: dict[str, JSON] = scanner.redact_in(verdict.with_finding("trail", secret_leaked("verdict")).as_json())
    return _without_quotes(told) if scanner.leaks_in(told) else told


def _without_quotes(told: dict[str, JSON]) -> dict[str, JSON]:
    """Take out of every finding whatever it quotes: a canary in pieces cannot be told from what is around it."""
    for claim in (*told["claims"].values(), told["exercised"]):
        for finding in claim["findings"]:
            finding.update({name: _REDACTED for name in finding if name not in ("rule", "verdict")})
    return told


def _without_texts(value: JSON) -> JSON:
    """Take every text out of a value: a canary in pieces cannot be told from what is around it."""
    if isinstance(value, str):
        return _REDACTED
    if isinstance(value, Mapping):
        return {key: _without_texts(member) for key, member in value.items()}
    return [_without_texts(member) for member in value] if isinstance(value, list | tuple) else value


def clean_summary(canaries: Canaries, summary: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the summary of a run without any canary; where there was one, the run fails."""
    told = dict(summary)
    text = dumps(told)
    cleaned = canaries.clean("summary", text)
    if cleaned != text:
        told = {**loads(cleaned), "exit_code": int(ExitCode.FAIL)}
    return told
