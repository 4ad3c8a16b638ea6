"""All lints over one graph, with what its file allows taken out; and over the graphs of a case together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from unacked.contract import Operation, Registry
from unacked.errors import Place
from unacked.graph.explore import Alphabet, Space
from unacked.graph.generate import Purpose, generate
from unacked.graph.lint.domain import domain_findings
from unacked.graph.lint.finding import Finding
from unacked.graph.lint.reach import reach_findings
from unacked.graph.lint.structure import structure_findings
from unacked.graph.lint.subject import Subject
from unacked.graph.lint.trap import contradictions, first_trap
from unacked.graph.model import BoundGraph, Graph

__all__ = ["lint_case", "lint_graph"]


def lint_graph(
    graph: Graph,
    registry: Registry,
    *,
    used: Sequence[BoundGraph] = (),
    fired: Collection[str] | None = None,
) -> list[Finding]:
    """Return every finding of one graph that its file does not allow, in the order of the file.

    ``used`` are the ways in which cases bind it. ``fired`` are the rules that planted agents violate; without
    it the graph's own generated witnesses are asked.
    """
    subject = Subject(graph, registry, used)
    found = [
        *structure_findings(subject),
        *reach_findings(subject),
        *domain_findings(subject),
        *_traps(subject),
        *_unseen(subject, _witnessed(subject) if fired is None else fired),
    ]
    needed = [allowance for allowance in graph.allowances if any(item.allowed_by(allowance) for item in found)]
    left = [item for item in found if not any(item.allowed_by(allowance) for allowance in needed)]
    left += [
        Finding(
            id="G50",
            place=allowance.place,
            graph=graph.name,
            message=f"{allowance.id} is allowed for {allowance.edge or allowance.state or 'the graph'}, but not found",
            edge=allowance.edge,
            state=allowance.state,
        )
        for allowance in graph.allowances
        if allowance not in needed
    ]
    return sorted(left, key=lambda item: (item.place, item.id))


def _traps(subject: Subject) -> Iterator[Finding]:
    for survey in subject.surveys[:1]:
        trap = first_trap(survey.space, threads=2 if survey.machine.keys else 1)
        if trap is not None:
            where = " and ".join(repr(name) for name in trap.states)
            many = "two threads in" if trap.threads > 1 else "in"
            state = subject.graph.states[trap.states[0]]
            yield subject.at_state("G27", state, f"{many} {where}: no claim is allowed any more", trap.way)


def _witnessed(subject: Subject) -> Collection[str]:
    """The rules that the graph's own planted mistakes violate."""
    surveys = {survey.machine.graph: survey for survey in subject.surveys}
    return generate(subject.graph, subject.registry, purposes=[Purpose.WITNESS], surveys=surveys).fired()


def _unseen(subject: Subject, fired: Collection[str]) -> Iterator[Finding]:
    for edge in subject.edges():
        if edge.forbid and edge.id not in fired:
            yield subject.at_edge("G40", edge, f"nothing was ever refused by {edge.id!r}")


def lint_case(
    name: str, place: Place, graphs: Sequence[BoundGraph], operations: Sequence[Operation], *, effects: int = 1
) -> list[Finding]:
    """Return what is wrong with the graphs of one case together, given the operations that it offers.

    ``effects`` is the number of effects that the case declares: two or more threads must share one claim.
    """
    space = Space(graphs, Alphabet(graphs, operations))
    names = ",".join(graph.name for graph in graphs)
    findings = [
        Finding(
            id="G25",
            place=place,
            graph=names,
            message=f"case {name}: what {edge!r} allows another graph always forbids by {rule!r}",
            edge=edge,
            way=way,
        )
        for edge, rule, way in (contradictions(space) if len(graphs) > 1 else ())
    ]
    trap = first_trap(space, threads=effects)
    if trap is not None:
        where = " and ".join(repr(state) for state in trap.states)
        message = f"case {name}: in {where} no allowed calls lead to an end"
        findings.append(Finding(id="G27", place=place, graph=names, message=message, way=trap.way))
    return findings
