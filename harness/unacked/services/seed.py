"""Seed state: what stands in a service before a trial begins, as a case writes it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from unacked.canonical import JSON
from unacked.errors import nearest
from unacked.services.route import Field

__all__ = ["SeedError", "check_seed", "seed_rows"]


class SeedError(ValueError):
    """A seed that a service cannot start from.

    ``location`` leads to the value within the seed, such as ``("records", 0, "title")``; the message
    begins with it.
    """

    def __init__(self, location: tuple[str | int, ...], message: str) -> None:
        self.location = location
        path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
        super().__init__(f"seed{path}: {message}")


def check_seed(seed: Mapping[str, JSON], known: Collection[str]) -> None:
    """Raise SeedError where the seed has a key that the service does not know."""
    for key in seed:
        if key not in known:
            raise SeedError((key,), f"unknown key; {nearest(str(key), known)}")


def seed_rows(
    seed: Mapping[str, JSON],
    key: str,
    identity: str,
    fields: Mapping[str, Field],
) -> dict[str, dict[str, JSON]]:
    """Return the objects listed under ``key`` by their ``identity``, each with every declared field.

    Absent optional fields are None; an absent list is empty. Raises SeedError on whatever does not fit.
    """
    listed = seed.get(key, [])
    if not isinstance(listed, list):
        raise SeedError((key,), f"expected a list, got {listed!r}")
    rows: dict[str, dict[str, JSON]] = {}
    for number, given in enumerate(listed):
        row = _row((key, number), given, fields)
        if row[identity] in rows:
            raise SeedError((key, number, identity), f"{row[identity]!r} is there twice")
        rows[row[identity]] = row
    return rows


def _row(at: tuple[str, int], given: JSON, fields: Mapping[str, Field]) -> dict[str, JSON]:
    if not isinstance(given, Mapping):
        raise SeedError(at, f"expected an object, got {given!r}")
    for name in given:
        if name not in fields:
            raise SeedError((*at, name), f"unknown key; {nearest(str(name), fields)}")
    row: dict[str, JSON] = {}
    for name, field in fields.items():
        value = row[name] = given.get(name)
        if value is None and field.required:
            raise SeedError((*at, name), f"is missing; expected {field}")
        if value is not None and not field.accepts(value):
            raise SeedError((*at, name), f"expected {field}, got {value!r}")
    return row
