"""``unacked validate``: every problem of every file at once."""

from __future__ import annotations

from pathlib import Path

import click

from unacked.cli.options import open_suite, suite_option
from unacked.errors import Place, Problem, SpecificationError
from unacked.fixtures import load_fixtures

__all__ = ["command"]


@click.command("validate")
@suite_option
def command(suite_path: Path | None) -> int:
    """Check every file of a suite: cases, fixtures, graphs, agents, policies and fake services."""
    suite = open_suite(suite_path)
    fixtures = load_fixtures(suite.root)
    if not suite.cases:
        raise SpecificationError([Problem(Place(str(suite.root)), "the suite holds no cases")])
    problems = [problem for agent in suite.agents.values() for problem in agent.problems()]
    if problems:
        raise SpecificationError(problems)
    held = f"{len(suite.cases)} cases, {len(fixtures)} fixtures, {len(suite.graphs)} graphs, {len(suite.agents)} agents"
    click.echo(f"{suite.root}: {held}: no problem found")
    return 0
