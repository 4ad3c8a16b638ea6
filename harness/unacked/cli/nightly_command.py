"""``unacked nightly``: run a candidate, compare, decide, remember."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path

import click

from unacked.canonical import dumps
from unacked.cli.options import console, open_suite, out_option, suite_option
from unacked.engine import find_run
from unacked.errors import ExitCode
from unacked.nightly import NightResult, classify, promote, read_nightly, run_night
from unacked.report.comparison import gate_text, history_text

__all__ = ["command"]


@click.command("nightly")
@click.argument("file", type=click.Path(path_type=Path))
@suite_option
@out_option
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes to run trials in.")
@click.option("--promote", "promoted", metavar="RUN", default=None, help="Run nothing: make RUN the baseline.")
@click.option("--reason", default=None, help="Why it is promoted; kept in the history.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    file: Path,
    suite_path: Path | None,
    out: Path,
    jobs: int,
    promoted: str | None,
    reason: str | None,
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
    if as_json:
        click.echo(dumps(_as_json(result)))
    else:
        screen = console()
        screen.print(gate_text(result.gate), soft_wrap=True)
        screen.print(history_text(classify(result.history.nights())), soft_wrap=True)
        screen.print(f"record: {result.folder.path}", soft_wrap=True)
    return result.gate.decision.exit_code


def _as_json(result: NightResult) -> dict[str, object]:
    classes = {
        case: {"class": found.kind.value, "since": found.since, "changed": list(found.changed)}
        for case, found in classify(result.history.nights()).items()
    }
    return {"format": 1, "run": result.folder.name, **result.gate.as_json(), "classes": classes}
