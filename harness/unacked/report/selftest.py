"""The report of a self-test as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from unacked.canonical import JSON

__all__ = ["selftest_lines"]


def selftest_lines(summary: Mapping[str, JSON]) -> Iterator[str]:
    """Yield the lines of a self-test's report: what was tried, what could not be, and what is missing."""
    for item in summary["items"]:
        yield f"{item['kind']:8} {item['name']:26} {item['does']:52} {_told(item)}"
        yield from (f"  not reached: {what}" for what in item["unreached"])
        if item["gap"]:
            yield f"  GAP: {item['gap']}"
    yield (
        f"caught {summary['caught']} of {summary['planted']} planted; "
        f"{summary['false_alarms']} false alarms in {summary['benign']} benign; {summary['gaps']} gaps"
    )


def _told(item: Mapping[str, JSON]) -> str:
    if item["of"]:
        return f"{item['seen']} of {item['of']}"
    told = []
    if item["planted"]:
        told.append(f"caught {item['caught']} of {item['planted']}  {', '.join(item['rules'][:3])}")
    if item["benign"] or not item["planted"]:
        told.append(f"false alarms {item['false_alarms']} of {item['benign']}")
    return "; ".join(told)
