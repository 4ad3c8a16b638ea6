"""Reading a suite folder: every file is read, and every problem of every file is reported at once."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import ParamSpec, TypeVar

from unacked.agents import DRIVERS, AgentDefinition, misfits
from unacked.canonical import JSON
from unacked.case import AgentFile, CaseFile
from unacked.claims import Brief
from unacked.document import Document, read_yaml, validate
from unacked.errors import Place, Problem, SpecificationError, nearest
from unacked.graph import Graph, load_graph, team_of
from unacked.suite.check import case_problems, provider_problems, service_problems
from unacked.suite.suite import CONTENT_FOLDERS, LoadedAgent, LoadedCase, Suite
from unacked.suite.terms import offered_tools
from unacked.tools import REGISTRY

__all__ = ["declared_side", "load_case", "load_suite"]

_P = ParamSpec("_P")
_T = TypeVar("_T")


class _Problems:
    """Collects what goes wrong, so that one bad file does not hide the others."""

    def __init__(self) -> None:
        self.found: list[Problem] = []

    def attempt(self, read: Callable[_P, _T], *args: _P.args, **keywords: _P.kwargs) -> _T | None:
        try:
            return read(*args, **keywords)
        except SpecificationError as error:
            self.found.extend(error.problems)
            return None


def load_suite(root: Path, *, run_code: bool = True) -> Suite:
    """Read the suite in ``root``; raises SpecificationError with all problems of all files.

    ``run_code=False`` reads the YAML files only, as is right for a stored run from somewhere else: no
    Python of the suite is executed, so seeds and world keys stay unchecked, and the date does not matter.
    """
    missing = [name for name in CONTENT_FOLDERS if not (root / name).is_dir()]
    if missing:
        raise SpecificationError(
            [Problem(Place(str(root)), f"is not a suite: it has no folder {name!r}") for name in missing]
        )
    problems = _Problems()
    graph_documents, graphs = _graphs(root, problems)
    agents = _agents(root, problems, run_code=run_code)
    cases = _cases(root, graphs, agents, problems, run_code=run_code)
    if problems.found:
        raise SpecificationError(problems.found)
    return Suite(root, cases, agents, graphs, graph_documents)


def load_case(document: Document, suite: Suite) -> LoadedCase:
    """Check one case against a suite that it is not a part of; raises SpecificationError with all its problems."""
    documents = {name: case.document for name, case in suite.cases.items()}
    today = dt.datetime.now(tz=dt.UTC).date()
    case = _case(document, documents, suite.graphs, suite.agents, today)
    problems = list(service_problems(case.document, case.file, _services(suite.root))) if case.declared else []
    if problems:
        raise SpecificationError(problems)
    return case


_NO_GRAPHS = (".case.yaml", ".fixture.yaml", ".mapping.yaml", ".draft.yaml", ".retired.yaml")
"""What stands among the graphs and is none, or none that a person has taken yet."""


def _graphs(root: Path, problems: _Problems) -> tuple[dict[str, Document], dict[str, Graph]]:
    documents: dict[str, Document] = {}
    graphs: dict[str, Graph] = {}
    for path in sorted((root / "transitions").glob("*.yaml")):
        if path.name.endswith(_NO_GRAPHS):
            continue
        document = problems.attempt(read_yaml, path, name=_shown(path, root))
        graph = problems.attempt(load_graph, document, REGISTRY) if document else None
        if document and graph:
            _add(graphs, graph.name, graph, document, "graph", problems)
            documents.setdefault(graph.name, document)
    return dict(sorted(documents.items())), dict(sorted(graphs.items()))


def _agents(root: Path, problems: _Problems, *, run_code: bool) -> dict[str, LoadedAgent]:
    agents: dict[str, LoadedAgent] = {}
    services = _services(root)
    for path in sorted((root / "agents").glob("*/agent.yaml")):
        document = problems.attempt(read_yaml, path, name=_shown(path, root))
        agent = problems.attempt(_agent, path, document) if document else None
        if document and agent:
            _add(agents, agent.name, agent, document, "agent", problems)
            if run_code:
                problems.found.extend(provider_problems(document, agent.definition.file, services))
    return dict(sorted(agents.items()))


def _agent(path: Path, document: Document) -> LoadedAgent:
    file = validate(AgentFile, document)
    texts: dict[str, str | None] = {}
    problems: list[Problem] = []
    for key, name in (("prompt", file.prompt), ("policy", file.policy)):
        try:
            texts[key] = (path.parent / name).read_bytes().decode("utf-8") if name else None
        except (OSError, UnicodeDecodeError) as error:
            problems.append(document.problem((key,), f"{key} {name!r} cannot be read: {error}"))
    if file.driver not in DRIVERS:
        problems.append(document.problem(("driver",), f"unknown driver {file.driver!r}", nearest(file.driver, DRIVERS)))
    else:
        problems += [document.problem((field,), message, hint) for field, message, hint in misfits(file)]
    if problems:
        raise SpecificationError(problems)
    return LoadedAgent(AgentDefinition(file, texts["prompt"] or "", texts["policy"], document.value), path.parent)


def _cases(
    root: Path, graphs: Mapping[str, Graph], agents: Collection[str], problems: _Problems, *, run_code: bool
) -> dict[str, LoadedCase]:
    today = dt.datetime.now(tz=dt.UTC).date() if run_code else None
    documents: dict[str, Document] = {}
    for path in sorted((root / "transitions").rglob("*.case.yaml")):
        document = problems.attempt(read_yaml, path, name=_shown(path, root))
        if document:
            name = document.value.get("case") if isinstance(document.value, dict) else None
            _add(documents, str(name or path), document, document, "case", problems)
    cases: dict[str, LoadedCase] = {}
    services = _services(root)
    for document in documents.values():
        case = problems.attempt(_case, document, documents, graphs, agents, today)
        if case and run_code and case.declared:
            problems.found.extend(service_problems(case.document, case.file, services))
        if case:
            cases[case.name] = case
    return dict(sorted(cases.items()))


def _services(root: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted((root / "fake_services").glob("*.py"))}


def _case(
    document: Document,
    documents: Mapping[str, Document],
    graphs: Mapping[str, Graph],
    agents: Collection[str],
    today: dt.date | None,
) -> LoadedCase:
    document = _extended(document, documents)
    file = validate(CaseFile, document)
    if file.pending is not None:
        return LoadedCase(document, file, None)
    problems = list(case_problems(document, file, graphs, agents, today=today))
    if problems:
        raise SpecificationError(problems)
    return LoadedCase(document, file, declared_side(file, graphs))


def declared_side(file: CaseFile, graphs: Mapping[str, Graph]) -> Brief:
    """Return a case as it is declared, under the terms of its contract and bound to its graphs."""
    tools = {name: tool.operation for name, tool in offered_tools(file).items()}
    idempotent = {name: operation.idempotency_mode.honoured for name, operation in tools.items()}
    bound = []
    for use in file.graphs:
        name, roles = (use, {}) if isinstance(use, str) else next(iter(use.items()))
        bound.append(graphs[name].bind(roles, REGISTRY, idempotent))
    faults = tuple(fault.value() for fault in file.listed_faults)
    return Brief(
        file,
        twin=False,
        faults=faults,
        tools=tools,
        graphs=tuple(bound),
        team=team_of(file.team, file.effects, file.tools),
    )


def _extended(document: Document, documents: Mapping[str, Document]) -> Document:
    """Lay a case over the one that it extends: mappings are merged, everything else is replaced."""
    seen: list[str] = []
    chain = [document]
    while isinstance(chain[-1].value, dict) and (base := chain[-1].value.get("extends")) is not None:
        if base in seen:
            raise SpecificationError([document.problem(("extends",), f"cases extend each other: {' -> '.join(seen)}")])
        if not isinstance(base, str) or base not in documents:
            hint = nearest(str(base), documents)
            raise SpecificationError([document.problem(("extends",), f"extends an unknown case {base!r}", hint)])
        seen.append(base)
        chain.append(documents[base])
    if len(chain) == 1:
        return document
    value: JSON = {}
    for layer in reversed(chain):
        value = _merged(value, layer.value)
    return document.with_value(value)


def _merged(base: JSON, change: JSON) -> JSON:
    if not isinstance(base, dict) or not isinstance(change, dict):
        return change
    return {**base, **{key: _merged(base[key], item) if key in base else item for key, item in change.items()}}


def _add(found: dict[str, _T], name: str, item: _T, document: Document, kind: str, problems: _Problems) -> None:
    if name in found:
        problems.found.append(
            document.problem((kind,), f"two {kind}s are named {name!r}", "give each a name of its own")
        )
    else:
        found[name] = item


def _shown(path: Path, root: Path) -> str:
    """Name a file as the user would: relative to where they are, where that is shorter."""
    for base in (Path.cwd(), root.parent):
        if path.is_relative_to(base):
            return str(path.relative_to(base))
    return str(path)
