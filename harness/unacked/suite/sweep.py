"""Every fault at every place: what one sweep of an operation expands to.

Not a sample: each action of the table at each of its points, in each of its kinds, with parameters that
fit the operation's contract, once and for good, and with the other side of the truth where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from unacked.canonical import JSON
from unacked.claims import Brief
from unacked.contract import Operation
from unacked.fault import ACTIONS, KINDS, LOOKUP_ACTIONS, Action, ActionKind, Fault, Point
from unacked.tools import WIRED

__all__ = ["sweep", "swept"]

_STATUSES = (408, 409, 500, 503)

_PARAMETERS: Mapping[str, Callable[[Operation], Sequence[JSON]]] = {
    "delay": lambda _: [60],
    "drip": lambda _: [0.4],
    "cut": lambda _: [12],
    "status": lambda _: [{"code": code, "body": {"error": "swept"}} for code in _STATUSES],
    "rate_limit": lambda _: [30],
    "failure": lambda operation: [{"status": code} for code in (500, 404, 422, *_documented(operation))],
    "body": lambda _: ["{}", "[]"],
    "replace": lambda operation: [{"field": name, "value": None} for name in _answered(operation)],
    "remove": lambda operation: [{"field": name} for name in _answered(operation)],
}
"""Parameters for the actions that need some; all others act with their defaults, in each of their kinds."""


def _documented(operation: Operation) -> tuple[int, ...]:
    """The statuses by which the service says that it did not do it."""
    endpoint = WIRED[operation.name].endpoint
    return () if endpoint is None else endpoint.failures


def _answered(operation: Operation) -> list[str]:
    """The ways to the fields of the answer that the contract requires; a lookup answers with items."""
    endpoint = WIRED[operation.name].endpoint
    required = [field.name for field in operation.result if field.required]
    if endpoint is None:
        return [*required, "correlation_id"]
    if endpoint.collection:
        required = ["items", "items.0.id", "complete"]
    elif endpoint.lookup:
        required = [name if name == "complete" else f"items.0.{name}" for name in required]
    of_message = ["jsonrpc", "id", "result"] if endpoint.within else []
    return [*of_message, *(".".join((*endpoint.within, name)) for name in (*required, "correlation_id"))]


def sweep(operation: Operation, nth: int = 1) -> Iterator[tuple[str, Fault]]:
    """Yield (name, fault) for every place, action and kind that applies, transient and persistent.

    The name is made of words only, so that it can stand in a trial's id.
    """
    for point in Point:
        for kind in _kinds(operation):
            if point not in kind.points:
                continue
            for label, written in _written(kind.name, operation):
                for persistent in (False, True):
                    name = f"{point}-{kind.name}{label}{'-persistent' if persistent else ''}"
                    yield (
                        name.replace("_", "-"),
                        Fault(operation.name, point, Action.parse(written), nth, persistent=persistent),
                    )


def swept(declared: Brief, operation: str, nth: int) -> Iterator[Brief]:
    """Yield the sides of a sweep: each fault, and its twin where a write leaves the effect open."""
    contract = declared.tools.get(operation, WIRED[operation].operation)
    for place, fault in sweep(contract, nth):
        yield replace(declared, place=place, faults=(fault,))
        if fault.ambiguous and contract.writes:
            yield replace(declared, place=place, twin=True, faults=(fault.twin(),))


def _kinds(operation: Operation) -> Iterator[ActionKind]:
    """The actions that a request of the operation can meet."""
    yield from ACTIONS.values()
    endpoint = WIRED[operation.name].endpoint
    if endpoint is not None and endpoint.lookup:
        yield from LOOKUP_ACTIONS.values()


def _written(action: str, operation: Operation) -> Iterator[tuple[str, JSON]]:
    """The forms of one action, each with what tells it from the others."""
    kind = KINDS[action]
    if action in _PARAMETERS:
        values = _PARAMETERS[action](operation)
        for number, value in enumerate(values, start=1):
            yield (f"-{number}" if len(values) > 1 else ""), {action: value}
    elif kind.choices:
        (parameter, choices), *_ = kind.choices.items()
        for choice in choices:
            yield f"-{choice}", {action: {parameter: choice}}
    else:
        yield "", action
