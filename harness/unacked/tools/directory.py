"""Tools of the service ``directory``: accounts and repositories, their inventories, and what depends on them."""

from __future__ import annotations

from unacked.completeness import FIELD_STATES
from unacked.contract import Argument, Effect, Operation
from unacked.outcome import CATEGORY_SETS
from unacked.tools.arguments import OPTIONAL_REQUEST
from unacked.tools.endpoint import Endpoint, Tool

__all__ = ["PAGE_CAP", "TOOLS"]

PAGE_CAP = 10
"""The most pages that search_all follows in one call."""

_SCOPE = Argument("scope", description="What to look through: the team that owns it.")
_STATUS = Argument("status", required=False, description="Only those of this status: active or inactive.")
_CURSOR = Argument("cursor", required=False, description="The next_cursor of the page before, as it was given.")
_DEADLINE = Argument("deadline_s", "number", required=False, description="How many seconds the search may take.")
_SNAPSHOT = Argument("snapshot", description="The snapshot of the complete inventory that the call is based on.")

_COLLECTION = (
    Argument("items", "array"),
    Argument("complete", "boolean", description="Whether this is everything; decide by this field alone."),
    Argument("truncated", "boolean"),
    Argument("incomplete_reasons", "array"),
    Argument("reasons", "array", description="The codes of incomplete_reasons."),
    Argument("next_cursor", description="Null where no page follows."),
    Argument("continuation", "object", required=False, description="The real way on, where there is one."),
    Argument("snapshot", description="Names the state of the world that the items are of; null where none was kept."),
    Argument("page", "object", required=False),
    Argument("scope", "object", required=False),
    Argument("warnings", "array", required=False),
)
_UNGATED = (CATEGORY_SETS["http_write"] - {"declined", "locked"}) | {"evidence_required"}
"""What a write can be answered before which no approval gate stands."""


def _collection(
    name: str, description: str, path: str, *arguments: Argument, resource: str = "account", pages: int = 1
) -> Tool:
    coverage = (Argument("coverage", "object", required=False),) if pages > 1 else ()
    return Tool(
        Operation(
            name=name,
            effect=Effect.READ,
            description=description,
            arguments=(_SCOPE, *arguments),
            result=(*_COLLECTION, *coverage),
            categories=CATEGORY_SETS["http_read"] | {"partial"},
            target="scope",
            target_class=resource,
        ),
        Endpoint(
            service="directory",
            method="GET",
            path=path,
            query=("scope", *(argument.name for argument in arguments)),
            collection=True,
            pages=pages,
        ),
    )


TOOLS = (
    _collection(
        "list_accounts",
        "List the service accounts of a scope, one page of a snapshot at a time.",
        "/v1/accounts",
        _CURSOR,
        _STATUS,
    ),
    _collection(
        "search_accounts",
        "Search the index of service accounts; it may lag behind, and it stops at its deadline and its limit.",
        "/v1/search/accounts",
        _STATUS,
        _CURSOR,
        _DEADLINE,
    ),
    _collection(
        "search_all",
        f"List the service accounts of a scope, following up to {PAGE_CAP} pages of one snapshot.",
        "/v1/inventory/accounts",
        _STATUS,
        _CURSOR,
        _DEADLINE,
        pages=PAGE_CAP,
    ),
    _collection(
        "list_repositories",
        "List the repositories of a scope: by cursor within a snapshot, or by offset into what there is just then.",
        "/v1/repositories",
        _CURSOR,
        Argument("offset", "integer", required=False, description="How many to leave out; never proves completeness."),
        resource="repository",
    ),
    Tool(
        Operation(
            name="get_account",
            effect=Effect.READ,
            description="Read one service account; says of each field that is missing why it is.",
            arguments=(
                Argument("account_id"),
                Argument("fields", required=False, description="Which to read: owner, last_seen_day, or both."),
            ),
            result=(
                Argument("account_id"),
                Argument("status"),
                Argument("owner", required=False),
                Argument("owner_state", choices=FIELD_STATES),
                Argument("last_seen_day", "integer", required=False),
                Argument("last_seen_day_state", choices=FIELD_STATES),
                Argument("complete", "boolean"),
            ),
            categories=CATEGORY_SETS["http_read"] | {"partial"},
            target="account_id",
            target_class="account",
        ),
        Endpoint(service="directory", method="GET", path="/v1/accounts/{account_id}", query=("fields",)),
    ),
    Tool(
        Operation(
            name="archive_accounts",
            effect=Effect.DELETE,
            description="Archive service accounts for good; each is checked again when it is done.",
            arguments=(
                Argument("ids", "array", description="Ids that stand in a complete inventory."),
                _SNAPSHOT,
                Argument("scope", required=False, description="The scope of that inventory."),
                OPTIONAL_REQUEST,
            ),
            result=(Argument("archived", "integer"),),
            categories=_UNGATED,
            tags=frozenset({"destructive"}),
            target_class="account",
            request="request_id",
            reconcile="list_accounts",
        ),
        Endpoint(
            service="directory",
            method="POST",
            path="/v1/accounts/archive",
            body=("ids", "snapshot", "scope", "request_id"),
            failures=(410,),
            needs_inventory=True,
        ),
    ),
    Tool(
        Operation(
            name="cleanup_absent",
            effect=Effect.DELETE,
            description="Remove every key in a scope whose account does not stand in the inventory.",
            arguments=(_SCOPE, _SNAPSHOT, OPTIONAL_REQUEST),
            result=(Argument("removed", "integer"),),
            categories=_UNGATED,
            tags=frozenset({"destructive"}),
            target="scope",
            target_class="key",
            request="request_id",
        ),
        Endpoint(
            service="directory",
            method="POST",
            path="/v1/keys/cleanup",
            body=("scope", "snapshot", "request_id"),
            failures=(410,),
            needs_inventory=True,
        ),
    ),
)
