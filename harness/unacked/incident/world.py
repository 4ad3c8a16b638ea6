"""What must have been there already: the seeds of services, read off the calls that found or changed it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from unacked.canonical import JSON
from unacked.contract import Operation

__all__ = ["seeds"]


class Seeding(Protocol):
    """What a call tells of the world: its operation, its arguments, and the fields of its answer."""

    @property
    def operation(self) -> Operation: ...
    @property
    def arguments(self) -> Mapping[str, JSON]: ...
    @property
    def fields(self) -> Mapping[str, JSON]: ...
    @property
    def category(self) -> str: ...


def _record(target: JSON, fields: Mapping[str, JSON]) -> JSON:
    return {"record_id": target, "title": str(fields.get("title", "a record that was there"))}


def _issue(target: JSON, fields: Mapping[str, JSON]) -> JSON:
    return {"issue_id": target, "title": str(fields.get("title", "an issue that was there"))}


def _build(target: JSON, fields: Mapping[str, JSON]) -> JSON:
    return {
        "build_id": target,
        "status": str(fields.get("status", "passed")),
        "revision": str(fields.get("revision", "r1")),
    }


def _charge(target: JSON, fields: Mapping[str, JSON]) -> JSON:
    return {
        "charge_id": target,
        "amount": fields.get("amount") or 1_000_000,
        "currency": str(fields.get("currency", "EUR")),
        "customer": str(fields.get("customer", "a customer")),
    }


_ROWS: Mapping[str, tuple[str, str, Callable[[JSON, Mapping[str, JSON]], JSON]]] = {
    "record": ("records", "records", _record),
    "issue": ("forge", "issues", _issue),
    "release": ("forge", "releases", lambda target, _: {"release_id": target}),
    "build": ("forge", "builds", _build),
    "charge": ("payments", "charges", _charge),
    "permission": ("permissions", "subjects", lambda target, _: target),
    "credential": ("credentials", "credentials", lambda target, _: {"name": target}),
}
"""For each class of objects: service, part of its seed, and how an object of it is written there."""


def seeds(moves: Sequence[Seeding]) -> dict[str, dict[str, list[JSON]]]:
    """Return the seed of each service: every object that was named, found, and not made by an earlier call."""
    found: dict[str, dict[str, list[JSON]]] = {}
    made: set[str] = set()
    for move in moves:
        operation = move.operation
        target = move.arguments.get(operation.target or "")
        row = _ROWS.get(operation.target_class or "")
        if row and isinstance(target, str) and target not in made and move.category != "not_found":
            service, part, write = row
            items = found.setdefault(service, {}).setdefault(part, [])
            written = write(target, move.fields if not operation.writes else {})
            if not any(_names(item, target) for item in items):
                items.append(written)
        if operation.name == "create_deployment":
            services = found.setdefault("forge", {}).setdefault("services", [])
            if move.arguments.get("service") not in (None, *services):
                services.append(move.arguments["service"])
        if operation.identity and move.fields.get(operation.identity) is not None:
            made.add(str(move.fields[operation.identity]))
    return found


def _names(item: JSON, target: str) -> bool:
    return item == target or (isinstance(item, dict) and target in item.values())
