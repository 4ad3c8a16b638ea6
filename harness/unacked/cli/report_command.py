"""``unacked report``: a stored run, written for people and for other programs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import click

from unacked.canonical import JSON
from unacked.cli.options import file_path, out_option
from unacked.cli.stored import print_cleaned, suite_to_name, tell_leaks
from unacked.engine import Canaries, RunFolder, find_run, read_verdicts, stored_paths, summarize
from unacked.errors import ExitCode, HarnessError, Place, Problem, SpecificationError, nearest
from unacked.report import run_table, write_junit, write_report
from unacked.report.github import SUMMARY_LIMIT, workflow_commands
from unacked.report.markdown import run_markdown
from unacked.report.page import run_page
from unacked.report.sarif import run_sarif
from unacked.report.stored_run import StoredRun, most_telling
from unacked.report.story import Story, story
from unacked.report.text import printable
from unacked.suite import Suite, load_suite

__all__ = ["command"]


@click.command("report")
@click.argument("run")
@click.argument("trials", nargs=-1, metavar="[TRIAL]...")
@click.option("--html", type=file_path, default=None, help="Write one page that needs no network to this file.")
@click.option("--md", type=file_path, default=None, help="Write Markdown to this file.")
@click.option("--sarif", type=file_path, default=None, help="Write SARIF 2.1.0 to this file.")
@click.option("--junit", type=file_path, default=None, help="Write JUnit XML to this file.")
@click.option("--github", is_flag=True, help="In a job on GitHub: add to its summary, and print annotations.")
@click.option(
    "--stories", type=click.IntRange(min=0), default=40, show_default=True, help="Trials that the page tells in full."
)
@out_option
def command(
    run: str,
    trials: tuple[str, ...],
    out: Path,
    stories: int,
    html: Path | None,
    md: Path | None,
    sarif: Path | None,
    junit: Path | None,
    *,
    github: bool,
) -> int:
    """Write the report of RUN; without any option, print it.

    The page tells one trial of every kind of failure in full, then the worst of every case and agent; with TRIAL it
    tells these. It decides nothing: the exit code of a run is that of 'unacked run' and 'unacked check'.
    """
    folder = find_run(run, out)
    manifest = folder.manifest()
    lines = list(read_verdicts(folder, manifest["run"]))
    suite = load_suite(folder.suite, run_code=False)
    stored = StoredRun(folder.name, manifest, _summary(folder, suite, lines), lines, suite_to_name(folder))
    canaries = Canaries.of_lines(manifest["seed"], lines)
    if html is not None:
        told = list(_stories(folder, suite, stored, _chosen(stored, trials, stories), canaries))
        write_report(html, canaries.clean("HTML report", run_page(stored, told)))
    if md is not None:
        write_report(md, canaries.clean("Markdown report", run_markdown(stored)))
    if sarif is not None:
        write_report(sarif, canaries.clean("SARIF report", run_sarif(stored, _files(suite))))
    if junit is not None:
        write_junit(junit, lines, folder.name, partial(canaries.clean, "JUnit report"), suite_path=stored.suite)
    if github:
        _tell_github(stored, suite, canaries)
    if not github and (html, md, sarif, junit) == (None, None, None, None):
        _print(stored, canaries)
    tell_leaks(canaries)
    return ExitCode.FAIL if canaries.found else ExitCode.PASS


def _summary(folder: RunFolder, suite: Suite, lines: Sequence[Mapping[str, JSON]]) -> Mapping[str, JSON]:
    """The summary of the record; a run that was interrupted has none yet, and is counted as far as it goes."""
    if folder.summary.exists():
        return folder.read_json(folder.summary)
    return summarize(folder.manifest()["plan"], suite, lines)


def _chosen(run: StoredRun, named: Sequence[str], most: int) -> list[Mapping[str, JSON]]:
    lines = {line["trial"]: line for line in run.lines}
    problems = [
        Problem(Place(run.name), f"no trial {name!r}", nearest(name, lines)) for name in named if name not in lines
    ]
    if problems:
        raise SpecificationError(problems)
    return [lines[name] for name in dict.fromkeys(named)] or most_telling(run, most)


def _stories(
    folder: RunFolder, suite: Suite, stored: StoredRun, chosen: Sequence[Mapping[str, JSON]], canaries: Canaries
) -> Iterator[Story]:
    wanted = {line["trial"]: line for line in chosen}
    clean = partial(canaries.clean_json, "transcript")
    told = {
        path.trial: story(path.brief, path.history, wanted[path.trial], clean, stored.suite)
        for path in stored_paths(folder, suite, wanted)
    }
    return (told[name] for name in wanted)


def _files(suite: Suite) -> dict[str, str]:
    """The file of each case, relative to its suite; messages name it from wherever the user is."""
    root = suite.root.resolve()
    return {name: _within(root, case.document.file) for name, case in suite.cases.items()}


def _within(root: Path, file: str) -> str:
    for path in (Path.cwd() / file, root.parent / file):
        if path.is_relative_to(root):
            return path.relative_to(root).as_posix()
    return file


def _tell_github(run: StoredRun, suite: Suite, canaries: Canaries) -> None:
    for line in workflow_commands(run, _files(suite)):
        click.echo(canaries.clean("annotations", line))
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    if not place:
        raise SpecificationError(
            [Problem(Place("GITHUB_STEP_SUMMARY"), "is not set", "--github is for a step of a job on GitHub; see --md")]
        )
    text = canaries.clean("job summary", run_markdown(run)).encode()
    try:
        with Path(place).open("ab") as file:
            file.write(text[: SUMMARY_LIMIT - file.tell()])
    except OSError as error:
        raise HarnessError(f"{place}: cannot be written: {error.strerror}") from None


def _print(run: StoredRun, canaries: Canaries) -> None:
    with print_cleaned(canaries, "report") as screen:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in run.verdicts)
        screen.print(f"{run.name}: {run.summary['trials']} trials: {counts}", soft_wrap=True)
        for line, count in run.kinds:
            told = f"{count:>6} {line['verdict']:<12} {line['rule']}"
            screen.print(printable(told), soft_wrap=True)
            screen.print(printable(f"       {line['agent']}, such as {line['trial']}"), soft_wrap=True)
        screen.print(run_table(run.lines, worst_first=True))
