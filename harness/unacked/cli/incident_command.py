"""``unacked incident``: from somebody's trace to a small red case in the suite."""

from __future__ import annotations

import datetime as dt
import hashlib
import importlib
import secrets
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from unacked.canonical import dumps
from unacked.cli.options import open_suite, suite_option
from unacked.document import Document, parse_yaml, read_yaml
from unacked.errors import ExitCode, Place, Problem, SpecificationError, nearest
from unacked.incident import (
    FORMATS,
    Imported,
    NoGraphFitsError,
    Recording,
    Redactor,
    Verification,
    add,
    bring_in,
    case_name,
    check_mapping,
    held,
    minimize,
    neutral_lines,
    neutral_trace,
    propose,
    read_mapping,
    read_recording,
    repeating_agent,
    retire,
    sketch,
    verify,
    written,
)
from unacked.suite import Suite, load_case
from unacked.tools import REGISTRY

__all__ = ["command"]

_Command = TypeVar("_Command", bound=Callable[..., Any])

_case_argument = click.argument("case", metavar="CASE")
_trace_argument = click.argument("trace", type=click.Path(path_type=Path))
_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def _import_options(wrapped: _Command) -> _Command:
    """Options of the commands that read somebody's trace."""
    for option in (
        click.option(
            "--format", "form", type=click.Choice(FORMATS), default=None, help="Format (default: told by it)."
        ),
        click.option("--trace", "pick", default=None, help="Which trace, where the file holds several."),
        click.option("--mapping", "mapping_path", type=click.Path(path_type=Path), default=None, help="Mapping file."),
        click.option("--salt", default=None, help="Salt of the replacements (default: drawn anew, and kept nowhere)."),
        click.option(
            "--replace", "words", multiple=True, metavar="WORD", help="A name to take out, besides those found."
        ),
        click.option("--keep", multiple=True, metavar="WORD", help="A word to leave as it is."),
    ):
        wrapped = option(wrapped)
    return wrapped


class _Group(click.Group):
    """``export`` alone reads stored runs, and brings the whole engine with it: it is loaded when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), "export"])

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name != "export":
            return super().get_command(ctx, name)
        export: click.Command = importlib.import_module("unacked.cli.incident_export_command").command
        return export


@click.group("incident", cls=_Group)
def command() -> None:
    """Make a small red case of somebody's trace, verify it, and keep it in the suite."""


@command.command("new")
@_trace_argument
@_import_options
@click.option("--source", default=None, help="Where the incident was reported; kept in the case.")
@click.option("--slug", default=None, help="Name of the case (default: after the rule and the operation).")
@click.option(
    "--to", type=click.Path(path_type=Path), default=None, help="The case file to write (default: by its name)."
)
@suite_option
def new(
    trace: Path,
    form: str | None,
    pick: str | None,
    mapping_path: Path | None,
    salt: str | None,
    words: tuple[str, ...],
    keep: tuple[str, ...],
    source: str | None,
    slug: str | None,
    to: Path | None,
    suite_path: Path | None,
) -> int:
    """Make a case of TRACE, and say how each part of it came about.

    Without --mapping the suggested mapping is written beside the case. Where the trace does not say something, the
    mapping asks, and no case is written before it is answered there.
    """
    suite = open_suite(suite_path)
    redactor = Redactor(salt or secrets.token_hex(16), words=words, keep=keep)
    imported = _imported(trace, form, pick, mapping_path, redactor)
    beside = _beside(to, slug)
    if mapping_path is None:
        _write_mapping(beside, imported, redactor)
    source = source or f"a trace of {len(imported.recording.calls)} calls ({imported.recording.form})"
    try:
        made = propose(imported, suite, source=source, digest=_digest(trace), slug=slug)
    except NoGraphFitsError as error:
        place = beside.with_name(beside.name.removesuffix(".mapping.yaml") + ".draft.yaml")
        place.write_text(written(sketch(error.operation)), encoding="utf-8")
        raise NoGraphFitsError(error.operation, str(place)) from None
    path = to or Path(f"{made.value['case']}.case.yaml")
    _write(path, written(made.value), redactor)
    for line in (*_reasons(imported), *made.notes, redactor.report()):
        click.echo(f"  {redactor.word(line)}")
    click.echo(f"{path}: {made.rule} catches the {len(made.value['incident']['behaviour'])} recorded calls")
    _next("incident", "minimize", path, suite=suite_path)
    return ExitCode.PASS


@command.command("import")
@_trace_argument
@_import_options
@click.option("--to", type=click.Path(path_type=Path), default=None, help="File to write (default: standard output).")
def import_(
    trace: Path,
    form: str | None,
    pick: str | None,
    mapping_path: Path | None,
    salt: str | None,
    words: tuple[str, ...],
    keep: tuple[str, ...],
    to: Path | None,
) -> int:
    """Write TRACE as a neutral trace, as `unacked judge` reads it; a trace of a run of ours names its graphs."""
    redactor = Redactor(salt or secrets.token_hex(16), words=words, keep=keep)
    recording = read_recording(trace, form=form, pick=pick)
    imported = (
        _imported(trace, form, pick, mapping_path, redactor)
        if recording.begin is None
        else bring_in(recording, _Nothing(""), None)
    )
    _insist_on_answers(imported)
    text = neutral_lines(neutral_trace(imported.recording, imported.moves()))
    redactor.insist(text)
    if to is None:
        click.echo(text, nl=False)
    else:
        to.write_text(text, encoding="utf-8")
    return ExitCode.PASS


@command.command("minimize")
@_case_argument
@click.option("--to", type=click.Path(path_type=Path), default=None, help="File to write (default: the case's own).")
@suite_option
def minimize_(case: str, to: Path | None, suite_path: Path | None) -> int:
    """Make the incident CASE as small as it can be while the same rule still catches it."""
    suite = open_suite(suite_path)
    document = _document(case, suite)
    whole = load_case(document, suite).document.value
    small = minimize(suite, {key: item for key, item in whole.items() if key != "extends"}, document.file)
    value = dict(small.value)
    provenance = value["incident"].get("provenance")
    if provenance is not None and small.removed:
        removed = [*provenance.get("removed", []), *small.removed]
        value["incident"] = {**value["incident"], "provenance": {**provenance, "removed": removed}}
    path = to or (Path(case) if Path(case).is_file() else _place(case, suite))
    path.write_text(written(value), encoding="utf-8")
    for line in small.removed or ["nothing could go"]:
        click.echo(f"  removed: {line}" if small.removed else f"  {line}")
    steps = len(value["incident"]["behaviour"])
    click.echo(f"{path}: {steps} calls, still {value['incident']['caught']} ({small.tried} candidates tried)")
    _next("incident", "verify", path, suite=suite_path)
    return ExitCode.PASS


@command.command("verify")
@click.argument("cases", nargs=-1, required=True, metavar="CASE...")
@suite_option
@_json_option
def verify_(cases: tuple[str, ...], suite_path: Path | None, *, as_json: bool) -> int:
    """Check that CASE is red as it was recorded and green with care, on every side; exits with 1 where it is not.

    CASE is a file, or the name of an incident of the suite.
    """
    suite = open_suite(suite_path)
    done = [verify(suite, _document(case, suite)) for case in cases]
    if as_json:
        click.echo(dumps([each.as_json() for each in done]))
    else:
        for each in done:
            _print_verification(each)
        for case, each in zip(cases, done, strict=True):
            if each.holds and each.case not in suite.cases:
                _next("incident", "add", case, suite=suite_path)
    return ExitCode.PASS if all(each.holds for each in done) else ExitCode.FAIL


@command.command("add")
@click.argument("case", type=click.Path(path_type=Path))
@click.option("--source", default=None, help="Where the incident was reported (default: as the case says).")
@click.option("--slug", default=None, help="Name among the suite's incidents (default: the case's).")
@click.option(
    "--date", "day", type=click.DateTime(["%Y-%m-%d"]), default=None, help="Day of the incident (default: today)."
)
@suite_option
def add_(case: Path, source: str | None, slug: str | None, day: dt.datetime | None, suite_path: Path | None) -> int:
    """Verify CASE and write it under transitions/incidents/ of the suite; one that is not verified is refused."""
    suite = open_suite(suite_path)
    document = read_yaml(case)
    incident = document.value.get("incident") if isinstance(document.value, dict) else None
    told = source or (incident.get("source") if isinstance(incident, dict) else None)
    if not isinstance(told, str):
        raise SpecificationError(
            [document.problem((), "is no incident", "it needs 'incident' with source and behaviour")]
        )
    load_case(document, suite)  # tells what is wrong with its places in this file
    path = add(suite, document, source=told, day=day.date() if day else _today(), slug=slug)
    click.echo(f"added: {path}")
    _next("run", read_yaml(path).value["case"], "--agent", repeating_agent(suite).name, suite=suite_path)
    return ExitCode.PASS


@command.command("list")
@suite_option
@_json_option
def list_(suite_path: Path | None, *, as_json: bool) -> int:
    """Show the incidents of the suite: what catches each, and where it was reported."""
    incidents = held(open_suite(suite_path))
    if as_json:
        click.echo(dumps([each.as_json() for each in incidents]))
        return ExitCode.PASS
    for each in incidents:
        state = f"retired: {each.retired}" if each.retired is not None else each.caught
        click.echo(f"{each.case:<40} {state:<24} {each.source}")
    click.echo(f"{sum(each.retired is None for each in incidents)} incidents, "
               f"{sum(each.retired is not None for each in incidents)} retired")  # fmt: skip
    return ExitCode.PASS


@command.command("retire")
@_case_argument
@click.option("--reason", required=True, help="Why it is run no longer; kept in the file.")
@suite_option
def retire_(case: str, reason: str, suite_path: Path | None) -> int:
    """Take the incident CASE out of the suite; its file stays, with the reason."""
    if not reason.strip():
        raise click.UsageError("--reason needs words")
    path = retire(open_suite(suite_path), case, reason, _today())
    click.echo(f"retired: {path}")
    return ExitCode.PASS


class _Nothing(Redactor):
    """Replaces nothing: a run of ours holds only what its case made up."""

    def recording(self, recording: Recording) -> Recording:
        return recording


def _imported(
    trace: Path, form: str | None, pick: str | None, mapping_path: Path | None, redactor: Redactor
) -> Imported:
    recording = read_recording(trace, form=form, pick=pick)
    if not recording.calls:
        raise SpecificationError([Problem(Place(str(trace)), "holds no tool call")])
    if recording.begin is not None and recording.begin.team:
        told = "is of several agents, and only a trace of one can be made a case"
        raise SpecificationError(
            [Problem(Place(str(trace)), told, "'unacked judge' judges it; docs/teams.md has cases")]
        )
    if mapping_path is None:
        return bring_in(recording, redactor)
    mapping, document = read_mapping(mapping_path)
    check_mapping(mapping, document, REGISTRY)
    return bring_in(recording, redactor, mapping)


def _next(*words: str | Path, suite: Path | None) -> None:
    """Say what to type next, in a line of its own that can be copied as it is."""
    own = () if suite is None else ("--suite", str(suite))
    click.echo(f"next: {shlex.join(['unacked', *map(str, words), *own])}")


def _again(mapping: Path) -> str:
    """Say how to go on with a mapping: what was typed is repeated, but for what may be no part of any output."""
    typed = sys.argv[1:]
    if any(word.startswith(("--replace", "--salt")) for word in typed):
        return f"the same command with --mapping {shlex.quote(str(mapping))}"
    return shlex.join(["unacked", *typed, "--mapping", str(mapping)])


def _beside(to: Path | None, slug: str | None) -> Path:
    """Return where the mapping of a case stands: beside it, under the same name."""
    if to is not None:
        return to.with_name(to.name.removesuffix(".case.yaml") + ".mapping.yaml")
    return Path("incident.mapping.yaml" if slug is None else f"{case_name(slug)}.mapping.yaml")


def _write_mapping(path: Path, imported: Imported, redactor: Redactor) -> None:
    """Write the suggestions; raises SpecificationError with the places of what is still to be said."""
    if path.exists():
        raise SpecificationError(
            [Problem(Place(str(path)), "is there already, perhaps with answers", f"go on with it: {_again(path)}")]
        )
    value = imported.mapping.model_dump(mode="json", exclude_none=True, exclude_defaults=False)
    text = written({name: item for name, item in value.items() if item not in ({}, None)})
    _write(path, text, redactor)
    try:
        check_mapping(imported.mapping, parse_yaml(text, str(path)), REGISTRY)
    except SpecificationError as error:
        told = Problem(Place(str(path)), "asks what the trace does not say", f"answer there, then: {_again(path)}")
        raise SpecificationError([told, *error.problems]) from None


def _insist_on_answers(imported: Imported) -> None:
    if imported.asks:
        text = written(imported.mapping.model_dump(mode="json", exclude_none=True))
        check_mapping(imported.mapping, parse_yaml(text, "mapping (unacked incident new writes it)"), REGISTRY)


def _reasons(imported: Imported) -> list[str]:
    """Say of every tool and of every call without success why it was taken for what."""
    told = [
        f"tool {name} = {mapped.operation}: {mapped.because}" for name, mapped in imported.mapping.operations.items()
    ]
    notes = imported.mapping.calls.items()
    return told + [f"call {call} = {note.category}: {note.because}" for call, note in notes if note.category != "ok"]


def _write(path: Path, text: str, redactor: Redactor) -> None:
    redactor.insist(text)
    path.write_text(text, encoding="utf-8")


def _document(case: str, suite: Suite) -> Document:
    """Return the document of a case file, or of an incident of the suite."""
    if Path(case).is_file():
        return read_yaml(Path(case))
    incidents = {name: known for name, known in suite.cases.items() if known.file.incident is not None}
    if case not in incidents:
        raise SpecificationError([Problem(Place(case), "no such file, and no such incident", nearest(case, incidents))])
    return incidents[case].document


def _place(case: str, suite: Suite) -> Path:
    """Return where an incident of the suite stands."""
    return next(each.path for each in held(suite) if each.case == case)


def _print_verification(done: Verification) -> None:
    for check in done.checks:
        click.echo(f"  {'ok  ' if check.holds else 'FAIL'} {check.what}" + ("" if check.holds else f" ({check.seen})"))
    click.echo(f"{done.case}: {'verified' if done.holds else 'not verified'}")


def _today() -> dt.date:
    return dt.datetime.now(tz=dt.UTC).date()


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
