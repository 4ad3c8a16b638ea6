"""``unacked fixtures``: what each tool makes of one answer, without an agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import click

from unacked.canonical import dumps
from unacked.cli.options import EXIT, open_suite, suite_option
from unacked.errors import ExitCode, Place, Problem, SpecificationError, nearest
from unacked.fixtures import Fixture, FixtureBench, FixtureResult, generate, load_fixtures
from unacked.graph import Verdict
from unacked.report import printable
from unacked.tools import TOOLS

__all__ = ["command"]


@click.command("fixtures")
@click.argument("select", nargs=-1)
@suite_option
@click.option("--generated", is_flag=True, help="Also run those that are generated from the tools' contracts.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def command(select: tuple[str, ...], suite_path: Path | None, *, generated: bool, as_json: bool) -> int:
    """Run contract fixtures: a call, an answer, and what the tool must make of it; no agent takes part.

    SELECT are names or patterns (error-4*, and with --generated create_issue.*); none selects all. The generated
    ones break one assumption about an answer at a time, for every operation that leaves this process.
    """
    written = [loaded.fixture for loaded in load_fixtures(open_suite(suite_path).root).values()]
    made = [fixture for tool in TOOLS.values() for fixture in generate(tool)] if generated else []
    chosen = _chosen([*written, *made], select)
    bench = FixtureBench()
    results = [bench.run(fixture) for fixture in chosen]
    worst = Verdict.worst(result.verdict for result in results)
    if as_json:
        click.echo(_json(results, EXIT[worst]))
        return EXIT[worst]
    shown = {fixture.name for fixture in written}
    for result in results:
        if result.fixture.name in shown or result.findings:
            click.echo("\n".join(printable(line) for line in _lines(result)))
    operations = len({result.fixture.operation for result in results})
    counts = ", ".join(f"{count:,} {verdict}" for verdict, count in _counts(results).items() if count)
    click.echo(f"{len(results):,} fixtures of {operations} operations: {counts}")
    return EXIT[worst]


def _chosen(fixtures: Sequence[Fixture], select: Sequence[str]) -> Sequence[Fixture]:
    """Return what the words select, each once; raises SpecificationError for a word that selects nothing."""
    names = [fixture.name for fixture in fixtures]
    problems = [
        Problem(Place("selection"), f"{word!r} selects no fixture", nearest(word, names))
        for word in select
        if not any(fnmatchcase(name, word) for name in names)
    ]
    if not names:
        problems = [Problem(Place("selection"), "the suite holds no fixtures", "run the generated ones: --generated")]
    if problems:
        raise SpecificationError(problems)
    words = select or ("*",)
    return [fixture for fixture in fixtures if any(fnmatchcase(fixture.name, word) for word in words)]


def _lines(result: FixtureResult) -> Iterator[str]:
    told = " ".join(str(result.envelope.get(name, "-")) for name in ("category", "retry"))
    yield f"{result.verdict.value:<12} {result.fixture.name:<28} {result.fixture.operation:<22} {told}"
    for finding in result.findings:
        yield f"    {finding.rule}: expected {finding.expected}; observed {finding.observed}"


def _counts(results: Sequence[FixtureResult]) -> dict[str, int]:
    counted = Counter(result.verdict for result in results)
    return {verdict.value: counted[verdict] for verdict in Verdict}


def _json(results: Sequence[FixtureResult], exit_code: ExitCode) -> str:
    return dumps(
        {
            "fixtures": [result.as_json() for result in results],
            "verdicts": _counts(results),
            "exit_code": int(exit_code),
        }
    )
