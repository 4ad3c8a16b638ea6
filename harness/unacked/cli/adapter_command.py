"""``unacked adapter check``: the user's own tool code at every fault, without any agent."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console

from unacked.adapter import OVER_MCP, PATIENCE_S, WIRES, Report, supervised
from unacked.canonical import dumps
from unacked.cli.options import console, suite_option
from unacked.errors import ExitCode
from unacked.report import printable
from unacked.suite import packaged_suite

__all__ = ["command"]


@click.group("adapter")
def command() -> None:
    """Put tool code of your own to the test."""


@command.command("check")
@click.argument("adapter", metavar="MODULE:FUNCTION|mcp:COMMAND")
@click.argument("operations", nargs=-1, metavar="[OPERATION]...")
@suite_option
@click.option(
    "--wire",
    type=click.Choice(WIRES),
    default=None,
    help="simulated: in memory, for httpx2 and httpcore2 (default). loopback: real sockets, for any HTTP library, and "
    "for MCP servers (default there).",
)
@click.option(
    "--patience",
    "patience_s",
    type=click.FloatRange(min=0.1),
    default=PATIENCE_S,
    show_default=True,
    metavar="SECONDS",
    help="How long one call may take in real time.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON and nothing else.")
def check_command(
    adapter: str,
    operations: tuple[str, ...],
    suite_path: Path | None,
    wire: str | None,
    patience_s: float,
    *,
    as_json: bool,
) -> int:
    """Call MODULE:FUNCTION at every place where a fault can act, and judge what it claims against the ledger.

    The function takes (operation, arguments, link) and returns the envelope as a dict; docs/adapters.md tells
    the rest. mcp:COMMAND stands for an MCP server that is started anew for each call; docs/mcp.md tells of it.
    Without OPERATION all of the suite's swept operations are called. Exits 1 on any finding.
    """
    over_mcp = adapter.startswith(OVER_MCP)
    if over_mcp and wire == "simulated":
        raise click.UsageError("an MCP server is a process of its own, and only the loopback wire reaches it")
    wire = wire or ("loopback" if over_mcp else "simulated")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    root = suite_path if suite_path is not None else packaged_suite()
    report = Report(adapter, wire)
    for heard in supervised(adapter, root, operations, wire=wire, patience_s=patience_s):
        report.add(heard)
    if as_json:
        click.echo(dumps(report.as_json()))
    else:
        _show(console(), report)
    return ExitCode.FAIL if report.findings else ExitCode.PASS


def _show(screen: Console, report: Report) -> None:
    for line in _lines(report):
        screen.print(printable(line), soft_wrap=True)


def _lines(report: Report) -> Iterator[str]:
    for finding in report.findings.values():
        yield f"{finding['verdict']} {finding['rule']}  ({finding['count']} times, first at {finding['first']})"
        yield f"  expected {finding['expected']}; observed {finding['observed']}"
        if finding.get("remedy"):
            yield f"  remedy: {finding['remedy']}"
    for reason, count in report.skipped.items():
        yield f"not on this wire: {count} calls: {reason}"
    if report.not_exercised:
        yield f"not exercised: in {report.not_exercised} calls the fault found nothing to act on"
    found = f"{len(report.findings)} findings" if report.findings else "no finding"
    yield f"{report.adapter}: {report.calls} calls of {len(report.operations)} operations, {report.wire} wire: {found}"
