"""``unacked audit verify``: the tamper-evident trail, checked offline and without any key."""

from __future__ import annotations

from pathlib import Path

import click

from unacked.cli.options import out_option
from unacked.engine import find_run, verify
from unacked.errors import ExitCode, RecordError

__all__ = ["command"]


@click.group("audit")
def command() -> None:
    """Verify that a stored run was not changed."""


@command.command("verify")
@click.argument("run")
@out_option
def verify_command(run: str, out: Path) -> int:
    """Recompute every hash of RUN; names the file and line of the first change."""
    folder = find_run(run, out)
    try:
        trials = verify(folder)
    except RecordError as error:
        click.echo(f"{error}", err=True)
        return ExitCode.FAIL
    click.echo(f"{folder.path}: {trials} trials, every hash holds")
    return 0
