"""Receipts: which of the declared faults landed, and which expectations stand on one that did not."""

from __future__ import annotations

from unacked.case import ExpectedResult
from unacked.claims.brief import Brief
from unacked.event import Event, History
from unacked.fault import Fault

__all__ = ["misses_its_fault", "unfired"]


def unfired(brief: Brief, history: History) -> list[Fault]:
    """Return the declared faults without a receipt."""
    receipts = list(history.named("fault_fired"))
    return [fault for fault in brief.faults if not any(_is_receipt(event, fault) for event in receipts)]


def misses_its_fault(brief: Brief, history: History, expected: ExpectedResult) -> bool:
    """Whether the call of an expectation went without its fault: what the tool said then is no mistake of its own."""
    return any(fault.operation == expected.operation and fault.nth <= expected.nth for fault in unfired(brief, history))


def _is_receipt(event: Event, fault: Fault) -> bool:
    told = event.detail
    nth = told.get("nth", 0)
    return (
        event.operation == fault.operation
        and told.get("point") == fault.point.value
        and told.get("action") == fault.action.name
        and told.get("committed") == fault.commits
        and bool(nth >= fault.nth if fault.persistent else nth == fault.nth)
    )
