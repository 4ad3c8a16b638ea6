"""``unacked graph``: everything that can be asked of graphs themselves."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from unacked.canonical import JSON, dumps
from unacked.cli.options import console, open_suite, out_option, suite_option
from unacked.engine import RunFolder, find_run, read_verdicts, stored_paths
from unacked.engine.observations import observations
from unacked.errors import ExitCode, HarnessError, Place, Problem, SpecificationError, nearest
from unacked.graph import BoundGraph, Graph, Verdict, judge, read_traces
from unacked.graph.coverage import Coverage, comparable, cover, profile_difference
from unacked.graph.draft import Draft, draft_text
from unacked.graph.draw import Picture, picture, render_dot, render_mermaid, render_svg, walk_of
from unacked.graph.generate import expected_lines, generate, trace_lines
from unacked.graph.lint import Finding, Level, lint_case, lint_graph
from unacked.graph.mutate import mutate
from unacked.report import printable
from unacked.report.coverage import coverage_text, difference_text
from unacked.report.mutation import mutation_text
from unacked.report.selftest import selftest_lines
from unacked.selftest import graph_items, summary_of
from unacked.suite import Suite, load_suite
from unacked.tools import REGISTRY

__all__ = ["command"]

_Command = TypeVar("_Command", bound=Callable[..., Any])

_FEWEST_KILLED = 0.95

_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_names = click.argument("names", nargs=-1, metavar="[GRAPH]...")


def _traces_option(text: str) -> Callable[[_Command], _Command]:
    return click.option("--traces", type=click.Path(path_type=Path), default=None, help=text)


@click.group("graph")
def command() -> None:
    """Lint graphs, measure what a run showed of them, generate suites, plant agents, mutate them, draw them."""


# -- lint ----------------------------------------------------------------------------------------------------


@command.command("lint")
@suite_option
@_traces_option("Neutral traces: rules that none of them violates are found (default: the generated witnesses).")
@_json_option
def lint(suite_path: Path | None, traces: Path | None, *, as_json: bool) -> int:
    """Look for what is wrong with the graphs of a suite, each alone and as the cases use it.

    Exits with 1 where an error is found, and with 2 where a file cannot be read at all.
    """
    suite = open_suite(suite_path)
    findings = list(_findings(suite, traces))
    for finding in findings:
        click.echo(dumps(finding.as_json()) if as_json else _printable(str(finding)))
    errors = sum(finding.level is Level.ERROR for finding in findings)
    if not as_json:
        counted = f"{errors} errors, {len(findings) - errors} warnings" if findings else "nothing found"
        click.echo(f"{len(suite.graphs)} graphs: {counted}")
    return ExitCode.FAIL if errors else ExitCode.PASS


def _findings(suite: Suite, traces: Path | None) -> Iterator[Finding]:
    fired = _fired(suite, traces) if traces is not None else {}
    used: dict[str, dict[BoundGraph, None]] = {}
    sides = [(case, side) for case in suite.cases.values() for side in case.sides[:1]]
    for _, side in sides:
        for graph in side.graphs:
            used.setdefault(graph.name, {})[graph] = None
    for name, written in suite.graphs.items():
        seen_firing = None if traces is None else fired.get(name, ())
        yield from lint_graph(written, REGISTRY, used=list(used.get(name, ())), fired=seen_firing)
    seen = set()
    for case, side in sides:
        effects = max(1, sum(map(len, side.case.effects.values())))
        alike = (tuple(side.graphs), frozenset(side.tools), effects)
        if alike not in seen:
            seen.add(alike)
            yield from lint_case(
                case.name, case.document.place(), side.graphs, list(side.tools.values()), effects=effects
            )


def _fired(suite: Suite, traces: Path) -> Mapping[str, Collection[str]]:
    """By graph, the rules that the traces of this suite's graphs violate."""
    fired: dict[str, set[str]] = {}
    for trace in read_traces(traces):
        if set(trace.begin.graphs) <= suite.graphs.keys():
            for violation in judge(trace, suite.graphs, REGISTRY).violations:
                fired.setdefault(violation.graph, set()).add(violation.rule)
    return fired


# -- coverage ------------------------------------------------------------------------------------------------


@command.command("coverage")
@click.argument("run")
@click.option("--diff", "other", metavar="RUN", default=None, help="Compare the profiles of the agents of two runs.")
@out_option
@_json_option
def coverage(run: str, other: str | None, out: Path, *, as_json: bool) -> int:
    """Measure what RUN has shown of its graphs: environment, agent profiles, forbids fired; never one number."""
    folder = find_run(run, out)
    together, cases = cover(observations(folder))
    if other is not None:
        second = find_run(other, out)
        return _difference(folder, together, second, as_json=as_json)
    if as_json:
        by_case = {case: item.as_json() for case, item in cases.items()}
        click.echo(dumps({"run": folder.name, **together.as_json(), "cases": by_case}))
    else:
        console().print(coverage_text(together, cases), soft_wrap=True)
    return ExitCode.PASS


def _difference(folder: RunFolder, first: Coverage, other: RunFolder, *, as_json: bool) -> int:
    second, _ = cover(observations(other))
    if not as_json:
        console().print(difference_text(first, second, (folder.name, other.name)), soft_wrap=True)
        return ExitCode.PASS
    differences = [
        {
            "agents": list(agents),
            "per_trial": {"/".join(edge): rates for edge, rates in profile_difference(first, second, agents).items()},
        }
        for agents in comparable(first, second)
    ]
    click.echo(dumps({"runs": [folder.name, other.name], "profiles": differences}))
    return ExitCode.PASS


# -- generated suites ----------------------------------------------------------------------------------------


@command.command("generate")
@_names
@suite_option
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder to write into.")
def generate_command(names: tuple[str, ...], suite_path: Path | None, out: Path) -> int:
    """Write the suites that graphs generate about themselves: neutral traces, and what each must get.

    Exits with 1 where something cannot be reached by any trace.
    """
    unreached = 0
    for graph in _graphs(open_suite(suite_path), names):
        suite = generate(graph, REGISTRY)
        _write(out / f"{graph.name}.traces.jsonl", trace_lines(suite))
        _write(out / f"{graph.name}.expected.jsonl", expected_lines(suite))
        click.echo(f"{printable(graph.name)}: {len(suite.traces)} traces, {len(suite.unreached)} unreached")
        for item in suite.unreached:
            click.echo(printable(f"  {item.name}: {item.reason}"))
        unreached += len(suite.unreached)
    return ExitCode.FAIL if unreached else ExitCode.PASS


@command.command("plant")
@_names
@suite_option
@_json_option
def plant(names: tuple[str, ...], suite_path: Path | None, *, as_json: bool) -> int:
    """Plant an agent for every rule of the graphs, and for every line of their guards, and see that it is caught.

    Each is led to its mistake in the world of a case, through tools, wire and services; its twin ends honestly and
    must pass. Exits with 1 where one is not caught by name, or cannot be planted for no reason that is known.
    """
    suite = open_suite(suite_path)
    chosen = replace(suite, graphs={graph.name: graph for graph in _graphs(suite, names)})
    with tempfile.TemporaryDirectory(prefix="unacked-") as scratch:
        summary = summary_of(list(graph_items(chosen, Path(scratch))))
    if as_json:
        click.echo(dumps(summary))
    else:
        for line in selftest_lines(summary):
            console().print(printable(line), soft_wrap=True)
    return ExitCode.FAIL if summary["gaps"] else ExitCode.PASS


def _write(path: Path, lines: Iterator[Mapping[str, JSON]]) -> None:
    _write_text(path, "".join(f"{dumps(dict(line))}\n" for line in lines))


def _write_text(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise HarnessError(f"{path}: cannot be written: {error.strerror}") from None


@command.command("mutate")
@_names
@suite_option
@_traces_option("Neutral traces written by hand; those of other graphs are left out.")
@click.option("--every", type=click.IntRange(min=1), default=1, help="Take only every nth mutant.")
@click.option("--depth", type=click.IntRange(min=0), default=None, help="Compare survivors only so many calls deep.")
@_json_option
def mutate_command(
    names: tuple[str, ...],
    suite_path: Path | None,
    traces: Path | None,
    every: int,
    depth: int | None,
    *,
    as_json: bool,
) -> int:
    """Change graphs by one slip of the pen each, and report how many slips the traces show.

    Traces written by hand and generated ones are reported apart. Exits with 1 where fewer than 95 % are killed
    of those that can be told from the original at all.
    """
    by_hand = read_traces(traces) if traces is not None else []
    reports = []
    for graph in _graphs(open_suite(suite_path), names):
        generated = generate(graph, REGISTRY).traces
        reports.append(mutate(graph, REGISTRY, by_hand=by_hand, generated=generated, every=every, depth=depth))
    if as_json:
        click.echo(dumps([report.as_json() for report in reports]))
    else:
        click.echo(mutation_text(reports))
    return ExitCode.PASS if all(report.rate() >= _FEWEST_KILLED for report in reports) else ExitCode.FAIL


# -- drafts ---------------------------------------------------------------------------------------------------


@command.command("draft")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--graph", "name", required=True, metavar="GRAPH", help="The graph to compare the transcripts with.")
@click.option("--trust", "trusted", multiple=True, metavar="AGENT", help="Take all trials of this agent for good.")
@click.option("--support", type=click.IntRange(min=1), default=3, show_default=True, help="Calls that a guard needs.")
@out_option
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default=None, help="New file (default: standard output)."
)
def draft_command(
    runs: tuple[str, ...], name: str, trusted: tuple[str, ...], support: int, out: Path, output: Path | None
) -> int:
    """Propose guards and missing edges of GRAPH from the good transcripts of RUN: a draft for a person, never a gate.

    Good are the trials that passed, and with --trust all of an agent's. Edges can be missing only from trusted ones. A
    file that is there already is not written over.
    """
    drafts: dict[BoundGraph, Draft] = {}
    for run in runs:
        _draft_run(find_run(run, out), name, trusted, drafts)
    if not drafts:
        problem = Problem(Place(", ".join(runs)), f"no good trial is judged by graph {name!r}", "see --trust")
        raise SpecificationError([problem])
    text = "---\n".join(draft_text(draft, runs, support=support) for draft in drafts.values())
    if output is None:
        click.echo(text, nl=False)
        return ExitCode.PASS
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise HarnessError(f"{output}: cannot be written: {error.strerror}; a draft never replaces a file") from None
    return ExitCode.PASS


def _draft_run(folder: RunFolder, name: str, trusted: Collection[str], drafts: dict[BoundGraph, Draft]) -> None:
    """Take the good trials of one run into account; every binding of the graph has a draft of its own."""
    verdicts = {line["trial"]: line["verdict"] for line in read_verdicts(folder, folder.manifest()["run"])}
    suite = load_suite(folder.suite, run_code=False)
    for path in stored_paths(folder, suite):
        if verdicts[path.trial] != Verdict.PASS and path.agent not in trusted:
            continue
        for graph in path.brief.graphs:
            if graph.name == name:
                known = next((known for known in drafts if _alike(known, graph)), graph)
                draft = drafts.setdefault(known, Draft(known))
                draft.add(f"{folder.name}/{path.trial}", path.moves, path.brief.case.effects, path.brief.tools)


def _alike(first: BoundGraph, second: BoundGraph) -> bool:
    return first.roles == second.roles and first.idempotent == second.idempotent


# -- pictures ------------------------------------------------------------------------------------------------

_FORMATS: Mapping[str, Callable[[Picture], str]] = {
    "svg": render_svg,
    "mermaid": render_mermaid,
    "dot": render_dot,
}


@command.command("draw")
@click.argument("name", metavar="GRAPH")
@suite_option
@click.option("--format", "form", type=click.Choice(list(_FORMATS)), default="svg", show_default=True)
@click.option("--run", "run", default=None, help="Draw the walk of a trial of this run.")
@click.option("--trial", default=None, help="The trial whose walk to draw.")
@out_option
@click.option("-o", "--output", type=click.Path(path_type=Path), default=None, help="File (default: standard output).")
def draw(
    name: str, suite_path: Path | None, form: str, run: str | None, trial: str | None, out: Path, output: Path | None
) -> int:
    """Draw GRAPH: states, allowed calls with their answers, and the walk of a trial with its refused step in red."""
    if (run is None) is not (trial is None):
        raise click.UsageError("--run and --trial belong together")
    if run is not None and trial is not None:
        drawn = _walked(find_run(run, out), trial, name)
    else:
        (graph,) = _graphs(open_suite(suite_path), [name])
        drawn = picture(graph.bind({}, REGISTRY, {}))
    text = _FORMATS[form](drawn)
    if output is None:
        click.echo(text, nl=False)
    else:
        _write_text(output, text)
    return ExitCode.PASS


def _walked(folder: RunFolder, trial: str, name: str) -> Picture:
    """The picture of a graph with the walk of a stored trial."""
    known = {line["trial"] for line in read_verdicts(folder, folder.manifest()["run"])}
    if trial not in known:
        raise SpecificationError([Problem(Place(folder.name), f"no trial {trial!r}", nearest(trial, known))])
    paths = stored_paths(folder, load_suite(folder.suite, run_code=False), [trial])
    path = next(iter(paths))
    graphs = {graph.name: graph for graph in path.brief.graphs}
    if name not in graphs:
        raise SpecificationError([Problem(Place(trial), f"no graph {name!r} in this trial", nearest(name, graphs))])
    return picture(graphs[name], walk_of(path.judgement, name))


def _graphs(suite: Suite, names: Collection[str]) -> list[Graph]:
    """The graphs of these names, or all."""
    unknown = [name for name in names if name not in suite.graphs]
    if unknown:
        raise SpecificationError(
            Problem(Place(str(suite.root)), f"no graph {name!r}", nearest(name, suite.graphs)) for name in unknown
        )
    return [graph for name, graph in suite.graphs.items() if not names or name in names]


def _printable(text: str) -> str:
    return "\n".join(printable(line) for line in text.splitlines())
