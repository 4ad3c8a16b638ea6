"""Writes OTLP JSON as an exporter does, for traces that no library wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CANARY = "tok_0123456789abcdef0123456789abcdef01234567"
EMAIL = "ada.lovelace@corp.example.org"
KEY = "sk-live-9f8e7d6c5b4a39281706f5e4"


class Spans:
    """One trace; each call takes a second."""

    def __init__(self) -> None:
        self._spans: list[dict[str, Any]] = []

    def call(
        self, name: str, arguments: Mapping[str, Any] | None, result: Any = None, *, error: str | None = None
    ) -> Spans:
        number = len(self._spans)
        held: dict[str, Any] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.id": f"call_{number}",
        }
        if arguments is not None:
            held["gen_ai.tool.call.arguments"] = json.dumps(arguments)
        if result is not None:
            held["gen_ai.tool.call.result"] = result if isinstance(result, str) else json.dumps(result)
        if error is not None:
            held["error.type"] = "ToolError"
        status = {"code": 2, "message": error} if error is not None else {}
        self._spans.append(
            {
                "traceId": "ab" * 16,
                "spanId": f"{number + 1:016x}",
                "name": f"execute_tool {name}",
                "startTimeUnixNano": str(1_760_000_000_000_000_000 + number * 1_000_000_000),
                "endTimeUnixNano": str(1_760_000_000_500_000_000 + number * 1_000_000_000),
                "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in held.items()],
                "status": status,
            }
        )
        return self

    def write(self, path: Path) -> Path:
        export = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": self._spans}]}]}
        path.write_text(json.dumps(export), encoding="utf-8")
        return path


def forty_calls() -> Spans:
    """A run of forty calls, in which one create was sent again without looking; full of what must not leave it."""
    spans = Spans()
    for number in range(8):
        made = f"rec-{number + 1}"
        spans.call("create_record", {"title": f"visit {number}", **_ids(f"v{number}")}, {"record_id": made})
        spans.call("get_record", {"record_id": made}, {"title": f"visit {number}", "notes": 0})
    for number in range(10):
        spans.call("search_mail", {"query": EMAIL, "token": KEY, "page": number}, f"mail of Ada Lovelace, {CANARY}")
    visit = {"title": f"visit of Ada Lovelace ({EMAIL}), badge {CANARY}"}
    spans.call("create_record", {**visit, **_ids("w1")}, error=f"api.corp.example.org timed out, key {KEY}")
    spans.call("create_record", {**visit, **_ids("w2")}, {"record_id": "rec-10"})
    for number in range(11):
        spans.call("attach_note", {"record_id": "rec-10", "text": f"note {number}"}, {"notes": number + 1})
    return spans.call("finish", {"status": "success", "summary": f"all visits of {EMAIL} are there"}, "{}")


def _ids(name: str) -> dict[str, str]:
    return {"request_id": name, "idempotency_key": name}
