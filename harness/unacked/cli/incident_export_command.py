"""``unacked incident export``: a trial of ours as any viewer of traces shows it, or as a neutral trace."""

from __future__ import annotations

from pathlib import Path

import click

from unacked.canonical import dumps
from unacked.cli.options import out_option
from unacked.engine import Canaries, find_run, read_verdicts, stored_history
from unacked.errors import ExitCode, Place, Problem, SpecificationError, nearest
from unacked.incident import export_spans, neutral_lines, trial_trace
from unacked.suite import load_suite

__all__ = ["command"]


@click.command("export")
@click.argument("run")
@click.argument("trial")
@click.option("--to", type=click.Path(path_type=Path), default=None, help="File to write (default: standard output).")
@click.option(
    "--format",
    "form",
    type=click.Choice(("otel", "neutral")),
    default="otel",
    show_default=True,
    help="OTLP JSON, or a neutral trace for 'unacked judge'.",
)
@out_option
def command(run: str, trial: str, to: Path | None, form: str, out: Path) -> int:
    """Write one TRIAL of RUN as OpenTelemetry GenAI spans, or as a neutral trace."""
    folder = find_run(run, out)
    manifest = folder.manifest()
    lines = {line["trial"]: line for line in read_verdicts(folder, manifest["run"])}
    if trial not in lines:
        raise SpecificationError([Problem(Place(folder.name), f"no trial {trial!r}", nearest(trial, lines))])
    line = lines[trial]
    case = load_suite(folder.suite, run_code=False).cases[line["case"]]
    side, history = case.side(twin=line["twin"], place=line["place"]), stored_history(folder, manifest["run"], line)
    if form == "neutral":
        text = neutral_lines(trial_trace(side, history, trial))
    else:
        text = dumps(export_spans(side, history, trial)) + "\n"
    text = Canaries.of_lines(manifest["seed"], [line]).clean("export", text)
    if to is None:
        click.echo(text, nl=False)
    else:
        to.write_text(text, encoding="utf-8")
    return ExitCode.PASS
