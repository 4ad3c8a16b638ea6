"""``unacked prune``: remove old runs."""

from __future__ import annotations

from pathlib import Path

import click

from unacked.cli.options import out_option
from unacked.engine import prunable, prune
from unacked.errors import ExitCode

__all__ = ["command"]


@click.command("prune")
@click.option("--keep", type=click.IntRange(min=0), required=True, help="How many finished runs stay, the newest.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@out_option
def command(keep: int, out: Path, *, dry_run: bool) -> int:
    """Remove all but the newest finished runs.

    Baselines, the history of nights, and runs that are not finished or not readable stay, whatever their number.
    """
    retained = prunable(out, keep)
    if not dry_run:
        prune(out, retained)
    for folder in retained.leaving:
        click.echo(f"{'would remove' if dry_run else 'removed'} {folder.name}")
    for name, reason in retained.untouched.items():
        click.echo(f"kept {name}: it {reason}")
    click.echo(f"{len(retained.leaving)} of {len(retained.leaving) + len(retained.newest)} finished runs")
    return ExitCode.PASS
