"""One trial: a fresh world, an agent, and a record; nothing is judged here."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from unacked.agents import Driver, HandedOver, Seat, Task, offer_of
from unacked.canonical import JSON
from unacked.case import Member
from unacked.claims import side_name
from unacked.clock import VirtualClock
from unacked.errors import HarnessError, UnackedError
from unacked.event import History
from unacked.guard import Egress, Start, guarded
from unacked.suite import LoadedAgent, Suite
from unacked.tools import REGISTRY, Timeouts, Toolbox
from unacked.tools.client import ToolClient
from unacked.trail import Diagnostics, Recorder, TrialName
from unacked.trial.desk import Consequences, Desk
from unacked.trial.loop import Conversation, Dispatcher, Ending
from unacked.trial.provider import Attended, Stand, provided
from unacked.trial.sinks import leaking_sinks
from unacked.trial.team import work_alone, work_together
from unacked.trial.world import CorrelationIds, Vault, World, load_extras

__all__ = ["Bench", "TrialPlan", "TrialRecord"]


@dataclass(frozen=True, slots=True)
class TrialPlan:
    """One trial to be run: case and side, agent, repeat (1-based), and the run's digest and seed."""

    index: int
    case: str
    twin: bool
    agent: str
    repeat: int
    seed: str
    run: str
    place: str = ""

    @property
    def name(self) -> str:
        """The trial's id: ``<case>[.<place>][.twin].<agent>.<repeat>``."""
        return f"{side_name(self.case, self.place, twin=self.twin)}.{self.agent}.{self.repeat}"

    @property
    def record_name(self) -> TrialName:
        """How the trial's record names itself."""
        return TrialName(self.run, self.name, self.case)


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """What a trial leaves: its history, the hash of the record's last line, and its raw errors."""

    history: History
    head: str
    diagnostics: Sequence[Mapping[str, JSON]]


class Bench:
    """What the trials of one process share: the suite, one HTTP client, the drivers; no state of any trial.

    ``toolbox`` is what the tools are made by: ours, unless others are put to the test.
    """

    def __init__(self, suite: Suite, timeouts: Timeouts | None = None, toolbox: type[Toolbox] = Toolbox) -> None:
        self.suite = suite
        self.toolbox = toolbox
        self.client = ToolClient(timeouts or Timeouts())
        self._drivers: dict[str, Driver] = {}
        self._offers: dict[str, str] = {}

    def driver(self, agent: str) -> Driver:
        """Return the driver of an agent; it is made once a process."""
        if agent not in self._drivers:
            self._drivers[agent] = self.suite.agents[agent].driver()
        return self._drivers[agent]

    def offer(self, case: str) -> str:
        """Return the digest of what an agent is told of a case's tools; it is computed once a process."""
        if case not in self._offers:
            self._offers[case] = offer_of(self.suite.cases[case].task())
        return self._offers[case]

    def run(self, plan: TrialPlan, events: Path) -> TrialRecord:
        """Run one trial in a fresh world and record it in the file ``events``, which must not exist.

        Whatever agent, tool or service do ends in the record; raises HarnessError only where the record
        cannot be written.
        """
        load_extras(self.suite.cases[plan.case])
        return _Trial(self, plan, events).run()

    def record_lost(self, plan: TrialPlan, events: Path, trouble: str) -> TrialRecord:
        """Record a trial that was broken off for good in the file ``events``: it began, and ended in ``trouble``."""
        return _Trial(self, plan, events).lost(trouble)


class _Trial:
    def __init__(self, bench: Bench, plan: TrialPlan, events: Path) -> None:
        self._plan = plan
        self._case = bench.suite.cases[plan.case]
        self._clock = VirtualClock()
        self._vault = Vault(plan.seed, plan.case, plan.agent, str(plan.repeat))
        self._recorder = Recorder(events, plan.record_name, self._clock, REGISTRY)
        self._diagnostics = Diagnostics(self._vault.redact, self._vault.leaked_in_json)
        self._raised: list[str] = []
        self._bench = bench

    def run(self) -> TrialRecord:
        agents = [self._agent_of(member).definition.file for member in self._case.file.team or (None,)]
        reaches = [host for agent in agents for host in agent.reaches]
        starts = [program for agent in agents for program in agent.starts]
        with closing(self._recorder), guarded(reaches, programs=starts) as watch:
            self._recorder.emit("trial_begin", detail=self._beginning())
            end: dict[str, JSON] = {"before": {}, "world": {}}
            try:
                end["reason"], trouble = self._work(end)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a crash of ours is never taken for a pass
                self._raised.append(traceback.format_exc())
                reference = self._diagnostics.keep({"traceback": self._raised[-1]})
                told = error if isinstance(error, UnackedError) else type(error).__name__
                end["reason"], trouble = "crash", f"{told} (diagnostics {reference})"
            if trouble is not None:
                self._raised.append(trouble)
                end["trouble"] = self._vault.redact(trouble)
            for kind, attempts in (("egress", Egress), ("starts", Start)):
                refused = {self._vault.redact(str(one)) for one in watch.refused if isinstance(one, attempts)}
                if refused:
                    end[kind] = sorted(refused)
            leaks = self._leaks()
            if leaks:
                end["leaks"] = leaks
            self._recorder.emit("trial_end", detail=end)
            return TrialRecord(self._recorder.history(), self._recorder.close(), self._diagnostics.entries)

    def lost(self, trouble: str) -> TrialRecord:
        with closing(self._recorder):
            self._recorder.emit("trial_begin", detail=self._beginning())
            self._recorder.emit("trial_end", detail={"before": {}, "world": {}, "reason": "crash", "trouble": trouble})
            return TrialRecord(self._recorder.history(), self._recorder.close(), ())

    def _work(self, end: dict[str, JSON]) -> Ending:
        """Let the agent work; returns how that ended, and notes in ``end`` the remote state before and after."""
        plan, case, clock, emit = self._plan, self._case, self._clock, self._recorder.emit
        ids = CorrelationIds(plan.seed, plan.case, str(plan.repeat))
        world = World(
            self._bench.suite,
            case,
            case.side(twin=plan.twin, place=plan.place),
            client=self._bench.client,
            clock=clock,
            vault=self._vault,
            emit=emit,
            diagnose=self._diagnostics.keep,
            toolbox=self._bench.toolbox,
        )
        with closing(world):
            end["before"] = dict(world.summary())
            world.sign_in(ids)
            desk = Desk(clock, emit, case.file.answers, Consequences(world.hear, world.switch_credential))
            begin = partial(self._begin, Dispatcher(world, desk, ids, emit))
            if case.file.team:
                ending = work_together(case.file.team, begin, clock, self._recorder, self._vault.redact)
            else:
                ending = work_alone(begin, clock)
            world.settle()
            end["world"] = dict(world.summary())
            if connections := world.connections():
                end["connections"] = connections
        return ending

    def _begin(
        self, dispatcher: Dispatcher, member: Member | None, handed: Sequence[HandedOver]
    ) -> Conversation | Ending:
        """Start an agent on the task, or on a member's part of it; a provider that cannot be had ends it at once."""
        case, emit = self._case, self._recorder.emit
        agent = self._agent_of(member)
        task = case.task() if member is None else case.part(member, handed)
        offered = dict(task.tools)  # what the agent is given is its own, to do with as it likes
        if member is not None:
            emit("member_begin", detail=_of_part(agent.name, task))
        use = agent.definition.file.provider
        with ExitStack() as opened:
            stand = opened.enter_context(provided(self._bench.suite, use, task, self._vault.of_provider))
            try:
                session = self._bench.driver(agent.name).begin(task, self._seat(stand, member))
            except HarnessError as error:
                return "crash", str(error)
            held = opened.pop_all()
        attended = session if stand is None else Attended(session, stand, held, emit)
        return Conversation(attended, offered, dispatcher, limits=case.file.limits, emit=emit)

    def _agent_of(self, member: Member | None) -> LoadedAgent:
        named = None if member is None else member.agent
        return self._bench.suite.agents[named or self._plan.agent]

    def _seat(self, stand: Stand | None, member: Member | None) -> Seat:
        plan, name = self._plan, "" if member is None else member.member
        return Seat(
            seed="/".join([plan.seed, plan.case, str(plan.repeat), *([name] if name else [])]),
            case=plan.case,
            side=side_name(plan.case, plan.place, twin=plan.twin),
            member=name,
            repeat=plan.repeat,
            emit=self._recorder.emit,
            diagnose=self._diagnostics.keep,
            hide=self._vault.hide,
            redact=self._vault.redact,
            provider=stand.provider if stand is not None else None,
        )

    def _leaks(self) -> list[str]:
        record = self._recorder
        return leaking_sinks(
            self._vault,
            written=record.written(),
            history=record.history(),
            raised=self._raised,
            diagnostics=self._diagnostics.entries,
        )

    def _beginning(self) -> dict[str, JSON]:
        plan = self._plan
        return {
            "case": plan.case,
            "agent": plan.agent,
            "twin": plan.twin,
            "place": plan.place,
            "repeat": plan.repeat,
            "seed": plan.seed,
            "task": self._case.file.task,
            "tools": list(self._case.file.tools),
            "offer": self._bench.offer(plan.case),
        }


def _of_part(agent: str, task: Task) -> dict[str, JSON]:
    return {"agent": agent, "task": task.text, "tools": list(task.tools), "offer": offer_of(task)}
