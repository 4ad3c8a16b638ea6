"""``unacked show``: a run, or one trial of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import click
from rich.console import Console

from unacked.canonical import JSON
from unacked.claims import CLAIMS
from unacked.cli.options import out_option
from unacked.cli.stored import print_cleaned, suite_to_name, tell_leaks
from unacked.engine import Canaries, RunFolder, find_run, read_verdicts
from unacked.errors import Place, Problem, SpecificationError, nearest
from unacked.report import findings_text, run_table, styled_verdict, transcript
from unacked.suite import load_suite
from unacked.trail import TrialName, read_history

__all__ = ["command"]


@click.command("show")
@click.argument("run")
@click.argument("trial", required=False)
@click.option("--only-failed", is_flag=True, help="Leave out the cases in which every trial passed.")
@out_option
def command(run: str, trial: str | None, out: Path, *, only_failed: bool) -> int:
    """Show the table of RUN, or the transcript of one TRIAL with the refused step marked and explained.

    The worst cases come first.
    """
    folder = find_run(run, out)
    manifest = folder.manifest()
    lines = {line["trial"]: line for line in read_verdicts(folder, manifest["run"])}
    if trial is not None and trial not in lines:
        raise SpecificationError([Problem(Place(folder.name), f"no trial {trial!r}", nearest(trial, lines))])
    canaries = Canaries.of_lines(manifest["seed"], lines.values())
    with print_cleaned(canaries, "transcript" if trial else "table") as screen:
        if trial is None:
            screen.print(run_table(list(lines.values()), worst_first=True, only_failed=only_failed))
        else:
            _print_trial(screen, folder, lines[trial], canaries)
    tell_leaks(canaries)
    return 0


def _print_trial(screen: Console, folder: RunFolder, line: Mapping[str, JSON], canaries: Canaries) -> None:
    screen.print(styled_verdict(line["verdict"]).append(f"  {line['trial']}", style="default"))
    for name in CLAIMS:
        screen.print(f"  {name:<7}", styled_verdict(line["claims"][name]["verdict"]))
    _print_transcript(screen, folder, line, canaries)
    text = findings_text(line, suite_to_name(folder))
    if text:
        screen.print()
        screen.print(text, soft_wrap=True)


def _print_transcript(screen: Console, folder: RunFolder, line: Mapping[str, JSON], canaries: Canaries) -> None:
    suite = load_suite(folder.suite, run_code=False)
    name = TrialName(folder.manifest()["run"], line["trial"], line["case"])
    history = read_history(folder.events(line["index"], name.trial), name)
    brief = suite.cases[name.case].side(twin=line["twin"], place=line["place"])
    screen.print()
    for text in transcript(brief, history, partial(canaries.clean_json, "transcript")):
        screen.print(text, soft_wrap=True)
