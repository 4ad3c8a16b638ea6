"""Tables for the terminal: what a suite holds, and how a run went."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from unacked.canonical import JSON
from unacked.case import CaseFile
from unacked.report.matrix import Cell, matrix
from unacked.report.text import printable
from unacked.suite import LoadedCase

__all__ = ["case_paragraphs", "case_table", "run_table", "styled_verdict"]

_STYLES = {"PASS": "green", "INCONCLUSIVE": "yellow", "FAIL": "red", "ERROR": "magenta", "UNSAFE": "bold red"}


def styled_verdict(verdict: str) -> Text:
    """Return a verdict in its colour."""
    return Text(verdict, style=_STYLES.get(verdict, ""))


def case_table(cases: Iterable[LoadedCase]) -> Table:
    """Return the matrix: each case with its fault, what is expected, and whether the remote effect is known."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in _COLUMNS:
        whole = column in ("case", "category")
        table.add_column(column, overflow="fold", no_wrap=whole, min_width=15 if column == _KNOWN else None)
    for case in cases:
        table.add_row(*(Text(printable(cell)) for cell in _cells(case)))
    return table


_KNOWN = "remote effect known?"
_COLUMNS = ("case", "title", "fault", "category", _KNOWN, "trap", "twin")


def case_paragraphs(cases: Iterable[LoadedCase]) -> Iterator[Padding]:
    """Yield the same for a narrow terminal: two lines a case in place of a row."""
    for case in cases:
        name, title, fault, category, known, trap, twin = map(printable, _cells(case))
        yield Padding(Text.assemble((name, "bold"), f"  {title}"), 0)
        marks = [word for word, mark in (("trap", trap), ("twin", twin)) if mark]
        told = [fault and f"{fault} -> {category or 'as expected'}", known and f"{_KNOWN} {known}", *marks]
        yield Padding(Text("; ".join(part for part in told if part)), (0, 0, 0, 4))


def _cells(case: LoadedCase) -> tuple[str, ...]:
    file = case.file
    if case.pending is not None:
        return file.case, f"{file.title} (pending: {case.pending})", "", "", _known(file), "", ""
    return (
        file.case,
        file.title,
        _faults(case),
        file.expect.result.category if file.expect.result else "",
        _known(file),
        "yes" if file.trap else "",
        "yes" if file.twins else "",
    )


def _faults(case: LoadedCase) -> str:
    sweep = case.file.sweep
    if sweep is not None:
        return f"{sweep.operation}#{sweep.nth} every action at every point: {len(case.sides)} sides"
    return "; ".join(str(fault) for fault in case.declared.faults) if case.declared else ""


def _known(file: CaseFile) -> str:
    if file.known is None:
        return ""
    return f"{'yes' if file.known.effect_known else 'no'} ({file.known.outcome_class})"


def run_table(lines: Sequence[Mapping[str, JSON]], *, worst_first: bool = False, only_failed: bool = False) -> Table:
    """Return cases against agents; a cell shows the worst verdict of its trials and the rule behind it."""
    shown = matrix(lines, worst_first=worst_first)
    passed = shown.passed if only_failed else ()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("case", no_wrap=True)
    for agent in shown.agents:
        table.add_column(agent, overflow="fold")
    for side, cells in shown.rows.items():
        if side not in passed:
            table.add_row(side, *(_cell(cells.get(agent)) for agent in shown.agents))
    return table


def _cell(cell: Cell | None) -> Text:
    if cell is None:
        return Text("-", style="dim")
    worst = cell.worst
    text = styled_verdict(worst["verdict"])
    if worst["verdict"] != "PASS":
        text.append(f" {printable(worst['rule'])}", style="default")
    if worst["luck"] is not None:
        text.append(f" ({worst['luck']})", style="dim")
    if "blame" in worst:
        text.append(f" by {printable(worst['blame'])}", style="dim")
    if len(cell.lines) > 1:
        text.append(f" [{cell.passed}/{len(cell.lines)} pass]", style="dim")
    return text
