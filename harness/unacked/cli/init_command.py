"""``unacked init``: a new suite for one's own agents."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from unacked.suite import begin_suite

__all__ = ["command"]


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
def command(folder: Path) -> int:
    """Make a new suite in FOLDER, which is new or empty (default: the current one).

    It holds the shipped graphs, services and controls, the case E01, and an agent `mine` in which to put your own.
    """
    for path in begin_suite(folder):
        click.echo(f"{path}/")
    go = "" if folder == Path() else f"cd {shlex.quote(str(folder))} && "
    click.echo(f"next: {go}unacked run            (the controls show that the case tells right from wrong)")
    click.echo(f"      {go}unacked run --agent mine    (your agent: agents/mine/)")
    return 0
