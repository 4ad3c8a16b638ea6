"""``unacked orchestrator``: other people's orchestrators under test, by probes that believe nobody."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from unacked.canonical import InvalidJSON, dumps, loads
from unacked.cli.options import file_path
from unacked.conformance.adapter import CAPABILITIES, load_adapter, shipped_adapters
from unacked.conformance.check import Check, Finding, Status
from unacked.conformance.checks import CHECKS
from unacked.conformance.planted.selftest import selftest
from unacked.conformance.run import Report, check_orchestrator, chosen_checks
from unacked.errors import ExitCode, Place, Problem, SpecificationError
from unacked.report import write_report
from unacked.report.orchestrators import finding_text, orchestrators_markdown, orchestrators_page, summary_text
from unacked.report.text import printable

__all__ = ["command"]

_html = click.option("--html", type=file_path, default=None, help="Write the table as one page to this file.")
_md = click.option("--md", type=file_path, default=None, help="Write the table as Markdown to this file.")


@click.group("orchestrator")
def command() -> None:
    """Put orchestrators to the test: what they run is told by probes, and by nothing else."""


@command.command("check")
@click.argument("adapters", nargs=-1, required=True, metavar="ADAPTER...")
@click.option("--only", multiple=True, metavar="CHECK", help="Only this check, such as C3 (again for more).")
@click.option("--keep", type=click.Path(path_type=Path, file_okay=False), help="Keep plans, lines and outputs here.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line and nothing else.")
@_md
@_html
def check_command(
    adapters: tuple[str, ...],
    only: tuple[str, ...],
    keep: Path | None,
    md: Path | None,
    html: Path | None,
    *,
    as_json: bool,
) -> int:
    """Run probes under each ADAPTER (a name of 'orchestrator list', or a YAML or Python file) and judge their lines.

    Exits 0 where all that is claimed holds, 1 where something does not, 3 where something could not be tested.
    """
    checks = chosen_checks(only)
    loaded = [load_adapter(name) for name in adapters]
    _check_names([adapter.name for adapter in loaded])
    reports = []
    with _folder(keep) as folder:
        for adapter in loaded:
            report = check_orchestrator(adapter, checks, folder / adapter.name, _tell_nobody if as_json else _tell)
            click.echo(dumps(report.as_json()) if as_json else summary_text(report))
            reports.append(report)
    _write(reports, checks, md, html)
    return _worst(reports)


def _check_names(names: Sequence[str]) -> None:
    problems = [
        Problem(Place("adapters"), f"two orchestrators are named {name!r}", "give each once")
        for name in sorted({name for name in names if names.count(name) > 1})
    ]
    if problems:
        raise SpecificationError(problems)


@contextlib.contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="unacked-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _tell(finding: Finding) -> None:
    if finding.status is not Status.NOT_CLAIMED:  # the summary counts these
        click.echo(finding_text(CHECKS[finding.check], finding))


def _tell_nobody(_: Finding) -> None:
    """Say nothing: the report will."""


def _write(reports: Sequence[Report], checks: Sequence[Check], md: Path | None, html: Path | None) -> None:
    if md is not None:
        write_report(md, orchestrators_markdown(reports, checks))
    if html is not None:
        write_report(html, orchestrators_page(reports, checks))


def _worst(reports: Sequence[Report]) -> ExitCode:
    codes = {report.exit_code for report in reports}
    return next(code for code in (ExitCode.FAIL, ExitCode.INCONCLUSIVE, ExitCode.PASS) if code in codes)


@command.command("table")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@_md
@_html
def table_command(files: tuple[Path, ...], md: Path | None, html: Path | None) -> int:
    """Put what 'orchestrator check --json' printed into FILES into one table; without an option, print it."""
    reports = [report for file in files for report in _stored(file)]
    _check_names([report.orchestrator for report in reports])
    found = {finding.check for report in reports for finding in report.findings}
    checks = [check for check in CHECKS.values() if check.id in found]
    _write(reports, checks, md, html)
    if md is None and html is None:
        click.echo(orchestrators_markdown(reports, checks), nl=False)
    return _worst(reports)


def _stored(file: Path) -> Iterator[Report]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SpecificationError([Problem(Place(str(file)), f"cannot be read: {error}")]) from None
    for number, line in enumerate(lines, start=1):
        try:
            yield Report.of(loads(line))
        except (InvalidJSON, KeyError, TypeError, ValueError):
            problem = Problem(Place(str(file), number, 1), "is no report of 'unacked orchestrator check --json'")
            raise SpecificationError([problem]) from None


@command.command("list")
def list_command() -> int:
    """List the adapters that come with unacked, what can be claimed, and the checks with what they need."""
    click.echo("adapters:")
    for name in shipped_adapters():
        adapter = load_adapter(name)
        versions = adapter.versions()
        needs = ", ".join(f"{package} {versions.get(package, 'not installed')}" for package in adapter.file.requires)
        click.echo(f"  {name:<12} {printable(adapter.file.about)}{f' ({needs})' if needs else ''}")
    click.echo("capabilities:")
    for name, told in CAPABILITIES.items():
        click.echo(f"  {name:<12} {told}")
    click.echo("checks:")
    for check in CHECKS.values():
        click.echo(f"  {check.id:<4} {check.title} (needs {', '.join(check.needs)})")
    return ExitCode.PASS


@command.command("selftest")
def selftest_command() -> int:
    """Show that each check catches the orchestrator that is wrong for it, and lets all others pass."""
    result = selftest()
    for problem in result.problems:
        click.echo(printable(problem))
    click.echo(f"{result.caught} of {result.faults} faults caught by their check and no other; {result.plays:,} plays")
    return ExitCode.FAIL if result.problems else ExitCode.PASS
