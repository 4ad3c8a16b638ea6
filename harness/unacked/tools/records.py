"""Tools of the service ``records``: create, look up by request id, read, annotate, update."""

from __future__ import annotations

from unacked.contract import Argument, Effect, Idempotency, Operation
from unacked.outcome import CATEGORY_SETS
from unacked.tools.arguments import KEY, OPTIONAL_REQUEST, REQUEST
from unacked.tools.endpoint import NOT_DONE, Endpoint, Tool

__all__ = ["TOOLS"]

_RECORD = Argument("record_id", description="The record's identifier, as the service gave it.")

TOOLS = (
    Tool(
        Operation(
            name="create_record",
            effect=Effect.CREATE,
            description="Create a record.",
            arguments=(Argument("title"), KEY, REQUEST),
            result=(Argument("record_id"), Argument("replayed", "boolean", required=False)),
            categories=CATEGORY_SETS["http_write"],
            target_class="record",
            identity="record_id",
            request="request_id",
            idempotency="idempotency_key",
            idempotency_mode=Idempotency.REPLAY_SUCCESS,
            reconcile="lookup_by_request_id",
        ),
        Endpoint(
            service="records",
            method="POST",
            path="/v1/records",
            body=("title", "request_id"),
            success=201,
            failures=NOT_DONE,
        ),
    ),
    Tool(
        Operation(
            name="lookup_by_request_id",
            effect=Effect.READ,
            description="Find the record that a request id created.",
            arguments=(Argument("request_id"),),
            result=(Argument("record_id"), Argument("complete", "boolean")),
            categories=CATEGORY_SETS["http_read"] | {"partial"},
            target_class="record",
            identity="record_id",
            request="request_id",
        ),
        Endpoint(service="records", method="GET", path="/v1/records", query=("request_id",), lookup=True),
    ),
    Tool(
        Operation(
            name="get_record",
            effect=Effect.READ,
            description="Read one record; notes is the number of its notes.",
            arguments=(_RECORD,),
            result=(
                Argument("title"),
                Argument("notes", "integer"),
                Argument("patch", required=False),
            ),
            categories=CATEGORY_SETS["http_read"],
            target="record_id",
            target_class="record",
        ),
        Endpoint(service="records", method="GET", path="/v1/records/{record_id}"),
    ),
    Tool(
        Operation(
            name="attach_note",
            effect=Effect.UPDATE,
            description="Attach a note to a record.",
            arguments=(_RECORD, Argument("text"), OPTIONAL_REQUEST),
            result=(Argument("notes", "integer"),),
            categories=CATEGORY_SETS["http_write"],
            target="record_id",
            target_class="record",
            request="request_id",
            reconcile="get_record",
        ),
        Endpoint(
            service="records",
            method="POST",
            path="/v1/records/{record_id}/notes",
            body=("text", "request_id"),
            success=201,
            failures=NOT_DONE,
        ),
    ),
    Tool(
        Operation(
            name="update_record",
            effect=Effect.UPDATE,
            description="Set the patch of a record.",
            arguments=(_RECORD, Argument("patch"), OPTIONAL_REQUEST),
            result=(Argument("patch"),),
            categories=CATEGORY_SETS["http_write"],
            target="record_id",
            target_class="record",
            request="request_id",
            reconcile="get_record",
        ),
        Endpoint(
            service="records",
            method="PATCH",
            path="/v1/records/{record_id}",
            body=("patch", "request_id"),
            success=200,
            failures=NOT_DONE,
        ),
    ),
)
