"""How often agents did what after which fault: as a table, as Markdown, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich import box
from rich.table import Table
from rich.text import Text

from unacked.canonical import JSON
from unacked.engine.behaviour import BEHAVIOURS, Tally
from unacked.report.probe import rate_text
from unacked.report.text import printable
from unacked.statistics import wilson

__all__ = ["rates_json", "rates_markdown", "rates_table"]

Tallies = Mapping[tuple[str, str], Tally]
"""By agent and category."""

_COLUMNS = ("agent", "after", *BEHAVIOURS, "conduct")


def rates_table(tallies: Tallies) -> Table:
    """Return agents and categories against behaviours."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in _COLUMNS:
        table.add_column(column, overflow="fold", no_wrap=column in ("agent", "after"))
    for row in _rows(tallies):
        # A rate above its interval: seven columns must stand in the width of a page.
        table.add_row(*(Text(printable(cell).replace(" (", "\n(").replace(", ", "\n")) for cell in row))
    return table


def rates_markdown(tallies: Tallies) -> str:
    """Return the same table in Markdown."""
    lines = [_COLUMNS, ["---"] * len(_COLUMNS), *_rows(tallies)]
    return "\n".join(f"| {' | '.join(printable(cell).replace('|', '&#124;') for cell in line)} |" for line in lines)


def _rows(tallies: Tallies) -> Iterator[list[str]]:
    for (agent, category), counted in tallies.items():
        rates = [rate_text(counted.behaviours[name], counted.trials) for name in BEHAVIOURS]
        yield [agent, category, *rates, ", ".join(f"{rule} {count}" for rule, count in sorted(counted.conduct.items()))]


def rates_json(tallies: Tallies) -> JSON:
    """Return everything as JSON objects; intervals are Wilson's at 95 %."""
    return [
        {
            "agent": agent,
            "after": category,
            "trials": counted.trials,
            "behaviours": {
                name: {
                    "count": counted.behaviours[name],
                    "rate": counted.behaviours[name] / counted.trials,
                    "interval": list(wilson(counted.behaviours[name], counted.trials)),
                }
                for name in BEHAVIOURS
            },
            "conduct": dict(sorted(counted.conduct.items())),
            "verdicts": dict(sorted(counted.verdicts.items())),
        }
        for (agent, category), counted in tallies.items()
    ]
