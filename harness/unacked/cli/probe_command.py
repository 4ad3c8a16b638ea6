"""``unacked probe``: only the next call, many times."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click

from unacked.canonical import dumps
from unacked.cli.options import console, open_suite, out_option, suite_option
from unacked.engine import find_run, read_verdicts, stored_paths
from unacked.errors import ExitCode, Place, Problem, SpecificationError, nearest
from unacked.graph import Trace, read_traces
from unacked.probe import Prefix, ask, of_case, of_trace, of_trial
from unacked.report.probe import probe_json, probe_lines, probe_table
from unacked.suite import Suite, load_suite

__all__ = ["command"]


@click.command("probe")
@click.argument("subject")
@click.option(
    "--agent", "agents", multiple=True, required=True, metavar="NAME", help="Agent to ask; several stand side by side."
)
@click.option("-n", "--samples", type=click.IntRange(min=1), default=16, show_default=True, help="Times to ask.")
@click.option("--after", type=click.IntRange(min=1), default=None, metavar="TURNS", help="Turns that lie before.")
@click.option("--by", default="careful", show_default=True, metavar="NAME", help="Agent that goes the way of a case.")
@click.option("--member", default=None, metavar="NAME", help="Whose next call, in a case with a team.")
@click.option("--run", default=None, metavar="RUN", help="SUBJECT is a trial of this stored run.")
@click.option("--task", default=None, metavar="TEXT", help="SUBJECT is a neutral trace of this task.")
@click.option("--trace", default=None, metavar="NAME", help="The trace to take, where the file holds several.")
@click.option("--seed", default="0", show_default=True, help="Seed of the world in which a case's way is gone.")
@click.option("--logprobs", is_flag=True, help="Also estimate the rates from one request, where the server tells odds.")
@suite_option
@out_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def command(
    subject: str,
    agents: tuple[str, ...],
    samples: int,
    after: int | None,
    by: str,
    member: str | None,
    run: str | None,
    task: str | None,
    trace: str | None,
    seed: str,
    suite_path: Path | None,
    out: Path,
    *,
    logprobs: bool,
    as_json: bool,
) -> int:
    """Go the way of SUBJECT up to its first fault, then ask a model for its next call only, and judge it.

    SUBJECT is a case or a side of one (E01, E01.twin), a trial with --run, or a file of neutral traces with --task.
    It is a measurement: the exit code is 0 however the calls are judged, and 4 where a provider failed.
    """
    suite = open_suite(suite_path)
    chosen = [suite.agent(name) for name in dict.fromkeys(agents)]
    if run is not None:
        prefix = _of_run(subject, run, out, after, member)
    elif task is not None:
        prefix = of_trace(_trace(Path(subject), trace), suite.graphs, task=task, after=after)
    else:
        _no_file(subject, suite)
        prefix = of_case(suite, subject, by=by, seed=seed, after=after, member=member)
    probed = [ask(suite, prefix, agent, samples, logprobs=logprobs, told=_progress(agent.name)) for agent in chosen]
    if as_json:
        click.echo(dumps(probe_json(prefix, probed)))
    else:
        screen = console()
        screen.print(probe_table(probed))
        for line in probe_lines(prefix, probed):
            screen.print(line, soft_wrap=True)
    return ExitCode.ERROR if any(agent.trouble is not None for agent in probed) else ExitCode.PASS


def _of_run(trial: str, run: str, out: Path, after: int | None, member: str | None) -> Prefix:
    folder = find_run(run, out)
    suite = load_suite(folder.suite, run_code=False)
    for stored in stored_paths(folder, suite, {trial}):
        return of_trial(suite, stored, after=after, member=member)
    known = [line["trial"] for line in read_verdicts(folder, folder.manifest()["run"])]
    raise SpecificationError([Problem(Place(folder.name), f"no trial {trial!r}", nearest(trial, known))])


def _trace(path: Path, wanted: str | None) -> Trace:
    traces = {trace.name: trace for trace in read_traces(path)}
    if wanted is None and len(traces) == 1:
        return next(iter(traces.values()))
    if wanted in traces:
        return traces[wanted]
    told = "holds several traces" if wanted is None else f"holds no trace {wanted!r}"
    raise SpecificationError([Problem(Place(str(path)), told, f"choose one with --trace: {', '.join(traces)}")])


def _no_file(subject: str, suite: Suite) -> None:
    if subject.partition(".")[0] not in suite.cases and Path(subject).is_file():
        hint = "say with --task what the agent was asked to do; 'unacked incident' makes a case of other formats"
        raise SpecificationError([Problem(Place(subject), "a trace does not tell the words of its task", hint)])


def _progress(agent: str) -> Callable[[int], None]:
    """Count aloud where a person looks on."""
    if not sys.stderr.isatty():
        return lambda _: None
    return lambda number: click.echo(f"\r{agent}: {number} ", nl=False, err=True)
