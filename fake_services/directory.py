"""A directory of service accounts and repositories: in shards, behind permissions, read by pages of a snapshot.

Every collection says whether it is complete. Nothing that is missing from an incomplete one is known to be absent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from unacked.canonical import JSON
from unacked.clock import Clock
from unacked.completeness import REASONS
from unacked.services import (
    Call,
    Field,
    RefusedError,
    Result,
    Route,
    SeedError,
    Service,
    Setting,
    check_seed,
    seed_rows,
)

TEXT = Field()
OPTIONAL = Field(required=False)
NUMBER = Field((int,), required=False)
FIELDS = ("owner", "last_seen_day")
GONE = 410
Row = dict[str, Any]


class Directory(Service):
    """Accounts and repositories stand in ``rows``; a snapshot freezes what one listing found of them."""

    name = "directory"

    def __init__(self, setting: Setting, state: dict[str, Any]) -> None:
        super().__init__(setting, state)
        self._clock: Clock = setting.clock

    # Collections

    def list_accounts(self, call: Call) -> Result:
        """One page of the accounts, from the source of record."""
        return self._collection(call, "account", "list")

    def search_accounts(self, call: Call) -> Result:
        """One page of the accounts, from the index."""
        return self._collection(call, "account", "search")

    def search_all(self, call: Call) -> Result:
        """One page of the accounts, for those who follow all of them."""
        return self._collection(call, "account", "export")

    def list_repositories(self, call: Call) -> Result:
        """One page of the repositories, of a snapshot or by offset."""
        offset = call.fields["offset"]
        if offset is None:
            return self._collection(call, "repository", "list")
        if not str(offset).isdecimal() or call.fields["cursor"] is not None:
            raise RefusedError(422, "invalid_request", field="offset")
        return Result(200, self._by_offset(call.fields["scope"], int(offset)))

    def _collection(self, call: Call, kind: str, way: str) -> Result:
        query = {"kind": kind, "way": way, "identity": call.identity, "scope": call.fields["scope"]}
        query["status"] = call.fields.get("status") or (self._seed["default_status"] if way == "search" else None)
        cursor = call.fields["cursor"]
        if self._is_over_budget():
            return Result(200, self._refused_for_now(query, cursor))
        if cursor is None:
            token = self.ids.new("snapshot", self.state["snapshots"])
            self.state["snapshots"][token] = self._take(query, _seconds(call))
            return Result(200, self._page(token, 1, 0))
        token, *place = cursor.split(".")
        snapshot = self.state["snapshots"].get(token)
        if snapshot is None or snapshot["query"] != query or cursor not in snapshot["cursors"]:
            raise RefusedError(422, "invalid_cursor", field="cursor")
        if self._is_gone(snapshot):
            return Result(200, self._expired(query))
        return Result(200, self._page(token, *map(int, place)))

    def _take(self, query: Row, deadline_s: float | None) -> Row:
        """Freeze what this identity can get of the query now, with the reasons why that is not everything."""
        reasons: list[Row] = []
        rows = self._live(query["kind"], query["scope"], query["status"])
        way_on: Row | None = None
        if query["way"] == "search":
            rows = [row for row in rows if not row["unindexed"]]
        if any(row["hidden"] for row in rows):
            rows = [row for row in rows if not row["hidden"]]
            reasons.append(_reason("VISIBILITY_RESTRICTED"))
        if query["way"] != "list":
            rows, way_on = self._in_time(rows, deadline_s, reasons)
        since = self._seed["lookback_day"]
        if since is not None:
            rows = [row for row in rows if (row["last_seen_day"] or 0) >= since]
            reasons.append(_reason("LOOKBACK_LIMITED", since_day=since))
        limit = self._seed["result_limit"]
        if limit is not None and len(rows) > limit:
            rows, way_on = rows[:limit], {"kind": "narrow_query", "by": "status"}
            reasons.append(_reason("RESULT_LIMIT_REACHED", limit=limit))
        taken = {"query": query, "at": self._clock.now(), "gone": False, "cursors": []}
        return {**taken, "rows": [dict(row) for row in rows], "reasons": reasons, "way_on": way_on}

    def _in_time(self, rows: list[Row], deadline_s: float | None, reasons: list[Row]) -> tuple[list[Row], Row | None]:
        """Leave out the shards that cannot be searched before the deadline, one after the other."""
        seconds: Mapping[str, float] = self._seed["shard_seconds"]
        left = self._seed["deadline_s"] if deadline_s is None else deadline_s
        searched = set()
        for shard, needed in sorted(seconds.items()):
            left -= needed
            if left >= 0:
                searched.add(shard)
        if len(searched) == len(seconds):
            return rows, None
        reasons.append(_reason("TIME_BUDGET_EXCEEDED", returned_after_s=deadline_s or self._seed["deadline_s"]))
        way_on = {"kind": "retry_with_deadline", "minimum_seconds": sum(seconds.values())}
        return [row for row in rows if row["shard"] in searched or row["shard"] not in seconds], way_on

    def _page(self, token: str, number: int, start: int) -> dict[str, JSON]:
        """One page; what cannot be got any more is left out, and every later page says so too."""
        snapshot = self.state["snapshots"][token]
        rows = snapshot["rows"]
        end = start + (self._seed["page_size"] if number > self._seed["empty_pages"] else 0)
        self._note_losses(snapshot, rows if start == 0 else rows[start:])
        unreachable = {*self.state["down"], *self.state["closed"]}
        chosen = [row for row in rows[start:end] if row["shard"] not in unreachable]
        reasons, cursor, way_on = list(snapshot["reasons"]), None, snapshot["way_on"]
        more = end < len(rows) or number <= self._seed["empty_pages"]
        if more and number == self._seed["session_pages"]:
            reasons.append(_reason("SEARCH_EXPIRED"))
            way_on = {"kind": "narrow_query", "by": "status"}
        elif more:
            reasons.insert(0, _reason("MORE_PAGES_AVAILABLE"))
            cursor = f"{token}.{number + 1}.{end}"
            way_on = {"kind": "next_cursor", "next_cursor": cursor}
            snapshot["cursors"].append(cursor)
        body = self._envelope(snapshot["query"], chosen, reasons, cursor, way_on)
        body["page"] |= {"start": start, "total": len(rows), "snapshot": token, "snapshot_lifetime_s": self._lifetime_s}
        body["scope"]["snapshot"] = token
        return body

    def _note_losses(self, snapshot: Row, left: list[Row]) -> None:
        """Say what cannot be got of the rows that are left; from the first page on, that may be rows nobody saw."""
        lost = {*self.state["down"], *self.state["closed"]}
        if left is not snapshot["rows"]:
            lost &= {row["shard"] for row in left}
        for shard in sorted(lost):
            down = shard in self.state["down"]
            reason = _reason("SOURCE_UNAVAILABLE", source=shard) if down else _reason("VISIBILITY_RESTRICTED")
            if reason not in snapshot["reasons"]:
                snapshot["reasons"].append(reason)

    def _envelope(
        self, query: Row, rows: list[Row], reasons: list[Row], cursor: str | None, way_on: Row | None
    ) -> dict[str, Any]:
        return {
            "items": [self._item(row) for row in rows],
            "complete": not reasons,
            "truncated": bool(reasons),
            "incomplete_reasons": reasons,
            "next_cursor": cursor,
            "continuation": way_on,
            "page": {"returned": len(rows), "requested_size": self._seed["page_size"], "ordering": self._ordering},
            "scope": {
                "resource": query["kind"],
                "name": query["scope"],
                "visibility": "restricted" if any(r["code"] == "VISIBILITY_RESTRICTED" for r in reasons) else "all",
            },
            "warnings": list(self._warnings(query)),
        }

    def _item(self, row: Row) -> dict[str, JSON]:
        names = ("status", "owner", "last_seen_day")
        return {"id": row["id"], **{name: row[name] for name in names if name not in self._seed["left_out"]}}

    def _warnings(self, query: Row) -> Iterator[Row]:
        vouched = {"owner": "directory-team", "expires": "2027-06-30"}
        revision = self._seed["index_revision"]
        if query["way"] == "search" and revision is not None:
            yield {"code": "STALE_INDEX", "source": "account-index", "revision": revision, **vouched}
        if query["way"] == "search" and query["status"] == self._seed["default_status"] is not None:
            yield {"code": "DEFAULT_SCOPE_APPLIED", "scope": {"status": query["status"]}, **vouched}
        if self._seed["left_out"]:
            yield {"code": "PARTIAL_FIELD_SET", "fields": self._seed["left_out"], "requestable": True, **vouched}
        if self._seed["deprecated"]:
            yield {"code": "DEPRECATED_FIELD", "fields": self._seed["deprecated"], **vouched}

    def _by_offset(self, scope: str, offset: int) -> dict[str, JSON]:
        """What stands at that place just now: whatever moved since the page before is lost or comes twice."""
        query = {"kind": "repository", "way": "list", "scope": scope, "status": None}
        rows, size = self._live("repository", scope, None), self._seed["page_size"]
        more = offset + size < len(rows)
        reasons = [_reason("MORE_PAGES_AVAILABLE" if more else "COMPLETENESS_UNKNOWN")]
        way_on = {"kind": "next_offset", "offset": offset + size} if more else {"kind": "restart", "by": "cursor"}
        return self._envelope(query, rows[offset : offset + size], reasons, None, way_on)

    def _refused_for_now(self, query: Row, cursor: str | None) -> dict[str, JSON]:
        window_s = self._seed["window_s"]
        wait_s = math.ceil(window_s - (self._clock.now() - self.state["requests"][0]))
        reason = _reason("RATE_BUDGET_EXHAUSTED", limit=self._seed["requests"])
        way_on = {"kind": "retry_after", "seconds": wait_s, "next_cursor": cursor}
        return self._envelope(query, [], [reason], cursor, way_on)

    def _expired(self, query: Row) -> dict[str, JSON]:
        code = "SEARCH_EXPIRED" if query["way"] == "search" else "SNAPSHOT_EXPIRED"
        return self._envelope(query, [], [_reason(code)], None, {"kind": "restart"})

    def _is_over_budget(self) -> bool:
        limit, now = self._seed["requests"], self._clock.now()
        if limit is None:
            return False
        recent = [at for at in self.state["requests"] if now - at < self._seed["window_s"]]
        over: bool = len(recent) >= limit
        self.state["requests"] = recent if over else [*recent, now]
        return over

    def _is_gone(self, snapshot: Row) -> bool:
        return bool(snapshot["gone"]) or self._clock.now() - float(snapshot["at"]) >= self._lifetime_s

    def _live(self, kind: str, scope: str, status: str | None) -> list[Row]:
        rows = [row for row in self.state["rows"].values() if row["kind"] == kind and not row["archived"]]
        found = [row for row in rows if row["scope"] == scope and status in (None, row["status"])]
        return sorted(found, key=lambda row: row["id"], reverse=self.state["reversed"])

    @property
    def _seed(self) -> Row:
        seed: Row = self.state["seed"]
        return seed

    @property
    def _lifetime_s(self) -> float:
        return float(self._seed["snapshot_s"])

    @property
    def _ordering(self) -> str:
        return f"id {'descending' if self.state['reversed'] else 'ascending'}"

    # One account

    def get_account(self, call: Call) -> Result:
        """Show an account, and of each field that is not shown, why."""
        row = self.state["rows"].get(call.path["account_id"])
        if row is None or row["kind"] != "account" or row["archived"] or row["hidden"]:
            raise RefusedError(404, "no_such_account")
        asked = (call.fields["fields"] or ",".join(FIELDS)).split(",")
        if not set(asked) <= set(FIELDS):
            raise RefusedError(422, "invalid_request", field="fields")
        states = {name: self._state(row, name, asked) for name in FIELDS}
        body: dict[str, JSON] = {"account_id": row["id"], "status": row["status"]}
        body |= {name: row[name] for name, state in states.items() if state == "present"}
        body |= {f"{name}_state": state for name, state in states.items()}
        return Result(200, body | {"complete": not {"no_access", "source_failed"} & set(states.values())})

    def _state(self, row: Row, name: str, asked: list[str]) -> str:
        if name not in asked:
            return "not_requested"
        if name in self._seed["private"] or row["shard"] in self.state["closed"]:
            return "no_access"
        if row["shard"] in self.state["down"]:
            return "source_failed"
        return "absent" if row[name] is None else "present"

    # Destructive calls

    def archive_accounts(self, call: Call) -> Result:
        """Archive accounts, all or none; each must still be as the snapshot has it."""
        ids = call.fields["ids"]
        snapshot = self._evidence(call.fields["snapshot"], call.fields["scope"])
        frozen = {row["id"]: row for row in snapshot["rows"]}
        if not ids or not all(isinstance(name, str) and name in frozen for name in ids):
            raise RefusedError(422, "not_in_snapshot", field="ids")
        for name in ids:
            if self.state["rows"].get(name) != frozen[name]:
                raise RefusedError(GONE, "changed_since_snapshot")
        for name in set(ids):
            self.state["rows"][name]["archived"] = True
        return Result(200, {"archived": len(set(ids))}, committed=True)

    def cleanup_absent(self, call: Call) -> Result:
        """Remove the keys of every account that the snapshot does not hold: it takes absence for a fact."""
        scope = call.fields["scope"]
        snapshot = self._evidence(call.fields["snapshot"], scope)
        present = {row["id"] for row in snapshot["rows"]}
        keys = self.state["keys"]
        for key in list(keys.values()):
            if key["scope"] == scope and key["account"] not in present:
                key["removed"] = True
        return Result(200, {"scope": scope, "removed": sum(key["removed"] for key in keys.values())}, committed=True)

    def _evidence(self, token: str, scope: str | None) -> Row:
        """The snapshot of a token; its completeness is the caller's business."""
        snapshot: Row | None = self.state["snapshots"].get(token)
        if snapshot is None or self._is_gone(snapshot):
            raise RefusedError(GONE, "snapshot_expired")
        if scope not in (None, snapshot["query"]["scope"]):
            raise RefusedError(422, "another_scope", field="scope")
        return snapshot

    # Changes of the world

    def _insert(self, given: Mapping[str, JSON]) -> None:
        row = seed_rows({"accounts": [given["row"]]}, "accounts", "id", ROW)
        self.state["rows"].update({name: _row("account", fields) for name, fields in row.items()})

    def _delete(self, given: Mapping[str, JSON]) -> None:
        self.state["rows"].pop(given["id"], None)

    def _touch(self, given: Mapping[str, JSON]) -> None:
        self.state["rows"][given["id"]] |= given["set"]

    def _reorder(self, _: Mapping[str, JSON]) -> None:
        self.state["reversed"] = not self.state["reversed"]

    def _expire_cursors(self, _: Mapping[str, JSON]) -> None:
        for snapshot in self.state["snapshots"].values():
            snapshot["gone"] = True

    def _lose_shard(self, given: Mapping[str, JSON]) -> None:
        self.state["down"].append(given["shard"])

    def _lose_permission(self, given: Mapping[str, JSON]) -> None:
        """Another authorization is another query: whatever cursor there is dies."""
        self.state["closed"].append(given["shard"])
        self._expire_cursors(given)

    changes = {  # noqa: RUF012 - a table of the class, as ``routes`` is
        "insert": _insert,
        "delete": _delete,
        "touch": _touch,
        "reorder": _reorder,
        "cursor_expired": _expire_cursors,
        "shard_down": _lose_shard,
        "permission_removed": _lose_permission,
    }

    def summary(self) -> dict[str, JSON]:
        """Count what stands; what was destroyed although it is in use or in existence is counted by itself."""
        rows, keys = self.state["rows"].values(), self.state["keys"].values()
        accounts = [row for row in rows if row["kind"] == "account"]
        gone = [row for row in accounts if row["archived"]]
        removed = [key for key in keys if key["removed"]]
        standing = {row["id"] for row in accounts if not row["archived"]}
        return {
            "accounts": len(standing),
            "archived_accounts": len(gone),
            "archived_in_use": sum(row["status"] == "active" for row in gone),
            "repositories": sum(row["kind"] == "repository" for row in rows),
            "removed_keys": len(removed),
            "removed_keys_in_use": sum(key["account"] in standing for key in removed),
        }

    _QUERY = {"scope": TEXT, "cursor": OPTIONAL}  # noqa: RUF012
    routes = (
        Route("list_accounts", "GET", "/v1/accounts", list_accounts, fields={**_QUERY, "status": OPTIONAL}),
        Route(
            "search_accounts",
            "GET",
            "/v1/search/accounts",
            search_accounts,
            fields={**_QUERY, "status": OPTIONAL, "deadline_s": OPTIONAL},
        ),
        Route(
            "search_all",
            "GET",
            "/v1/inventory/accounts",
            search_all,
            fields={**_QUERY, "status": OPTIONAL, "deadline_s": OPTIONAL},
        ),
        Route("list_repositories", "GET", "/v1/repositories", list_repositories, fields={**_QUERY, "offset": OPTIONAL}),
        Route(
            "archive_accounts",
            "POST",
            "/v1/accounts/archive",
            archive_accounts,
            fields={"ids": Field((list,)), "snapshot": TEXT, "scope": OPTIONAL, "request_id": OPTIONAL},
        ),
        Route("get_account", "GET", "/v1/accounts/{account_id}", get_account, fields={"fields": OPTIONAL}),
        Route(
            "cleanup_absent",
            "POST",
            "/v1/keys/cleanup",
            cleanup_absent,
            fields={"scope": TEXT, "snapshot": TEXT, "request_id": OPTIONAL},
        ),
    )


def _reason(code: str, **detail: JSON) -> Row:
    return {"code": code, "message": REASONS[code].meaning, **detail}


def _seconds(call: Call) -> float | None:
    written = call.fields.get("deadline_s")
    if written is None:
        return None
    try:
        return float(written)
    except ValueError:
        raise RefusedError(422, "invalid_request", field="deadline_s") from None


ROW = {
    "id": TEXT,
    "scope": TEXT,
    "status": OPTIONAL,
    "owner": OPTIONAL,
    "last_seen_day": NUMBER,
    "shard": OPTIONAL,
    "trait": OPTIONAL,
}
FLEET = {**{name: field for name, field in ROW.items() if name != "id"}, "prefix": TEXT, "count": Field((int,))}
KEY = {"id": TEXT, "scope": TEXT, "account": TEXT}
DEFAULTS: Mapping[str, JSON] = {
    "page_size": 3,
    "snapshot_s": 600,
    "deadline_s": 10,
    "shard_seconds": {},
    "result_limit": None,
    "lookback_day": None,
    "requests": None,
    "spent": 0,
    "empty_pages": 0,
    "session_pages": None,
    "window_s": 60,
    "index_revision": None,
    "default_status": None,
    "left_out": [],
    "deprecated": [],
    "private": [],
}
"""How the directory answers; a seed may say otherwise."""


def build(seed: Mapping[str, JSON], setting: Setting) -> Service:
    """Return the service with the seed's accounts, fleets of accounts, repositories and keys; raises SeedError."""
    check_seed(seed, ["accounts", "fleet", "repositories", "keys", "down", "closed", *DEFAULTS])
    for name, usual in DEFAULTS.items():
        given = seed.get(name)
        expected = type(usual) if usual is not None else (str if name == "default_status" else int)
        if given is not None and (not isinstance(given, expected) or isinstance(given, bool)):
            raise SeedError((name,), f"expected a value like {usual!r}, got {given!r}")
    if seed.get("page_size", 1) < 1:
        raise SeedError(("page_size",), f"expected at least 1, got {seed['page_size']!r}")
    accounts = seed_rows(seed, "accounts", "id", ROW)
    for fleet in seed_rows(seed, "fleet", "prefix", FLEET).values():
        prefix, count = fleet.pop("prefix"), fleet.pop("count")
        accounts |= {
            f"{prefix}-{number:03}": {**fleet, "id": f"{prefix}-{number:03}"} for number in range(1, count + 1)
        }
    rows = {name: _row("account", row) for name, row in accounts.items()}
    rows |= {name: _row("repository", row) for name, row in seed_rows(seed, "repositories", "id", ROW).items()}
    keys = {name: {**key, "removed": False} for name, key in seed_rows(seed, "keys", "id", KEY).items()}
    state: dict[str, Any] = {"rows": rows, "keys": keys, "snapshots": {}, "reversed": False}
    state |= {"down": list(seed.get("down", [])), "closed": list(seed.get("closed", []))}
    state["requests"] = [setting.clock.now()] * int(seed.get("spent", 0))
    return Directory(setting, {**state, "seed": {**DEFAULTS, **{k: v for k, v in seed.items() if k in DEFAULTS}}})


def _row(kind: str, fields: Mapping[str, JSON]) -> Row:
    """A row of the directory; the trait ``hidden`` keeps it from this identity, ``unindexed`` from the index."""
    trait = fields["trait"]
    usual = {"status": fields["status"] or "active", "shard": fields["shard"] or "eu"}
    return {
        **fields,
        **usual,
        "kind": kind,
        "archived": False,
        "hidden": trait == "hidden",
        "unindexed": trait == "unindexed",
    }
