"""Evidence for destructive calls: the inventories that this agent's own calls have brought, by snapshot."""

from __future__ import annotations

from collections.abc import Mapping

from unacked.canonical import JSON
from unacked.completeness import Inventory, Page
from unacked.contract import Operation
from unacked.tools.classify import Finding

__all__ = ["Evidence"]


class Evidence:
    """What has been seen of each snapshot, over all calls of one trial.

    A snapshot is evidence when every item of it was accounted for, from the first on, and no index stood between:
    a complete inventory of a stale index is complete, and unfit for a change.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], Inventory] = {}
        self._stale: set[str] = set()
        self._scopes: dict[str, JSON] = {}

    def learn(self, operation: Operation, arguments: Mapping[str, JSON], page: Page) -> None:
        """Take a page, or all pages of one call, into account."""
        snapshot = page.snapshot
        if snapshot is None:
            return
        key = (operation.name, snapshot)
        if page.start == 0 or key not in self._seen:
            self._seen[key] = Inventory()
        self._seen[key].add(page)
        self._scopes[snapshot] = arguments.get("scope")
        if any(warning.get("code") == "STALE_INDEX" for warning in page.more.get("warnings", ())):
            self._stale.add(snapshot)

    def lacking(self, arguments: Mapping[str, JSON]) -> Finding | None:
        """Return the refusal of a destructive call that its arguments have no evidence for, or None."""
        snapshot = arguments.get("snapshot")
        whole = [seen for (_, token), seen in self._seen.items() if token == snapshot and seen.whole]
        if not whole or snapshot in self._stale:
            return _refused("/snapshot", "the token of a complete inventory of the source of record")
        if arguments.get("scope") not in (None, self._scopes[str(snapshot)]):
            return _refused("/scope", "the scope of that inventory")
        ids = arguments.get("ids")
        if ids is not None and (not ids or not set(map(str, ids)) <= set().union(*(seen.ids for seen in whole))):
            return _refused("/ids", "ids that stand in that inventory")
        return None


def _refused(failed_field: str, expected: str) -> Finding:
    return Finding("evidence_required", failed_field=failed_field, expected=expected)
