"""``unacked list``: what a suite holds."""

from __future__ import annotations

from pathlib import Path

import click

from unacked.cli.options import console, open_suite, suite_option
from unacked.report import case_paragraphs, case_table, printable

__all__ = ["command"]

_TABLE_WIDTH = 160
"""Characters below which the rows of the table would break in the middle of words."""


@click.command("list")
@suite_option
def command(suite_path: Path | None) -> int:
    """Show the cases of a suite, and whether the remote effect is known after each fault; then its agents."""
    suite = open_suite(suite_path)
    screen = console()
    if screen.width >= _TABLE_WIDTH:
        screen.print(case_table(suite.cases.values()))
    else:
        for paragraph in case_paragraphs(suite.cases.values()):
            screen.print(paragraph)
    for agent in suite.agents.values():
        control = agent.definition.file.control
        expected = f" [control: {control}]" if control else ""
        screen.print(printable(f"agent {agent.name}: {agent.definition.file.title}{expected}"), soft_wrap=True)
    screen.print(printable(f"graphs: {', '.join(suite.graphs)}"), soft_wrap=True)
    pending = suite.pending()
    ready = len(suite.cases) - len(pending)
    screen.print(f"{ready} cases ready, {len(pending)} pending")
    return 0
