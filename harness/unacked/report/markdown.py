"""A run as Markdown, for the summary of a CI job; nothing that a model wrote can be more than text in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from unacked.canonical import JSON
from unacked.report.matrix import Cell, matrix
from unacked.report.stored_run import StoredRun
from unacked.report.text import printable, shortened

__all__ = ["fenced", "plain", "run_markdown"]

_MARKS = re.compile(r"([!-&(-+<-@\[-`{-~]|(?<=www)\.|:(?=\S))", re.IGNORECASE)
"""The punctuation that means something within a line; escaped, as Markdown allows, each is only a mark."""
_MOST_ROWS = 200
_LONGEST = 300


def run_markdown(run: StoredRun) -> str:
    """Return a run as Markdown: the numbers, each kind of failure once, and the matrix, the worst first."""
    lines = [
        f"# unacked: {plain(run.name)}",
        "",
        f"{run.summary['trials']} trials: " + ", ".join(f"{count} {verdict}" for verdict, count in run.verdicts),
        "",
        *_kinds(run),
        *_matrix(run),
    ]
    return "\n".join(lines) + "\n"


def _kinds(run: StoredRun) -> Iterator[str]:
    if not run.kinds:
        yield from ("Every trial passed.", "")
        return
    rows = (
        (str(count), line["verdict"], plain(str(line["rule"])), plain(line["agent"]), plain(line["trial"]))
        for line, count in run.kinds
    )
    yield from ("## What went wrong", "")
    yield from _table(("trials", "verdict", "rule", "agent", "such as"), rows)


def _matrix(run: StoredRun) -> Iterator[str]:
    shown = matrix(run.lines, worst_first=True)
    rows = (
        (plain(case), *(_cell(cells.get(agent)) for agent in shown.agents))
        for case, cells in list(shown.rows.items())[:_MOST_ROWS]
    )
    yield from ("## Cases and agents", "")
    yield from _table(("case", *map(plain, shown.agents)), rows)
    if len(shown.rows) > _MOST_ROWS:
        yield from (f"And {len(shown.rows) - _MOST_ROWS} more cases.", "")


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    worst: Mapping[str, JSON] = cell.worst
    rule = "" if worst["verdict"] == "PASS" else f" {plain(str(worst['rule']))}"
    rule += f" by {plain(worst['blame'])}" if "blame" in worst else ""
    return f"{worst['verdict']}{rule} {cell.passed}/{len(cell.lines)}"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    columns = list(head)
    yield f"| {' | '.join(columns)} |"
    yield f"|{'---|' * len(columns)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def plain(text: str) -> str:
    """Return any text as Markdown that shows just this text, on one line and cut where it is long."""
    return _MARKS.sub(r"\\\1", shortened(printable(text), _LONGEST))


def fenced(title: str, text: str) -> str:
    """Return text of several lines as Markdown: a heading, and a block that no line of the text can close."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"# {plain(title)}\n\n{fence}text\n{text}\n{fence}\n"
