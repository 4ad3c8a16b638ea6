"""A suite: the cases, graphs, fake services and agents of one folder, checked against each other."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from unacked.agents import AgentDefinition, Driver, HandedOver, Step, Task, make_driver
from unacked.canonical import JSON, digest, dumps
from unacked.case import CaseFile, Member
from unacked.claims import Brief, side_name
from unacked.contract import Idempotency, Operation
from unacked.document import Document
from unacked.errors import Place, Problem, SpecificationError, nearest
from unacked.graph import Graph
from unacked.services import Factory, load_service
from unacked.suite.sweep import swept
from unacked.suite.terms import offered_tools
from unacked.tools import HAND_OVER, TOOLS, WIRED, Tool

__all__ = ["CONTENT_FOLDERS", "LoadedAgent", "LoadedCase", "Suite", "packaged_suite", "shipped_suite"]

CONTENT_FOLDERS = ("agents", "fake_services", "transitions")
"""The folders that make a folder a suite."""

_NOT_CONTENT = ("__pycache__", ".*")
"""Names of what stands in those folders and is no part of the suite, as patterns."""


@dataclass(frozen=True)
class LoadedCase:
    """One case of a suite, bound to its graphs; ``declared`` is None for a case that is pending."""

    document: Document
    file: CaseFile
    declared: Brief | None

    @property
    def name(self) -> str:
        """The case's name."""
        return self.file.case

    @cached_property
    def pending(self) -> str | None:
        """What the case waits for: a part of the product, or an extra that is not installed; None where it can run."""
        uses_ssh = any(name in TOOLS and TOOLS[name].shell is not None for name in self.file.tools)
        if self.file.pending is None and uses_ssh and find_spec("asyncssh") is None:
            return "it needs the extra 'ssh': pip install 'unacked[ssh]'"
        return self.file.pending

    @cached_property
    def sides(self) -> Sequence[Brief]:
        """Every side that is run: the declared one and its twin, or all places of a sweep."""
        declared, sweep = self.declared, self.file.sweep
        if declared is None:
            return ()
        if sweep is not None:
            return tuple(swept(declared, sweep.operation, sweep.nth))
        if not self.file.twins:
            return (declared,)
        flipped = tuple(fault.twin() if fault.ambiguous else fault for fault in declared.faults)
        return (declared, replace(declared, twin=True, faults=flipped))

    @cached_property
    def _by_side(self) -> Mapping[tuple[str, bool], Brief]:
        return {(brief.place, brief.twin): brief for brief in self.sides}

    def side(self, *, twin: bool, place: str = "") -> Brief:
        """Return one side; raises KeyError where the case has no such side."""
        brief = self._by_side.get((place, twin))
        if brief is None:
            raise KeyError(f"{side_name(self.name, place, twin=twin)} is no side of this case")
        return brief

    @property
    def offered(self) -> Mapping[str, Operation]:
        """The contracts of the tools that the case offers; none while it is pending."""
        return {} if self.declared is None else self.declared.tools

    def task(self) -> Task:
        """Return what an agent is given for this case: its own copy, to do with as it likes."""
        incident = self.file.incident
        return Task(
            self.file.task,
            dict(self.offered),
            script=_steps(self.file.script),
            undo=_steps(self.file.undo),
            behaviour=_steps(incident.behaviour) if incident else (),
            graphs=() if self.declared is None else self.declared.graphs,
            effects={name: [dict(effect) for effect in effects] for name, effects in self.file.effects.items()},
        )

    def part(self, member: Member, handed: Sequence[HandedOver] = ()) -> Task:
        """Return what a member of the case's team is given: its own part, and what was handed over to it."""
        told = "".join(f"\n{dumps(each.as_json())}\n" for each in handed)
        offered = () if self.declared is None else self.declared.team[member.member].tools
        return replace(
            self.task(),
            text=member.task + (f"\nHanded over to you:\n{told}" if told else ""),
            tools={name: operation for name, operation in self.offered.items() if name in offered},
            script=_steps(member.script),
            effects={name: [dict(effect) for effect in effects] for name, effects in member.effects.items()},
            handed=tuple(handed),
            member=member.member,
            compensates=member.compensates,
        )

    def tools(self) -> Mapping[str, Tool]:
        """Return the tools that the case offers, under the terms that it declares."""
        return offered_tools(self.file)

    def idempotency(self) -> dict[str, Idempotency]:
        """Return what the services do with idempotency keys in this case, for each operation offered."""
        return {name: operation.idempotency_mode for name, operation in self.offered.items()}


@dataclass(frozen=True, slots=True)
class LoadedAgent:
    """One agent of a suite, ready to work."""

    definition: AgentDefinition
    folder: Path

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.definition.name

    def driver(self) -> Driver:
        """Return the agent's driver; raises SpecificationError where a policy does not load."""
        return make_driver(self.definition.file, self.folder)

    def problems(self) -> Sequence[Problem]:
        """Return what keeps the agent from working, such as a policy that does not load."""
        try:
            self.driver()
        except SpecificationError as error:
            return error.problems
        return ()

    def takes(self, case: LoadedCase) -> bool:
        """Whether the agent has anything to do in a case: an incident to repeat, or a graph to walk by itself."""
        match self.definition.file.driver:
            case "recorded":
                return case.file.incident is not None and bool(case.file.incident.behaviour)
            case "graph-walk":
                return not case.file.team
        return True


@dataclass(frozen=True, slots=True)
class Suite:
    """Everything of one suite folder, by name; mappings are in the order of the names."""

    root: Path
    cases: Mapping[str, LoadedCase]
    agents: Mapping[str, LoadedAgent]
    graphs: Mapping[str, Graph]
    graph_documents: Mapping[str, Document]

    def select(self, words: Sequence[str]) -> list[LoadedCase]:
        """Return the cases that names, patterns (``C0*``) or tags (``tag:seed``) select.

        No words select all but the sweeps, which are long and have the tag ``sweep``. Pending cases are left
        out unless they are named. Raises SpecificationError for a word that selects nothing, for a pending
        case that is named, and for an empty selection.
        """
        if not self.cases:
            raise _usage(f"{self.root}: the suite holds no cases", "add a *.case.yaml file under transitions/")
        chosen: dict[str, LoadedCase] = {}
        problems: list[Problem] = []
        for word in words or (_ALL,):
            found = [case for case in self.cases.values() if _matches(case, word)]
            runnable = [case for case in found if case.pending is None]
            if not found:
                tags = {f"tag:{tag}" for case in self.cases.values() for tag in case.file.tags}
                problems.append(
                    Problem(Place("selection"), f"{word!r} selects nothing", nearest(word, {*self.cases, *tags}))
                )
            elif not runnable:
                problems.extend(
                    Problem(Place("selection"), f"{case.name} cannot be run yet: {case.pending}") for case in found
                )
            chosen.update((case.name, case) for case in runnable)
        if problems:
            raise SpecificationError(problems)
        if not chosen:
            raise _usage("nothing is selected: every case is pending", "see: unacked list")
        return [chosen[name] for name in sorted(chosen)]

    def sweeps(self, words: Sequence[str] = ()) -> list[LoadedCase]:
        """Return the sweeps that ``words`` do not select; without words none is, for they are long."""
        sweeps = [case for case in self.cases.values() if case.file.sweep is not None]
        return [] if words else sweeps

    def pending(self, words: Sequence[str] = ()) -> list[LoadedCase]:
        """Return the selected cases that wait for a part of the product that is not there yet."""
        chosen = (case for case in self.cases.values() if any(_matches(case, word) for word in words or ("*",)))
        return [case for case in chosen if case.pending is not None]

    def agent(self, name: str) -> LoadedAgent:
        """Return an agent by name; raises SpecificationError with the nearest name."""
        if name not in self.agents:
            raise _usage(f"no agent {name!r} in {self.root / 'agents'}", nearest(name, self.agents))
        return self.agents[name]

    def controls(self) -> list[LoadedAgent]:
        """Return the agents whose behaviour is declared, the ones a run without agents uses."""
        return [agent for agent in self.agents.values() if agent.definition.file.control is not None]

    def service(self, name: str) -> Factory:
        """Return the factory of a fake service; raises SpecificationError where its file does not load."""
        return load_service(self.root / "fake_services" / f"{name}.py")

    def pins(self) -> dict[str, JSON]:
        """Return the digests of everything that decides a verdict, part by part."""
        services = sorted((self.root / "fake_services").glob("*.py"))
        return {
            "cases": {case.name: digest(self._pinned(case)) for case in self.cases.values()},
            "graphs": {name: digest(document.value) for name, document in self.graph_documents.items()},
            "services": {path.stem: digest(path.read_text(encoding="utf-8")) for path in services},
            "tools": digest([tool.as_json() for _, tool in sorted(WIRED.items())]),
            "agents": {agent.name: agent.definition.pins() for agent in self.agents.values()},
        }

    def _pinned(self, case: LoadedCase) -> JSON:
        """What decides what a case is: its file, and in a team also who the members are that the case names."""
        named = {member.agent for member in case.file.team if member.agent is not None}
        agents = {name: agent.definition.pins() for name, agent in self.agents.items() if name in named}
        return [case.document.value, HAND_OVER.operation.as_json(), agents] if case.file.team else case.document.value

    def copy_to(self, target: Path) -> None:
        """Copy the suite's content, so that a run can be judged without the folder that it came from."""
        for name in CONTENT_FOLDERS:
            shutil.copytree(self.root / name, target / name, ignore=shutil.ignore_patterns(*_NOT_CONTENT))

    def is_copied_to(self, target: Path) -> bool:
        """Whether ``target`` holds what the suite's folder holds now, byte for byte, and nothing else."""
        try:
            return _content(self.root) == _content(target)
        except OSError:  # reading the suite there tells what is wrong
            return False

    def moved_to(self, target: Path) -> Suite:
        """Return the suite as if it had been read in ``target``, a copy of its folder."""
        agents = {
            name: replace(agent, folder=target / agent.folder.relative_to(self.root))
            for name, agent in self.agents.items()
        }
        return replace(self, root=target, agents=agents)


def _content(root: Path) -> dict[str, bytes]:
    """The bytes of every file of a suite's folder, by its path in it."""
    found: dict[str, bytes] = {}
    waiting = [root / name for name in CONTENT_FOLDERS]
    while waiting:
        for entry in os.scandir(waiting.pop()):
            if any(fnmatchcase(entry.name, pattern) for pattern in _NOT_CONTENT):
                continue
            path = Path(entry.path)
            if entry.is_dir():
                waiting.append(path)
            else:
                found[str(path.relative_to(root))] = path.read_bytes()
    return found


def packaged_suite() -> Path:
    """Return the suite to use where none is named: the current folder if it is one, else the package's own."""
    here = Path.cwd()
    if all((here / name).is_dir() for name in CONTENT_FOLDERS):
        return here
    return shipped_suite()


def shipped_suite() -> Path:
    """Return the suite that comes with unacked, in a wheel or a checkout; raises SpecificationError."""
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "_suite", package.parents[1]):
        if all((candidate / name).is_dir() for name in CONTENT_FOLDERS):
            return candidate
    raise _usage("no suite here", "name one with --suite, or run inside a folder with agents/ and transitions/")


def _steps(written: Sequence[Mapping[str, Mapping[str, JSON]]]) -> tuple[Step, ...]:
    return tuple(Step(name, dict(arguments)) for step in written for name, arguments in step.items())


_ALL = ""
"""Selects everything but the sweeps."""


def _matches(case: LoadedCase, word: str) -> bool:
    if word == _ALL:
        return case.file.sweep is None
    if word.startswith("tag:"):
        return word[4:] in case.file.tags
    return fnmatchcase(case.name, word)


def _usage(message: str, hint: str) -> SpecificationError:
    return SpecificationError([Problem(Place("unacked"), message, hint)])
