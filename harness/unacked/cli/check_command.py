"""``unacked check``: judge a stored run again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from textwrap import indent

import click

from unacked.canonical import JSON
from unacked.cli.options import out_option, suite_option
from unacked.cli.stored import suite_to_name, tell_leaks
from unacked.engine import Canaries, Difference, find_run, read_verdicts, rejudge, settle_garbage, summarize
from unacked.errors import ExitCode
from unacked.report import findings_text
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
    named = suite_to_name(folder) if suite_path is None else suite_path
    stored = load_suite(folder.suite, run_code=False)
    settle_garbage()
    suite = stored if suite_path is None else replace(load_suite(suite_path, run_code=False), agents=stored.agents)
    manifest = folder.manifest()
    canaries = Canaries.of_lines(manifest["seed"], read_verdicts(folder, manifest["run"]))
    differences = 0

    def told() -> Iterator[dict[str, JSON]]:
        nonlocal differences
        for line, difference in rejudge(folder, suite):
            if difference is not None:
                differences += 1
                click.echo(canaries.clean("list of differences", _told(difference)))
                if findings := findings_text(line, named):
                    click.echo(canaries.clean("list of differences", indent(findings, "    ")))
            yield line

    summary = summarize(manifest["plan"], suite, told())
    click.echo(f"{summary['trials']} trials judged again: {differences} verdicts differ")
    tell_leaks(canaries)
    return ExitCode.FAIL if differences else int(summary["exit_code"])


def _told(difference: Difference) -> str:
    text = f"{difference.trial}: stored {difference.stored}, today {difference.today}"
    return f"{text} (explained otherwise)" if difference.stored == difference.today else text
