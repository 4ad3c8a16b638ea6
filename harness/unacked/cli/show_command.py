"""``unacked show``: a run, or one trial of it."""

from __future__ import annotations

from pathlib import Path

import click

from unacked.claims import CLAIMS
from unacked.cli.options import console, out_option
from unacked.engine import RunFolder, find_run, read_verdicts
from unacked.errors import Place, Problem, SpecificationError, nearest
from unacked.report import findings_text, run_table, styled_verdict, transcript
from unacked.suite import load_suite
from unacked.trail import TrialName, read_history

__all__ = ["command"]


@click.command("show")
@click.argument("run")
@click.argument("trial", required=False)
@out_option
def command(run: str, trial: str | None, out: Path) -> int:
    """Show the table of RUN, or the transcript of one TRIAL with the refused step marked and explained."""
    folder = find_run(run, out)
    lines = {line["trial"]: line for line in read_verdicts(folder, folder.manifest()["run"])}
    screen = console()
    if trial is None:
        screen.print(run_table(list(lines.values())))
        return 0
    if trial not in lines:
        raise SpecificationError([Problem(Place(folder.name), f"no trial {trial!r}", nearest(trial, lines))])
    line = lines[trial]
    screen.print(styled_verdict(line["verdict"]).append(f"  {trial}", style="default"))
    for name in CLAIMS:
        screen.print(f"  {name:<7}", styled_verdict(line["claims"][name]["verdict"]))
    _print_transcript(folder, line)
    text = findings_text(line)
    if text:
        screen.print()
        screen.print(text, soft_wrap=True)
    return 0


def _print_transcript(folder: RunFolder, line: dict[str, object]) -> None:
    suite = load_suite(folder.suite, run_code=False)
    name = TrialName(folder.manifest()["run"], str(line["trial"]), str(line["case"]))
    history = read_history(folder.events(int(str(line["index"])), name.trial), name)
    brief = suite.cases[name.case].side(twin=bool(line["twin"]), place=str(line["place"]))
    screen = console()
    screen.print()
    for text in transcript(brief, history):
        screen.print(text, soft_wrap=True)
