"""The common ground of all cases: what the services hold in any of them, and what calls are usually made with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unacked.canonical import JSON
from unacked.selftest.provoke import inventory
from unacked.suite import Suite

__all__ = ["Ground", "Names"]


_SPARE: Mapping[str, dict[str, JSON]] = {
    "host": {
        "hosts": [{"host": f"spare-{number}"} for number in (1, 2)],
        "commands": [{"command": "svc restart billing", "restart": "billing"}],
    },
}
"""What no case holds, or no two of, and a trace may need: a host more, and the command that scripts give in vain."""


class Ground:
    """The seeds of every case of a suite laid together, service by service, and the arguments of their scripts."""

    def __init__(self, suite: Suite) -> None:
        self._seeds: dict[str, dict[str, JSON]] = {}
        self._scripts: list[tuple[str, Mapping[str, JSON]]] = []
        for case in suite.cases.values():
            if case.declared is None or case.file.incident is not None:
                continue
            self._scripts += [item for step in case.file.script for item in step.items()]
            for service, use in case.file.services.items():
                _lay(self._seeds.setdefault(service, {}), use.seed)
        for service, rows in _SPARE.items():
            _lay(self._seeds.setdefault(service, {}), rows)

    def seed(self, service: str, own: Mapping[str, JSON]) -> dict[str, JSON]:
        """Return everything that a service holds in some case; how it is set is as in the case's ``own`` seed.

        What people at the gate decide comes with the trace; an inventory has two pages of one row, unless the trace
        says otherwise.
        """
        if service == "gate":
            return {}
        if service == "directory":
            kinds = {"accounts": "account", "repositories": "repository"}
            rows = {
                name: [row for scope in self._scopes() for row in inventory(scope, kind)[:2]]
                for name, kind in kinds.items()
            }
            # Single accounts can be read as in any case; no inventory of a trace holds them.
            known = self._seeds.get("directory", {}).get("accounts", [])
            rows["accounts"] += [{**row, "scope": "elsewhere"} for row in known]
            return {"page_size": 1, **rows}
        return {**own, **self._seeds.get(service, {})}

    def _scopes(self) -> Sequence[str]:
        return sorted({item for item in self.usual("list_accounts", "scope") if isinstance(item, str)})

    def usual(self, operation: str, argument: str) -> Iterator[JSON]:
        """Yield what is put in this place: by scripts of this operation, then by others, then what services hold."""
        for _, arguments in sorted(self._scripts, key=lambda step: step[0] != operation):
            value = arguments.get(argument)
            if value is not None and not (isinstance(value, str) and value.startswith("$")):
                yield value
        for seed in self._seeds.values():
            for kind, rows in seed.items():
                if kind == f"{argument}s":
                    yield from rows
                yield from (row[argument] for row in rows if isinstance(row, dict) and argument in row)


def _lay(ground: dict[str, JSON], seed: Mapping[str, JSON]) -> None:
    """Add rows that are not there yet; a row is known by its first field. What is no list of rows is a setting."""
    for kind, rows in seed.items():
        if not isinstance(rows, list):
            continue
        known = ground.setdefault(kind, [])
        taken = {_identity(row) for row in known}
        known.extend(row for row in rows if _identity(row) not in taken)


def _identity(row: JSON) -> JSON:
    return next(iter(row.values()), None) if isinstance(row, dict) else row


_OPEN = frozenset({"items", "reasons"})


class Names:
    """What the values of a trace are called in the world of a trial.

    ``tokens`` are the values that stand for any others: each gets the name by which it is first met, and no two
    get the same.
    """

    def __init__(self, ground: Ground, tokens: frozenset[str], known: Mapping[str, JSON] | None = None) -> None:
        self._ground = ground
        self._tokens = tokens
        self._known = dict(known or {})
        self._surplus: dict[str, list[JSON]] = {}

    def copy(self) -> Names:
        """Return names to go on with, which leave these as they are."""
        names = Names(self._ground, self._tokens, self._known)
        names._surplus = dict(self._surplus)
        return names

    def arguments(self, operation: str, given: Mapping[str, JSON]) -> dict[str, JSON]:
        """Return the arguments of a call in this world."""
        named = {name: self._argument(operation, name, value) for name, value in given.items()}
        return {
            name: [*value, *self._surplus.get(name, ())] if isinstance(value, list) else value
            for name, value in named.items()
        }

    def _argument(self, operation: str, name: str, value: JSON) -> JSON:
        if isinstance(value, list):
            return [self._argument(operation, name, item) for item in value]
        usual = (item for item in self._ground.usual(operation, name) if type(item) is type(value))
        if isinstance(value, str) and value in self._tokens:
            if value not in self._known:
                self._known[value] = next((item for item in usual if item not in self._known.values()), value)
            return self._known[value]
        # An argument of no account is called like itself, or is a 1.
        return next(usual, value) if value == name or (value == 1 and value is not True) else value

    def said(self, value: JSON) -> JSON:
        """Return a value of the trace as it is called here; what has no name yet keeps its own."""
        if isinstance(value, list):
            return [self.said(item) for item in value]
        return self._known.get(value, value) if isinstance(value, str) else value

    def takes(self, field: str, value: JSON, heard: JSON) -> bool:
        """Return whether a result field will do.

        An inventory may hold more than the trace says, and lack more, which later calls repeat; a snapshot that is
        taken anew has a name that nobody has heard, whatever the trace calls it.
        """
        if field == "snapshot" and heard is not None and heard not in self._known.values():
            self._known[value] = heard
        if field not in _OPEN or not isinstance(heard, list) or len(heard) < len(value):
            return self.hears(value, heard)
        self._surplus[field] = heard[len(value) :]
        return self.hears(value, heard[: len(value)])

    def hears(self, value: JSON, heard: JSON) -> bool:
        """Return whether a result field is what the trace says; a token without a name takes what it hears."""
        if isinstance(value, list) and isinstance(heard, list):
            return len(value) == len(heard) and all(map(self.hears, value, heard))
        if isinstance(value, dict) and isinstance(heard, dict):
            return all(self.hears(item, heard.get(name)) for name, item in value.items())
        unnamed = isinstance(value, str) and value in self._tokens and value not in self._known
        if unnamed and heard is not None and heard not in self._known.values():
            self._known[value] = heard
        return bool(self.said(value) == heard)
