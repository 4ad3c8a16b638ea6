"""The plan of a run: which trials, in which order, under which pins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from unacked.canonical import JSON, digest
from unacked.claims import GRADER_VERSION
from unacked.errors import Place, Problem, SpecificationError
from unacked.suite import LoadedAgent, LoadedCase, Suite
from unacked.tools import Timeouts
from unacked.trial import TrialPlan

__all__ = ["Plan", "RunRequest", "identity", "make_plan"]


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What the user asked for; no agents means the controls. ``repeat`` is the number of repeats.

    ``rule`` are the numbers by which the run will be decided on, where that is known before it begins.
    """

    select: Sequence[str] = ()
    agents: Sequence[str] = ()
    repeat: int = 1
    seed: str = "0"
    rule: Mapping[str, JSON] | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """All trials of a run in order. ``run`` is the digest of its identity: equal plans, equal runs.

    ``suite`` is what the plan was made from.
    """

    run: str
    request: RunRequest
    pins: dict[str, JSON]
    cases: Sequence[str]
    agents: Sequence[str]
    pending: Sequence[str]
    sweeps: Sequence[str]
    trials: Sequence[TrialPlan]
    suite: Suite = field(repr=False, compare=False)

    @property
    def controls(self) -> bool:
        """Whether this is a run of the controls, each with what is expected of it."""
        return not self.request.agents

    @property
    def identity(self) -> dict[str, JSON]:
        """Everything that decides what the run does."""
        request = self.request
        return identity(self.pins, request.seed, request.repeat, self.agents, controls=self.controls, rule=request.rule)

    def as_json(self) -> dict[str, JSON]:
        """Return the plan as the manifest holds it."""
        return {
            "controls": self.controls,
            "cases": list(self.cases),
            "agents": list(self.agents),
            "pending": list(self.pending),
            "sweeps": list(self.sweeps),
            "repeat": self.request.repeat,
            "trials": len(self.trials),
            **({} if self.request.rule is None else {"rule": dict(self.request.rule)}),
        }


def make_plan(suite: Suite, request: RunRequest) -> Plan:
    """Return the plan; raises SpecificationError where nothing can be run."""
    _check_seed(request.seed)
    cases = suite.select(request.select)
    agents = [suite.agent(name) for name in dict.fromkeys(request.agents)] or suite.controls()
    if not agents:
        raise _nothing("the suite has no control agents", "name an agent with --agent, or give one a 'control'")
    problems = [problem for agent in agents for problem in agent.problems()]
    if problems:
        raise SpecificationError(problems)
    pins = _pins(suite, cases, agents)
    names = [agent.name for agent in agents]
    run = digest(identity(pins, request.seed, request.repeat, names, controls=not request.agents, rule=request.rule))[
        :16
    ]
    trials = _trials(cases, agents, request, run)
    if not trials:
        hint = "one that walks graphs takes no case with a team, one that repeats incidents only cases that hold one"
        raise _nothing("no trial is left: the selected agents have nothing to do in the selected cases", hint)
    pending = [case.name for case in suite.pending(request.select)]
    sweeps = [case.name for case in suite.sweeps(request.select)]
    return Plan(run, request, pins, [case.name for case in cases], names, pending, sweeps, trials, suite)


def _check_seed(seed: str) -> None:
    try:
        seed.encode()
    except UnicodeEncodeError:
        raise SpecificationError([Problem(Place("seed"), f"{seed!r} is not UTF-8", "give any text")]) from None


def identity(
    pins: JSON,
    seed: str,
    repeat: int,
    agents: Sequence[str],
    *,
    controls: bool,
    rule: Mapping[str, JSON] | None = None,
) -> dict[str, JSON]:
    """Return everything that decides what a run does and how it is decided on; its digest is the run's."""
    decided = {} if rule is None else {"rule": dict(rule)}
    return {"pins": pins, "seed": seed, "repeat": repeat, "agents": list(agents), "controls": controls, **decided}


def _trials(
    cases: Sequence[LoadedCase], agents: Sequence[LoadedAgent], request: RunRequest, run: str
) -> list[TrialPlan]:
    trials: list[TrialPlan] = []
    for case in cases:
        for side in case.sides:
            for agent in agents:
                for repeat in range(1, request.repeat + 1) if _has_work(agent, case, request) else ():
                    trials.append(
                        TrialPlan(len(trials), case.name, side.twin, agent.name, repeat, request.seed, run, side.place)
                    )
    return trials


def _has_work(agent: LoadedAgent, case: LoadedCase, request: RunRequest) -> bool:
    """Whether an agent runs in a case; of the controls only the careful one has anything to show in a sweep."""
    if not request.agents and case.file.sweep is not None and agent.definition.file.control != "passes":
        return False
    return agent.takes(case)


def _pins(suite: Suite, cases: Sequence[LoadedCase], agents: Sequence[LoadedAgent]) -> dict[str, JSON]:
    """Pin what can decide a verdict of this run, and nothing else of the suite."""
    pins = suite.pins()
    graphs = {graph.name for case in cases for graph in case.task().graphs}
    services = {name for case in cases for name in case.file.services}
    services |= {use.service for agent in agents if (use := agent.definition.file.provider) is not None}
    return {
        "cases": {case.name: pins["cases"][case.name] for case in cases},
        "graphs": {name: value for name, value in pins["graphs"].items() if name in graphs},
        "services": {name: value for name, value in pins["services"].items() if name in services},
        "agents": {agent.name: pins["agents"][agent.name] for agent in agents},
        "tools": pins["tools"],
        "timeouts_s": Timeouts().as_json(),
        "grader": GRADER_VERSION,
    }


def _nothing(message: str, hint: str) -> SpecificationError:
    return SpecificationError([Problem(Place("unacked"), message, hint)])
