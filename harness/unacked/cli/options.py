"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console

from unacked.engine import Canaries, RunFolder
from unacked.errors import ExitCode, SpecificationError
from unacked.graph import Verdict
from unacked.suite import Suite, load_suite, packaged_suite

__all__ = [
    "EXIT",
    "console",
    "file_path",
    "open_suite",
    "out_option",
    "print_cleaned",
    "suite_option",
    "suite_to_name",
    "tell_leaks",
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


def suite_to_name(folder: RunFolder) -> Path | None:
    """Return the suite that must be named to run a trial of a stored run again; None where the usual one is as good."""
    try:
        usual = packaged_suite()
    except SpecificationError:
        return folder.suite
    return folder.suite_unlike(usual)


def open_suite(path: Path | None) -> Suite:
    """Read the suite that the user means."""
    return load_suite(path if path is not None else packaged_suite())


def console() -> Console:
    """Return the console for results; text is shown as it is, and only a terminal breaks lines at its width."""
    screen = Console(highlight=False, markup=False, emoji=False)
    if screen.is_terminal:
        return screen
    return Console(highlight=False, markup=False, emoji=False, width=120, no_color=True)


@contextmanager
def print_cleaned(canaries: Canaries, sink: str) -> Iterator[Console]:
    """Collect what is printed, and let it out at the end without any canary."""
    screen = console()
    with screen.capture() as shown:
        yield screen
    click.echo(canaries.clean(sink, shown.get()), nl=False)


def tell_leaks(canaries: Canaries) -> None:
    """Name the sinks in which a canary stood."""
    for sink in dict.fromkeys(canaries.found):
        click.echo(f"UNSAFE secret-leaked: a canary credential stood in the {sink}; it was taken out", err=True)
