"""``unacked check``: judge a stored run again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from unacked.cli.options import out_option, suite_option, tell_leaks
from unacked.engine import Canaries, Difference, find_run, read_verdicts, rejudge, summarize
from unacked.errors import ExitCode
from unacked.suite import load_suite

__all__ = ["command"]


@click.command("check")
@click.argument("run")
@suite_option
@out_option
def command(run: str, suite_path: Path | None, out: Path) -> int:
    """Judge RUN again from its record, without any agent, model or service.

    By default with the cases and graphs that the run itself holds; with --suite by today's. Exits as the
    run itself would, or 1 where a verdict differs from the stored one.
    """
    folder = find_run(run, out)
    stored = load_suite(folder.suite, run_code=False)
    suite = stored if suite_path is None else replace(load_suite(suite_path, run_code=False), agents=stored.agents)
    manifest = folder.manifest()
    canaries = Canaries.of_lines(manifest["seed"], read_verdicts(folder, manifest["run"]))
    lines, differences = [], []
    for line, difference in rejudge(folder, suite):
        lines.append(line)
        if difference is not None:
            differences.append(difference)
            click.echo(canaries.clean("list of differences", _told(difference)))
    click.echo(f"{len(lines)} trials judged again: {len(differences)} verdicts differ")
    tell_leaks(canaries)
    if differences:
        return ExitCode.FAIL
    return int(summarize(manifest["plan"], suite, lines)["exit_code"])


def _told(difference: Difference) -> str:
    text = f"{difference.trial}: stored {difference.stored}, today {difference.today}"
    return f"{text} (explained otherwise)" if difference.stored == difference.today else text
