"""``unacked logs``: what happened to the trials of a run."""

from __future__ import annotations

import datetime as dt
import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from unacked.canonical import JSON, dumps
from unacked.cli.options import out_option
from unacked.cli.stored import tell_leaks
from unacked.engine import Call, Canaries, RunFolder, calls, find_run, run_log
from unacked.errors import ExitCode
from unacked.orchestrator import Entry
from unacked.report import printable

__all__ = ["command"]


@click.command("logs")
@click.argument("run")
@click.argument("trial", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
@click.option("--otlp", "collector", metavar="URL", help="Send the attempts as spans there, and print nothing.")
@out_option
def command(run: str, trial: str | None, collector: str | None, out: Path, *, as_json: bool) -> int:
    """Show the step log of RUN: when each trial began, how it ended, what was tried again.

    With a TRIAL also every call of it, with input and output. Times of the log are wall-clock times, those of calls
    are seconds of the trial.
    """
    folder = find_run(run, out)
    if collector is not None:
        spans = importlib.import_module("unacked.cli.spans")  # the extra `otel`
        click.echo(f"{spans.send(run_log(folder, trial), collector)} spans sent", err=True)
        return ExitCode.PASS
    beginning, steps = ({}, []) if trial is None else calls(folder, trial)
    canaries = _canaries(folder, beginning)
    if folder.journal.is_file():
        for entry in run_log(folder, trial):
            click.echo(canaries.clean("log", dumps(entry.as_json()) if as_json else printable(_entry(entry))))
    for step in steps:
        for line in [dumps(step.as_json())] if as_json else _call(step):
            click.echo(canaries.clean("log", printable(line)))
    tell_leaks(canaries)
    return ExitCode.FAIL if canaries.found else ExitCode.PASS


def _canaries(folder: RunFolder, beginning: Mapping[str, JSON]) -> Canaries:
    return Canaries.of_lines(folder.manifest()["seed"], [beginning] if beginning else [])


def _entry(entry: Entry) -> str:
    at = dt.datetime.fromtimestamp(entry.at, tz=dt.UTC).strftime("%H:%M:%S.%f")[:-3]
    detail = " ".join(f"{name}={dumps(value)}" for name, value in entry.detail.items() if name != "state")
    return f"{at}  {entry.task}  {entry.kind}  {detail}".rstrip()


def _call(call: Call) -> Iterator[str]:
    ended = "no result" if call.ended_s is None else f"{call.ended_s:.3f} s  {call.category}"
    yield f"{call.began_s:.3f} s  {call.operation}  {ended}"
    yield f"    input  {dumps(dict(call.input))}"
    if call.output is not None:
        yield f"    output {dumps(dict(call.output))}"
