"""``unacked scale``: a run in shards, over a Temporal of the user's own."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import click

from unacked.canonical import dumps
from unacked.cli.options import open_suite, out_option, suite_option
from unacked.engine import RunRequest, make_plan
from unacked.errors import ExitCode
from unacked.report.text import printable
from unacked.scale.shard import ShardResult, gathered, make_order
from unacked.scale.temporal import RunStatus, TemporalQueue
from unacked.suite import packaged_suite

__all__ = ["command"]

_T = TypeVar("_T")
_address = click.option("--address", default="127.0.0.1:7233", show_default=True, help="Where Temporal listens.")
_namespace = click.option("--namespace", default="default", show_default=True, help="Its namespace.")
_queue = click.option("--queue", default="unacked", show_default=True, help="The task queue that workers listen to.")


@click.group("scale")
def command() -> None:
    """Run a plan in shards on many machines, with Temporal as the queue; docs/scale.md tells how and how far."""


@command.command("submit")
@click.argument("select", nargs=-1)
@suite_option
@click.option("--agent", "agents", multiple=True, metavar="NAME", help="Agent to run; may be given more than once.")
@click.option("--repeat", type=click.IntRange(min=1), default=1, show_default=True, help="Trials of each case.")
@click.option("--seed", default="0", show_default=True, help="Seed of everything that varies.")
@click.option(
    "--shards", type=click.IntRange(min=1), default=10, show_default=True, help="Shards to cut the plan into."
)
@click.option("--lease", "lease_s", type=click.FloatRange(min=1), default=30.0, show_default=True, metavar="SECONDS")
@click.option("--run-id", default=None, metavar="NAME", help="Name of the run.")
@_address
@_namespace
@_queue
def submit_command(
    select: tuple[str, ...],
    suite_path: Path | None,
    agents: tuple[str, ...],
    repeat: int,
    seed: str,
    shards: int,
    lease_s: float,
    run_id: str | None,
    address: str,
    namespace: str,
    queue: str,
) -> int:
    """Put a run into the queue, and print its name."""
    plan = make_plan(open_suite(suite_path), RunRequest(select, agents, repeat, seed))
    name = run_id or f"{dt.datetime.now(tz=dt.UTC).date().isoformat()}-{plan.run[:8]}"
    order = make_order(name, plan, shards)
    _with_queue(address, namespace, queue, lambda held: held.submit(order, lease_s=lease_s))
    click.echo(f"{name}: {order.trials} trials in {order.shards} shards (how far it is: unacked scale status {name})")
    return ExitCode.PASS


@command.command("worker")
@suite_option
@out_option
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Shards at once.")
@_address
@_namespace
@_queue
def worker_command(suite_path: Path | None, out: Path, jobs: int, address: str, namespace: str, queue: str) -> int:
    """Run shards until interrupted; --out must be a folder that all workers share."""
    root = suite_path if suite_path is not None else packaged_suite()

    def work(held: TemporalQueue) -> Awaitable[None]:
        click.echo(f"waiting for shards in the queue {queue!r} at {address}; Ctrl-C ends", err=True)
        return held.work(root, out, jobs=jobs, told=_tell_done)

    _with_queue(address, namespace, queue, work)
    return ExitCode.PASS


def _tell_done(result: ShardResult) -> None:
    counts = ", ".join(f"{count} {verdict}" for verdict, count in result.verdicts.items())
    click.echo(printable(f"{result.folder}: done: {counts}"), err=True)


@command.command("status")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
@_address
@_namespace
@_queue
def status_command(name: str, address: str, namespace: str, queue: str, *, as_json: bool) -> int:
    """Say how far the run NAME is."""
    status = _with_queue(address, namespace, queue, lambda held: held.status(name))
    if as_json:
        trials = sum(sum(result.verdicts.values()) for result in status.done)
        click.echo(
            dumps(
                {
                    "state": status.state,
                    "shards": status.order.shards,
                    "done": len(status.done),
                    "trials": trials + sum(state.done for state in status.running),
                    "given_up": {str(number): reason for number, reason in status.given_up.items()},
                }
            )
        )
    else:
        click.echo("\n".join(printable(line) for line in _lines(name, status)))
    return ExitCode.PASS


def _lines(name: str, status: RunStatus) -> Iterator[str]:
    yield f"{name}: {status.state}, {len(status.done)} of {status.order.shards} shards done"
    for state in status.running:
        yield f"  shard {state.number}: {state.done} of {state.trials} trials"
    for number, reason in sorted(status.given_up.items()):
        yield f"  shard {number} was given up: {reason}"


@command.command("cancel")
@click.argument("name")
@_address
@_namespace
@_queue
def cancel_command(name: str, address: str, namespace: str, queue: str) -> int:
    """Cancel the run NAME; what is finished is kept."""
    state = _with_queue(address, namespace, queue, lambda held: held.cancel(name))
    click.echo(f"{name}: {state}; what is finished is kept")
    return ExitCode.PASS


@command.command("results")
@click.argument("name")
@suite_option
@click.option("--shards", type=click.Path(path_type=Path), default=None, help="Where workers write (default: --out).")
@out_option
@_address
@_namespace
@_queue
def results_command(
    name: str, suite_path: Path | None, shards: Path | None, out: Path, address: str, namespace: str, queue: str
) -> int:
    """Wait for the run NAME and put its shards together as one run; exits as 'unacked run' would."""
    order, results = _with_queue(address, namespace, queue, lambda held: held.results(name))
    folder = gathered(open_suite(suite_path), order, results, shards if shards is not None else out, out)
    summary = folder.read_json(folder.summary)
    click.echo(dumps(summary["verdicts"]))
    click.echo(f"record: {folder.path}")
    return int(summary["exit_code"])


def _with_queue(address: str, namespace: str, queue: str, ask: Callable[[TemporalQueue], Awaitable[_T]]) -> _T:
    async def connected() -> _T:
        return await ask(await TemporalQueue.connect(address, namespace=namespace, queue=queue))

    return asyncio.run(connected())
