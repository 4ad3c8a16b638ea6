"""``unacked status``: how a run stands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from unacked.canonical import dumps
from unacked.cli.options import out_option
from unacked.engine import RunStatus, find_run, run_status
from unacked.errors import ExitCode, Place, Problem, SpecificationError
from unacked.orchestrator import prometheus

__all__ = ["command"]


@click.command("status")
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--prometheus", "as_metrics", is_flag=True, help="Print metrics in Prometheus' text format.")
@out_option
def command(run: str, out: Path, *, as_json: bool, as_metrics: bool) -> int:
    """Say how RUN stands, while it is at work or afterwards.

    The exit code says that it could be read, not how the run went.
    """
    if as_json and as_metrics:
        raise SpecificationError([Problem(Place("--prometheus"), "excludes --json", "ask for one of them")])
    status = run_status(find_run(run, out))
    if as_json:
        click.echo(dumps(status.as_json()))
    elif as_metrics:
        click.echo(prometheus(status.samples(), labels={"run": status.run}), nl=False)
    else:
        for line in _told(status):
            click.echo(line)
    return ExitCode.PASS


def _told(status: RunStatus) -> Iterator[str]:
    yield f"{status.run}: {status.stage.replace('_', ' ')}"
    yield f"trials   {status.trials}: {_counts({name.lower(): n for name, n in status.states.items()})}"
    yield f"verdicts {_counts(dict(status.verdicts))}"
    if status.metrics.attempts:
        yield f"attempts {status.metrics.attempts}, of which {status.metrics.recoveries} took their process with them"
    if status.per_s is not None:
        left = "" if status.left_s is None else f", {status.left_s:.0f} s left"
        yield f"speed    {status.per_s:g} trials a second{left}"
    yield f"cost     {status.usd:g} US dollars"
    for letter in status.dead:
        yield f"{letter.status}: {letter.id}: {letter.error}"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none yet"
