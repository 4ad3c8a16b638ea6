"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console

from unacked.suite import Suite, load_suite, packaged_suite

__all__ = ["console", "open_suite", "out_option", "suite_option"]

suite_option = click.option(
    "--suite",
    "suite_path",
    type=click.Path(path_type=Path),
    default=None,
    help="Suite folder (default: the current folder if it is one, else the suite that comes with unacked).",
)

out_option = click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="Folder that holds the runs.",
)


def open_suite(path: Path | None) -> Suite:
    """Read the suite that the user means."""
    return load_suite(path if path is not None else packaged_suite())


def console() -> Console:
    """Return the console for results; where it is no terminal, lines are not broken at 80 columns."""
    screen = Console(highlight=False)
    return screen if screen.is_terminal else Console(highlight=False, width=120, no_color=True)
