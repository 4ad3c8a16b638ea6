"""``unacked selftest``: does the harness catch what it is there to catch?"""

from __future__ import annotations

import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

import click

from unacked.canonical import dumps
from unacked.cli.options import console
from unacked.errors import ExitCode
from unacked.report import printable
from unacked.report.selftest import selftest_lines
from unacked.selftest import self_test, summary_of
from unacked.suite import shipped_suite

__all__ = ["command"]


@click.command("selftest")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON and nothing else.")
def command(*, as_json: bool) -> int:
    """Run what is wrong on purpose, and what is right, and fail if either is mistaken for the other.

    Adapters that are wrong in each known way, agents that break every rule of every graph once, and suites whose
    faults cannot act; each with what is right beside it. What cannot be tried is named, with the reason. Always with
    the suite that comes with unacked.
    """
    with redirect_stdout(sys.stderr), tempfile.TemporaryDirectory(prefix="unacked-") as scratch:
        summary = summary_of(list(self_test(shipped_suite(), Path(scratch))))
    if as_json:
        click.echo(dumps(summary))
    else:
        screen = console()
        for line in selftest_lines(summary):
            screen.print(printable(line), soft_wrap=True)
    return ExitCode.FAIL if summary["gaps"] else ExitCode.PASS
