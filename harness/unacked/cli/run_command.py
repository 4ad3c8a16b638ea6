"""``unacked run``: the main job."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from unacked.canonical import JSON, dumps
from unacked.cli.options import console, open_suite, out_option, suite_option
from unacked.engine import Outcome, Plan, RunFolder, RunRequest, execute, make_plan, open_run, read_verdicts
from unacked.errors import ExitCode, UnackedError
from unacked.report import findings_text, first_of_each, run_table, write_junit

__all__ = ["command"]

Line = dict[str, JSON]


@click.command("run")
@click.argument("select", nargs=-1)
@suite_option
@click.option("--agent", "agents", multiple=True, metavar="NAME", help="Agent to run; may be given more than once.")
@click.option("--repeat", type=click.IntRange(min=1), default=1, show_default=True, help="Trials of each case.")
@click.option("--seed", default="0", show_default=True, help="Seed of everything that varies.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes to run trials in.")
@out_option
@click.option("--run-id", default=None, metavar="NAME", help="Name of the run; the same name again resumes it.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON and nothing else.")
@click.option("--junit", type=click.Path(path_type=Path), default=None, help="Also write JUnit XML to this file.")
def command(
    select: tuple[str, ...],
    suite_path: Path | None,
    agents: tuple[str, ...],
    repeat: int,
    seed: str,
    jobs: int,
    out: Path,
    run_id: str | None,
    *,
    as_json: bool,
    junit: Path | None,
) -> int:
    """Run cases against agents, record every trial, and judge it.

    SELECT are names of cases, patterns (C0*) or tags (tag:write); none selects all. Without --agent the
    controls run, and the exit code is 0 only if each of them behaves as it declares.
    """
    suite = open_suite(suite_path)
    plan = make_plan(suite, RunRequest(select, agents, repeat, seed))
    folder = open_run(suite, plan, out, run_id)
    screen = Console(stderr=True, quiet=True) if as_json else console()
    try:
        with _progress(plan, quiet=as_json) as told:
            summary = execute(folder, plan, jobs=jobs, told=told)
    except (KeyboardInterrupt, UnackedError) as error:
        click.echo(_how_to_resume(folder), err=True)
        if isinstance(error, KeyboardInterrupt):
            return ExitCode.INTERRUPTED
        raise
    lines = list(read_verdicts(folder, plan.run))
    if junit is not None:
        write_junit(junit, lines, folder.name)
    if as_json:
        click.echo(dumps(summary))
    else:
        _print_run(screen, folder, plan, lines, summary)
    return int(summary["exit_code"])


@contextmanager
def _progress(plan: Plan, *, quiet: bool) -> Iterator[Callable[[Outcome], None]]:
    """Show progress: a live bar on a terminal, a line now and then elsewhere, nothing where quiet."""
    if quiet:
        yield lambda _outcome: None
    elif sys.stderr.isatty():
        columns = (
            TextColumn("trials"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("", total=len(plan.trials))
            yield lambda outcome: progress.update(task, advance=1, description=outcome.line["trial"])
    else:
        yield _PlainProgress(len(plan.trials))


class _PlainProgress:
    """One line every few seconds."""

    _EVERY_S = 5.0

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._next = time.monotonic() + self._EVERY_S

    def __call__(self, _outcome: Outcome) -> None:
        self._done += 1
        if time.monotonic() >= self._next:
            self._next += self._EVERY_S
            click.echo(f"{self._done} of {self._total} trials", err=True)


def _how_to_resume(folder: RunFolder) -> str:
    arguments = [word for word in sys.argv[1:] if not word.startswith("--run-id")]
    if "--run-id" in sys.argv:
        arguments.remove(folder.name)
    return f"what was finished is kept; to resume: unacked {' '.join(arguments)} --run-id {folder.name}"


def _print_run(screen: Console, folder: RunFolder, plan: Plan, lines: Sequence[Line], summary: Line) -> None:
    screen.print(run_table(lines))
    caught = [line for line in lines if line["verdict"] in ("UNSAFE", "FAIL", "ERROR")]
    caught.sort(key=lambda line: (line["verdict"] != "UNSAFE", line["case"] != "E01"))
    for line, count in first_of_each(caught)[: None if not plan.controls else 1]:
        more = f"  (and {count - 1} more of this kind)" if count > 1 else ""
        screen.print(f"{line['trial']}{more}", style="bold", markup=False)
        screen.print(findings_text(line), markup=False, soft_wrap=True)
        screen.print()
    _print_summary(screen, folder, plan, summary)


def _print_summary(screen: Console, folder: RunFolder, plan: Plan, summary: Line) -> None:
    counts = ", ".join(f"{count} {verdict}" for verdict, count in summary["verdicts"].items() if count)
    screen.print(
        f"{summary['trials']} trials: {counts}; lucky {summary['lucky']}, unlucky {summary['unlucky']}", markup=False
    )
    if plan.pending:
        screen.print(f"not selected, pending: {', '.join(plan.pending)}", markup=False)
    for entry in summary["expected_failures"]:
        screen.print(f"expected failure: {entry['trial']} {entry['verdict']}: {entry['reason']}", markup=False)
    if plan.controls:
        if not summary["surprises"]:
            screen.print("every control behaved as it declares", style="green")
        for entry in summary["surprises"]:
            screen.print(
                f"{entry['trial']}: expected {entry['expected']}, got {entry['observed']}", style="red", markup=False
            )
    screen.print(f"record: {folder.path}   (unacked show {folder.name} TRIAL)", markup=False, soft_wrap=True)
