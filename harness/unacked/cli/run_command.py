"""``unacked run``: the main job."""

from __future__ import annotations

import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from pathlib import Path
from types import FrameType

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from unacked.canonical import JSON, dumps
from unacked.cli.limits import read_policy
from unacked.cli.options import open_suite, out_option, suite_option
from unacked.cli.stored import print_cleaned, tell_leaks
from unacked.engine import (
    Canaries,
    Drain,
    Outcome,
    Plan,
    Policy,
    RunBudget,
    RunFolder,
    RunRequest,
    dead_letters,
    execute,
    make_plan,
    open_run,
    read_verdicts,
)
from unacked.engine import retry_dead as retry_dead_trials
from unacked.errors import ExitCode, Place, Problem, SpecificationError, UnackedError
from unacked.orchestrator import TaskRecord
from unacked.report import findings_text, first_of_each, printable, run_table, write_junit

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
@click.option(
    "--max-usd", type=click.FloatRange(min=0, min_open=True), default=None, help="Stop when models cost that."
)
@click.option("--max-minutes", type=click.FloatRange(min=0, min_open=True), default=None, help="Stop after that time.")
@click.option(
    "--max-trial-s",
    type=click.FloatRange(min=0, min_open=True),
    default=Policy().max_trial_s,
    show_default=True,
    help="Break a trial off after so many seconds of real time; it is an ERROR then.",
)
@click.option(
    "--limit", "limits", multiple=True, metavar="DRIVER=N", help="Trials of a driver at once; N/min: begun a minute."
)
@click.option(
    "--priority", "priorities", multiple=True, metavar="NAME=N", help="Higher first; NAME is an agent or a case."
)
@click.option("--retry-dead", is_flag=True, help="Run the trials of --run-id again that could not be ended.")
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
    max_usd: float | None,
    max_minutes: float | None,
    max_trial_s: float,
    limits: tuple[str, ...],
    priorities: tuple[str, ...],
    *,
    retry_dead: bool,
    as_json: bool,
    junit: Path | None,
) -> int:
    """Run cases against agents, record every trial, and judge it.

    SELECT are names of cases, patterns (C0*) or tags (tag:write); none selects all. Without --agent the
    controls run, and the exit code is 0 only if each of them behaves as it declares.
    """
    with redirect_stdout(sys.stderr):  # what a policy prints is none of our results
        suite = open_suite(suite_path)
        plan = make_plan(suite, RunRequest(select, agents, repeat, seed))
        policy = read_policy(plan, limits, priorities, max_trial_s)
        folder = open_run(suite, plan, out, run_id)
        if retry_dead:
            _retry_dead(folder, plan, named=run_id is not None)
        try:
            with _progress(plan, quiet=as_json) as told, _interruptible() as drain:
                done = read_verdicts(folder, plan.run) if folder.verdicts.exists() else ()
                budget = RunBudget(told, done, len(plan.trials), max_usd=max_usd, max_minutes=max_minutes)
                summary = execute(folder, plan, jobs=jobs, told=budget, policy=policy, drain=drain)
        except (KeyboardInterrupt, UnackedError) as error:
            click.echo(_how_to_resume(folder), err=True)
            if isinstance(error, KeyboardInterrupt):
                return ExitCode.INTERRUPTED
            raise
    lines = list(read_verdicts(folder, plan.run))
    canaries = Canaries(plan.trials)
    if as_json:
        click.echo(dumps(summary))
    else:
        with print_cleaned(canaries, "terminal report") as screen:
            _print_run(screen, folder, plan, lines, summary, suite_path)
    if junit is not None:
        write_junit(junit, lines, folder.name, partial(canaries.clean, "JUnit report"), suite_path=suite_path)
    tell_leaks(canaries)
    return ExitCode.FAIL if canaries.found else int(summary["exit_code"])


def _retry_dead(folder: RunFolder, plan: Plan, *, named: bool) -> None:
    if not named:
        hint = "name it with --run-id"
        raise SpecificationError([Problem(Place("--retry-dead"), "which run is meant is not said", hint)])
    click.echo(f"to be run again: {', '.join(retry_dead_trials(folder, plan)) or 'nothing'}", err=True)


@contextmanager
def _interruptible() -> Iterator[Drain]:
    """Let the first Ctrl-C end the run with the trials that are under way, and the second at once.

    Where it is ignored, as in the background of a script, it stays so.
    """
    drain = Drain()
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        yield drain
        return

    def first(_number: int, _frame: FrameType | None) -> None:
        drain.ask()
        signal.signal(signal.SIGINT, before)
        click.echo("ending with the trials that are under way; Ctrl-C again stops at once", err=True)

    signal.signal(signal.SIGINT, first)
    try:
        yield drain
    finally:
        signal.signal(signal.SIGINT, before)


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
            _RateColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("", total=len(plan.trials))
            yield lambda outcome: progress.update(task, completed=_number(outcome), description=outcome.line["trial"])
    else:
        yield _PlainProgress(len(plan.trials))


class _RateColumn(ProgressColumn):
    """Trials a second, as soon as there is a rate."""

    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None else f"{task.speed:.1f}/s")


class _PlainProgress:
    """One line every few seconds; the rate is that behind the first trial, for which workers have to start."""

    _EVERY_S = 5.0

    def __init__(self, total: int) -> None:
        self._total = total
        self._next = time.monotonic() + self._EVERY_S
        self._first_s: float | None = None
        self._done = 0

    def __call__(self, outcome: Outcome) -> None:
        now = time.monotonic()
        if self._first_s is None:
            self._first_s = now
        if now >= self._next:
            self._next = now + self._EVERY_S
            number, rate = _number(outcome), self._done / max(now - self._first_s, 1e-9)
            more = f", {rate:.1f} a second, {(self._total - number) / rate:.0f} s left" if self._done else ""
            click.echo(f"{number} of {self._total} trials{more}", err=True)
        self._done += 1


def _number(outcome: Outcome) -> int:
    return int(outcome.line["index"]) + 1


def _how_to_resume(folder: RunFolder) -> str:
    return f"what was finished is kept; to resume: {_this_command(folder)}"


def _this_command(folder: RunFolder, *more: str) -> str:
    """Return the command that was given, with the name of the run."""
    words = iter(sys.argv[2:])
    rest = [word for word in words if not _names_the_run(word, words) and word not in more]
    return shlex.join(["unacked", "run", "--run-id", folder.name, *more, *rest])


def _names_the_run(word: str, following: Iterator[str]) -> bool:
    if word == "--run-id":
        next(following, None)
    return word == "--run-id" or word.startswith("--run-id=")


def _print_run(
    screen: Console, folder: RunFolder, plan: Plan, lines: Sequence[Line], summary: Line, suite: Path | None
) -> None:
    screen.print(run_table(lines))
    caught = [line for line in lines if line["verdict"] in ("UNSAFE", "FAIL", "ERROR")]
    caught.sort(key=lambda line: (line["verdict"] != "UNSAFE", line["case"] != "E01"))
    for line, count in first_of_each(caught)[: None if not plan.controls else 1]:
        more = f"  (and {count - 1} more of this kind)" if count > 1 else ""
        screen.print(f"{line['trial']}{more}", style="bold")
        screen.print(findings_text(line, suite), soft_wrap=True)
        screen.print()
    dead = dead_letters(folder)
    for text, style in _summary(plan, summary, dead):
        screen.print(printable(text), style=style, soft_wrap=True)
    if dead:
        again = _this_command(folder, "--retry-dead")
        screen.print(printable(f"another chance for what could not be ended: {again}"), soft_wrap=True)
    place = shlex.quote(str(folder.path))
    trial = caught[0]["trial"] if caught else lines[0]["trial"]
    screen.print(f"record: {folder.path}   (its story: unacked show {place} {trial})", soft_wrap=True)


def _summary(plan: Plan, summary: Line, dead: Sequence[TaskRecord]) -> Iterator[tuple[str, str]]:
    """Yield the lines below the table, each with its style."""
    counts = ", ".join(f"{count} {verdict}" for verdict, count in summary["verdicts"].items() if count)
    yield f"{summary['trials']} trials: {counts}; lucky {summary['lucky']}, unlucky {summary['unlucky']}", ""
    if plan.sweeps:
        yield f"not selected, long: {len(plan.sweeps)} sweeps (unacked run tag:sweep)", ""
    if plan.pending:
        yield f"not selected, pending: {', '.join(plan.pending)}", ""
    for entry in summary["expected_failures"]:
        if entry["verdict"] == "PASS":
            yield f"passed, although expected to fail: {entry['trial']}: remove its xfail ({entry['reason']})", "yellow"
        else:
            yield f"expected failure: {entry['trial']} {entry['verdict']}: {entry['reason']}", ""
    for letter in dead:
        yield f"{letter.status}: {letter.id}: {letter.error}", "red"
    for side in summary["unexercised"]:
        yield f"{side}: its fault never fired, for no agent", "yellow"
    for entry in summary["surprises"]:
        yield f"{entry['trial']}: expected {entry['expected']}, got {entry['observed']}", "red"
    if plan.controls and not summary["surprises"]:
        yield "every control behaved as it declares: those that are here to be caught were caught", "green"
