"""Orchestrators against checks: a table in Markdown or as a page, and lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from unacked.conformance.check import Check, Finding, Status
from unacked.conformance.run import Report
from unacked.report.markdown import plain
from unacked.report.page import render_page
from unacked.report.text import printable

__all__ = ["finding_text", "orchestrators_markdown", "orchestrators_page", "summary_text"]

_SHOWN = {Status.FAIL: "**fail**", Status.NOT_CLAIMED: "not claimed", Status.NOT_EXERCISED: "not exercised"}


def finding_text(check: Check, finding: Finding) -> str:
    """Return a finding as two lines."""
    head = f"{finding.status.value.upper():<13} {check.id}  {check.title}"
    return f"{head}\n              {printable(finding.explanation)}"


def summary_text(report: Report) -> str:
    """Return the numbers of a report as one line."""
    counts = ((status, sum(finding.status is status for finding in report.findings)) for status in Status)
    return f"{report.orchestrator}: " + ", ".join(f"{count} {status.value}" for status, count in counts if count)


def orchestrators_markdown(reports: Sequence[Report], checks: Sequence[Check]) -> str:
    """Return the table, and below it why each check that did not pass did not."""
    head = ["check", "", *(plain(report.orchestrator) for report in reports)]
    rows = ([check.id, check.title, *(_cell(report, check) for report in reports)] for check in checks)
    lines = ["# Orchestrators against checks", "", *_intro(), *_table(head, rows), "", *_versions(reports)]
    for report in reports:
        lines += ["", f"## {plain(report.orchestrator)}", "", *_about(report)]
        lines += list(_reasons(report)) or ["Everything that it claims holds."]
        lines += ["", *_notes(report)] if report.notes else []
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _reasons(report: Report) -> Iterator[str]:
    for finding in report.findings:
        if finding.status in (Status.FAIL, Status.NOT_EXERCISED):
            yield f"- **{finding.check}** {finding.status.value}: {plain(finding.explanation)}"


def _notes(report: Report) -> Iterator[str]:
    for check, note in report.notes.items():
        yield f"- {check} as it was asked for: {plain(note)}"


def _intro() -> Iterator[str]:
    yield "Each cell was read off the lines that probes wrote while the orchestrator ran them, never off its report: "
    yield "[how it works](conformance.md). What its adapter does not claim was not tested."
    yield ""


def _versions(reports: Iterable[Report]) -> Iterator[str]:
    told = []
    for report in reports:
        versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
        told.append(f"{plain(report.orchestrator)}: {plain(versions) or 'part of unacked'}")
    yield f"Versions: {'; '.join(told)}."


def _about(report: Report) -> Iterator[str]:
    if report.about:
        yield from (f"{plain(report.about[:1].upper() + report.about[1:])}.", "")


def _cell(report: Report, check: Check) -> str:
    found = next((finding for finding in report.findings if finding.check == check.id), None)
    if found is None:
        return ""
    return f"{_SHOWN.get(found.status, found.status.value)}{how_often(found)}"


def how_often(finding: Finding) -> str:
    """Return in how many of its plays a check failed, where it was played more than once and failed."""
    return f" ({finding.failed} of {finding.played})" if finding.failed and finding.played > 1 else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for cells in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cells)} |"


def orchestrators_page(reports: Sequence[Report], checks: Sequence[Check]) -> str:
    """Return the same as a page of HTML that needs no network."""
    found = {(report.orchestrator, finding.check): finding for report in reports for finding in report.findings}
    return render_page("orchestrators.html", reports=reports, checks=checks, found=found, how_often=how_often)
