"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console

from unacked.errors import ExitCode
from unacked.graph import Verdict
from unacked.suite import Suite, load_suite, packaged_suite

__all__ = [
    "EXIT",
    "console",
    "file_path",
    "open_suite",
    "out_option",
    "suite_option",
]

EXIT = {
    Verdict.PASS: ExitCode.PASS,
    Verdict.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
    Verdict.ERROR: ExitCode.ERROR,
    Verdict.FAIL: ExitCode.FAIL,
    Verdict.UNSAFE: ExitCode.FAIL,
}
"""What a command exits with whose worst verdict is this."""

suite_option = click.option(
    "--suite",
    "suite_path",
    type=click.Path(path_type=Path),
    default=None,
    help="Suite folder (default: the current folder if it is one, else the suite that comes with unacked).",
)

file_path = click.Path(path_type=Path, dir_okay=False)
"""The type of an option that names a file to write."""

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
    """Return the console for results; text is shown as it is, and only a terminal breaks lines at its width."""
    screen = Console(highlight=False, markup=False, emoji=False)
    if screen.is_terminal:
        return screen
    return Console(highlight=False, markup=False, emoji=False, width=120, no_color=True)
