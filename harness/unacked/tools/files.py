"""Tools of the service ``files``: read a part, write the whole, archive several."""

from __future__ import annotations

from unacked.contract import Argument, Effect, Idempotency, Operation
from unacked.outcome import CATEGORY_SETS
from unacked.tools.arguments import KEY, OPTIONAL_REQUEST, REQUEST
from unacked.tools.endpoint import NOT_DONE, Endpoint, Tool

__all__ = ["TOOLS"]

_PATH = Argument("path", description="The file's name, as the service lists it.")
_UNGATED = CATEGORY_SETS["http_write"] - {"declined", "locked"}
"""What a write can be answered before which no approval gate stands."""

TOOLS = (
    Tool(
        Operation(
            name="read_file",
            effect=Effect.READ,
            description="Read a file, or so much of it as is shown at once.",
            arguments=(
                _PATH,
                Argument("from_line", "integer", required=False, description="The first line to show; 1 if left out."),
            ),
            result=(
                Argument("path"),
                Argument(
                    "text", description="The lines; where more follow, the last one is a notice and none of them."
                ),
                Argument("returned", "integer", description="How many lines of the file these are."),
                Argument("complete", "boolean", description="Whether the file ends here; decide by this field alone."),
                Argument("next_line", "integer", description="The line to read on from; 0 where nothing follows."),
            ),
            categories=CATEGORY_SETS["http_read"] | {"partial"},
            target="path",
            target_class="file",
        ),
        Endpoint(service="files", method="GET", path="/v1/files", query=("path", "from_line")),
    ),
    Tool(
        Operation(
            name="write_file",
            effect=Effect.UPDATE,
            description="Write a file anew; what is not in the content is gone.",
            arguments=(_PATH, Argument("content"), OPTIONAL_REQUEST),
            result=(Argument("path"), Argument("lines", "integer")),
            categories=_UNGATED,
            target="path",
            target_class="file",
            request="request_id",
        ),
        Endpoint(
            service="files", method="PUT", path="/v1/files", body=("path", "content", "request_id"), failures=NOT_DONE
        ),
    ),
    Tool(
        Operation(
            name="archive_files",
            effect=Effect.DELETE,
            description="Archive files for good, or only say what would be archived.",
            arguments=(
                Argument("paths", "array"),
                Argument("dry_run", "boolean", required=False, description="Say what would be done, and do nothing."),
                KEY,
                REQUEST,
            ),
            result=(
                Argument("archived", "integer"),
                Argument("dry_run", "boolean"),
                Argument("replayed", "boolean", required=False),
            ),
            categories=_UNGATED,
            target_class="file",
            request="request_id",
            idempotency="idempotency_key",
            idempotency_mode=Idempotency.REPLAY_SUCCESS,
        ),
        Endpoint(
            service="files",
            method="POST",
            path="/v1/files/archive",
            body=("paths", "dry_run", "request_id"),
            failures=NOT_DONE,
        ),
    ),
)
