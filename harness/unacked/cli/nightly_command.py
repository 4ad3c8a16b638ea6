"""``unacked nightly``: run a candidate, compare, decide, remember."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path

import click

from unacked.canonical import dumps
from unacked.cli.options import file_path, open_suite, out_option, suite_option
from unacked.cli.sides import canaries_of
from unacked.cli.stored import tell_leaks
from unacked.engine import find_run
from unacked.errors import ExitCode
from unacked.nightly import CaseHistory, NightResult, classify, promote, read_nightly, run_night
from unacked.report import write_report
from unacked.report.comparison import gate_text, history_text
from unacked.report.comparison_page import night_page
from unacked.report.markdown import fenced

__all__ = ["command"]


@click.command("nightly")
@click.argument("file", type=click.Path(path_type=Path))
@suite_option
@out_option
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes to run trials in.")
@click.option("--promote", "promoted", metavar="RUN", default=None, help="Run nothing: make RUN the baseline.")
@click.option("--reason", default=None, help="Why it is promoted; kept in the history.")
@click.option("--html", type=file_path, default=None, help="Write a page with all nights to this file.")
@click.option("--md", type=file_path, default=None, help="Write Markdown to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    file: Path,
    suite_path: Path | None,
    out: Path,
    jobs: int,
    promoted: str | None,
    reason: str | None,
    html: Path | None,
    md: Path | None,
    *,
    as_json: bool,
) -> int:
    """Run the night that FILE describes: PASS (0), BLOCK (1), INCONCLUSIVE (3) or ERROR (4).

    The candidate runs its cases, is compared with the baseline, and cases that look worse get fresh repeats of both
    agents once. Nothing is run again until it is green.
    """
    described = read_nightly(file)
    if (promoted is None) is not (reason is None):
        raise click.UsageError("--promote and --reason belong together")
    if promoted is not None and reason is not None:
        place = promote(described, find_run(promoted, out), out, reason)
        click.echo(f"{promoted} is the baseline now: {place}")
        return ExitCode.PASS
    with redirect_stdout(sys.stderr):  # what a policy prints is none of our results
        result = run_night(described, open_suite(suite_path), out, jobs=jobs)
    canaries = canaries_of(result.folder)
    nights = result.history.nights()
    cases = classify(nights)
    text = f"{gate_text(result.gate)}\n{history_text(cases)}"
    if html is not None:
        write_report(html, canaries.clean("HTML report", night_page(result.gate, nights, cases)))
    if md is not None:
        write_report(md, canaries.clean("Markdown report", fenced(f"unacked: {described.nightly}", text)))
    told = dumps(_as_json(result, cases)) if as_json else f"{text}\nrecord: {result.folder.path}"
    click.echo(canaries.clean("report of the night", told))
    tell_leaks(canaries)
    return result.gate.decision.exit_code


def _as_json(result: NightResult, cases: Mapping[str, CaseHistory]) -> dict[str, object]:
    classes = {
        case: {"class": found.kind.value, "since": found.since, "changed": list(found.changed)}
        for case, found in cases.items()
    }
    return {"format": 1, "run": result.folder.name, **result.gate.as_json(), "classes": classes}
