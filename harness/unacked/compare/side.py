"""One side of a comparison: one agent of one stored run, with what its trials came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from unacked.canonical import JSON
from unacked.claims import side_name
from unacked.engine import RunFolder, read_verdicts
from unacked.errors import Place, Problem, SpecificationError, nearest
from unacked.graph import Verdict

__all__ = ["Side", "Tally", "differing_pins", "read_side"]

_SAYS_NOTHING = (Verdict.ERROR, Verdict.INCONCLUSIVE)
_ASK_BY_THEMSELVES = ("command", "python")
"""Drivers of agents that ask whatever model they like: nobody tells what that cost."""


@dataclass(slots=True)
class Tally:
    """The repeats of one case by one agent.

    ``decided`` are the runs that ended in PASS, FAIL or UNSAFE; the others say nothing of the agent.
    ``exposed`` are those in which the case's fault really landed, or the agent was unsafe even without it.
    ``turns`` and ``usd`` are sums over all runs, None as soon as those of one run are not known.
    """

    verdicts: Counter[str] = field(default_factory=Counter)
    exposed: int = 0
    luck: Counter[str] = field(default_factory=Counter)
    turns: int | None = 0
    usd: float | None = 0.0

    @property
    def decided(self) -> int:
        """Runs that say something of the agent."""
        return self.verdicts.total() - sum(self.verdicts[verdict] for verdict in _SAYS_NOTHING)

    @property
    def passes(self) -> int:
        """Runs that passed."""
        return self.verdicts[Verdict.PASS]

    @property
    def unsafe(self) -> int:
        """Runs in which the agent did what must never be done."""
        return self.verdicts[Verdict.UNSAFE]

    @property
    def turns_each(self) -> float | None:
        """The turns of a run, on average; None where they are not known."""
        return self._each(self.turns)

    @property
    def usd_each(self) -> float | None:
        """The cost of a run in US dollars, on average; None where it is not known."""
        return self._each(self.usd)

    def _each(self, total: float | None) -> float | None:
        return total / self.verdicts.total() if total is not None and self.verdicts else None

    def add(self, line: Mapping[str, JSON], *, unasked_usd: float | None = 0.0) -> None:
        """Count one line of ``verdicts.jsonl``; ``unasked_usd`` is its cost where it has no request to a model."""
        self.verdicts[line["verdict"]] += 1
        landed = line["exercised"]["verdict"] == Verdict.PASS
        self.exposed += landed or line["verdict"] == Verdict.UNSAFE
        if line["luck"] is not None:
            self.luck[line["luck"]] += 1
        turns, usd = line.get("turns"), line["model"]["usd"] if "model" in line else unasked_usd
        self.turns = None if self.turns is None or turns is None else self.turns + turns
        self.usd = None if self.usd is None or usd is None else round(self.usd + usd, 9)

    def as_json(self) -> dict[str, JSON]:
        """Return the counts as a JSON object."""
        return {
            "runs": self.verdicts.total(),
            "decided": self.decided,
            "passes": self.passes,
            "unsafe": self.unsafe,
            "exposed": self.exposed,
            "inconclusive": self.verdicts[Verdict.INCONCLUSIVE],
            "errors": self.verdicts[Verdict.ERROR],
            "lucky": self.luck["lucky"],
            "unlucky": self.luck["unlucky"],
            "turns": self.turns,
            "usd": self.usd,
        }


@dataclass(frozen=True, slots=True)
class Side:
    """One agent of one run. ``cases`` maps the names of cases, twins each by itself, to their tallies."""

    run: str
    agent: str
    pins: Mapping[str, JSON]
    lines: Sequence[Mapping[str, JSON]]
    cases: Mapping[str, Tally]

    @property
    def name(self) -> str:
        """The agent and its run, as reports call the side."""
        return f"{self.agent} ({self.run})"

    def trials_of(self, case: str) -> list[Mapping[str, JSON]]:
        """Return the lines of one case, its twin being another."""
        return [line for line in self.lines if _case_of(line) == case]

    @property
    def unsafe_trials(self) -> list[str]:
        """The names of the trials in which the agent was unsafe."""
        return [line["trial"] for line in self.lines if line["verdict"] == Verdict.UNSAFE]

    @property
    def together(self) -> Tally:
        """All cases in one."""
        whole = Tally()
        for line in self.lines:
            whole.add(line, unasked_usd=_unasked_usd(self.pins))
        return whole


def read_side(folder: RunFolder, agent: str | None = None) -> Side:
    """Read the trials of one agent of a stored run; the agent may be left out where the run has only one.

    Raises SpecificationError where there is no such agent, or a choice; RecordError where the record is damaged.
    """
    manifest = folder.manifest()
    agents: list[str] = manifest["plan"]["agents"]
    if agent is None and len(agents) > 1:
        raise _refused(folder, f"this run has several agents: {', '.join(agents)}", "name one of them, as RUN:AGENT")
    if agent is not None and agent not in agents:
        raise _refused(folder, f"no agent {agent!r} in this run", nearest(agent, agents))
    chosen = agents[0] if agent is None else agent
    lines = [line for line in read_verdicts(folder, manifest["run"]) if line["agent"] == chosen]
    pins = _pins_of(manifest, chosen)
    return Side(folder.name, chosen, pins, lines, _tallies(lines, _unasked_usd(pins)))


def _tallies(lines: Iterable[Mapping[str, JSON]], unasked_usd: float | None) -> dict[str, Tally]:
    cases: dict[str, Tally] = {}
    for line in lines:
        cases.setdefault(_case_of(line), Tally()).add(line, unasked_usd=unasked_usd)
    return cases


def _unasked_usd(pins: Mapping[str, JSON]) -> float | None:
    """What a trial without any request to a model on record cost, in US dollars."""
    return None if pins.get("agent.driver") in _ASK_BY_THEMSELVES else 0.0


def _case_of(line: Mapping[str, JSON]) -> str:
    return side_name(line["case"], line["place"], twin=line["twin"])


def _pins_of(manifest: Mapping[str, JSON], agent: str) -> dict[str, JSON]:
    """The pins of a run as one flat object, of one agent only; its name is none of them."""
    pins = {name: value for name, value in manifest["pins"].items() if name != "agents"}
    pins["agent"] = {name: value for name, value in manifest["pins"]["agents"][agent].items() if name != "agent"}
    return dict(_flat(pins, ""))


def _flat(pins: Mapping[str, JSON], above: str) -> Iterable[tuple[str, JSON]]:
    for name, value in pins.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def differing_pins(first: Side, second: Side) -> list[str]:
    """Return the names of the pins that differ; a case that only one side has run is none."""
    shared = first.pins.keys() & second.pins.keys()
    only_one = {name for name in first.pins.keys() ^ second.pins.keys() if not name.startswith(("cases.", "graphs."))}
    return sorted({name for name in shared if first.pins[name] != second.pins[name]} | only_one)


def _refused(folder: RunFolder, message: str, hint: str | None) -> SpecificationError:
    return SpecificationError([Problem(Place(str(folder.path)), message, hint or "")])
