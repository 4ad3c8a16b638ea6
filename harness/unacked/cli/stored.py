"""What the commands share that tell of stored runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console

from unacked.cli.options import console
from unacked.engine import Canaries, RunFolder
from unacked.errors import SpecificationError
from unacked.suite import packaged_suite

__all__ = ["print_cleaned", "suite_to_name", "tell_leaks"]


def suite_to_name(folder: RunFolder) -> Path | None:
    """Return the suite that must be named to run a trial of a stored run again; None where the usual one is as good."""
    try:
        usual = packaged_suite()
    except SpecificationError:
        return folder.suite
    return folder.suite_unlike(usual)


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
